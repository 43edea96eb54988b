"""The steps of record mining, one by one."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_pages import NAMES, no_results, shop

import chaffinch
from chaffinch.records import PageRecords, UnitOptions, draw, group_pages, mine
from chaffinch.records.clusters import Weights, bounds_of, cluster_strings
from chaffinch.records.decoration import FEATURES as TAG_FEATURES
from chaffinch.records.decoration import decorative_nodes, tag_evidence, tags_of
from chaffinch.records.finding import find_records
from chaffinch.records.graph import Slot, vote
from chaffinch.records.joints import find_joints
from chaffinch.records.pieces import pieces_of
from chaffinch.records.sheet import Sheet
from chaffinch.records.strings import cut_strings
from chaffinch.records.template_texts import FEATURES as TEXT_FEATURES
from chaffinch.records.template_texts import frequent_texts, split_text, tokens_of
from chaffinch.records.text_types import TextType, type_of
from chaffinch.records.weights import shipped_weights

PAGES = [chaffinch.parse(shop(seed)) for seed in (1, 2, 3)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("$24.99", TextType.PRICE), ("€ 1.299,00", TextType.PRICE), ("12 €", TextType.PRICE),
        ("Rs. 500", TextType.PRICE),
        ("$170,000 a year", TextType.PRICE), ("¥1,200", TextType.PRICE), ("1,234", TextType.NUMBER),
        ("86%", TextType.NUMBER),
        ("4.5/5", TextType.NUMBER), ("2017", TextType.NUMBER), ("31 January 2017", TextType.DATE),
        ("1/17/17 2:25pm", TextType.DATE), ("12 mars 2017", TextType.DATE), ("2017年1月3日", TextType.DATE),
        ("2 days ago", TextType.DATE), ("yesterday", TextType.DATE), ("www.example.org/a", TextType.HYPERLINK),
        ("ann@example.org", TextType.HYPERLINK), ("Reading", TextType.TEXT), ("May", TextType.TEXT),
        ("(16 comments)", TextType.TEXT), ("St. Albert", TextType.TEXT), ("", TextType.TEXT),
    ],
)  # fmt: skip
def test_types(text: str, kind: TextType) -> None:
    assert type_of(text) is kind


@given(st.text(max_size=400))
def test_every_text_has_a_type_soon(text: str) -> None:
    assert type_of(text) in TextType


def test_the_networks_have_the_shapes_of_the_paper() -> None:
    weights = shipped_weights()
    assert weights.decorative.hidden.shape == (1, len(TAG_FEATURES), 4) == (1, 9, 4)
    assert weights.template.hidden.shape == (1, len(TEXT_FEATURES), 3) == (1, 7, 3)


def test_the_mark_on_searched_words_is_decorative() -> None:
    sheet = Sheet.of(PAGES)
    weights = shipped_weights()
    spans = find_records(sheet, weights.ranker).spans
    tags = tags_of(sheet, spans)
    assert tag_evidence(sheet, tags, weights.tag_prior).shape == (len(tags), 9)
    nodes = decorative_nodes(sheet, tags, weights.decorative, weights.tag_prior)
    found = {page.name_of(node - int(base)) for node in np.flatnonzero(nodes > 0.5)
             for base, page in [(sheet.start[sheet.page_of[node]], sheet.pages[sheet.page_of[node]])]}  # fmt: skip
    assert "b" in found
    assert "li" not in found


def test_decorative_tags_cut_nothing() -> None:
    for options in (UnitOptions(), UnitOptions(joints=False)):
        for page in mine(PAGES, options=options).pages:
            for record in page.records:
                assert any(len(unit.text.split()) == 12 and " seed" in f" {unit.text}" for unit in record.units)


def test_frequent_texts_are_found_by_place() -> None:
    texts = [
        f"{name}, Published {year}, ISBN {year * 7}" for name, year in zip("ABCDEFGH", range(1990, 1998), strict=True)
    ]
    found = {text.tokens: text for text in frequent_texts({0: texts}, {"published": 0.9})}
    assert (",", "published") in found
    assert (",", "isbn") in found
    assert found[",", "published"].evidence[0] == 1
    assert found[",", "published"].evidence[-1] == 0.9
    assert found[",", "isbn"].evidence[-1] == 0.5, "unknown tokens are neutral"
    assert split_text(texts[0], [(",", "published"), (",", "isbn")]) == ["A", "1990", "13930"]
    assert split_text("ISBN", [("isbn",)]) == []


@given(st.lists(st.text(alphabet="ab :,", max_size=30), max_size=12))
def test_frequent_texts_of_anything(texts: list[str]) -> None:
    for found in frequent_texts({0: texts}, {}):
        assert any(" ".join(found.tokens) in " ".join(tokens_of(text)) for text in texts)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 999), st.integers(2, 8), st.floats(0, 1))
def test_a_record_has_one_string_at_most_of_a_cluster(seed: int, count: int, reach: float) -> None:
    sheet = Sheet.of([chaffinch.parse(shop(seed, count))])
    spans = find_records(sheet, shipped_weights().ranker).spans
    pieces = pieces_of(sheet, spans)
    joints = find_joints(sheet, pieces)
    strings = cut_strings(sheet, pieces, joints, np.zeros(joints.kinds, dtype=np.bool_))
    bounds = bounds_of(sheet, pieces, joints, strings)
    slot = cluster_strings(sheet, strings, bounds, Weights(reach=reach))
    assert len(slot) == len(strings) == len(pieces)
    pairs = list(zip(strings.record.tolist(), slot.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert "".join(strings.texts).replace(" ", "") == "".join(pieces.texts).replace(" ", "").replace("\n", "")


@given(st.lists(st.lists(st.integers(0, 7), max_size=9), max_size=20))
def test_template_graphs_have_no_cycles(paths: list[list[int]]) -> None:
    graph = vote(paths, [Slot(f"s{number}", "TEXT", 1, data=True) for number in range(8)])
    assert all(graph.rank[tail] < graph.rank[head] for tail, head in graph.edges)
    assert sorted(graph.rank) == list(range(8))
    assert draw(graph, "<a&b>").startswith("<svg")


def test_optional_and_disjunctive_slots_show() -> None:
    slots = [Slot(name, "TEXT", support, data=True) for name, support in (("a", 20), ("b", 12), ("c", 8), ("d", 20))]
    graph = vote([[0, 1, 3]] * 12 + [[0, 2, 3]] * 8, slots)
    assert [graph.is_optional(slot) for slot in range(4)] == [False, True, True, False]
    assert graph.disjunctive() == [(1, 2)]
    assert set(graph.edges) == {(0, 1), (0, 2), (1, 3), (2, 3)}


def test_cycles_are_broken_at_their_lightest_edge() -> None:
    slots = [Slot(name, "TEXT", 9, data=True) for name in "abc"]
    graph = vote([[0, 1, 2]] * 9 + [[2, 0]] * 2, slots)
    assert set(graph.edges) == {(0, 1), (1, 2)}


def test_labels_name_slots_and_constants_are_kept() -> None:
    rng = random.Random(5)  # noqa: S311
    rows = "".join(
        f'<div class=item><h3><a href="/{n}">Book {rng.randrange(999)} of {rng.choice(NAMES)}</a></h3>'
        f"<p class=price><span class=label>Our Price:</span> <span class=value>${rng.randrange(9, 99)}.50</span></p>"
        "<p class=stock>Availability: <b>In Stock</b></p></div>"
        for n in range(15)
    )
    page = mine([chaffinch.parse(f"<html><body><div id=results>{rows}</div></body></html>")]).pages[0]
    assert len(page.records) == 15
    units = {unit.slot: unit for unit in page.records[0].units}
    assert any("price" in name for name, unit in units.items() if "$" in unit.text)
    assert any("In Stock" in unit.text and unit.constant for unit in units.values())
    assert page.records[3].link == "/3"


def test_pages_are_grouped_by_url_and_by_tags() -> None:
    shops = [chaffinch.parse(shop(seed), url=f"https://shop.example/s?q={seed}") for seed in (1, 2)]
    table = "".join(f"<tr><td>{n}<td>row {n}" for n in range(20))
    other = chaffinch.parse(f"<table>{table}</table>", url="https://table.example/")
    assert group_pages([shops[0], other, shops[1]]) == [[0, 2], [1]]
    mixed = chaffinch.records([shop(1), f"<table>{table}</table>", shop(2)])
    assert [len(page.records) for page in mixed.pages] == [12, 20, 12]
    assert len(mixed.wrappers) == 2


def test_header_rows_are_no_records() -> None:
    body = "".join(f"<tr><td>{n}</td><td>name {n * 37 % 101}</td><td>${n}.99</td></tr>" for n in range(30))
    head = "<tr><th>Id</th><th>Name</th><th>Price</th></tr>"
    for table in (f"<table>{head}{body}</table>", f"<table>{body}</table>"):
        assert len(mine([chaffinch.parse(table)]).pages[0].records) == 30


def test_the_library_returns_tables() -> None:
    found = chaffinch.records([shop(1), shop(2)])
    table = found.to_arrow()
    assert table.num_rows == len(found) == len(list(found)) == 24
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.to_pandas(), pandas.DataFrame)


def test_the_same_pages_give_the_same_records_and_wrapper() -> None:
    one, other = mine(PAGES), mine([chaffinch.parse(shop(seed)) for seed in (1, 2, 3)])
    assert one.pages == other.pages
    assert one.wrapper.as_json() == other.wrapper.as_json()


HOSTILE = {
    "nothing": "",
    "no text": "<div></div>" * 50,
    "no results": no_results(),
    "one record": shop(1, 1),
    "deep": "<html><body>" + "<div>x " * 5000,
    "deep list": "<ul><li>item " * 2000,
    "table": "<table>" + "<tr><td>a<td>1" * 3000 + "</table>",
    "every class new": "".join(
        f"<div class='k{chr(97 + n % 26)}{chr(97 + n // 26)}'>a<b>{n}</b></div>" for n in range(600)
    ),
    "breaks": "<p>" + "text<br>" * 2000,
    "control": "<ul>" + "<li>a\u2028b\ud800c</li>" * 9 + "</ul>",
    "bad links": "<ul>" + "<li><a href='http://[x'>a</a> b <img src='http://[y'></li>" * 9 + "</ul>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages(name: str) -> None:
    html = HOSTILE[name].encode("utf-8", "replace")
    found = chaffinch.records([html])
    assert isinstance(found.pages[0], PageRecords)
    if name in {"nothing", "no text", "no results"}:
        assert len(found) == 0
    found.to_arrow()


def test_cost_is_linear_in_records() -> None:
    """Counted, not timed: the pairs that clustering compares do not grow with the records."""
    kinds = [len(mine([chaffinch.parse(shop(1, count))]).wrapper.atoms) for count in (100, 400)]
    assert kinds[1] <= kinds[0] + 2


def test_all_pairs_of_slots_have_names_of_their_own() -> None:
    names = [slot.name for slot in mine(PAGES).wrapper.graph.slots]
    assert all(one != other for one, other in itertools.combinations(names, 2))
