"""What can be seen of a block on its own page (Kolcz and Yih 2007, section 3): a row of numbers for each block.

A block is an element that shapes the layout and holds enough text. Three groups of features tell of it: the block
alone (its text, its punctuation, its markup), the block against the rest of its page, and its place. All are computed
for all blocks of a page at once, from sums over the page's nodes, words and characters, so that blocks inside each
other cost no more than blocks side by side.

Places and sizes of pages are shares: as plain numbers, such as the line, they tell sites apart better than blocks, and
classifiers that saw them found less on other sites. Document order takes the place of lines. The divergence of word
distributions is taken over 64 classes that words fall into by their first three characters, as exact distributions
would read the page once for every level of nesting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.methods.blocks import MODERN_TAGS, PAPER_TAGS
from chaffinch.methods.words import Words
from chaffinch.page.arrays import covered, frozen, nearest_marked, offsets
from chaffinch.page.tags import NAMES, TEXT, Visibility, tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, FloatArray, HashArray, IntArray, SmallArray
    from chaffinch.page.table import Page

    Numbers = NDArray[np.float64]

MIN_CHARACTERS: Final = 40
MIN_WORDS: Final = 3
"""A block's text has at least so many characters and different words (section 4.1)."""

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
_OF_GROUP: Final = frozen(np.stack(list(_GROUPS.values())).astype(np.int32))

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
_OF_OWN: Final = frozen(np.stack(list(_OWN.values())))

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
_OF_AROUND: Final = frozen(np.stack(list(_AROUND.values())))

_FIRST_HEADING: Final = tag_set("h1")

_SIGNS: Final = ("sentence_ends", "commas", "separators", "other_signs", "digits", "capitals")
_SENTENCE_ENDS: Final = ".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964"
_COMMAS: Final = ",;\u3001\uff0c\uff1b\u060c\u061b\u0387"
_SEPARATORS: Final = "|\u00b7\u2022\u203a\u00bb\u2039\u00ab/:\uff1a\u2192\u2190\u2191\uff1e"
_CLASSES: Final = 64
_SPACE: Final = 32
_IDEOGRAPHS: Final = 0x3000
"""From here on most characters are words by themselves."""

_ALONE: Final = {
    "characters": "characters of its words",
    "words": "words, each Han or kana character being one",
    "different_words": "different words",
    "different_share": "different words for each word",
    "word_length": "characters of a word, on average",
    "texts": "visible text nodes",
    "leaf_blocks": "runs of text without a border inside",
    "words_per_leaf": "words of such a run, on average",
    "longest_leaf": "words of the longest such run",
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
}
_PLACE: Final = {
    "line_of_page": "share of the page's nodes before it",
    "words_before_of_page": "share of the page's words before it",
    "words_behind_of_page": "share of the page's words behind it",
    "words_from_heading": "words from the page's first <h1>, or else first heading; less than 0 before it",
    "words_from_longest": "words from the page's longest run of text, 0 if that is in it; less than 0 before it",
    "longest_of_page": "its longest run of text for that of the page",
    "depth": "elements around it",
    "sibling": "elements before it in the one around it",
    "siblings_behind": "elements behind it in the one around it",
    **{f"in_{name}": f"whether it stands in a {name}" for name in _AROUND},
}
FEATURES: Final[dict[str, str]] = {**_ALONE, **_AGAINST, **_PLACE}
"""What each feature is, by its name, in the order of the columns."""


