"""`chaffinch labels`, as a user calls it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from conftest import Command, write_site

if TYPE_CHECKING:
    from pathlib import Path

OWN = "{} and more than forty characters of own words follow"


def test_a_crawl_to_labels(chaffinch: Command, tmp_path: Path) -> None:
    write_site(tmp_path / "crawl", [OWN.format(number) for number in range(20)])
    options = ("--option", "modern=true", "--option", "min_characters=10", "--option", "min_words=2")
    done = chaffinch("labels", "crawl", "-o", "labels.parquet", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "20 of 20 pages, of 1 of 1 sites" in done.stderr
    rows = pq.read_table(tmp_path / "labels.parquet").to_pylist()
    assert {(row["site"], row["label"], row["count"], row["pages"]) for row in rows} == {
        ("crawl", "template", 20, 20),
        ("crawl", "content", 1, 20),
    }
    assert {row["page"] for row in rows} == {f"crawl/page-{number:03}.html" for number in range(20)}


def test_the_report_as_json(chaffinch: Command, small_crawl: Path) -> None:
    done = chaffinch("labels", "crawl", "-o", "labels.parquet", "--json", cwd=small_crawl.parent)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["pages"], report["labelled_pages"], report["sites"], report["labelled_sites"]) == (6, 0, 1, 0)
    assert pq.read_table(small_crawl.parent / "labels.parquet").num_rows == 0


def test_few_pages_and_processes_on_demand(chaffinch: Command, small_crawl: Path) -> None:
    arguments = ("labels", "crawl", "--least-pages", "2", "--option", "min_characters=1", "--option", "min_words=1")
    for jobs in ("1", "2"):
        done = chaffinch(*arguments, "--jobs", jobs, "-o", f"{jobs}.parquet", cwd=small_crawl.parent)
        assert done.returncode == 0, done.stderr
    one, two = (pq.read_table(small_crawl.parent / f"{jobs}.parquet") for jobs in ("1", "2"))
    assert one.equals(two)
    assert one.num_rows > 0


def test_inputs_that_cannot_be_read_are_named(chaffinch: Command, small_crawl: Path) -> None:
    done = chaffinch("labels", "crawl", "missing", "-o", "labels.parquet", cwd=small_crawl.parent)
    assert done.returncode == 1
    assert "chaffinch: missing: " in done.stderr
    assert (small_crawl.parent / "labels.parquet").exists()


def test_wrong_calls(chaffinch: Command, small_crawl: Path) -> None:
    for arguments, told in (
        (("-",), "standard input"),
        (("crawl", "--option", "nothing=1"), "has no option 'nothing'"),
        (("crawl", "--option", "nothing"), "KEY=VALUE"),
        (("crawl", "--least-pages", "0"), "least-pages"),
    ):
        done = chaffinch("labels", *arguments, "-o", "labels.parquet", cwd=small_crawl.parent)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert not (small_crawl.parent / "labels.parquet").exists()
