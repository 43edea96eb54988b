"""The words of a page, and what can be told of any run of its text nodes at once: how many, which, how different.

Elements lie in each other, so reading the text of each would read a page once for every level of nesting. Here a page
is split into words once; prefix sums then answer for all elements together, however deep they lie.

For the hash of a run every word is hashed once (xxHash, 64 bits), and the run is the polynomial that has its words'
hashes as coefficients, at a fixed point modulo the prime 2^61 - 1. Two different texts of n words agree for a random
point with a chance of at most n / 2^61. The modulus is a prime because modulo 2^64, which would cost less, the
Thue-Morse order of any two words and its complement agree at every point. The point is public, since templates are
kept and merged, so somebody who wants two texts to agree can find such texts, as with MD5. It gains them nothing: all
that a shared hash does is to make a text count as if it were the other, and whoever can put texts on many pages can
put the same text there and need not search.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import compress, count
from typing import TYPE_CHECKING, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.page.arrays import frozen, offsets
from chaffinch.page.blocks import SPACELESS
from chaffinch.page.tags import BLOCK_LEVEL, LINE_BREAK, Visibility

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, HashArray, IntArray
    from chaffinch.page.table import Page


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a page's visible text, and how to tell of any run of its text nodes what they are.

    Words end at white space, where a leaf text block ends, and where an element that may be a candidate does. Han and
    kana are written without spaces; each character is a word. A *boundary* is the place before a visible text node.
    """

    nodes_before: IntArray
    """For each position in the page, and behind the last, how many visible text nodes come before it."""
    words_before: IntArray
    """For each boundary, how many words."""
    characters_before: IntArray
    """For each boundary, how many characters of words."""
    spaces_before: IntArray
    """For each boundary, how many words that come after white space."""
    number: IntArray
    """For each word, its place in `different`."""
    different: tuple[str, ...]
    """The words as they stand in the source, each once, in the order of their first places."""
    number_of: Mapping[str, int]
    """The place of each word in `different`."""
    text: str
    """The visible text, with a line break before each run."""
    start: IntArray
    """For each boundary, where it is in `text`."""
    begin: IntArray
    """For each word, where it is in `text`."""
    codes: NDArray[np.uint32]
    """The characters of `text`."""
    is_first_of_run: BoolArray
    """For each visible text node, whether a run starts with it."""

    @classmethod
    def of(cls, page: Page, tags: BoolArray) -> Words:
        """Split the visible text of a page."""
        visible = page.visibility[page.text_nodes] == Visibility.VISIBLE
        nodes = page.text_nodes[visible]
        fresh = _first_of_runs(page, nodes, tags)
        text, start = _join(page, visible, fresh)
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
        kinds = _kinds()[np.minimum(codes, len(_kinds()) - 1)]
        inside = kinds != _SPACE
        alone = kinds == _SPACELESS_KIND
        after_space = inside.copy()
        after_space[1:] &= ~inside[:-1]
        begins = after_space | alone
        begins[1:] |= inside[1:] & alone[:-1]
        shown = np.zeros(len(page) + 1, dtype=np.int32)
        shown[nodes + 1] = 1
        split = _WORD.findall(text) if alone.any() else text.split()
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        number = np.fromiter(map(numbers.__getitem__, split), dtype=np.int32, count=len(split))
        return cls(
            nodes_before=np.cumsum(shown, dtype=np.int32),
            words_before=offsets(begins)[start],
            characters_before=offsets(inside)[start],
            spaces_before=offsets(after_space)[start],
            number=number,
            different=tuple(numbers),
            number_of=numbers,
            text=text,
            start=start,
            begin=np.flatnonzero(begins).astype(np.int32),
            codes=codes,
            is_first_of_run=fresh,
        )

    @cached_property
    def hash_of_different(self) -> HashArray:
        """The hash of each of `different`; the same on every page and machine."""
        return np.array([xxh3_64_intdigest(word.encode()) for word in self.different], dtype=np.uint64)

    @cached_property
    def word(self) -> HashArray:
        """Each word's hash."""
        return self.hash_of_different[self.number]

    def has(self, first: IntArray, last: IntArray, characters: int, different: int) -> BoolArray:
        """Tell which runs of text nodes have enough text."""
        spaces = self.spaces_before[last] - self.spaces_before[first]
        length = self.characters_before[last] - self.characters_before[first] + np.maximum(0, spaces - 1)
        enough: BoolArray = length >= max(1, characters)
        if different > 1:
            enough[enough] = self.count_different(first[enough], last[enough]) >= different
        return enough

    def count_different(self, first: IntArray, last: IntArray) -> IntArray:
        """Return how many different words each run of text nodes has."""
        return _count_different(self.before, self.words_before[first], self.words_before[last])

    def hashes(self, first: IntArray, last: IntArray) -> HashArray:
        """Return a hash of the words of each run of text nodes."""
        start, stop = self.words_before[first], self.words_before[last]
        power, inverse = _powers(max(_LEAST_POWERS, len(self.word).bit_length()))
        terms = _product(_reduced(self.word), power[: len(self.word)])
        # Sums of halves do not overflow: a page has far fewer than 2^32 words.
        low, high = (sums[stop] - sums[start] for sums in (_sums(terms & _LOW), _sums(terms >> _HALF)))
        total = _reduced(_reduced(low) + _product(_reduced(high), np.uint64(1) << _HALF))
        return _product(total, inverse[start])

    @cached_property
    def before(self) -> IntArray:
        """For each word, one more than the place where it stood last; 0 for those that did not."""
        # Numbers of 16 bits are sorted by radix, in a fifth of the time.
        number = self.number.astype(np.uint16) if len(self.different) <= 1 << 16 else self.number
        order = np.argsort(number, kind="stable").astype(np.int32)
        same = self.number[order[1:]] == self.number[order[:-1]]
        result = np.zeros(len(order), dtype=np.int32)
        result[order[1:][same]] = order[:-1][same] + 1
        return result