@dataclass(frozen=True, eq=False)
class PageBlocks:
    """The blocks of one page: elements that shape the layout and hold enough text, in document order."""

    page: Page
    words: Words
    node: IntArray
    """The elements."""
    different: IntArray
    """How many different words each has."""

    @classmethod
    def of(cls, page: Page, *, modern: bool) -> PageBlocks:
        """Find the blocks, by the paper's list of elements or by that and what has come into use since."""
        tags = MODERN_TAGS if modern else PAPER_TAGS
        words = Words.of(page, tags)
        elements = np.flatnonzero(tags[page.tag]).astype(np.int32)
        first, last = words.nodes_before[elements], words.nodes_before[page.end[elements]]
        long = words.has(first, last, MIN_CHARACTERS, 1)
        different = _count_different(page, words, elements[long])
        enough = different >= MIN_WORDS
        return cls(page, words, frozen(elements[long][enough]), frozen(different[enough]))

    def __len__(self) -> int:
        return len(self.node)

    @cached_property
    def first_word(self) -> IntArray:
        """For each block, the number of the page's words before it."""
        return self.words.words_before[self.words.nodes_before[self.node]]

    @cached_property
    def last_word(self) -> IntArray:
        """For each block, the number of the page's words up to its end."""
        return self.words.words_before[self.words.nodes_before[self.page.end[self.node]]]

    def hashes(self) -> HashArray:
        """Return a hash of the words of each block."""
        return self.words.hashes(*self._texts)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Each of the page's different words as classifiers know it: lower case, digits alike, signs gone."""
        return normalised(self.words.different)

    def names(self) -> list[str]:
        """Return the class, id and role of each block."""
        page = self.page
        attributes = page.element_attributes
        return [
            " ".join([value for key, value in attributes[number] if value and key in _NAMING])
            for number in page.element_number[self.node].tolist()
        ]

    def features(self) -> FloatArray:
        """Return what can be seen of each block: a row for each, a column for each of `FEATURES`."""
        columns = [*self._alone(), *self._against(), *self._place()]
        return np.stack(columns, axis=1).astype(np.float32) if len(self) else np.zeros((0, len(FEATURES)), np.float32)

    @cached_property
    def _texts(self) -> tuple[IntArray, IntArray]:
        """The visible text nodes of each block, as a range."""
        return self.words.nodes_before[self.node], self.words.nodes_before[self.page.end[self.node]]

    @cached_property
    def _counts(self) -> Numbers:
        """For each group of elements, how many each block has inside; and, at the end, the page."""
        tags = self.page.tag
        before = np.zeros((len(_OF_GROUP), len(tags) + 1), dtype=np.int32)
        np.cumsum(_OF_GROUP.take(tags, axis=1), axis=1, out=before[:, 1:])
        inside = before[:, self.page.end[self.node]] - before[:, self.node + 1]
        return np.concatenate((inside, before[:, -1:]), axis=1).astype(np.float64)

    @cached_property
    def _sizes(self) -> tuple[Numbers, Numbers, Numbers]:
        """Words, characters, and words in links, of each block and, at the end, of the page."""
        first, last = (np.append(ends, whole) for ends, whole in zip(self._texts, (0, self._visible), strict=True))
        words = self.words
        shown = self.page.visibility[self.page.text_nodes] == Visibility.VISIBLE
        lengths = np.diff(words.words_before)
        linked = offsets(lengths * self.page.in_link[self.page.text_nodes[shown]])
        sums = (words.words_before, words.characters_before, linked)
        counted = [(before[last] - before[first]).astype(np.float64) for before in sums]
        return counted[0], counted[1], counted[2]

    @property
    def _visible(self) -> int:
        return len(self.words.words_before) - 1

    @cached_property
    def _signs(self) -> Numbers:
        """For each kind of signs, how many each block has, and, at the end, the page."""
        kinds = _kinds_of_signs().take(self._codes, mode="clip")
        places = np.flatnonzero(kinds)
        node = np.searchsorted(self.words.start, places, side="right") - 1
        key = node * len(_SIGNS) + kinds[places] - 1
        counts = np.bincount(key, minlength=self._visible * len(_SIGNS)).reshape(-1, len(_SIGNS))
        before = np.zeros((self._visible + 1, len(_SIGNS)), dtype=np.int64)
        np.cumsum(counts[: self._visible], axis=0, out=before[1:])
        first, last = self._texts
        return np.concatenate((before[last] - before[first], before[-1:])).T.astype(np.float64)

    def _alone(self) -> Iterator[NDArray[np.generic]]:
        words, characters, linked = (size[:-1] for size in self._sizes)
        yield from (characters, words, self.different, self.different / words, characters / words)
        first, last = self._texts
        yield last - first
        leaves, longest = self._leaves
        yield from (leaves, words / np.maximum(leaves, 1), longest)
        groups, signs = self._counts[:, :-1], self._signs[:, :-1]
        anchors = groups[list(_GROUPS).index("anchors")]
        yield from (linked / words, linked / np.maximum(anchors, 1))
        yield from signs / characters
        yield signs[0]
        yield from (count for name, count in zip(_GROUPS, groups, strict=True) if name in _COUNTED)
        yield from groups / words
        yield from _OF_OWN[:, self.page.tag[self.node]]
        yield self._children[self.node]

    @cached_property
    def _leaves(self) -> tuple[IntArray, IntArray]:
        """How many leaf text blocks each block has, and the words of the longest."""
        blocks = self.page.blocks
        start = np.searchsorted(blocks.first, self.node).astype(np.int32)
        stop = np.searchsorted(blocks.first, self.page.end[self.node]).astype(np.int32)
        return stop - start, -_least_between(-blocks.words, start, stop)

    def _against(self) -> Iterator[NDArray[np.generic]]:
        words, characters, linked = self._sizes
        counts, signs = self._counts, self._signs
        groups = list(_GROUPS)
        wholes = (words, characters, *(counts[groups.index(name)] for name in ("elements", "anchors", "images")))
        for whole in (*wholes, signs[0]):
            yield whole[:-1] / max(1.0, whole[-1])
        rest_words = np.maximum(words[-1] - words[:-1], 1)
        yield linked[:-1] / words[:-1] - (linked[-1] - linked[:-1]) / rest_words
        yield characters[:-1] / words[:-1] - (characters[-1] - characters[:-1]) / rest_words
        yield self._divergence()
        titled = offsets(self._in_title[self.words.number].astype(np.int32))
        yield (titled[self.last_word] - titled[self.first_word]) / words[:-1]

    def _divergence(self) -> Numbers:
        """Return how far the words of each block are from those of the rest of the page, by the classes of words.

        What is counted is summed up between the ends of blocks, of which there are few.
        """
        first, last = self.first_word, self.last_word
        ends = np.unique(np.concatenate((first, last)))
        segment = np.zeros(len(self.words.number) + 1, dtype=np.int64)
        segment[ends] = 1
        key = np.cumsum(segment[:-1]) * _CLASSES + self._classes()
        counts = np.bincount(key, minlength=(len(ends) + 1) * _CLASSES).reshape(-1, _CLASSES)
        before = np.zeros((len(counts) + 1, _CLASSES), dtype=np.int64)
        np.cumsum(counts, axis=0, out=before[1:])
        inside = before[np.searchsorted(ends, last) + 1] - before[np.searchsorted(ends, first) + 1]
        rest = before[-1] - inside + 1.0  # as if every class had been seen once more
        inside = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1)
        rest /= rest.sum(axis=1, keepdims=True)
        divergence: Numbers = (inside * np.log(np.maximum(inside, 1e-12) / rest)).sum(axis=1)
        return divergence

    def _classes(self) -> NDArray[np.int64]:
        """Return the class of each word, which is the same on every page."""
        codes = np.append(self._codes, np.array([_SPACE, _SPACE], dtype=np.uint32)).astype(np.int64)
        first, second, third = (codes[self.words.begin + place] for place in range(3))
        second = np.where((first >= _IDEOGRAPHS) | (second <= _SPACE), 0, second)
        third = np.where((second == 0) | (third <= _SPACE), 0, third)
        result: NDArray[np.int64] = (first * 40503 + second * 2749 + third * 101 >> 3) % _CLASSES
        return result

    @cached_property
    def _codes(self) -> NDArray[np.uint32]:
        return np.frombuffer(self.words.text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)

    def _place(self) -> Iterator[NDArray[np.generic]]:
        page, node = self.page, self.node
        total = len(page)
        yield node / total
        words = max(1, len(self.words.number))
        words_behind = len(self.words.number) - self.last_word
        yield from (self.first_word / words, words_behind / words)
        yield from self._from_landmarks()
        yield self._depth[node]
        before, behind_it = self._siblings()
        yield from (before, behind_it)
        for table in _OF_AROUND:
            around = np.flatnonzero(table[page.tag]).astype(np.int32)
            yield covered(around + 1, page.end[around], total)[node]

    def _from_landmarks(self) -> Iterator[NDArray[np.generic]]:
        """Give the words between each block and the page's heading, and between it and the page's longest text."""
        page, blocks = self.page, self.page.blocks
        headings = np.flatnonzero(_FIRST_HEADING[page.tag])
        if not len(headings):
            headings = np.flatnonzero(_OF_OWN[list(_OWN).index("heading")][page.tag])
        heading = headings[:1].tolist() or [0]
        longest = int(np.argmax(blocks.words)) if len(blocks) else 0
        at = (page.end[heading[0]], blocks.first[longest] if len(blocks) else 0)
        before = self.words.words_before[self.words.nodes_before[list(at)]]
        yield np.where(
            self.last_word <= before[0], self.last_word - before[0], np.maximum(0, self.first_word - before[0])
        )
        is_behind = self.first_word > before[1]
        is_before = self.last_word <= before[1]
        yield np.where(is_behind, self.first_word - before[1], np.where(is_before, self.last_word - before[1] - 1, 0))
        yield self._leaves[1] / max(1, int(blocks.words.max(initial=0)))

    @cached_property
    def _in_title(self) -> BoolArray:
        """For each of the page's different words, whether its title has it."""
        page = self.page
        titles = [page.text_of(node) for node in page.find("title")[:1]]
        title = set(normalised(tuple(" ".join(titles).split()))) - {""}
        return np.array([word in title for word in self.tokens], dtype=np.bool_)

    @cached_property
    def _depth(self) -> IntArray:
        """How many elements each node stands in; cheaper than `Page.depth`, which makes paths as well."""
        opened = np.arange(1, len(self.page) + 1)
        opened -= np.cumsum(np.bincount(self.page.end, minlength=len(self.page) + 1))[:-1]
        return (opened - 1).astype(np.int32)

    @cached_property
    def _children(self) -> IntArray:
        """How many elements stand right inside each node."""
        parents = self.page.parent[(self.page.tag != TEXT) & (self.page.parent >= 0)]
        return np.bincount(parents, minlength=len(self.page)).astype(np.int32)

    def _siblings(self) -> tuple[IntArray, IntArray]:
        """Return how many elements stand before and behind each block in the one around it."""
        page = self.page
        elements = np.flatnonzero((page.tag != TEXT) & (page.parent >= 0))
        order = np.argsort(page.parent[elements], kind="stable")
        parents = page.parent[elements][order]
        begins = np.flatnonzero(np.append(True, parents[1:] != parents[:-1])) if len(parents) else parents
        rank = np.zeros(len(page), dtype=np.int32)
        sizes = np.diff(np.append(begins, len(parents)))
        rank[elements[order]] = np.arange(len(parents)) - np.repeat(begins, sizes)
        before = rank[self.node]
        around = page.parent[self.node]
        return before, np.where(around < 0, 0, self._children[around] - before - 1).astype(np.int32)


