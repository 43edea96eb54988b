"""Gold by selectors: what they match, and the packages that are marked by them."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from chaffinch.errors import ChaffinchError, UsageError
from chaffinch.evaluation.datasets import find_data
from chaffinch.learning import doc_sites
from chaffinch.learning.doc_sites import (
    MOST_PAGES,
    DocRule,
    label_blocks,
    mark,
    read_doc_examples,
    read_doc_sites,
    read_rules,
)
from chaffinch.learning.fused_examples import LabelledPage
from chaffinch.learning.selectors import marked, read_selectors
from chaffinch.page import parse
from chaffinch.sources import Capture

if TYPE_CHECKING:
    from pathlib import Path

PAGE = parse(
    b"<body><div class='nav top'>Up <a href='index.html'>Index</a></div><h1>Name</h1><hr>"
    b"<div id=main role=main><p>One <b>two</b></p><ul class=menu><li><a id=methods.inherited>three</a></li></ul>"
    b"<div class='nav'>four</div><script>var five;</script><p style='display:none'>six</p></div><hr>"
    b"<address>seven</address></body>"
)


def text_of(selectors: str) -> list[str]:
    nodes = marked(PAGE, read_selectors(selectors))
    return [PAGE.text_of(node).strip() for node in PAGE.text_nodes.tolist() if nodes[node] and not PAGE.blank[node]]


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ("div.nav", ["Up", "Index", "four"]),
        ("div.nav.top", ["Up", "Index"]),
        (".nav@-1", ["four"]),
        (".nav@2", ["four"]),
        (".nav@3", []),
        ("#main p", ["One", "two", "six"]),
        ("#main > .nav", ["four"]),
        ("body > .nav", ["Up", "Index"]),
        ("body > p", []),
        ("[role=main] b", ["two"]),
        ("a[id^=methods] < li", ["three"]),
        ("a[id^=methods] < ul", []),
        ("b < p < div", ["One", "two", "three", "four", "var five;", "six"]),
        ("a[href]", ["Index"]),
        ("hr@1<<", ["Up", "Index", "Name"]),
        ("hr>>", ["seven"]),
        ("h1, address", ["Name", "seven"]),
        ("table<<", []),
        ("", []),
    ],
)
def test_selectors_mark_what_they_say(selectors: str, expected: list[str]) -> None:
    assert text_of(selectors) == expected


@pytest.mark.parametrize("selector", ["DIV", "a[href", "#", "p:first", "div..nav"])
def test_what_is_no_selector_is_refused(selector: str) -> None:
    with pytest.raises(UsageError, match="selector"):
        read_selectors(selector)


def test_ignored_beats_excluded_and_excluded_beats_content() -> None:
    rule = DocRule("any", "", *map(read_selectors, ("#main", "ul, .nav", "li")))
    found = mark(PAGE, rule)
    assert found is not None
    assert found.content == "One two"
    assert found.template.split("\n") == ["Up Index", "Name", "four", "seven"]
    assert found.ignored.split("\n") == ["three", "six"]


def test_a_page_without_content_is_passed_over() -> None:
    assert mark(PAGE, DocRule("any", "", read_selectors("#other"), (), ())) is None


def test_a_title_above_the_heading_is_not_taken_for_it() -> None:
    body = b"<body><div class=nav>The title</div><h1>The title</h1><p>Some <i>more</i> words<p hidden>not yet</body>"
    rule = DocRule("any", "", *map(read_selectors, ("body", ".nav", "i")))
    labelled = LabelledPage(Capture("any", body), "any", "docs", "docs", "The title\nSome\nwords", "more\nnot yet")
    example = label_blocks(labelled, rule)
    assert example.content.tolist() == [0, 2, 2, 0]
    assert example.words.tolist() == [2, 2, 2, 0]
    assert example.gold == 4
    assert example.best == 1.0


def test_pages_are_read_whole_and_chosen_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = DocRule("some-doc", "html", *map(read_selectors, ("main", "", "")))
    monkeypatch.setattr(doc_sites, "read_rules", lambda: [rule, DocRule("absent-doc", "html", (), (), ())])
    folder = tmp_path / "debian" / "some-doc" / "html" / "deep"
    folder.mkdir(parents=True)
    for number in range(MOST_PAGES + 5):
        words = f"<nav>go</nav><main>page{number} {'word ' * 60}</main>".encode()
        (folder / f"{number}.html.gz").write_bytes(gzip.compress(words))
    (folder / "short.html").write_bytes(b"<main>short</main>")
    (site,) = read_doc_sites(tmp_path)
    (again,) = read_doc_sites(tmp_path)
    assert site == again
    assert len(site.pages) == MOST_PAGES
    assert [example.gold for example in read_doc_examples(tmp_path)] == [61] * MOST_PAGES
    page = site.pages[0]
    assert (page.capture.folder, page.set, page.site) == ("some-doc", "docs", "some-doc")
    assert page.capture.path.startswith("deep/")
    assert page.capture.path.endswith(".html")
    assert page.content.startswith("page")
    assert not any("short" in page.capture.path or "go" in page.content for page in site.pages)


def test_the_table_names_each_package_once_and_says_what_content_is() -> None:
    rules = read_rules()
    assert len({rule.package for rule in rules}) == len(rules)
    assert all(rule.content for rule in rules)


def test_packages_have_content_and_template() -> None:
    try:
        root = find_data()
    except ChaffinchError:
        pytest.skip("no evaluation data")
    site = next(read_doc_sites(root), None)
    if site is None:
        pytest.skip("no packages in the evaluation data")
    rule = next(rule for rule in read_rules() if rule.package == site.package)
    assert site.pages
    for labelled in site.pages:
        found = mark(parse(labelled.capture.body), rule)
        assert found is not None
        assert found.content == labelled.content
        assert found.template
