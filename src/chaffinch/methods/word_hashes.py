"""Hashes of many words at once, without a string for each.

The hash of a word is a polynomial in the codes of its characters, modulo 2^64: a running sum over a whole text and the
inverse powers of the point give those of all its words together. The same word has the same hash in every text and on
every machine. The point is no secret; who writes words that share a hash only makes one count as the other, and could
have written the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, HashArray, IndexArray, IntArray

_POINT: Final = 0x9E3779B97F4A7C15
_MIX_FACTOR: Final = 0xC2B2AE3D27D4EB4F
_KEPT_POWERS: Final = 1 << 17
"""Most pages have fewer characters, and share one table of powers."""
_TABLE_SIZE: Final = 0x32400
"""No letter or digit of Unicode stands behind."""


def join_texts(texts: Iterable[str]) -> str:
    """Join texts by NUL, which the parser leaves in none."""
    return "\0".join(texts)


def codes_of(joined: str) -> NDArray[np.unsignedinteger]:
    """Return the codes of the characters, with a NUL before the first and behind the last."""
    text = f"\0{joined}\0"
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)


def hash_runs(codes: NDArray[np.unsignedinteger], begin: IndexArray, stop: IndexArray) -> HashArray:
    """Return a hash of each run of characters; none starts at 0."""
    power, inverse = _kept_powers() if len(codes) <= _KEPT_POWERS else _make_powers(len(codes))
    sums = np.multiply(codes, power[: len(codes)], dtype=np.uint64)
    np.cumsum(sums, out=sums)
    hashes: HashArray = (sums[stop - 1] - sums[begin - 1]) * inverse[begin]
    # Of short words only the last bits would differ.
    hashes *= np.uint64(_MIX_FACTOR)
    hashes ^= hashes >> np.uint64(32)
    return hashes


def hash_texts(texts: Sequence[str]) -> HashArray:
    """Return the hash of each of some texts; for a word, it is that of the word in any text."""
    codes = codes_of(join_texts(texts))
    borders = (codes == 0).nonzero()[0]
    return hash_runs(codes, borders[:-1] + 1, borders[1:])


@dataclass(frozen=True, eq=False)
class TextWords:
    """The words of some texts, one after the other: runs of letters, digits and underscores."""

    hashes: HashArray
    """The hash of each word."""
    digits: IntArray
    """How many digits it has, of words that are nothing but digits; 0 for others."""
    starts: IntArray
    """For each text, where its words start; and at the end how many there are."""

    @classmethod
    def of(cls, joined: str, count: int) -> TextWords:
        """Hash the words of `count` texts, joined by NUL."""
        if not count:
            return _NO_WORDS
        codes = codes_of(joined)
        inside, decimal = (table.take(codes, mode="clip") for table in _tables())
        borders = (inside[1:] != inside[:-1]).nonzero()[0]
        borders += 1
        begin, stop = borders[::2], borders[1::2]
        starts = np.searchsorted(begin, (codes == 0).nonzero()[0]).astype(np.int32)
        return cls(hash_runs(codes, begin, stop), _digits(decimal, begin, stop), starts)


def _digits(decimal: BoolArray, begin: IndexArray, stop: IndexArray) -> IntArray:
    """Return how long the words are that are nothing but digits."""
    borders = (decimal[1:] != decimal[:-1]).nonzero()[0]
    borders += 1
    result = np.zeros(len(begin), dtype=np.int32)
    runs, ends = borders[::2], borders[1::2]
    word = np.searchsorted(begin, runs, side="right") - 1
    whole = (begin[word] == runs) & (stop[word] == ends)
    result[word[whole]] = (ends - runs)[whole]
    return result


@cache
def _tables() -> tuple[BoolArray, BoolArray]:
    """Return tables over characters: those of words, and decimal digits."""
    alphabet = "".join(map(chr, range(_TABLE_SIZE)))
    words = np.zeros(_TABLE_SIZE, dtype=np.bool_)
    for run in re.finditer(r"\w+", alphabet):
        words[run.start() : run.end()] = True
    decimal = np.fromiter(map(str.isdecimal, alphabet), dtype=np.bool_, count=_TABLE_SIZE)
    return frozen(words), frozen(decimal)


@cache
def _kept_powers() -> tuple[HashArray, HashArray]:
    return _make_powers(_KEPT_POWERS)


def _make_powers(count: int) -> tuple[HashArray, HashArray]:
    """Return the first powers of the point, and of its inverse."""
    tables = []
    for base in (_POINT, pow(_POINT, -1, 1 << 64)):
        table = np.full(count, base, dtype=np.uint64)
        table[:1] = 1
        tables.append(frozen(np.cumprod(table, out=table)))
    return tables[0], tables[1]


_NO_WORDS: Final = TextWords(
    frozen(np.zeros(0, dtype=np.uint64)), frozen(np.zeros(0, dtype=np.int32)), frozen(np.zeros(1, dtype=np.int32))
)


@lru_cache(maxsize=1 << 10)
def number_name(digits: int) -> str:
    """Return the word that stands for all numbers of so many digits."""
    return f"{digits}digits"


@lru_cache(maxsize=1 << 10)
def number_hash(digits: int) -> int:
    """Return the hash of this word."""
    return int(hash_texts([number_name(digits)])[0])
