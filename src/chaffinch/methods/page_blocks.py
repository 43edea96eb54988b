"""The blocks of a page that the site-independent detector tells apart, and how they lie in each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.methods.blocks import MODERN_TAGS, PAPER_TAGS
from chaffinch.methods.words import Words
from chaffinch.page.arrays import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import HashArray, IndexArray, IntArray
    from chaffinch.page.table import Page

MIN_CHARACTERS: Final = 40
MIN_WORDS: Final = 3
"""A block's text has at least so many characters and different words (section 4.1 of the paper)."""


@dataclass(frozen=True, eq=False)
class Nesting:
    """How spans in document order lie in each other; none of them overlaps another in part."""

    up: IndexArray
    """For each, the nearest around it; behind the last, and where there is none, the number of spans."""
    behind: IndexArray
    """For each, the first behind all that lie in it."""
    depth: NDArray[np.int64]
    """How many lie around each."""

    @classmethod
    def of(cls, start: IntArray, end: IntArray) -> Nesting:
        """Tell from where spans start and end; of spans that start together the outer comes first."""
        count = len(start)
        number = np.arange(count)
        behind = np.searchsorted(start, end)
        depth = number - np.cumsum(np.bincount(behind, minlength=count + 1))[:count]
        key = depth * count + number
        order = np.argsort(key)
        above = np.searchsorted(key, key - count, sorter=order) - 1
        up = np.full(count + 1, count, dtype=np.intp)
        up[:count] = np.where(depth > 0, order[above], count)
        return cls(frozen(up), frozen(behind), frozen(depth))

    def innermost(self, start: IntArray, end: IntArray, places: int) -> IndexArray:
        """Return for each of so many places the innermost span over it; the number of spans for none."""
        count = len(start)
        inner = np.arange(1, count + 1) - np.where(self.up[:-1] == count, 0, self.up[:-1] + 1)
        # Number 0 is outside of all: what is added where a span starts goes again where it ends.
        change = np.bincount(start, weights=inner, minlength=places + 1)
        change -= np.bincount(end, weights=inner, minlength=places + 1)
        number = np.cumsum(change[:places]).astype(np.intp) - 1
        number[number < 0] = count
        return number

    def smallest(self, inner: IndexArray, upto: IntArray, start: IntArray) -> IndexArray:
        """Return the smallest span that is or lies around each of `inner` and starts at `upto` or before."""
        begins = np.append(start, -1)
        steps = [self.up]
        for _ in range(int(self.depth.max(initial=0)).bit_length()):
            steps.append(steps[-1][steps[-1]])
        found = inner
        for step in reversed(steps):
            further = step[found]
            found = np.where(begins[further] > upto, further, found)
        return np.where(begins[found] > upto, self.up[found], found)


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
        nodes = elements[long]
        different = _count_different(
            words, Nesting.of(nodes, page.end[nodes]), words.words_before[first[long]], words.words_before[last[long]]
        )
        enough = different >= MIN_WORDS
        return cls(page, words, frozen(nodes[enough]), frozen(different[enough]))

    def __len__(self) -> int:
        return len(self.node)

    @cached_property
    def end(self) -> IntArray:
        """The node behind each block."""
        return self.page.end[self.node]

    @cached_property
    def nesting(self) -> Nesting:
        """How the blocks lie in each other."""
        return Nesting.of(self.node, self.end)

    @cached_property
    def first_text(self) -> IntArray:
        """For each block, how many visible text nodes come before it."""
        return self.words.nodes_before[self.node]

    @cached_property
    def last_text(self) -> IntArray:
        """For each block, how many visible text nodes come before its end."""
        return self.words.nodes_before[self.end]

    @cached_property
    def first_word(self) -> IntArray:
        """For each block, how many of the page's words come before it."""
        return self.words.words_before[self.first_text]

    @cached_property
    def last_word(self) -> IntArray:
        """For each block, how many of the page's words come before its end."""
        return self.words.words_before[self.last_text]

    @cached_property
    def of_text(self) -> IndexArray:
        """For each visible text node, the innermost block around it; `len(self)` for none."""
        texts = len(self.words.words_before) - 1
        return self.nesting.innermost(self.first_text, self.last_text, texts)

    def innermost(self) -> IndexArray:
        """Return the blocks that are the innermost around some words; the others only lie around them."""
        worded = np.diff(self.words.words_before) > 0
        return np.flatnonzero(np.bincount(self.of_text[worded], minlength=len(self) + 1)[:-1])

    def hashes(self) -> HashArray:
        """Return a hash of the words of each block."""
        return self.words.hashes(self.first_text, self.last_text)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Each of the page's different words as classifiers know it: lower case, digits alike, signs gone."""
        return normalised(self.words.different)

    def names(self) -> list[str]:
        """Return the class, id and role of each block."""
        attributes = self.page.element_attributes
        found = []
        for number in self.page.element_number[self.node].tolist():
            names = ""
            for key, value in attributes[number]:
                if key in _NAMING and value:
                    names = f"{names} {value}" if names else value
            found.append(names)
        return found


def _count_different(words: Words, nesting: Nesting, first: IntArray, last: IntArray) -> IntArray:
    """Return how many different words each of some elements has; the elements are in document order.

    A word that stands again makes one different word less in every element that holds it and its last place before:
    in the smallest such element, and in those around that.
    """
    again = np.flatnonzero(words.before)
    inner = nesting.innermost(first, last, len(words.number))[again]
    smallest = nesting.smallest(inner, words.before[again] - 1, first)
    repeated = np.append(0, np.cumsum(np.bincount(smallest, minlength=len(first) + 1)))
    again_inside: NDArray[np.int64] = repeated[nesting.behind] - repeated[: len(first)]
    return (last - first - again_inside).astype(np.int32)


_NAMING: Final = frozenset({"class", "id", "role"})
_ALIKE: Final = bytes.maketrans(b"123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"000000000abcdefghijklmnopqrstuvwxyz")
_ASCII_SIGNS: Final = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_OTHER_SIGNS: Final = "\u2019\u201c\u201d\u2026\u00ab\u00bb\u2022"


def normalised(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return words with their Latin letters in lower case, all digits alike, without signs.

    A word that has nothing but signs is empty. Capitals of other alphabets stay, as these take Python as long to change
    as all the rest takes.
    """
    if not words:
        return ()
    text = "\n".join(words)
    for sign in _OTHER_SIGNS:
        text = text.replace(sign, "")
    # In UTF-8 no byte of another character is that of an ASCII character.
    plain = text.encode("utf-8", "surrogatepass").translate(_ALIKE, _ASCII_SIGNS)
    return tuple(plain.decode("utf-8", "surrogatepass").split("\n"))
