"""Blocks inside each other, and the classifiers that are asked about them, against what is plainly counted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaffinch.methods import make_method
from chaffinch.methods.block_features import FEATURES, block_features
from chaffinch.methods.classifiers import Cuts, Forest, forest_arrays, forest_of
from chaffinch.methods.model_weights import COLUMNS, weights_of
from chaffinch.methods.page_blocks import Nesting, PageBlocks, normalised
from chaffinch.methods.text_scores import TextScores, WordOdds, name_tokens, word_lists
from chaffinch.page import Page, parse
from chaffinch.page.tags import Visibility

_WORDS = st.lists(st.sampled_from("barley hedge 2026 Winter, über × harbour".split()), max_size=12).map(" ".join)
_PAGES = st.recursive(
    _WORDS,
    lambda inner: st.tuples(st.sampled_from(("div", "p", "li", "td", "nav", "b", "a href=x")), st.lists(inner)).map(
        lambda pair: f"<{pair[0]} class='site-Menu nav'>{' '.join(pair[1])}</{pair[0].split()[0]}>"
    ),
    max_leaves=25,
)


def _page(body: str) -> Page:
    return parse(f"<title>barley hedge</title><h1>Harbour</h1><table><tr>{body}</table>{body}{'siskin kettle ' * 9}")


@settings(max_examples=40)
@given(_PAGES)
def test_how_blocks_lie_in_each_other(body: str) -> None:
    blocks = PageBlocks.of(_page(body), modern=True)
    count, spans = len(blocks), list(zip(blocks.node.tolist(), blocks.end.tolist(), strict=True))
    for number, (start, _) in enumerate(spans):
        around = [other for other, (first, last) in enumerate(spans) if first < start < last]
        inside = [other for other, (first, _) in enumerate(spans) if start < first < spans[number][1]]
        assert blocks.nesting.up[number] == (around[-1] if around else count)
        assert blocks.nesting.depth[number] == len(around)
        assert blocks.nesting.behind[number] == number + 1 + len(inside)
    page = blocks.page
    shown = page.text_nodes[page.visibility[page.text_nodes] == Visibility.VISIBLE].tolist()
    innermost = [
        max((n for n, (first, last) in enumerate(spans) if first < text < last), default=count) for text in shown
    ]
    assert blocks.of_text.tolist() == innermost
    worded = {block for block, text in zip(innermost, shown, strict=True) if page.text_of(text).strip()} - {count}
    assert blocks.innermost().tolist() == sorted(worded)


@settings(max_examples=40)
@given(_PAGES)
def test_different_words_are_counted(body: str) -> None:
    blocks = PageBlocks.of(_page(body), modern=True)
    ends = zip(blocks.first_word.tolist(), blocks.last_word.tolist(), strict=True)
    assert blocks.different.tolist() == [len(set(blocks.words.number[first:last].tolist())) for first, last in ends]


@settings(max_examples=40)
@given(_PAGES)
def test_features_are_what_is_counted(body: str) -> None:
    blocks = PageBlocks.of(_page(body), modern=True)
    page, words = blocks.page, blocks.words
    seen = block_features(blocks, np.arange(len(blocks)))
    assert np.isfinite(seen).all()
    rows = {name: seen[place].tolist() for place, name in enumerate(FEATURES)}
    for number, (start, end) in enumerate(zip(blocks.node.tolist(), blocks.end.tolist(), strict=True)):
        inside = [page.name_of(node) for node in range(start + 1, end)]
        assert rows["anchors"][number] == inside.count("a")
        assert rows["formatting"][number] == inside.count("b")
        own = [words.different[place] for place in words.number[blocks.first_word[number] : blocks.last_word[number]]]
        assert rows["words"][number] == len(own)
        text = "".join(own)
        assert rows["commas_share"][number] == pytest.approx(text.count(",") / len(text))
        assert rows["digits_share"][number] == pytest.approx(sum(map(str.isdigit, text)) / len(text))
        assert rows["capitals_share"][number] == pytest.approx(sum(map(str.isupper, text)) / len(text))
        assert rows["title_share"][number] == pytest.approx(sum(word in {"barley", "hedge"} for word in own) / len(own))
        chain = [page.name_of(start)]
        while (start := int(page.parent[start])) >= 0:
            chain.append(page.name_of(start))
        assert rows["depth"][number] == len(chain) - 1
        assert rows["in_navigation"][number] == ("nav" in chain[1:])
        assert rows["in_table"][number] == ("table" in chain[1:])
    # Whoever asks about some blocks gets what is said of them when all are asked about.
    some = np.arange(len(blocks))[::2]
    assert np.array_equal(block_features(blocks, some), seen[:, some])


@settings(max_examples=40)
@given(_PAGES)
def test_training_and_use_score_words_alike(body: str) -> None:
    blocks = PageBlocks.of(_page(body), modern=True)
    scores = TextScores(
        WordOdds(("barley", "hedge", "winter"), np.array([2, -1, 0.5], np.float32)),
        WordOdds(("menu", "nav"), np.array([1, 4], np.float32)),
    )
    every = np.arange(len(blocks))
    lists = word_lists(blocks, every)
    found = scores.features(blocks, every)
    text, names, around = (
        [odds.of(words).sum() for words in lists[name]]
        for name, odds in (("tokens", scores.text), ("names", scores.names), ("names_around", scores.names))
    )
    sizes = np.array([len(words) for words in lists["tokens"]])
    assert found[0] == pytest.approx(text / np.sqrt(sizes), abs=1e-5)
    assert found[2] == pytest.approx(names, abs=1e-5)
    assert found[3] == pytest.approx(around, abs=1e-5)


def test_words_and_names_are_made_alike() -> None:
    assert normalised(("Next,", "\u201c2026\u201d", "--", "Über")) == ("next", "0000", "", "Über")
    parts, ends = name_tokens(["siteFooter nav-2", "", "x\ny"])
    assert [[part for part in parts[start:stop] if part != "\n"] for start, stop in pairwise(ends)] == [
        ["site", "footer", "nav"],
        [],
        ["x", "y"],
    ]


def test_spans_that_end_together() -> None:
    nesting = Nesting.of(np.array([0, 2, 3, 7], np.int32), np.array([9, 5, 5, 9], np.int32))
    assert nesting.up.tolist() == [4, 0, 1, 0, 4]
    assert nesting.behind.tolist() == [4, 3, 3, 4]
    inner = nesting.innermost(np.array([0, 2, 3, 7], np.int32), np.array([9, 5, 5, 9], np.int32), 10)
    assert inner.tolist() == [0, 0, 1, 2, 2, 0, 0, 3, 3, 4]


def test_a_forest_goes_down_its_trees() -> None:
    cuts = Cuts(np.array([[1, 2, np.inf], [5, np.inf, np.inf]], np.float32))
    forest = Forest(
        feature=np.array([0, 0, 1, 0, 0, 1, 0, 0], np.int32),
        cut=np.array([2, np.inf, 5, np.inf, np.inf, 5, np.inf, np.inf], np.float32),
        below=np.array([1, 1, 3, 3, 4, 6, 6, 7], np.int32),
        value=np.array([0.5, 0.25, 0.75, 0.5, 1, 0.5, 0, 1], np.float32),
        roots=np.array([0, 5], np.int32),
        depth=2,
    )
    values = np.array([[1, 2, 3, 2], [9, 4, 9, 5]], np.float32)
    expected = [(0.25 + 1) / 2, (0.5 + 0) / 2, (1 + 1) / 2, (1 + 1) / 2]
    assert forest(values).tolist() == expected
    assert forest.bias == 0.5
    assert forest.parts(values).sum(axis=0) + forest.bias == pytest.approx(expected)
    again = forest_of(forest_arrays(forest, cuts), cuts)
    assert again(values).tolist() == expected


def test_deep_pages_and_pages_without_blocks() -> None:
    method = make_method("model")
    deep = parse("<div>" * 3000 + "these are words enough for a block of text, and some more of them")
    assert len(method.score(deep, None)) == len(deep.text_nodes)
    assert method.score(parse("<p>short"), None).tolist() == [0]
    blocks = PageBlocks.of(deep, modern=True)
    assert weights_of("").features(blocks, blocks.innermost()).shape == (len(COLUMNS), 1)
