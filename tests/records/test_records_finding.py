"""Where records stand: lists, runs of siblings, pages without results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_pages import WORDS, definitions, headings, no_results, shop

import chaffinch
from chaffinch.records import apply_wrapper, mine
from chaffinch.records.candidates import RUN, find_candidates
from chaffinch.records.sheet import Sheet
from chaffinch.records.wrapper import Wrapper

if TYPE_CHECKING:
    from collections.abc import Callable

    Maker = Callable[..., str]


@pytest.mark.parametrize("make", [definitions, headings])
@pytest.mark.parametrize("pages", [1, 3])
def test_records_of_several_siblings(make: Maker, pages: int) -> None:
    mined = mine([chaffinch.parse(make(seed)) for seed in range(pages)])
    assert [len(page.records) for page in mined.pages] == [15] * pages
    for page in mined.pages:
        for number, record in enumerate(page.records):
            assert record.link == f"/{number}"
            assert max(len(unit.text.split()) for unit in record.units) == 14
            assert not any("Advertisement" in unit.text for unit in record.units)


@pytest.mark.parametrize("make", [definitions, headings])
def test_wrappers_know_where_runs_end(make: Maker) -> None:
    wrapper = mine([chaffinch.parse(make(seed)) for seed in range(3)]).wrapper
    again = Wrapper.from_json(wrapper.as_json())
    assert again.as_json() == wrapper.as_json()
    for count in (1, 2, 9):
        applied = apply_wrapper(again, chaffinch.parse(make(77, count)))
        assert applied.fits
        assert len(applied.page.records) == count
        assert max(len(unit.text.split()) for unit in applied.page.records[-1].units) == 14


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["<dt>a b", "<dd>c", "<dd class=x>d", "<hr>", "text", "<p>e f"]), max_size=30))
def test_runs_never_overlap_nor_leave_their_parent(parts: list[str]) -> None:
    sheet = Sheet.of([chaffinch.parse(f"<dl>{''.join(parts)}</dl><dl>{''.join(parts[::-1])}</dl>")])
    found = find_candidates(sheet)
    for number in range(len(found)):
        span = slice(found.offset[number], found.offset[number + 1])
        first, stop = found.first[span], found.stop[span]
        assert (first < stop).all()
        if found.kind[number] >= RUN:
            assert (np.diff(first) > 0).all()
            assert (first[1:] >= stop[:-1]).all()
            assert (stop <= sheet.end[sheet.parent[first]]).all()
            assert found.width[span].max() > 1


def _rows(head: str) -> str:
    rows = "".join(f"<tr><td>{n * 31 % 97}<td>name {n * 37 % 101}<td>${n}.50<td>in stock" for n in range(30))
    return f"<table>{head}{rows}</table>"


def test_header_cells_name_the_columns_below() -> None:
    (page,) = chaffinch.records([_rows("<tr><th>Id<th>Product name:<th>Price<th>Availability")]).pages
    assert len(page.records) == 30
    names = [(unit.slot, unit.constant) for unit in page.records[7].units]
    assert names == [("id", False), ("product name", False), ("price", False), ("availability", True)]


@pytest.mark.parametrize("head", ["", "<tr><th colspan=2>Id<th>Price<th>Stock", "<tr><td>Id<td>Name<td>Price<td>Stock"])
def test_slots_without_header_cells_of_their_own_are_named_by_type(head: str) -> None:
    (page,) = chaffinch.records([_rows(head)]).pages
    assert "price-1" in {unit.slot for unit in page.records[7].units}


def test_terms_name_their_descriptions() -> None:
    items = "".join(
        f"<div class=item><h3><a href=/{n}>Job {n * 37 % 101}</a></h3><dl><dt>Company</dt><dd>Firm {n * 17 % 31}</dd>"
        f"<dt>Place</dt><dd>Town {n * 7 % 13}</dd></dl></div>"
        for n in range(20)
    )
    (page,) = chaffinch.records([items]).pages
    assert len(page.records) == 20
    assert {"company", "place"} <= {unit.slot for unit in page.records[3].units}


def _long(seed: int, count: int, says: str = "") -> str:
    """A page of the shop that is mostly other text, so that its records are but a small part."""
    story = " ".join(WORDS[(seed * 7 + number) % len(WORDS)] + str(seed) for number in range(900))
    return shop(seed, count).replace("<div class=foot>", f"{says}<article>{story}</article><div class=foot>")


def test_words_on_empty_results_count_if_not_all_pages_hold_them() -> None:
    nothing = "<p>No results found.</p>"
    pages = [_long(seed, 12) for seed in (1, 2, 3)]
    with_empty = chaffinch.records([*pages, _long(4, 0, nothing)])
    assert [len(page.records) for page in with_empty.pages] == [12, 12, 12, 0]
    one_says_so = chaffinch.records([*pages, _long(4, 2, nothing)])
    assert [len(page.records) for page in one_says_so.pages] == [12, 12, 12, 0], "its two hits are recommendations"


def test_words_on_empty_results_that_all_pages_hold_are_template() -> None:
    """Scripts show them: they wait on every page, unseen by readers but not by us."""
    pages = [_long(seed, 12, "<p class=waiting>No results found.</p>") for seed in (1, 2, 3)]
    assert [len(page.records) for page in chaffinch.records(pages).pages] == [12, 12, 12]


def test_only_pages_without_results() -> None:
    assert len(chaffinch.records([no_results()] * 3)) == 0


@pytest.mark.parametrize("name", ["sr-only", "visually-hidden", "card hidden", "tooltipContents", "js-hide"])
def test_text_that_classes_hide_is_no_data(name: str) -> None:
    pages = [shop(seed).replace("</li>", f'<div class="{name}">Unseen words of record</div></li>') for seed in (1, 2)]
    found = chaffinch.records(pages)
    assert len(found) == 24
    assert not any("Unseen" in unit.text for record in found for unit in record.units)


@pytest.mark.parametrize("name", ["hidden-xs", "hidden md:block", "d-none d-lg-block", "hidden-price", "tooltip"])
def test_text_that_other_classes_show_is_data(name: str) -> None:
    sheet = Sheet.of([chaffinch.parse(shop(1).replace("</li>", f'<div class="{name}">Seen</div></li>'))])
    assert sheet.leaf_texts[0].count("Seen") == shop(1).count("</li>")


def test_a_page_that_a_script_shows_keeps_its_text() -> None:
    whole = shop(1).replace('<div class="main">', '<div class="hidden">')
    long = whole.replace("</ul></div><div class=foot>", f"<p>{'a long text ' * 400}</p></ul></div><div class=foot>")
    assert len(mine([chaffinch.parse(long)]).pages[0].records) == 12
