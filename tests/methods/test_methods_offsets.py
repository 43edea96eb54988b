"""The offsets method: layout styles, postings, bit signatures, clusters, and what goes and stays on small sites."""

from __future__ import annotations

import random
import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch.errors import ModelError
from chaffinch.methods import learn_template
from chaffinch.methods.bitset import (
    bitwise_similar,
    build_postings,
    differences,
    first_match,
    postings_from,
    signatures,
    single_pass,
)
from chaffinch.methods.conformance import make_site
from chaffinch.methods.index_table import IndexTable, PostingStyles, families_of
from chaffinch.methods.layout import find_layout, leaf_words
from chaffinch.methods.offsets import Offsets
from chaffinch.page import Page, parse


def page(number: int, content: str, *, menu: str = "home news about contact", url: str = "") -> Page:
    html = f"<body><ul><li>{menu}</ul><div><p>{content}</p></div><table><tr><td>all rights reserved</table>"
    return parse(html, url=url or f"https://site.example/dir/{number}")


def kept(method: Offsets, scored: Page, others: list[Page]) -> list[str]:
    scores = method.score(scored, learn_template(method, others))
    shown = scored.shown_text_nodes & (scores < 0.5)
    return [scored.texts[position].strip() for position in np.flatnonzero(shown)]


def contents(count: int) -> list[str]:
    generator = random.Random(3)  # noqa: S311
    return [" ".join(f"w{generator.randrange(10_000)}" for _ in range(30)) for _ in range(count)]


@pytest.mark.parametrize("layout", ["paper", "modern", "blocks"])
def test_template_goes_and_content_stays(layout: Any) -> None:
    pages = [page(number, content) for number, content in enumerate(contents(10))]
    for scored, content in zip(pages, contents(10), strict=True):
        assert kept(Offsets(layout=layout), scored, pages) == [content]


def test_one_page_alone_keeps_everything() -> None:
    one = page(1, "some words")
    method = Offsets()
    template = learn_template(method, [one])
    assert not method.knows(one, template)
    assert not method.knows(one, None)
    assert kept(method, one, [one]) == ["home news about contact", "some words", "all rights reserved"]


def test_identical_pages_are_all_template_and_disjoint_ones_all_content() -> None:
    same = [page(number, "the very same words") for number in range(5)]
    assert kept(Offsets(), same[0], same) == []
    other = [parse(f"<p>{content}", url=f"https://site.example/{content[:9]}") for content in contents(5)]
    assert all(len(kept(Offsets(), one, other)) == 1 for one in other)
    assert not Offsets().knows(other[0], learn_template(Offsets(), other))


def test_a_page_seen_twice_counts_once() -> None:
    one, two = page(1, "some words"), page(2, "other things here")
    template = learn_template(Offsets(), [one, two, two, one])
    assert template is not None
    assert len(template.prints) == 2


def test_a_block_repeated_on_one_page_is_no_template() -> None:
    body = "<div><p>again and again</p></div>" * 10_000
    many = parse(body, url="https://site.example/many")
    others = [page(number, content) for number, content in enumerate(contents(6))]
    method = Offsets(most_siblings=3)
    assert len(kept(method, many, [many, *others])) == 10_000


def test_a_hundred_thousand_blocks_do_not_take_minutes() -> None:
    body = "".join(f"<div>block {number} of many</div>" for number in range(100_000))
    wide = parse(body, url="https://site.example/wide")
    method = Offsets(position_slack=1)
    start = time.thread_time()
    template = learn_template(method, [wide, page(1, "a"), page(2, "b")])
    assert method.score(wide, template).max() < 0.5
    assert template is not None
    assert max(len(print_.features) for print_ in template.prints) <= method.most_features
    # Not a benchmark: minutes are the fault to be caught, and two seconds are usual.
    assert time.thread_time() - start < 60


def test_words_must_stand_at_the_same_offsets_in_blocks_of_one_style() -> None:
    words = [f"w{number}" for number in range(20)]
    shuffled = [random.Random(number).sample(words, len(words)) for number in range(10)]  # noqa: S311
    pages = [page(number, " ".join(order)) for number, order in enumerate(shuffled)]
    assert kept(Offsets(), pages[0], pages) == [" ".join(shuffled[0])]
    assert kept(Offsets(from_block_start=False), pages[0], pages) == []
    # The same words in a block of another style are no evidence.
    elsewhere = parse(f"<table bgcolor=red><tr><td>{pages[0].texts[0]}</table>", url="https://site.example/other")
    assert kept(Offsets(), elsewhere, pages) == ["home news about contact"]