def _first_of_runs(page: Page, nodes: IntArray, tags: BoolArray) -> BoolArray:
    """Tell which text nodes are parted from the one before by the border of a block or a candidate."""
    boundary = np.zeros(len(page) + 1, dtype=np.int32)
    elements = np.flatnonzero((BLOCK_LEVEL | tags)[page.tag])
    boundary[elements] = 1
    boundary[page.end[elements]] = 1
    boundary[:-1][LINE_BREAK[page.tag]] = 1
    run = np.cumsum(boundary)[nodes]
    result = np.ones(len(nodes), dtype=np.bool_)
    result[1:] = run[1:] != run[:-1]
    return result


def _join(page: Page, visible: BoolArray, fresh: BoolArray) -> tuple[str, IntArray]:
    """Return the visible texts as one with a line break before each run, and where each text and the end are in it."""
    numbers = np.flatnonzero(visible)
    lengths = page.text_offset[page.text_nodes[numbers] + 1] - page.text_offset[page.text_nodes[numbers]] + fresh
    parts = [""] * (2 * len(numbers))
    parts[0::2] = _BREAKS[fresh.astype(np.intp)].tolist()
    parts[1::2] = compress(page.texts, visible.tolist())
    return "".join(parts), offsets(lengths)


_BREAKS: Final = frozen(np.array(["", "\n"], dtype=object))


_SPACELESS_CLASS: Final = "".join(f"{chr(start)}-{chr(stop - 1)}" for start, stop in SPACELESS)
_WORD: Final = re.compile(rf"[{_SPACELESS_CLASS}]|[^\s{_SPACELESS_CLASS}]+")
_SPACE: Final = 0
_WORD_KIND: Final = 1
_SPACELESS_KIND: Final = 2


