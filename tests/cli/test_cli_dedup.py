"""`chaffinch dedup` as a user calls it."""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from chaffinch.cli import dedup
from chaffinch.runs import duplicates
from conftest import site_html

STORY = "A story long enough to be told by its own words about the wren number"


def run(*arguments: str) -> int:
    """Call the command in this process."""
    parser = argparse.ArgumentParser(prog="chaffinch")
    dedup.register(parser.add_subparsers(required=True))
    parsed = parser.parse_args(["dedup", *arguments])
    return int(parsed.run(parsed))


@pytest.fixture
def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five pages; the second and the last say the same as the first, marked up in another way."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "crawl"
    folder.mkdir()
    for number, content in enumerate([f"{STORY} one", f"{STORY}  <b>one</b>", "Finch", f"{STORY} two", f"{STORY} ONE"]):
        (folder / f"{number}.html").write_text(site_html(0, content), "utf-8")
    return folder


@pytest.mark.usefixtures("crawl")
def test_groups_are_listed_with_the_first_to_keep(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("crawl") == 0
    told = capsys.readouterr()
    assert told.out == "crawl/0.html\n    crawl/1.html\n    crawl/4.html\n"
    assert told.err == "5 pages, 3 kept, 2 duplicates in 1 group\n"


@pytest.mark.usefixtures("crawl")
def test_the_pages_that_are_left(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("crawl", "--kept") == 0
    assert capsys.readouterr().out.split() == ["crawl/0.html", "crawl/2.html", "crawl/3.html"]


def test_json_names_failures_and_urls(
    crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"url": f"https://a.example/{n}", "html": (crawl / "0.html").read_text("utf-8")} for n in range(2)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert run("rows.jsonl", "missing.html", "--json") == 1
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert (found["pages"], found["kept"], found["duplicates"]) == (2, 1, 1)
    (group,) = found["groups"]
    assert group["kept"]["url"] == "https://a.example/0"
    assert [one["source"] for one in group["duplicates"]] == ["rows.jsonl#2"]
    assert [failure["source"] for failure in found["failures"]] == ["missing.html"]
    assert "missing.html" in told.err

    monkeypatch.setattr(duplicates, "parse_capture", lambda capture, _: 1 // len(capture.body[:0]))
    assert run("crawl/0.html") == 1
    assert "failed with ZeroDivisionError" in capsys.readouterr().err


def test_standard_input(crawl: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    line = json.dumps({"url": "https://a.example/", "html": (crawl / "0.html").read_text("utf-8")}) + "\n"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(2 * line.encode())))
    assert run("-", "--json") == 0
    assert json.loads(capsys.readouterr().out)["duplicates"] == 1


def test_pages_without_words_are_no_duplicates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(3):
        (tmp_path / f"{number}.html").write_text("<img src=a.png>", "utf-8")
    assert run(str(tmp_path)) == 0
    assert capsys.readouterr().out == ""


def test_options_choose_the_terms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(6):
        story = STORY if number < 2 else f"other {number} words {number} of page{number} its{number} own{number}"
        (tmp_path / f"{number}.html").write_text(f"<p>{story} visit{number}</p>", "utf-8")
    run(str(tmp_path))
    assert capsys.readouterr().out == ""
    run(str(tmp_path), "--least-pages", "2", "--most-share", "0.4")
    assert len(capsys.readouterr().out.split()) == 2


@pytest.mark.parametrize(
    "wrong", [["--most-share", "2"], ["--most-share", "x"], ["--rarest", "0"], ["--json", "--kept"]]
)
def test_wrong_usage(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run("x", *wrong)
    assert caught.value.code == 2
    assert wrong[0] in capsys.readouterr().err