def test_position_and_attributes_make_the_style() -> None:
    def styles(html: str, most_siblings: int = 6) -> list[tuple[int, int]]:
        layout = find_layout(parse(html), "modern", "paper", most_siblings)
        return list(zip(layout.family.tolist(), layout.position.tolist(), strict=True))

    first, second = styles("<div>a</div><div>b</div>")
    assert first[0] == second[0]
    assert second[1] - first[1] == 1
    assert styles("<div>a</div><div bgcolor=red>b</div>")[1][0] != second[0]
    assert styles("<div>a</div><div class=x>b</div>")[1] == second
    assert styles("<div>a</div>" * 9, most_siblings=3)[3:] == styles("<div>a</div>" * 9, most_siblings=3)[3:4] * 6
    deep = styles("<div>" * 300 + "a")
    deeper = styles("<p>x</p><div></div>" + "<div>" * 300 + "a")[1]
    assert deep[0][0] != deeper[0]


def test_text_belongs_to_its_innermost_block() -> None:
    one = parse("<div>before <table><tr><td>inside<tr><td>too</table> after</div>")
    layout = find_layout(one, "paper", "none", 6)
    assert [one.blocks.texts[leaf] for leaf in range(4)] == ["before", "inside", "too", "after"]
    assert layout.of_leaf.tolist() == [0, 1, 1, 0]
    assert [one.name_of(int(node)) for node in layout.element] == ["body", "table"]


def test_words_are_runs_of_letters_and_single_ideographs() -> None:
    words, leaf = leaf_words(parse("<p>two words</p><p>日本 x</p><p>--</p><p>two</p>"))
    assert leaf.tolist() == [0, 0, 1, 1, 1, 3]
    assert words[0] == words[5]
    assert len(np.unique(words)) == 5


def test_near_positions_are_one_style_with_slack() -> None:
    pages = [page(number, content) for number, content in enumerate(contents(6))]
    shifted = parse(
        "<body><div>extra</div><ul><li>home news about contact</ul><div><p>own</p></div>", url="https://site.example/x"
    )
    strict, loose = Offsets(layout="paper"), Offsets(layout="modern", position_slack=1)
    assert "home news about contact" in kept(Offsets(layout="modern"), shifted, pages)
    assert kept(loose, shifted, pages) == ["extra", "own"]
    assert kept(strict, pages[0], pages) == kept(loose, pages[0], pages)


def test_large_sites_are_sampled_whatever_the_order() -> None:
    method = Offsets(most_pages=5)
    pages = [page(number, content) for number, content in enumerate(contents(30))]
    one, other = learn_template(method, pages), learn_template(method, pages[::-1])
    assert one is not None
    assert other is not None
    assert len(one.prints) == 5
    assert method.dump(one) == method.dump(other)


def test_the_early_exit_decides_alike() -> None:
    site = make_site(12)
    template = learn_template(Offsets(), site)
    for ratio in (0.3, 0.8, 1.0):
        for scored in site:
            slow = Offsets(ratio=ratio).score(scored, template)
            fast = Offsets(ratio=ratio, early_exit=True).score(scored, template)
            assert ((slow >= 0.5) == (fast >= 0.5)).all()


@given(st.floats(0.01, 1), st.integers(1, 60))
def test_half_is_exactly_the_ratio(ratio: float, words: int) -> None:
    hits = np.arange(words + 1)
    graded = Offsets(ratio=ratio).graded(hits / words)
    assert ((graded >= 0.5) == (hits >= ratio * words - 1e-7)).all()
    assert (np.diff(graded) >= 0).all()


def test_a_template_of_other_segments_is_refused() -> None:
    data = Offsets().dump(learn_template(Offsets(), make_site(3)))  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="another number of segments than 3"):
        Offsets(segments=3).load(data)


def test_detection_works_from_an_index_builders_own_table() -> None:
    method = Offsets()
    pages = [page(number, content) for number, content in enumerate(contents(8))]
    triples: list[tuple[int, int, int]] = []
    families: list[int] = []
    positions: list[int] = []
    of_page: list[int] = []
    for number, one in enumerate(pages):
        styled, of_leaf = method.postings(one)
        words, leaf = leaf_words(one)
        seen: dict[int, int] = {}
        for word, block in zip(words.tolist(), of_leaf[leaf].tolist(), strict=True):
            triples.append((word, len(families) + block, seen.get(block, 0)))
            seen[block] = seen.get(block, 0) + 1
        families += styled.family.tolist()
        positions += styled.position.tolist()
        of_page += [number] * len(styled.family)
    random.Random(1).shuffle(triples)  # noqa: S311
    postings = postings_from(
        np.array([word for word, _, _ in triples], dtype=np.uint64),
        np.array([block for _, block, _ in triples]),
        np.array([offset for _, _, offset in triples]),
    )
    family, position = np.array(families, dtype=np.uint64), np.array(positions, dtype=np.uint64)
    table = IndexTable(
        PostingStyles(postings, family, position), np.array(of_page), np.zeros(len(pages), dtype=np.intp)
    )
    gone = method.template_blocks(table)
    assert gone.tolist() == [True, False, True] * len(pages)
    left = postings.without(gone)
    assert set(left.block.tolist()) == {3 * number + 1 for number in range(len(pages))}
    assert left.counts.sum() == sum(len(content.split()) for content in contents(8))


