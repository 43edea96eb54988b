"""What JSON-LD says, however badly it is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaffinch.document.jsonld import Statement, read_jsonld, unescaped

ARTICLE = '{"@type": "Article", "headline": "Finches", "author": {"@type": "Person", "name": "Robin Finch"}}'


def read(*values: Any, urls: tuple[str, ...] = ()) -> Statement:
    return read_jsonld([json.dumps(value) for value in values], urls)


@pytest.mark.parametrize(
    "script",
    [
        ARTICLE,
        f"<!-- {ARTICLE} -->",
        f"//<![CDATA[\n{ARTICLE}\n//]]>",
        f"/*<![CDATA[*/ {ARTICLE} /*]]>*/",
        f"\ufeff{ARTICLE};",
        f"{ARTICLE}{ARTICLE}",
        f"[{ARTICLE}]",
        f'{{"@graph": [{ARTICLE}]}}',
        f'{{"@type": "WebPage", "mainEntity": {ARTICLE}}}',
        ARTICLE.replace("}}", ",},}"),
        ARTICLE.replace("Finches", "\tFinches\n"),
        ARTICLE.replace("Finches", "Fin\\ches"),
        ARTICLE.replace('"', "&quot;"),
        ARTICLE[:-1],
        ARTICLE.replace('"Article"', '["Article", "http://schema.org/NewsArticle"]'),
        ARTICLE.replace('"Article"', '"schema:BlogPosting"'),
    ],
)
def test_broken_json_is_read(script: str) -> None:
    found = read_jsonld([script])
    assert found.persons == ("Robin Finch",)
    assert found.title is not None
    assert found.title.replace("\\", "") == "Finches"


@pytest.mark.parametrize(
    ("author", "persons", "groups"),
    [
        ("Robin Finch", ("Robin Finch",), ()),
        (["Robin Finch", {"name": "Wren Alder"}], ("Robin Finch", "Wren Alder"), ()),
        ({"name": ["Robin Finch", "Wren Alder"]}, ("Robin Finch", "Wren Alder"), ()),
        ({"@id": "#robin"}, ("Robin Finch",), ()),
        ({"@id": "#nobody"}, (), ()),
        ({"@type": "Organization", "name": "The Hedge"}, (), ("The Hedge",)),
        ([{"@type": "Organization", "name": "The Hedge"}, {"name": "Robin Finch"}], ("Robin Finch",), ("The Hedge",)),
        ({"name": None}, (), ()),
        ({"name": {"first": "Robin"}}, (), ()),
        (7, (), ()),
        (None, (), ()),
        ([[]], (), ()),
    ],
)
def test_authors(author: Any, persons: tuple[str, ...], groups: tuple[str, ...]) -> None:
    graph = [{"@type": "Article", "author": author}, {"@type": "Person", "@id": "#robin", "name": "Robin Finch"}]
    found = read({"@graph": graph})
    assert (found.persons, found.groups) == (persons, groups)


def test_prose_comes_before_pages() -> None:
    page = {"@type": "WebPage", "name": "Home", "datePublished": "2020-01-01", "inLanguage": "en"}
    article = {"@type": "Article", "headline": "Finches", "datePublished": "2021-03-04"}
    found = read(page, article)
    assert (found.rank, found.title, found.published, found.language) == (3, "Finches", "2021-03-04", "en")


def test_what_names_the_page_comes_first() -> None:
    other = {"@type": "Article", "headline": "Wrens", "url": "https://hedge.example/wrens"}
    own = {"@type": "Article", "headline": "Finches", "mainEntityOfPage": {"@id": "http://www.hedge.example/finches/"}}
    assert read(other, own, urls=("https://hedge.example/finches",)).title == "Finches"
    assert read(other, own).title == "Wrens"


def test_other_things_on_the_page_are_passed_over() -> None:
    comment = {"@type": "Article", "headline": "Wrens", "author": "Wren Alder"}
    assert read({"@type": "WebPage", "comment": [comment], "isPartOf": comment}).title is None
    assert read({"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name": "Why?"}]}).title is None
    video = {"@type": "VideoObject", "name": "Clip", "uploadDate": "2020-01-01", "author": "Wren Alder"}
    found = read({"@type": "Article", "headline": "Finches"}, video)
    assert (found.title, found.published, found.persons) == ("Finches", None, ())


def test_names_of_sites_and_questions() -> None:
    assert read({"@type": "WebSite", "name": "The Hedge"}).site_name == "The Hedge"
    question = {"@type": "Question", "name": "Why?", "author": {"name": "Wren"}, "dateCreated": "2020-01-01"}
    found = read({"@type": "QAPage", "mainEntity": question})
    assert (found.title, found.persons, found.published) == ("Why?", ("Wren",), "2020-01-01")


@pytest.mark.parametrize(
    "script",
    [
        "",
        " ",
        "null",
        "7",
        '"text"',
        "[]",
        "{}",
        "{",
        "}",
        "[" * 100_000,
        '{"@graph":' * 50_000,
        '{"a":' * 900 + "1" + "}" * 900,
        "[" * 900 + "]" * 900,
        '{"@type": "Article", "headline": ' + "9" * 10_000 + "}",
        "{" + "\\" * 50_000,
        "&quot;" * 50_000,
        "&#" + "9" * 5_000 + ";",
        ", " * 100_000,
        '"author": ' * 20_000,
        "//" * 100_000,
    ],
)
def test_hostile_scripts_say_nothing(script: str) -> None:
    assert read_jsonld([script]) == Statement()


def test_long_scripts_are_passed_over() -> None:
    huge = json.dumps({"@type": "Article", "headline": "Wrens", "articleBody": "x" * 10_000_000})
    assert read_jsonld([huge, ARTICLE]).title == "Finches"
    many = json.dumps([{"@type": "WebPage"}] * 10_000)
    assert read_jsonld([many]).rank == 1


def test_references_of_many_digits_are_left() -> None:
    assert unescaped("a &amp; b") == "a & b"
    text = "&#" + "9" * 5_000 + ";"
    assert unescaped(text) == text


KEYS = [
    "@type",
    "@id",
    "@graph",
    "author",
    "name",
    "headline",
    "datePublished",
    "mainEntity",
    "url",
    "mainEntityOfPage",
]
NAMES = st.sampled_from(["Article", "WebPage", "Product", "#a", "Person", "2020-01-01"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=30,
)


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_any_value_is_read(value: Any) -> None:
    script = json.dumps(value)
    assert read_jsonld([script], ["#a"]) == read_jsonld([script], ["#a"])


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='{}[]":,\\/*<!->&; \n@typeArcl', max_size=200))
def test_any_text_is_read(script: str) -> None:
    read_jsonld([script])