@lru_cache(maxsize=1)
def _kinds() -> NDArray[np.uint8]:
    """Return a table over characters: white space, parts of words, words by themselves."""
    kinds = np.full(0x30001, _WORD_KIND, dtype=np.uint8)
    kinds[[code for code in range(0x3001) if chr(code).isspace()]] = _SPACE
    for start, stop in SPACELESS:
        kinds[start:stop] = _SPACELESS_KIND
    return frozen(kinds)


def _count_different(before: IntArray, start: IntArray, stop: IntArray) -> IntArray:
    """Return how many different words stand from `start` up to `stop`, by where each word stood last.

    A word is the first of its kind in a run if it stood last before the run. Words before the run all did, so it is
    enough to count the words before `stop` that stood last before `start`, and take off the first `start`. The words
    are sorted by one bit of `before` after the other, the highest first, while each run's part of them is kept track
    of (a wavelet matrix): log n rounds over whole arrays.
    """
    smaller = np.zeros(len(start), dtype=np.int32)
    limit = start.astype(np.int32) + 1
    left, right = np.zeros(len(stop), dtype=np.int32), stop.astype(np.int32)
    for bit in range(len(before).bit_length(), -1, -1):
        is_zero = (before >> bit) & 1 == 0
        zeros_before = offsets(is_zero)
        zeros_left, zeros_right = zeros_before[left], zeros_before[right]
        goes_on_in_ones = (limit >> bit) & 1 == 1
        smaller += np.where(goes_on_in_ones, zeros_right - zeros_left, 0)
        left = np.where(goes_on_in_ones, zeros_before[-1] + left - zeros_left, zeros_left)
        right = np.where(goes_on_in_ones, zeros_before[-1] + right - zeros_right, zeros_right)
        before = np.concatenate((before[is_zero], before[~is_zero]))
    return smaller - start


_PRIME: Final = np.uint64((1 << 61) - 1)
_PRIME_BITS: Final = np.uint64(61)
_POINT: Final = 0x0F2A4C9D61B3E875
"""Where the polynomials are taken: any number below the prime without pattern."""
_HALF: Final = np.uint64(31)
_LOW: Final = np.uint64((1 << 31) - 1)
_LOW_30: Final = np.uint64((1 << 30) - 1)
_LEAST_POWERS: Final = 14
"""Most pages have fewer than 2^14 words, and share one table of powers."""


def _reduced(numbers: HashArray) -> HashArray:
    """Return numbers modulo the prime."""
    folded: HashArray = (numbers & _PRIME) + (numbers >> _PRIME_BITS)
    return np.where(folded >= _PRIME, folded - _PRIME, folded)


def _product(one: HashArray, other: HashArray | np.uint64) -> HashArray:
    """Return products modulo the prime, of factors below it, by halves that fit in 64 bits."""
    one_high, one_low = one >> _HALF, one & _LOW
    other_high, other_low = other >> _HALF, other & _LOW
    middle = one_high * other_low + one_low * other_high
    # 2^61 is 1 modulo the prime, so 2^62 is 2.
    return _reduced(
        np.uint64(2) * one_high * other_high
        + (middle >> np.uint64(30))
        + ((middle & _LOW_30) << _HALF)
        + one_low * other_low
    )


def _sums(numbers: HashArray) -> HashArray:
    result = np.zeros(len(numbers) + 1, dtype=np.uint64)
    np.cumsum(numbers, out=result[1:])
    return result


@lru_cache(maxsize=4)
def _powers(bits: int) -> tuple[HashArray, HashArray]:
    """Return the first 2^bits powers of the point, and of its inverse."""
    prime = int(_PRIME)
    tables = []
    for base in (_POINT, pow(_POINT, -1, prime)):
        table = np.ones(1, dtype=np.uint64)
        for bit in range(bits):
            table = np.concatenate((table, _product(table, np.uint64(pow(base, 1 << bit, prime)))))
        tables.append(frozen(table))
    return tables[0], tables[1]
