from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chaffinch.errors import InputError
from chaffinch.evaluation.about import FIELDS, FieldScore, Told, field_score, measure_about
from chaffinch.evaluation.evaluate import compare
from chaffinch.evaluation.predictors import HeldOut

GOLD: list[dict[str, Any]] = [
    {"title": "The wren", "author": "Ann Wren, Bo Finch", "publish_date": "2024-05-01", "main_content": "It sings."},
    {"title": "The robin", "author": None, "publish_date": None, "main_content": "It sings too."},
]
PAGE = "<html><head><title>{title} | Birds</title>{meta}</head><body><h1>{title}</h1><p>{content}</p></body></html>"
META = '<meta name=author content="Ann Wren"><meta property=article:published_time content=2024-05-01T10:00:00Z>'


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two pages in the form of `wcxb`."""
    html, truth = tmp_path / "wcxb/dev/html", tmp_path / "wcxb/dev/ground-truth"
    html.mkdir(parents=True)
    truth.mkdir()
    for number, gold in enumerate(GOLD):
        page = PAGE.format(title=gold["title"], content=gold["main_content"], meta="" if number else META)
        (html / f"000{number}.html").write_text(page, "utf-8")
        (truth / f"000{number}.json").write_text(json.dumps({"ground_truth": gold}), "utf-8")
    monkeypatch.setenv("CHAFFINCH_DATA", str(tmp_path))
    return tmp_path


def test_each_field_is_measured_where_there_is_gold() -> None:
    scores = {score.field: score for score in measure_about(peer=False)}
    assert list(scores) == list(FIELDS)
    assert scores["title"] == FieldScore("chaffinch", "title", pages=2, exact=1.0, words=1.0, told=1.0, unasked=0)
    author = scores["author"]
    assert (author.pages, author.exact, author.told) == (1, 0.0, 1.0)
    assert author.words == pytest.approx(2 / 3)
    assert (scores["date"].pages, scores["date"].exact) == (1, 1.0)


def test_the_peer_is_measured_on_the_same_pages() -> None:
    pytest.importorskip("trafilatura")
    scores = measure_about()
    assert len(scores) == 2 * len(FIELDS)
    assert {score.pages for score in scores if score.field == "title"} == {2}


def test_order_case_and_punctuation_do_not_matter_but_names_do() -> None:
    golds = [Told(author="Ann Wren, Bo Finch"), Told(author="Ann Wren"), Told()]
    told = [Told(author="bo finch and Ann Wren".replace(" and", ",")), Told(author="Ann"), Told(author="Someone")]
    score = field_score("x", "author", golds, told)
    assert (score.pages, score.exact, score.unasked) == (2, 0.5, 1)


def test_texts_made_before_are_measured(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    rows = [{"source": f"wcxb/dev/html/000{n}.html", "text": gold["main_content"]} for n, gold in enumerate(GOLD)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    assert compare("wcxb", [], rivals=[HeldOut("mine", path)]).macro["f1"] == 1.0
    path.write_text(f"{json.dumps(rows[0])}\n", "utf-8")
    with pytest.raises(InputError, match=r"has no text of wcxb/dev/html/0001\.html"):
        compare("wcxb", [], rivals=[HeldOut("mine", path)])
    path.write_text("[]\n", "utf-8")
    with pytest.raises(InputError, match="holds no texts"):
        compare("wcxb", [], rivals=[HeldOut("mine", path)])


def test_the_benchmark_page_is_written(tmp_path: Path) -> None:
    pytest.importorskip("trafilatura")
    script = Path(__file__).parents[2] / "benchmarks" / "benchmark_page.py"
    command = [sys.executable, str(script), "metadata", "--docs", str(tmp_path / "docs")]
    subprocess.run(command, check=True, capture_output=True)
    page = (tmp_path / "docs" / "benchmark.md").read_text("utf-8")
    assert "| title: chaffinch | 2 | 1.000 | 1.000 | 1.000 |" in page
    again = subprocess.run([*command[:2], "--write-only", *command[3:]], check=True, capture_output=True, text=True)
    assert again.stdout == f"{tmp_path / 'docs' / 'benchmark.md'}\n"
    assert (tmp_path / "docs" / "benchmark.md").read_text("utf-8") == page