def _count_different(page: Page, words: Words, nodes: IntArray) -> IntArray:
    """Return how many different words each of some elements has; the elements are in document order.

    A word that stands again makes one different word less in every element that holds it and its last place before:
    in the smallest such element, and in those around that. Elements lie in each other or apart, so the smallest is the
    first, in document order, of those that hold two neighbours anywhere between the two places.
    """
    first = words.words_before[words.nodes_before[nodes]]
    last = words.words_before[words.nodes_before[page.end[nodes]]]
    # Number 0 is the page; at each place the sum tells the innermost element that holds this word and the next.
    up = blocks_around(page, nodes)[:-1]
    inner = np.arange(1, len(nodes) + 1) - np.where(up == len(nodes), 0, up + 1)
    change = np.zeros(len(words.number) + 1, dtype=np.int64)
    np.add.at(change, first, inner)
    np.add.at(change, np.maximum(last - 1, first), -inner)
    holds_both = np.cumsum(change).astype(np.int32)
    again = np.flatnonzero(words.before).astype(np.int32)
    smallest = _least_between(holds_both, words.before[again] - 1, again)
    repeated = np.append(0, np.cumsum(np.bincount(smallest, minlength=len(nodes) + 1)))
    behind = np.searchsorted(nodes, page.end[nodes])
    again_inside: NDArray[np.int64] = repeated[behind + 1] - repeated[1 : len(nodes) + 1]
    return (last - first - again_inside).astype(np.int32)


