"""Pages with what scripts or clicks would show: nothing seen before is lost, and no text comes twice."""

from __future__ import annotations

import re
from itertools import count

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chaffinch.page import Page, Visibility, parse
from chaffinch.render import render

TAGS = "a b p div span ul li table tr td noscript template section h2 pre script style details summary br".split()
HIDING = ["<div hidden>", "<p style='display:none'>", "<section hidden=until-found>", "<li style='visibility: hidden'>"]
WORD = "\0"


def _numbered(pieces: list[str]) -> str:
    """Return the markup with a word of its own for each text."""
    numbers = count()
    return re.sub(WORD, lambda _: f" w{next(numbers)} ", "".join(pieces))


soup = st.lists(
    st.one_of(
        st.sampled_from(TAGS).map(lambda tag: f"<{tag}>"),
        st.sampled_from(TAGS).map(lambda tag: f"</{tag}>"),
        st.sampled_from(HIDING),
        st.just(WORD),
        st.just(WORD),
    ),
    max_size=50,
).map(_numbered)


def words(text: str) -> list[str]:
    return re.findall(r"w\d+", text)


def seen_words(page: Page) -> list[str]:
    return words(" ".join(text for text, seen in zip(page.texts, page.shown_text_nodes, strict=True) if seen))


@given(soup)
def test_unrolled_pages_hold_the_same_nodes_and_all_that_was_seen(html: str) -> None:
    page = parse(html)
    unrolled = page.unrolled
    assert unrolled.texts is page.texts
    assert np.array_equal(unrolled.parent, page.parent)
    assert (unrolled.shown_text_nodes >= page.shown_text_nodes).all()
    changed = np.flatnonzero(unrolled.visibility != page.visibility)
    assert (unrolled.visibility[changed] == Visibility.VISIBLE).all()
    assert np.isin(page.visibility[changed], (Visibility.HIDDEN, Visibility.INERT)).all()
    assert not (unrolled.visibility == Visibility.HIDDEN).any()
    blocks = [word for text in unrolled.blocks.texts for word in words(text)]
    assert blocks == seen_words(unrolled)
    assert len(set(blocks)) == len(blocks)


@given(soup, st.randoms(use_true_random=False), st.sampled_from(["text", "markdown", "html"]))
def test_what_is_kept_is_shown_once_and_nothing_else(html: str, chance: object, form: str) -> None:
    page = parse(html)
    choose = np.array([chance.random() < 0.5 for _ in page.texts], dtype=np.bool_)  # type: ignore[attr-defined]
    kept = page.unrolled.shown_text_nodes & choose
    shown = page.showing(kept)
    assert (shown.shown_text_nodes == (page.shown_text_nodes | kept)).all()
    rendered = render(shown, kept, form)  # type: ignore[arg-type]
    expected = words(" ".join(text for text, chosen in zip(page.texts, kept, strict=True) if chosen))
    assert sorted(words(rendered)) == sorted(expected)


@given(soup)
def test_keeping_what_is_seen_changes_nothing(html: str) -> None:
    page = parse(html)
    assert page.showing(page.shown_text_nodes) is page
    assert page.showing(np.zeros(len(page.texts), dtype=np.bool_)) is page


@given(soup, st.floats(0, 1))
def test_the_first_part_of_a_page_is_a_page(html: str, share: float) -> None:
    page = parse(html)
    node = max(1, round(share * len(page)))
    part = page.upto(node)
    assert len(part) == node
    assert page.text.startswith(part.text)
    assert part.end.max() <= node
    assert [part.name_of(n) for n in range(node)] == [page.name_of(n) for n in range(node)]
    assert [part.attributes_of(n) for n in range(node)] == [page.attributes_of(n) for n in range(node)]
    assert (part.shown_text_nodes == page.shown_text_nodes[: len(part.texts)]).all()
    assert seen_words(part) == seen_words(page)[: len(seen_words(part))]


def test_noscript_is_the_page_if_it_is_more_than_all_the_rest() -> None:
    small = parse("<p>a few words of a page<noscript><p>turn it on</p></noscript>")
    assert small.unrolled is small
    large = parse(f"<p>loading<noscript><p>{'the page itself ' * 20}</p></noscript>")
    assert large.unrolled.blocks.texts == ("loading", ("the page itself " * 20).strip())


def test_tabs_and_answers_are_unrolled() -> None:
    page = parse("<div role=tabpanel>first</div><div role=tabpanel hidden>second</div><script>third</script>")
    assert page.blocks.texts == ("first",)
    assert page.unrolled.blocks.texts == ("first", "second")
