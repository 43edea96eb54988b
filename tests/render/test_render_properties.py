"""What holds for every page and every choice."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from random import Random

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chaffinch.page.build import parse
from chaffinch.page.table import Page
from chaffinch.page.tags import Visibility
from chaffinch.render import FORMATS, join_pieces, render, render_pieces

INLINE = ("a href='/x'", "b", "em", "code", "span", "del", "sup", "q", "kbd", "strong", "i", "x-y")
BLOCK = (
    "p", "div", "ul", "ol start=4", "li", "blockquote", "h2", "table", "tr", "td", "th", "dl", "dt", "dd", "pre",
    "section", "textarea", "button", "figure", "center",
)  # fmt: skip
ODD = (
    "math", "svg", "template", "select", "option", "rt", "ruby", "td colspan=99999999999", "td rowspan=70000",
    "ol reversed start=-3", "li value=x", "input type=checkbox", "a href='#n'", "li id=n", "noscript",
    "img src='data:,' srcset=', a 2x,,'", "annotation", "foreignObject",
)  # fmt: skip
LITTER = (
    "<br>",
    "<hr>",
    "<img src=i.png alt=''>",
    " ",
    "\n",
    "<wbr>",
    "<div hidden>unseen</div>",
    "<script>s</script>",
)

words = st.integers(0, 10**6).map(lambda number: f"w{number}x")


def wrap(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tag = st.sampled_from(INLINE + BLOCK)
    return st.tuples(tag, st.lists(children, max_size=5)).map(
        lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0].split()[0]}>"
    )


trees = st.recursive(words.map(lambda word: f" {word} ") | st.sampled_from(LITTER), wrap, max_leaves=25)
tag_soup = st.lists(
    st.sampled_from([f"<{name}>" for name in (*INLINE, *BLOCK, *ODD)])
    | st.sampled_from([f"</{name.split()[0]}>" for name in (*INLINE, *BLOCK, *ODD)])
    | st.text(alphabet="a_*`[]()!<>&#|~\\-+1. \n\t\xa0\u200b\u00ad\u3000漢\x01\x04", max_size=8),
    max_size=30,
).map("".join)  # fmt: skip


def everything(page: Page) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.ones(len(page.texts), dtype=np.bool_)


def visible_words(page: Page) -> list[str]:
    shown = page.visibility[page.text_nodes] == Visibility.VISIBLE
    return re.findall(r"w\d+x", " ".join(text for text, is_shown in zip(page.texts, shown, strict=True) if is_shown))


def visible_text(page: Page) -> str:
    shown = page.visibility[page.text_nodes] == Visibility.VISIBLE
    return "".join("".join(text for text, is_shown in zip(page.texts, shown, strict=True) if is_shown).split())


@given(trees)
@settings(max_examples=200, deadline=None)
def test_nothing_is_lost_or_doubled(html: str) -> None:
    page = parse(html)
    expected = visible_words(page)
    for target in ("text", "markdown"):
        assert re.findall(r"w\d+x", render(page, everything(page), target)) == expected
    assert visible_text(parse(render(page, everything(page), "html"))) == visible_text(page)


@given(trees, st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_a_choice_gives_the_chosen_words_in_order(html: str, random: Random) -> None:
    page = parse(html)
    kept = np.array([random.random() < 0.5 for _ in page.texts], dtype=np.bool_)
    shown = page.visibility[page.text_nodes] == Visibility.VISIBLE
    chosen = [text for text, keep in zip(page.texts, kept & shown, strict=True) if keep]
    expected = re.findall(r"w\d+x", " ".join(chosen))
    for target in ("text", "markdown", "html"):
        assert re.findall(r"w\d+x", render(page, kept, target)) == expected


@given(tag_soup, st.integers(0, 2**30))
@settings(max_examples=300, deadline=None)
def test_no_markup_raises(html: str, seed: int) -> None:
    page = parse(html, url="https://example.org/d/p.html")
    generator = np.random.default_rng(seed)
    scores = generator.random(len(page.texts)).astype(np.float32)
    for kept in (everything(page), scores < 0.5):
        for target in FORMATS:
            once = render(page, kept, target, scores)
            assert once == render(page, kept, target, scores)
        lines = render(page, kept, "text")
        assert lines == lines.strip("\n")
        assert len(json.loads(render(page, kept, "json", scores))["blocks"]) == len(page.blocks)


@given(trees)
@settings(max_examples=50, deadline=None)
def test_nothing_kept_is_nothing(html: str) -> None:
    page = parse(html)
    nothing = ~everything(page)
    assert [render(page, nothing, target) for target in ("text", "markdown", "html")] == ["", "", ""]
    assert not any(block["kept"] for block in json.loads(render(page, nothing, "json"))["blocks"])


@given(trees)
@settings(max_examples=100, deadline=None)
def test_plain_text_has_no_stray_white_space(html: str) -> None:
    page = parse(re.sub("pre|textarea", "div", html))
    lines = render(page, everything(page), "text").split("\n")
    assert all(line == line.rstrip() for line in lines)
    assert not any(one == other == "" for one, other in pairwise(lines))


@given(st.text(alphabet="ab \t\n`~<&*_", min_size=1, max_size=40).filter(lambda text: not text.isspace()))
@settings(max_examples=150, deadline=None)
def test_preformatted_text_is_kept_to_the_letter(text: str) -> None:
    source = text.replace("&", "&amp;").replace("<", "&lt;")
    page = parse(f"<p>before</p><pre>\n{source}\n</pre><p>behind</p>")
    assert render(page, everything(page), "text") == f"before\n\n{text}\n\nbehind"
    fenced = render(page, everything(page), "markdown").split("\n\n", 1)[1].removesuffix("\n\nbehind")
    fence = re.match("`+", fenced)
    assert fence
    assert fenced == f"{fence[0]}\n{text}\n{fence[0]}"
    assert not re.search(f"^ *{fence[0]}", text, re.MULTILINE)
    again = parse(render(page, everything(page), "html"))
    assert again.text_of(again.find("pre")[0]) == text


@given(tag_soup | trees, st.randoms(use_true_random=False))
@example("<q><pre> w0x <br> w0x </pre></q>", Random(1))  # noqa: S311  (chance for a test)
@settings(max_examples=150)
def test_pieces_are_the_text_cut_at_its_blocks(html: str, choose: Random) -> None:
    page = parse(html)
    pieces = render_pieces(page)
    assert len(pieces) == len(page.blocks)
    assert (
        join_pieces(pieces, np.ones(len(pieces), dtype=np.bool_)).split()
        == render(page, everything(page), "text").split()
    )
    kept = [choose.random() < 0.5 for _ in pieces]
    wanted = [word for piece, keep in zip(pieces, kept, strict=True) if keep for word in piece.split()]
    joined = join_pieces(pieces, np.array(kept, dtype=np.bool_))
    assert joined.split() == wanted
    assert "\x06" not in joined