def blocks_around(page: Page, nodes: IntArray) -> IntArray:
    """Return for each block of a page the number of the nearest block around it; the last number stands for none."""
    number = np.full(len(page) + 1, len(nodes), dtype=np.int32)
    number[nodes] = np.arange(len(nodes), dtype=np.int32)
    marked = np.zeros(len(page), dtype=np.bool_)
    marked[nodes] = True
    above = page.parent[nodes]
    nearest = nearest_marked(page.parent, marked)[above]
    return np.append(np.where(above < 0, len(nodes), number[nearest]), len(nodes)).astype(np.int32)


_NAMING: Final = frozenset({"class", "id", "role"})
_DIGITS: Final = bytes.maketrans(b"123456789", b"000000000")
_ASCII_SIGNS: Final = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_OTHER_SIGNS: Final = "\u2019\u201c\u201d\u2026\u00ab\u00bb\u2022"


def normalised(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return words in lower case, all digits alike, without signs; one that has nothing else is empty."""
    if not words:
        return ()
    text = "\n".join(words).lower()
    for sign in _OTHER_SIGNS:
        text = text.replace(sign, "")
    # In UTF-8 no byte of another character is that of an ASCII character.
    plain = text.encode("utf-8", "surrogatepass").translate(_DIGITS, _ASCII_SIGNS)
    return tuple(plain.decode("utf-8", "surrogatepass").split("\n"))


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


def _least_between(values: IntArray, start: IntArray, stop: IntArray) -> IntArray:
    """Return the least of `values` in each range, 0 for an empty one; by tables of minima over powers of two."""
    result = np.zeros(len(start), dtype=np.int32)
    level = np.frexp((stop - start).astype(np.float64))[1] - 1  # the logarithm of the length; -1 for an empty range
    order = np.argsort(level, kind="stable")
    bounds = np.searchsorted(level[order], np.arange(int(level.max(initial=-1)) + 2))
    minima = values
    for power in range(len(bounds) - 1):
        here = order[bounds[power] : bounds[power + 1]]
        result[here] = np.minimum(minima[start[here]], minima[stop[here] - (1 << power)])
        minima = np.minimum(minima[: -(1 << power)], minima[1 << power :])
    return result


assert len(FEATURES) == sum(map(len, (_ALONE, _AGAINST, _PLACE)))  # noqa: S101  (no name stands for two)
