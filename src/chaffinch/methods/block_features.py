"""What can be seen of a block on its own page (Kolcz and Yih 2007, section 3): a row of numbers for each block.

A block is an element that shapes the layout and holds enough text. Three groups of features tell of it: the block
alone (its text, its punctuation, its markup), the block against the rest of its page, and its place. All are computed
for all blocks of a page at once, from sums over the page's nodes, words and characters, so that blocks inside each
other cost no more than blocks side by side.

Places and sizes of pages are shares: as plain numbers, such as the line, they tell sites apart better than blocks, and
classifiers that saw them found less on other sites. Document order takes the place of lines. The divergence of word
distributions is taken over 32 classes that the page's different words fall into, as exact distributions would read the
page once for every level of nesting.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from chaffinch.page.arrays import frozen, offsets
from chaffinch.page.tags import NAMES, TEXT, Visibility, tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.methods.page_blocks import PageBlocks
    from chaffinch.page.arrays import BoolArray, FloatArray, IndexArray, IntArray, SmallArray

    Numbers = NDArray[np.float64]

_GROUPS: Final[dict[str, BoolArray]] = {
    "elements": frozen(np.arange(len(NAMES)) != TEXT),
    "anchors": tag_set("a"),
    "images": tag_set("img", "picture", "svg", "map"),
    "headings": tag_set("h1", "h2", "h3", "h4", "h5", "h6"),
    "paragraphs": tag_set("p"),
    "breaks": tag_set("br", "hr"),
    "items": tag_set("li", "dt", "dd"),
    "cells": tag_set("td", "th"),
    "divisions": tag_set("div", "section", "article", "table"),
    "formatting": tag_set("b", "i", "em", "strong", "font", "u", "big", "small", "tt", "sup", "sub", "center"),
    "spans": tag_set("span"),
    "code": tag_set("code", "pre", "kbd", "samp", "var"),
    "inputs": tag_set("form", "input", "select", "option", "button", "textarea", "label", "fieldset"),
    "embedded": tag_set("script", "style", "iframe", "object", "embed", "noscript", "video", "audio"),
}
"""Elements that are counted together."""
_COUNTED: Final = tuple(name for name in _GROUPS if name not in {"elements", "divisions", "spans"})
"""Of these the number tells something; of the others it tells sites apart, and only the share is given."""
_ELEMENTS, _ANCHORS, _IMAGES = (list(_GROUPS).index(name) for name in ("elements", "anchors", "images"))
_OF_PAGE: Final = [_ELEMENTS, _ANCHORS, _IMAGES]
_NUMBERED: Final = [list(_GROUPS).index(name) for name in _COUNTED]

_OWN: Final[dict[str, BoolArray]] = {
    "list": tag_set("ul", "ol", "dl", "menu", "dir"),
    "item": tag_set("li", "dt", "dd"),
    "table": tag_set("table"),
    "row": tag_set("tr", "tbody", "thead", "tfoot"),
    "cell": tag_set("td", "th"),
    "heading": tag_set("h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "summary"),
    "paragraph": tag_set("p", "blockquote", "pre", "figcaption", "address"),
    "division": tag_set("div", "section", "center", "article", "main"),
}
_OF_OWN: Final = frozen(np.stack(list(_OWN.values())).astype(np.float32))

_AROUND: Final[dict[str, BoolArray]] = {
    "navigation": tag_set("nav", "menu"),
    "header": tag_set("header"),
    "footer": tag_set("footer"),
    "aside": tag_set("aside"),
    "main": tag_set("main", "article"),
    "table": tag_set("table"),
    "list": tag_set("ul", "ol", "dl"),
    "form": tag_set("form"),
}

_FIRST_HEADING: Final = tag_set("h1")
_TITLE: Final = tag_set("title")


def _paired(tables: list[BoolArray]) -> NDArray[np.int64]:
    """Return tables two in one, so that one sum counts both: no page has 2^32 elements."""
    low, high = tables[0::2], tables[1::2]
    return frozen(np.stack([one + (two.astype(np.int64) << 32) for one, two in zip(low, high, strict=True)]))


_GROUP_PAIRS: Final = _paired(list(_GROUPS.values()))
_AROUND_PAIRS: Final = _paired(list(_AROUND.values()))
_ANY_AROUND: Final = frozen(np.logical_or.reduce(list(_AROUND.values())))

_SIGNS: Final = ("sentence_ends", "commas", "separators", "other_signs", "digits", "capitals")
_SENTENCE_ENDS: Final = ".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964"
_COMMAS: Final = ",;\u3001\uff0c\uff1b\u060c\u061b\u0387"
_SEPARATORS: Final = "|\u00b7\u2022\u203a\u00bb\u2039\u00ab/:\uff1a\u2192\u2190\u2191\uff1e"
_CLASSES: Final = 32
_HALF: Final = np.int64(32)
_LOW: Final = np.int64((1 << 32) - 1)

_ALONE: Final = {
    "characters": "characters of its words",
    "words": "words, each Han or kana character being one",
    "different_words": "different words",
    "different_share": "different words for each word",
    "word_length": "characters of a word, on average",
    "texts": "visible text nodes",
    "leaf_blocks": "runs of text without a border inside",
    "words_per_leaf": "words of such a run, on average",
    "linked_share": "share of its words that stand in links",
    "words_per_anchor": "words in links for each link",
    **{f"{name}_share": f"{name.replace('_', ' ')} for each character of its words" for name in _SIGNS},
    "sentence_ends": "signs that end a sentence",
    **{name: f"how many {name} it has inside" for name in _COUNTED},
    **{f"{name}_per_word": f"{name} inside for each word" for name in _GROUPS},
    **{f"is_{name}": f"whether it is a {name} itself" for name in _OWN},
    "children": "elements right inside it",
}
_AGAINST: Final = {
    "words_of_page": "its share of the page's words",
    "characters_of_page": "its share of the page's characters",
    "elements_of_page": "its share of the page's elements",
    "anchors_of_page": "its share of the page's links",
    "images_of_page": "its share of the page's images",
    "sentence_ends_of_page": "its share of the page's ends of sentences",
    "linked_difference": "share of its words that stand in links, less that of the rest of the page",
    "word_length_difference": "length of its words, less that of the rest of the page",
    "divergence": "Kullback-Leibler divergence of its words from those of the rest of the page",
    "title_share": "share of its words that the page's title has too",
    "words_of_outer": "its share of the words of the block around it",
    "outer_words": "words of the block around it",
    "outer_linked_share": "share of the words of the block around it that stand in links",
    "outer_blocks": "blocks in the block around it",
}
_PLACE: Final = {
    "line_of_page": "share of the page's nodes before it",
    "words_before_of_page": "share of the page's words before it",
    "words_behind_of_page": "share of the page's words behind it",
    "words_from_heading": "words from the page's first <h1>, or else first heading; less than 0 before it",
    "depth": "elements around it",
    "blocks_around": "blocks around it",
    "sibling": "elements before it in the one around it",
    "siblings_behind": "elements behind it in the one around it",
    **{f"in_{name}": f"whether it stands in a {name}" for name in _AROUND},
}
FEATURES: Final[dict[str, str]] = {**_ALONE, **_AGAINST, **_PLACE}
"""What each feature is, by its name, in the order of the columns."""


_SIGN_PAIRS: Final = _paired(list(np.arange(len(_SIGNS) + 1) == np.arange(1, len(_SIGNS) + 1)[:, None]))


def block_features(blocks: PageBlocks, chosen: IndexArray) -> FloatArray:
    """Return what can be seen of the chosen blocks: a row for each of `FEATURES`, a column for each block."""
    if not len(chosen):
        return np.zeros((len(FEATURES), 0), dtype=np.float32)
    seen = _Seen(blocks, chosen)
    rows = [*seen.alone(), *seen.against(), *seen.place()]
    return np.concatenate([np.atleast_2d(row).astype(np.float32) for row in rows])


@dataclass(frozen=True, eq=False)
class _Seen:
    """What is counted once and serves several features."""

    blocks: PageBlocks
    chosen: IndexArray

    def alone(self) -> list[NDArray[Any]]:
        """Return the features of blocks alone."""
        words, characters, linked = self.sizes[:, self.chosen]
        different = self.blocks.different[self.chosen]
        counts, signs = self.counts[:, :-1], self.signs[:, :-1]
        anchors = np.maximum(counts[_ANCHORS], 1)
        return [
            np.stack((characters, words, different, different / words, characters / words, self.last - self.first)),
            np.stack((self.leaves, words / self.leaves, linked / words, linked / anchors)),
            signs / characters,
            signs[0],
            counts[_NUMBERED],
            counts / words,
            _OF_OWN[:, self.blocks.page.tag[self.node]],
            self.children[self.node],
        ]

    def against(self) -> list[NDArray[Any]]:
        """Return the features of blocks against the rest of their page."""
        words, characters, linked = sizes = self.sizes[:, self.chosen]
        whole_words, whole_characters, whole_linked = whole = self.sizes[:, -1:]
        counts = self.counts[_OF_PAGE]
        rest_words = np.maximum(whole_words - words, 1)
        outer_words, _, outer_linked = self.sizes[:, self.outer]
        inside = self.blocks.nesting.behind - np.arange(len(self.blocks))
        return [
            sizes[:2] / np.maximum(whole[:2], 1),
            counts[:, :-1] / np.maximum(counts[:, -1:], 1),
            self.signs[0, :-1] / max(1.0, self.signs[0, -1]),
            linked / words - (whole_linked - linked) / rest_words,
            characters / words - (whole_characters - characters) / rest_words,
            self.divergence(),
            self.titled(),
            np.stack((words / outer_words, outer_words, outer_linked / outer_words)),
            np.append(inside, len(self.blocks))[self.outer],
        ]

    def place(self) -> list[NDArray[Any]]:
        """Return the features that tell where blocks are."""
        blocks = self.blocks
        whole = max(1, len(blocks.words.number))
        siblings = self.siblings()
        return [
            self.node / len(blocks.page),
            self.first_word / whole,
            (len(blocks.words.number) - self.last_word) / whole,
            self.from_heading(),
            self.depth,
            blocks.nesting.depth[self.chosen],
            *siblings,
            self.around(),
        ]

    @cached_property
    def node(self) -> IntArray:
        return self.blocks.node[self.chosen]

    @cached_property
    def end(self) -> IntArray:
        return self.blocks.end[self.chosen]

    @cached_property
    def first(self) -> IntArray:
        """How many visible text nodes come before each block."""
        return self.blocks.first_text[self.chosen]

    @cached_property
    def last(self) -> IntArray:
        """How many visible text nodes come before the end of each block."""
        return self.blocks.last_text[self.chosen]

    @cached_property
    def first_word(self) -> IntArray:
        """How many of the page's words come before each block."""
        return self.blocks.first_word[self.chosen]

    @cached_property
    def last_word(self) -> IntArray:
        """How many of the page's words come before the end of each block."""
        return self.blocks.last_word[self.chosen]

    @cached_property
    def outer(self) -> IndexArray:
        """The block around each block; -1, which stands for the page, where there is none."""
        up = self.blocks.nesting.up[self.chosen]
        return np.where(up == len(self.blocks), -1, up)

    @cached_property
    def linked_before(self) -> IntArray:
        """For each boundary between visible text nodes, how many words in links come before it."""
        page, words = self.blocks.page, self.blocks.words
        shown = page.text_nodes[page.visibility[page.text_nodes] == Visibility.VISIBLE]
        return offsets(np.diff(words.words_before) * page.in_link[shown])

    @cached_property
    def sizes(self) -> Numbers:
        """Words, characters, and words in links, of all blocks of the page and, at the end, of the page."""
        blocks, words = self.blocks, self.blocks.words
        sums = np.stack((words.words_before, words.characters_before, self.linked_before)).astype(np.float64)
        inside = sums[:, blocks.last_text] - sums[:, blocks.first_text]
        return np.concatenate((inside, sums[:, -1:]), axis=1)

    @cached_property
    def counts(self) -> Numbers:
        """For each group of elements, how many each block has inside; and, at the end, the page."""
        tags = self.blocks.page.tag
        before = np.zeros((len(_GROUP_PAIRS), len(tags) + 1), dtype=np.int64)
        np.cumsum(_GROUP_PAIRS.take(tags, axis=1), axis=1, out=before[:, 1:])
        inside = before[:, self.end] - before[:, self.node + 1]
        return _parted(np.concatenate((inside, before[:, -1:]), axis=1))

    @cached_property
    def signs(self) -> Numbers:
        """For each kind of signs, how many each block has, and, at the end, the page."""
        words = self.blocks.words
        table = _kinds_of_signs()
        kinds = table[np.minimum(words.codes, len(table) - 1)]
        places = np.flatnonzero(kinds)
        before = np.zeros((len(_SIGN_PAIRS), len(places) + 1), dtype=np.int64)
        np.cumsum(_SIGN_PAIRS.take(kinds[places], axis=1), axis=1, out=before[:, 1:])
        ends = np.searchsorted(places, words.start[np.stack((self.first, self.last))])
        inside = before[:, ends[1]] - before[:, ends[0]]
        return _parted(np.concatenate((inside, before[:, -1:]), axis=1))

    @cached_property
    def leaves(self) -> IntArray:
        """How many runs of text that have words each block has."""
        words = self.blocks.words
        start = np.flatnonzero(words.is_first_of_run)
        is_worded = np.zeros(len(words.is_first_of_run), dtype=np.bool_)
        is_worded[start] = np.diff(words.words_before[np.append(start, len(is_worded))]) > 0
        before = offsets(is_worded)
        return before[self.last] - before[self.first]

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """How many elements each block stands in."""
        ends = np.bincount(self.blocks.page.end, minlength=len(self.blocks.page) + 1)
        return self.node - np.cumsum(ends)[self.node]

    @cached_property
    def children(self) -> NDArray[np.intp]:
        """How many elements stand right inside each node."""
        page = self.blocks.page
        return np.bincount(page.parent[(page.tag != TEXT) & (page.parent >= 0)], minlength=len(page))

    def siblings(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return how many elements stand before and behind each block in the one around it."""
        page = self.blocks.page
        around = page.parent[self.node]
        # In the order of their parents, an element's rank is its distance from the first of its parent.
        elements = np.flatnonzero((page.tag != TEXT) & (page.parent >= 0))
        parents = page.parent[elements]
        order = np.argsort(_short(parents), kind="stable")
        place = np.zeros(len(page), dtype=np.intp)
        place[elements[order]] = np.arange(len(order))
        before = place[self.node] - np.searchsorted(parents[order], around)
        return before, self.children[around] - before - 1

    def divergence(self) -> Numbers:
        """Return how far the words of each block are from those of the rest of the page, by the classes of words.

        What is counted is summed up between the ends of blocks, of which there are few.
        """
        first, last = self.first_word, self.last_word
        number = self.blocks.words.number
        ends = np.zeros(len(number) + 1, dtype=np.bool_)
        ends[first] = ends[last] = True
        segment = np.cumsum(ends)
        key = segment[:-1] * _CLASSES + (number & (_CLASSES - 1))
        counts = np.bincount(key, minlength=(int(segment[-1]) + 1) * _CLASSES).reshape(-1, _CLASSES)
        before = np.zeros((len(counts) + 1, _CLASSES), dtype=np.float32)
        np.cumsum(counts, axis=0, out=before[1:])
        inside = before[segment[last]] - before[segment[first]]
        rest = before[-1] - inside + 1  # as if every class had been seen once more
        inside /= inside.sum(axis=1, keepdims=True)
        rest /= rest.sum(axis=1, keepdims=True)
        divergence: Numbers = (inside * np.log(np.maximum(inside, np.float32(1e-12)) / rest)).sum(axis=1)
        return divergence

    def titled(self) -> Numbers:
        """Return the share of each block's words that the page's title has too."""
        page, words = self.blocks.page, self.blocks.words
        has = np.zeros(len(words.different), dtype=np.bool_)
        for title in np.flatnonzero(_TITLE[page.tag])[:1].tolist():
            first, last = np.searchsorted(page.text_nodes, (title, page.end[title])).tolist()
            numbers = map(words.number_of.get, "".join(page.texts[first:last]).split())
            has[[number for number in numbers if number is not None]] = True
        return _share(offsets(has[words.number]), self.first_word, self.last_word)

    def from_heading(self) -> NDArray[np.int32]:
        """Return the words between each block and the page's heading, less than 0 before it."""
        page, words = self.blocks.page, self.blocks.words
        headings = np.flatnonzero(_FIRST_HEADING[page.tag])
        if not len(headings):
            headings = np.flatnonzero(_OWN["heading"][page.tag])
        heading = words.words_before[words.nodes_before[page.end[headings[0]]]] if len(headings) else 0
        first, last = self.first_word, self.last_word
        return np.where(last <= heading, last - heading, np.maximum(0, first - heading))

    def around(self) -> BoolArray:
        """Tell whether each block stands in elements that say what they hold."""
        page = self.blocks.page
        telling = np.flatnonzero(_ANY_AROUND[page.tag])
        inside = np.zeros((len(_AROUND_PAIRS), 2 * len(telling) + 1), dtype=np.int64)
        places = np.concatenate((telling + 1, page.end[telling]))
        order = np.argsort(places, kind="stable")
        pairs = _AROUND_PAIRS[:, page.tag[telling]]
        np.cumsum(np.concatenate((pairs, -pairs), axis=1)[:, order], axis=1, out=inside[:, 1:])
        return _parted(inside[:, np.searchsorted(places[order], self.node, side="right")]) > 0


def _parted(pairs: NDArray[np.int64]) -> Numbers:
    """Return sums of tables that were two in one, one below the other."""
    low = pairs & _LOW
    return np.stack((low, pairs >> _HALF), axis=1).reshape(2 * len(pairs), -1).astype(np.float64)


def _share(before: IntArray, start: IntArray, stop: IntArray) -> Numbers:
    """Return the share of what is counted in each range; 0 in an empty one."""
    share: Numbers = (before[stop] - before[start]) / np.maximum(stop - start, 1)
    return share


def _short(numbers: IntArray) -> NDArray[np.integer[Any]]:
    """Return numbers in 16 bits if they fit: these are sorted by radix, in a fifth of the time."""
    return numbers.astype(np.uint16) if len(numbers) and numbers.max() < 1 << 16 else numbers


@lru_cache(maxsize=1)
def _kinds_of_signs() -> SmallArray:
    """Return a table over characters: 0, or one more than the place in `_SIGNS`."""
    size = 0x10000
    kinds = np.zeros(size + 1, dtype=np.uint8)
    for code in range(0x2100):
        text = chr(code)
        if text.isdigit():
            kinds[code] = 5
        elif text.isupper():
            kinds[code] = 6
        elif not text.isalnum() and not text.isspace() and text.isprintable():
            kinds[code] = 4
    for number, signs in enumerate((_SENTENCE_ENDS, _COMMAS, _SEPARATORS), 1):
        kinds[[ord(sign) for sign in signs]] = number
    return frozen(kinds)


assert len(FEATURES) == sum(map(len, (_ALONE, _AGAINST, _PLACE)))  # noqa: S101  (no name stands for two)
