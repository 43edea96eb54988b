"""What the default method reads of a page: what is computed for a whole page at once is what it is one by one."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch.methods.conformance import make_site, odd_pages
from chaffinch.methods.fused_network import HashIndex
from chaffinch.methods.page_evidence import LEVELS, find_evidence
from chaffinch.methods.page_marks import split_names
from chaffinch.methods.word_hashes import TextWords, hash_texts, join_texts
from chaffinch.page import Page, parse

texts = st.lists(st.text(st.sampled_from("abcdeABC_- 019é日Üß:.\u0130Σ٣\U00030000\n"), max_size=40), max_size=8)
PAGES = [make_site(1)[0], *odd_pages()]


@given(texts)
def test_words_are_hashed_as_they_are_one_by_one(given_texts: list[str]) -> None:
    words = TextWords.of(join_texts(given_texts), len(given_texts))
    lists = [re.findall(r"\w+", text) for text in given_texts]
    flat = [word for found in lists for word in found]
    assert np.diff(words.starts).tolist() == list(map(len, lists))
    assert words.hashes.tolist() == (hash_texts(flat).tolist() if flat else [])
    assert words.digits.tolist() == [len(word) if word.isdecimal() else 0 for word in flat]


def test_long_texts_have_the_same_hashes() -> None:
    text = "word " * 60_000 + "last"
    words = TextWords.of(text, 1)
    assert len(words.hashes) == 60_001
    assert set(words.hashes[:-1].tolist()) == set(hash_texts(["word"]).tolist())
    assert words.hashes[-1] == hash_texts(["last"])[0]


names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


@given(st.lists(names, unique=True, max_size=50), st.lists(names, max_size=20))
def test_what_is_looked_up_is_found(known: list[str], others: list[str]) -> None:
    numbers = {name: number for number, name in enumerate(known, 1)}
    index = HashIndex.of(hash_texts([*known, "…"])[: len(known)])
    asked = [*known, *others]
    found = index.find(hash_texts([*asked, "…"])[: len(asked)])
    assert found.tolist() == [numbers.get(name, 0) for name in asked]


@given(st.lists(st.text(st.sampled_from("abcdeABC_- 019é日Üß:.\u0130ΣIJ"), min_size=1, max_size=60), max_size=12))
def test_names_are_hashed_as_they_are_split(values: list[str]) -> None:
    html = "".join(f'<p class="{value}">text</p>' for value in values)
    marks = find_evidence(parse(html)).marks
    assert marks.values == tuple(dict.fromkeys(values))
    for place, value in enumerate(marks.values):
        names = split_names(value)
        hashes = marks.name_hash[marks.name_start[place] : marks.name_start[place + 1]]
        assert hashes.tolist() == (hash_texts(names).tolist() if names else [])


def test_a_class_is_the_same_whatever_numbers_it_has() -> None:
    page = parse("<p class='post-1 wide'>a<p class='post-22 wide'>b<p class='wide post-1'>c<p class='1'>d<p>e<p id=a>f")
    marks = find_evidence(page).marks
    one, other, turned, number, none, named = marks.class_hash[-6:].tolist()
    assert one == other
    assert len({one, turned, number, none}) == 4
    assert none == named == 0


def slow_containers(page: Page) -> list[list[tuple[int, int]]]:
    """Climb from each block to its containers, one by one: at each level the first and the last block inside."""
    first = page.blocks.first
    spans = {
        node: (int(np.searchsorted(first, node)), int(np.searchsorted(first, page.end[node])))
        for node in range(len(page))
    }

    def size(node: int) -> int:
        return spans[node][1] - spans[node][0]

    result = []
    for node in page.parent[first].tolist():
        around, goal = [], 2
        for _ in range(LEVELS):
            while size(node) < goal and page.parent[node] >= 0:
                node = int(page.parent[node])  # noqa: PLW2901
            around.append(spans[node])
            goal = 2 * size(node)
        result.append(around)
    return result


@pytest.mark.parametrize("page", PAGES, ids=repr)
def test_containers_grow(page: Page) -> None:
    if len(page) > 5_000:
        pytest.skip("too large to be climbed one by one")
    evidence = find_evidence(page)
    spans = np.stack((evidence.first, evidence.stop), axis=2)[:, 1:]
    assert spans.tolist() == [list(map(list, spans)) for spans in slow_containers(page.unrolled)]


@pytest.mark.parametrize("page", PAGES, ids=repr)
def test_words_and_names_can_be_named(page: Page) -> None:
    """Training counts words and names as strings; the networks only see hashes."""
    evidence = find_evidence(page)
    assert len(evidence.word) == len(evidence.words)
    if len(evidence.word):
        assert evidence.word.tolist() == hash_texts(evidence.word_names)[evidence.words].tolist()
    marks = evidence.marks
    assert evidence.name_element.tolist() == sorted(evidence.name_element.tolist())
    borne = np.diff(marks.name_start)[marks.number].sum()
    assert len(evidence.names) == len(evidence.name_element) == borne
