"""`chaffinch records` as a user runs it."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from result_pages import no_results, shop

from conftest import Command, read_lines


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    for seed in (1, 2, 3):
        (folder / f"{seed}.html").write_text(shop(seed), encoding="utf-8")
    return folder


def test_pages_become_json_lines(chaffinch: Command, pages: Path, tmp_path: Path) -> None:
    done = chaffinch("records", pages, "-o", tmp_path / "out.jsonl")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    rows = read_lines(tmp_path / "out.jsonl")
    assert [len(row["records"]) for row in rows] == [12, 12, 12]
    units = [{unit["text"]: unit["slot"] for unit in record["units"]} for row in rows for record in row["records"]]
    prices = {slot for record in units for text, slot in record.items() if text.startswith("$")}
    assert len(prices) == 1, "a slot is the same on all pages"
    assert all(any(text.startswith("$") for text in record) for record in units)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_tables_are_tidy(chaffinch: Command, pages: Path, tmp_path: Path, name: str) -> None:
    assert chaffinch("records", pages, "-o", tmp_path / name).returncode == 0
    if name.endswith(".csv"):
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    else:
        rows = pq.read_table(tmp_path / name).to_pylist()
    assert len(rows) == 36
    assert any(str(value).startswith("$") for value in rows[0].values())


def test_one_page_and_standard_output(chaffinch: Command, pages: Path) -> None:
    done = chaffinch("records", pages / "1.html", "--tidy")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 12


def test_a_page_without_results_has_no_records(chaffinch: Command, pages: Path, tmp_path: Path) -> None:
    (pages / "4.html").write_text(no_results(), encoding="utf-8")
    assert chaffinch("records", pages, "-o", tmp_path / "out.jsonl").returncode == 0
    assert [len(row["records"]) for row in read_lines(tmp_path / "out.jsonl")] == [12, 12, 12, 0]


def test_what_cannot_be_read_is_named(chaffinch: Command, pages: Path, tmp_path: Path) -> None:
    done = chaffinch("records", pages, tmp_path / "missing.html", "-o", tmp_path / "out.jsonl")
    assert done.returncode == 1
    assert "missing.html" in done.stderr
    assert len(read_lines(tmp_path / "out.jsonl")) == 3


def test_other_outputs_are_refused(chaffinch: Command, pages: Path, tmp_path: Path) -> None:
    assert chaffinch("records", pages, "-o", tmp_path / "out.txt").returncode == 2
