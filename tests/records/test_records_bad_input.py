"""Pages and wrappers that hurt other tools, through the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from result_pages import no_results, shop

from conftest import Command, read_lines

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 50_000
TABLE = (
    "<table>"
    + "".join(f"<tr><td>{n * 37 % 1009}<td>row {n * 71 % 997}<td>${n % 89}.50" for n in range(25))
    + "</table>"
)

PAGES = {
    "an empty file": ("", 0),
    "no page at all": ("\x00\x01\x02 no markup", 0),
    "an article": ("<h1>Seed</h1>" + "<p>One paragraph of a text that goes on and on.</p>", 0),
    "no results": (no_results(), 0),
    "a table of many rows": (
        "<table><tr><th>Id<th>Name<th>Price"
        + "".join(f"<tr><td>{n}<td>name {n * 37 % 1009}<td>${n % 89}.50" for n in range(ROWS))
        + "</table>",
        ROWS,
    ),
    "deep nesting": ("<html><body>" + "<div>x " * 5000, None),
    "deep lists": ("<ul><li>item " * 5000, None),
    "deep tables": ("<table><tr><td>cell " * 5000, None),
}


@pytest.mark.parametrize("name", PAGES)
def test_one_page(chaffinch: Command, tmp_path: Path, name: str) -> None:
    html, records = PAGES[name]
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    done = chaffinch("records", tmp_path / "page.html", "-o", tmp_path / "out.jsonl")
    assert done.returncode in {0, 1}, done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode == 1:
        assert "page.html" in done.stderr
        return
    (row,) = read_lines(tmp_path / "out.jsonl")
    if records is not None:
        assert len(row["records"]) == records


def test_one_record_among_pages_of_many(chaffinch: Command, tmp_path: Path) -> None:
    for number, count in enumerate((12, 1, 12)):
        (tmp_path / f"{number}.html").write_text(shop(number, count), encoding="utf-8")
    assert chaffinch("records", tmp_path, "-o", tmp_path / "out.jsonl").returncode == 0
    assert [len(row["records"]) for row in read_lines(tmp_path / "out.jsonl")] == [12, 1, 12]


def test_pages_of_several_engines_are_grouped(chaffinch: Command, tmp_path: Path) -> None:
    for number, html in enumerate((shop(1), TABLE, shop(2), TABLE.replace("row", "line"), shop(3))):
        (tmp_path / f"{number}.html").write_text(html, encoding="utf-8")
    wrapper = tmp_path / "kept.wrapper"
    done = chaffinch("records", tmp_path, "-o", tmp_path / "out.jsonl", "--save-wrapper", wrapper)
    assert (done.returncode, done.stderr) == (0, "")
    rows = read_lines(tmp_path / "out.jsonl")
    assert [len(row["records"]) for row in rows] == [12, 25, 12, 25, 12]
    assert len(wrapper.read_text("utf-8").splitlines()) == 2
    slots = [{unit["slot"] for record in row["records"] for unit in record["units"]} for row in rows]
    assert slots[0] | slots[2] == slots[2] | slots[4]
    assert slots[1] == slots[3]


def test_a_wrapper_of_another_version(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "1.html").write_text(shop(1), encoding="utf-8")
    wrapper = tmp_path / "kept.wrapper"
    assert (
        chaffinch("records", tmp_path / "1.html", "-o", tmp_path / "a.jsonl", "--save-wrapper", wrapper).returncode == 0
    )
    values = json.loads(wrapper.read_text("utf-8"))
    values["version"] = 1
    wrapper.write_text(json.dumps(values), encoding="utf-8")
    done = chaffinch("records", tmp_path / "1.html", "-o", tmp_path / "b.jsonl", "--wrapper", wrapper)
    assert done.returncode in {1, 2}
    assert "kept.wrapper" in done.stderr
    assert "version 1" in done.stderr
    assert not (tmp_path / "b.jsonl").exists()
