"""Metadata of pages that were written to break readers, and of random ones."""

from __future__ import annotations

import re
import time
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaffinch.document.metadata import Metadata, language_tag, read_metadata
from chaffinch.page import parse

MANY = 20_000

HOSTILE = {
    "json-ld of 10 MB": '<script type="application/ld+json">{"a":"' + "x" * 10_000_000 + '"}</script>',
    "deep json-ld": '<script type="application/ld+json">' + "[" * 300_000 + "</script>",
    "many scripts": '<script type="application/ld+json">{"@type":"Article"}</script>' * MANY,
    "many metas": "".join(f'<meta name="n{number}" content="x">' for number in range(MANY)),
    "one meta often": '<meta name="author" content="Robin Finch">' * MANY,
    "long meta": '<meta name="author" content="' + "by " * MANY + '"><meta name="date" content="' + "1 " * MANY + '">',
    "long reference": f'<meta name="description" content="&#{"9" * 4_900};">',
    "many names": '<meta name="author" content="' + " and A B" * MANY + '">',
    "many headings": "<h1>Finches</h1>" * MANY,
    "long heading": "<h1>" + "Finches | " * MANY + "</h1>",
    "long title": "<title>" + "Finches | " * MANY + "</title>",
    "blank title": "<title>" + " " * 1_000_000 + "</title>",
    "deep heading": "<h1>" + "<b>" * 2_000 + "x",
    "many bylines": '<p class="byline">By</p>' * MANY,
    "long class": '<p class="' + "author-bio " * MANY + '">Robin Finch</p>',
    "many times": "<time>never</time>" * MANY,
    "many dates": "<h1>x</h1><p>" + "1 may 20 " * MANY + "</p>",
    "digits": "<h1>x</h1><p>" + "2020-" * MANY + "</p>",
    "many links": '<a href="/author/x">x</a>' * MANY,
    "many items": '<i itemprop="datePublished">x</i>' * MANY,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_read_in_time(name: str) -> None:
    page = parse(HOSTILE[name], url="https://hedge.example/")
    assert page.blocks is not None
    start = time.thread_time()
    read_metadata(page)
    assert time.thread_time() - start < 2


@pytest.mark.parametrize("url", [None, "", "https://hedge.example/a", "http://[::1", "file:///a", "\udc80"])
def test_any_address(url: str | None) -> None:
    page = parse('<link rel="canonical" href="b"><h1>Finches</h1>', url=url)
    assert read_metadata(page).title == "Finches"


PIECES = st.sampled_from(
    [
        "<h1>", "</h1>", "<title>", "</title>", "<p class=byline>", "</p>", "By ", "Robin Finch", "<time>", "</time>",
        "<time datetime='", "<meta name=author content='", "<meta property='og:title' content='", "'>",
        "<a rel=author>", "</a>", "<html lang='", "<div itemprop=author>", "<i itemprop=datePublished>", "<br>",
        "<svg>", "<template>", "<noscript>", "<script type='application/ld+json'>", "</script>", '{"@type":"Article",',
        '"author":', "[", "]", "{", "}", '"headline":"x"', "2020-01-02", "3 May 2020", "99/99/9999", " | ", " and ",
        ";", "&#0;", "&amp;",
        "<link rel=canonical href='", "<base href='", "http://[", "\x00", "\u2028", "é", "日本", "<!--", "-->",
    ]
)  # fmt: skip


def check(found: Metadata) -> None:
    for name, value in asdict(found).items():
        assert value is None or (value and value == value.strip()), name
    assert found.date is None or re.fullmatch(r"\d{4}-\d\d-\d\d", found.date)
    assert found.language is None or language_tag(found.language) == found.language
    assert found.canonical_url is None or found.canonical_url.startswith(("http://", "https://"))


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join))
def test_tag_soup_gives_metadata(html: str) -> None:
    found = read_metadata(parse(html, url="https://hedge.example/2020/01/02/a"))
    check(found)
    assert read_metadata(parse(html, url="https://hedge.example/2020/01/02/a")) == found


NAMES = [
    "author",
    "date",
    "og:title",
    "og:url",
    "og:locale",
    "description",
    "article:published_time",
    "citation_author",
]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(NAMES), st.text(max_size=60))
def test_any_value_of_meta(name: str, value: str) -> None:
    escaped = value.replace("&", "&amp;").replace('"', "&quot;")
    check(read_metadata(parse(f'<meta name="{name}" content="{escaped}"><h1>Finches</h1>')))