@pytest.mark.parametrize("method", [Offsets(), Offsets(position_slack=2, early_exit=True)], ids=["default", "other"])
def test_a_table_of_several_sites_gives_what_each_site_gives(method: Offsets) -> None:
    sites = [
        [page(number, content) for number, content in enumerate(contents(7))],
        make_site(5),
        [parse("<p>home news about contact</p>"), parse("")],
    ]
    made = [[method.postings(one) for one in site] for site in sites]
    numbers = [number for number, site in enumerate(sites) for _ in site]
    table = IndexTable.joined([styled for site in made for styled, _ in site], numbers)
    found = table.by_page(method.template_blocks(table))
    for site, own in zip(sites, made, strict=True):
        template = learn_template(method, site)
        for one, (_, of_leaf) in zip(site, own, strict=True):
            leaf = one.blocks.of_text
            dropped = method.score(one, template) >= 0.5
            assert found.pop(0)[of_leaf][leaf[leaf >= 0]].tolist() == dropped[leaf >= 0].tolist()
    assert not found


def test_an_index_without_pages() -> None:
    table = IndexTable.joined([], [])
    assert Offsets().template_blocks(table).tolist() == []
    assert families_of(table.styled.family, table.page).tolist() == []


streams = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), max_size=60)


@given(streams)
def test_postings_hold_every_offset(stream: list[tuple[int, int]]) -> None:
    words = np.array([word for word, _ in stream], dtype=np.uint64)
    blocks = np.array([block for _, block in stream], dtype=np.int64)
    table = build_postings(words, blocks)
    expected: dict[tuple[int, int], list[int]] = {}
    for place, (word, block) in enumerate(stream):
        offset = sum(other == block for _, other in stream[:place])
        expected.setdefault((block, word), []).append(offset)
    found = {
        (int(table.block[row]), int(table.word[row])): table.offsets[table.start[row] : table.start[row + 1]].tolist()
        for row in range(len(table))
    }
    assert found == expected
    assert list(found) == sorted(found)


@given(streams, st.integers(1, 5), st.booleans())
def test_signatures_set_a_bit_for_each_difference(
    stream: list[tuple[int, int]],
    segments: int,
    anchored: bool,  # noqa: FBT001
) -> None:
    words = np.array([word for word, _ in stream], dtype=np.uint64)
    table = build_postings(words, np.array([block for _, block in stream], dtype=np.int64))
    steps = differences(table, from_block_start=anchored)
    found = signatures(table, steps, segments)
    for row in range(len(table)):
        offsets = table.offsets[table.start[row] : table.start[row + 1]].tolist()
        own = [offsets[0] if anchored else 0, *(b - a for a, b in pairwise(offsets))]
        bits = [0] * segments
        for rank, step in enumerate(own):
            bits[rank * segments // len(own)] |= 1 << step % 64
        assert found[row].tolist() == bits


def test_a_small_change_leaves_most_differences() -> None:
    before = np.array([1, 2, 1, 3, 1, 4, 1, 5, 1], dtype=np.uint64)
    after = np.insert(before, 3, [9, 9])
    rows = []
    for words in (before, after):
        table = build_postings(words, np.zeros(len(words), dtype=np.int64))
        rows.append(signatures(table, differences(table, from_block_start=True), 1)[:1])
    assert bitwise_similar(rows[0], rows[1], 0.6).all()
    assert not bitwise_similar(rows[0], rows[1], 0.7).all()


items = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30)), max_size=40)


@given(items, st.integers(1, 6), st.integers(0, 8))
def test_single_pass_is_the_pass_item_by_item(pairs: list[tuple[int, int]], most: int, reach: int) -> None:
    pairs = sorted(pairs, key=lambda pair: pair[0])
    keys = np.array([key for key, _ in pairs], dtype=np.uint64)
    values = np.array([value for _, value in pairs], dtype=np.int64)
    found = single_pass(keys, lambda one, other: np.abs(values[one] - values[other]) <= reach, most)
    leaders: list[int] = []
    expected: list[int] = []
    for item, (key, value) in enumerate(pairs):
        own = [leader for leader in leaders if pairs[leader][0] == key]
        near = [leader for leader in own if abs(pairs[leader][1] - value) <= reach]
        if not near and len(own) < most:
            leaders.append(item)
            near = [item]
        expected.append(near[0] if near else -1)
    assert found.tolist() == expected


@given(items, items)
def test_first_match_is_the_first(leaders: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    leaders = sorted(leaders, key=lambda pair: pair[0])
    keys, values = (np.array(column, dtype=np.int64) for column in zip(*leaders, strict=True)) if leaders else (
        np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    )  # fmt: skip
    own = np.array([value for _, value in asked], dtype=np.int64)
    found = first_match(
        keys.astype(np.uint64),
        np.array([key for key, _ in asked], dtype=np.uint64),
        lambda one, other: np.abs(values[one] - own[other]) <= 2,
    )
    expected = [
        next((place for place, (k, v) in enumerate(leaders) if k == key and abs(v - value) <= 2), -1)
        for key, value in asked
    ]
    assert found.tolist() == expected
