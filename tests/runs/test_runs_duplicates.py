"""Duplicates are left out of a run: cleaned once, learned from once, told of."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import chaffinch
from chaffinch.methods import make_method
from chaffinch.methods.duplicates import IMatch
from chaffinch.runs import RunOptions, UrlFilter, learn_templates
from chaffinch.store import TemplateStore
from conftest import Command, site_html

UNIQUE = RunOptions(duplicates=IMatch())
STORIES = [f"Story {number} of wrens and finches is told at length in words of its own" for number in "abc"]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """Pages a, b, a again and c."""
    folder = tmp_path / "crawl"
    folder.mkdir()
    for number, story in enumerate([STORIES[0], STORIES[1], STORIES[0], STORIES[2]]):
        (folder / f"{number}.html").write_text(site_html(1, story), "utf-8")
    return folder


def sources(run: chaffinch.Cleaning) -> list[str]:
    return [Path(document.source).name for document in run]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("method", ["sandwich", "chunks"])
def test_the_first_of_each_group_is_cleaned(crawl: Path, method: str, jobs: int) -> None:
    run = chaffinch.clean(crawl, options=RunOptions(method=make_method(method), duplicates=IMatch(), jobs=jobs))
    assert sources(run) == ["0.html", "1.html", "3.html"]
    assert (run.report.duplicates, run.report.as_json()["duplicates"]) == (1, 1)
    assert "1 page left out as a duplicate." in run.report.as_table()


def test_without_being_asked_all_are_cleaned(crawl: Path) -> None:
    run = chaffinch.clean(crawl)
    assert len(sources(run)) == 4
    assert "duplicates" not in run.report.as_json()


def test_an_input_that_is_named_twice_is_cleaned_once(crawl: Path) -> None:
    run = chaffinch.clean(crawl, crawl / "1.html", options=UNIQUE)
    assert sources(run) == ["0.html", "1.html", "3.html"]
    assert run.report.duplicates == 2


def test_pages_that_are_not_wanted_have_no_duplicates(crawl: Path) -> None:
    run = chaffinch.clean(crawl, options=RunOptions(duplicates=IMatch(), urls=UrlFilter(exclude=("*0.html",))))
    assert sources(run) == ["1.html", "2.html", "3.html"]


def test_what_cannot_be_read_is_told_once(crawl: Path) -> None:
    run = chaffinch.clean(crawl, crawl / "missing.html", options=UNIQUE)
    assert sources(run) == ["0.html", "1.html", "3.html"]
    assert [Path(failure.source).name for failure in run.report.failures] == ["missing.html"]


def test_standard_input_is_read_as_often_as_needed(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [page.read_text("utf-8") for page in sorted(crawl.iterdir())]
    lines = "".join(json.dumps({"url": f"https://a.example/{n}", "html": page}) + "\n" for n, page in enumerate(pages))
    for method in ("sandwich", "chunks"):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lines.encode())))
        run = chaffinch.clean("-", options=RunOptions(method=make_method(method), duplicates=IMatch()))
        assert [document.url for document in run] == [f"https://a.example/{n}" for n in (0, 1, 3)]


def test_templates_are_learned_from_each_once(crawl: Path, tmp_path: Path) -> None:
    report = learn_templates([str(crawl)], str(tmp_path / "t.db"), UNIQUE)
    assert (report.pages, report.duplicates) == (3, 1)
    with TemplateStore.open(tmp_path / "t.db") as store:
        assert [site.pages for site in store.sites()] == [3]


def test_on_the_command_line(chaffinch: Command, crawl: Path) -> None:
    done = chaffinch("clean", "crawl", "--dedup", "-o", "out", cwd=crawl.parent)
    assert done.returncode == 0, done.stderr
    assert "1 page left out as a duplicate." in done.stderr
    done = chaffinch("learn", "crawl", "--dedup", "-o", "t.db", "--json", cwd=crawl.parent)
    assert (json.loads(done.stdout)["pages"], json.loads(done.stdout)["duplicates"]) == (3, 1)
