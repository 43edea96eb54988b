"""The adapters in the real pipelines that they are for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import chaffinch
from chaffinch.runs import RunOptions
from conftest import read_lines, site_html

if TYPE_CHECKING:
    from chaffinch.integrations.cleaner import PageCleaner

PAGES = 6


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """What was learned of a site."""
    rows = [{"url": f"https://site.example/{n}", "html": site_html(n, f"Own words of page {n}.")} for n in range(PAGES)]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    path = tmp_path / "templates.db"
    options = RunOptions(method=chaffinch.make_method("blocks"))
    chaffinch.learn_crawl(tmp_path / "rows.jsonl", templates=path, options=options)
    return path


@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_of_datatrove(templates: Path) -> None:
    """In datatrove's own executor, in a process of its own, as its pipelines run."""
    script = f"""
import json, sys
from datatrove.data import Document
from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep
from chaffinch.integrations.datatrove import ChaffinchExtractor

class Rows(PipelineStep):
    name, type = "rows", "reader"
    def run(self, data, rank=0, world_size=1):
        for number, line in enumerate(open("rows.jsonl")):
            row = json.loads(line)
            yield Document(text=row["html"], id=str(number), metadata={{"url": row["url"]}})
        yield Document(text="", id="empty", metadata={{}})

class Lines(PipelineStep):
    name, type = "lines", "writer"
    def run(self, data, rank=0, world_size=1):
        with open("out.jsonl", "w") as out:
            for document in data:
                out.write(json.dumps({{"text": document.text, **document.metadata}}) + "\\n")
                yield document

if __name__ == "__main__":
    steps = [Rows(), ChaffinchExtractor(templates={str(templates)!r}), Lines()]
    LocalPipelineExecutor(pipeline=steps, tasks=1, logging_dir="logs").run()
    print(open("logs/stats.json").read())
"""
    (templates.parent / "job.py").write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, "job.py"], cwd=templates.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = read_lines(templates.parent / "out.jsonl")
    assert [row["url"] for row in rows] == [f"https://site.example/{n}" for n in range(PAGES)]
    for number, row in enumerate(rows):
        assert f"Own words of page {number}." in row["text"]
        assert "All rights reserved" not in row["text"]
        assert row["site"] == "site.example"
        assert row["language"] == "en"
    (step,) = [step for step in json.loads(done.stdout) if "Chaffinch" in step["name"]]
    assert (step["stats"]["total"], step["stats"]["dropped"]) == (PAGES + 1, 1)


SPIDER = """
import json
import scrapy

class Rows(scrapy.Spider):
    name = "rows"

    async def start(self):
        for line in open("rows.jsonl"):
            row = json.loads(line)
            yield {**row, "title": "given" if row["url"].endswith("0") else None}
        yield {"url": "https://site.example/none"}
"""


@pytest.mark.parametrize("known", [True, False])
def test_an_item_pipeline_of_scrapy(templates: Path, *, known: bool) -> None:
    """In Scrapy's own command."""
    (templates.parent / "spider.py").write_text(SPIDER, encoding="utf-8")
    settings = ['ITEM_PIPELINES={"chaffinch.integrations.scrapy.ChaffinchPipeline": 1}', "CHAFFINCH_FORMAT=markdown"]
    settings += [f"CHAFFINCH_TEMPLATES={templates}"] if known else ["CHAFFINCH_METHOD=blocks"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "scrapy", "runspider", "spider.py", "-o", "out.jsonl"),
            *(part for setting in settings for part in ("-s", setting)),
        ],
        cwd=templates.parent,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": ""},
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    rows = read_lines(templates.parent / "out.jsonl")
    assert len(rows) == PAGES + 1
    for number, row in enumerate(rows[:PAGES]):
        assert f"Own words of page {number}." in row["content"]
        assert ("All rights reserved" in row["content"]) is not known
        assert row["title"] == ("given" if number == 0 else f"Page {number}")
    assert "content" not in rows[PAGES]


def test_a_damaged_template_costs_its_site_only(templates: Path) -> None:
    import sqlite3

    cleaner = make_cleaner(templates)
    with sqlite3.connect(templates) as connection:
        connection.execute("UPDATE sites SET template = x'00'")
    connection.close()
    failed = cleaner.clean("<p>words", "https://site.example/1")
    assert failed.document is None
    assert "site.example" in (failed.error or "")
    other = cleaner.clean("<p>Grüße".encode("utf-16"), "https://other.example/1").document
    assert other is not None
    assert other.content == "Grüße"
    cleaner.close()


def make_cleaner(templates: Path) -> PageCleaner:
    from chaffinch.integrations.cleaner import PageCleaner

    return PageCleaner(str(templates))


@pytest.mark.parametrize("name", ["datatrove", "scrapy"])
def test_the_extra_is_named_where_it_is_missing(tmp_path: Path, name: str) -> None:
    for module in ("datatrove", "itemadapter"):
        (tmp_path / f"{module}.py").write_text("raise ImportError\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", f"import chaffinch.integrations.{name}"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert f"pip install 'chaffinch[{name}]'" in done.stderr
