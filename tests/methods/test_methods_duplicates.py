"""I-Match: which terms tell pages apart, and which pages are duplicates."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaffinch.methods.duplicates import IMatch, TermStatistics, groups_of, terms_of
from chaffinch.page import parse

PAGES = [
    "home news wren sings in spring 2001".split(),
    "home news finch eats seeds in winter".split(),
    "home news wren sings in spring 2002".split(),
    "home news robin in garden all year".split(),
]


def grouped(match: IMatch, pages: list[list[str]]) -> list[list[int]]:
    statistics = TermStatistics.of_pages(pages)
    return groups_of((number, match.fingerprint(terms, statistics)) for number, terms in enumerate(pages))


def test_terms_are_the_visible_words_once_each() -> None:
    html = "<title>no</title><p>The WREN</p><p>the wren sings<script>no</script></p><p hidden>no</p>"
    assert terms_of(parse(html)) == {"the", "wren", "sings"}
    assert terms_of(parse("<p>日本語の文 mixed文</p>")) == {"日本", "本語", "語の", "の文", "mixed", "文"}
    assert terms_of(parse("<img>")) == frozenset()


def test_the_most_frequent_terms_are_dropped() -> None:
    statistics = TermStatistics.of_pages(PAGES)
    assert IMatch(least_terms=1).telling_terms(PAGES[0], statistics) == ["2001", "sings", "spring", "wren"]
    assert IMatch(most_share=1.0).telling_terms(PAGES[0], statistics) == sorted(PAGES[0])


def test_only_the_rarest_terms_are_kept() -> None:
    statistics = TermStatistics.of_pages(PAGES)
    assert IMatch(rarest=1, least_terms=1).telling_terms(PAGES[0], statistics) == ["2001"]
    assert IMatch(rarest=3, least_terms=1).telling_terms(PAGES[0], statistics) == ["2001", "sings", "spring"]


def test_the_lower_cut_off_finds_copies_that_differ_in_a_date() -> None:
    assert grouped(IMatch(least_terms=1), PAGES) == []
    assert grouped(IMatch(least_terms=1, least_pages=2), PAGES) == [[0, 2]]


def test_a_page_with_few_terms_left_is_known_by_all() -> None:
    assert grouped(IMatch(least_pages=4), PAGES) == []
    assert grouped(IMatch(), [["a", "b"], ["b", "a", "a"], ["a"]]) == [[0, 1]]


def test_the_fingerprint_is_the_sha_1_of_the_sorted_terms() -> None:
    statistics = TermStatistics.of_pages([["b", "a"]])
    assert IMatch().fingerprint(["b", "a", "b"], statistics) == hashlib.sha1(b"a\nb").digest()  # noqa: S324


def test_groups_come_in_the_order_of_their_first_members() -> None:
    named = [("p1", b"x"), ("p2", b"y"), ("p3", b"z"), ("p4", b"y"), ("p5", b"x"), ("p6", b"x")]
    assert groups_of(named) == [["p1", "p5", "p6"], ["p2", "p4"]]


collections = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), min_size=1, max_size=9)


@settings(deadline=None, max_examples=30)  # a sketch is 32 MB
@given(collections, st.sampled_from([3, 1000]))
def test_statistics_are_free_of_order_and_grouping(pages: list[list[str]], most: int) -> None:
    one = TermStatistics.of_pages(pages, most)
    middle = len(pages) // 2
    other = TermStatistics.of_pages(pages[middle:][::-1], most).merge(TermStatistics.of_pages(pages[:middle], most))
    assert one.pages == other.pages == len(pages)
    assert all(IMatch().fingerprint(p, one) == IMatch().fingerprint(p, other) for p in pages)


@given(collections)
def test_equal_pages_are_always_duplicates(pages: list[list[str]]) -> None:
    for match in (IMatch(), IMatch(rarest=2), IMatch(least_pages=2)):
        groups = grouped(match, [*pages, pages[0]])
        assert any(0 in group and len(pages) in group for group in groups)


@pytest.mark.parametrize("text", ["\ud800 lone", "\x00", "é́"])
def test_odd_terms_can_be_hashed(text: str) -> None:
    assert len(IMatch().fingerprint([text], TermStatistics.of_terms([text]))) == 20
