"""Wrappers: kept, read again, applied to new pages, and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from result_pages import no_results, shop

import chaffinch
from chaffinch.records import apply_wrapper, mine, read_wrappers, write_wrappers
from conftest import Command, read_lines

TABLE = "<table>" + "".join(f"<tr><td>{n}<td>row {n}" for n in range(20)) + "</table>"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "shop.json"
    write_wrappers(path, [mine([chaffinch.parse(shop(seed)) for seed in (1, 2, 3)]).wrapper])
    return path


def test_a_wrapper_finds_on_a_page_what_learning_would(kept: Path) -> None:
    wrapper = read_wrappers(kept)[0]
    learned = mine([chaffinch.parse(shop(seed)) for seed in (1, 2, 3)])
    for seed, page in zip((1, 2, 3), learned.pages, strict=True):
        applied = apply_wrapper(wrapper, chaffinch.parse(shop(seed)))
        assert applied.page.records == page.records
        assert applied.fit == 1


def test_new_pages_keep_the_slots(kept: Path) -> None:
    wrapper = read_wrappers(kept)[0]
    applied = apply_wrapper(wrapper, chaffinch.parse(shop(77, 1)))
    assert applied.fit > 0.9
    assert len(applied.page.records) == 1, "one record is enough"
    names = {slot.name for slot in wrapper.graph.slots}
    assert {unit.slot for unit in applied.page.records[0].units} <= names
    prices = [unit.slot for unit in applied.page.records[0].units if unit.text.startswith("$")]
    assert prices == [slot.name for slot in wrapper.graph.slots if slot.type == "PRICE"]


def test_a_new_kind_of_string_is_led_between_its_neighbours(kept: Path) -> None:
    wrapper = read_wrappers(kept)[0]
    changed = shop(5).replace('<span class="price">', '<em class="new">limited</em><span class="price">')
    applied = apply_wrapper(wrapper, chaffinch.parse(changed))
    assert applied.fits
    prices = {unit.slot for record in applied.page.records for unit in record.units if unit.text.startswith("$")}
    assert len(prices) == 1


def test_a_page_of_another_template_does_not_fit(kept: Path) -> None:
    wrapper = read_wrappers(kept)[0]
    other = apply_wrapper(wrapper, chaffinch.parse(TABLE))
    assert not other.fits
    assert other.page.records == ()
    empty = apply_wrapper(wrapper, chaffinch.parse(no_results()))
    assert empty.fits
    assert empty.page.records == ()


@pytest.mark.parametrize(
    "text",
    ["", "no json", "[]", "{}", "null", '{"format": "chaffinch record wrapper", "version": 99}', '{"format": "x"}'],
)
def test_other_files_are_refused(chaffinch: Command, tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    (tmp_path / "page.html").write_text(shop(1), encoding="utf-8")
    done = chaffinch("records", tmp_path / "page.html", "--wrapper", path)
    assert done.returncode in {1, 2}
    assert "bad.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_damage_inside_is_noticed(kept: Path, tmp_path: Path) -> None:
    whole = json.loads(kept.read_text("utf-8"))
    harmless = {
        "site": "7 [[]] {}",
        "pages": "7",
        "template": "[[]]",
        "sketches": "[[]]",
        "joints": "{}",
        "atoms": "{}",
    }
    for key in whole:
        for value in ("7", "[[]]", "{}", '"x"', "[1]"):
            if value in harmless.get(key, "").split() or key == "site":
                continue
            broken = tmp_path / "broken.json"
            broken.write_text(json.dumps({**whole, key: json.loads(value)}), encoding="utf-8")
            with pytest.raises(chaffinch.ModelError, match=r"broken\.json"):
                read_wrappers(broken)


def test_the_command_saves_applies_and_draws(chaffinch: Command, tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        (tmp_path / f"{seed}.html").write_text(shop(seed), encoding="utf-8")
    wrapper, graph, shape = tmp_path / "w.json", tmp_path / "g.svg", tmp_path / "g.json"
    learned = chaffinch(
        "records", tmp_path / "1.html", tmp_path / "2.html", "-o", tmp_path / "a.jsonl", "--save-wrapper", wrapper,
        "--graph", graph,
    )  # fmt: skip
    assert (learned.returncode, learned.stderr) == (0, "")
    assert graph.read_text("utf-8").startswith("<svg")
    applied = chaffinch(
        "records", tmp_path / "3.html", "--wrapper", wrapper, "-o", tmp_path / "b.jsonl", "--graph", shape
    )
    assert (applied.returncode, applied.stderr) == (0, "")
    assert len(json.loads(shape.read_text("utf-8"))["slots"]) > 3
    slots = [{u["slot"] for row in read_lines(tmp_path / name) for r in row["records"] for u in r["units"]} for name in
             ("a.jsonl", "b.jsonl")]  # fmt: skip
    assert slots[1] <= slots[0]
    (tmp_path / "other.html").write_text(TABLE, encoding="utf-8")
    mixed = chaffinch(
        "records", tmp_path / "other.html", tmp_path / "3.html", "--wrapper", wrapper, "-o", tmp_path / "c.jsonl"
    )
    assert mixed.returncode == 1
    assert "other.html: does not fit the wrapper" in mixed.stderr
    assert [len(row["records"]) for row in read_lines(tmp_path / "c.jsonl")] == [0, 12]


def test_options_that_exclude_each_other(chaffinch: Command, tmp_path: Path) -> None:
    page = tmp_path / "1.html"
    page.write_text(shop(1), encoding="utf-8")
    for options in (["--wrapper", "a", "--save-wrapper", "b"], ["--graph", "a.png"], ["-o", "a.txt"]):
        assert chaffinch("records", page, *options).returncode == 2
