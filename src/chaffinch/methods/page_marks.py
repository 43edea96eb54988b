"""What the attributes of elements say: class, id, role and the like, and the names that they are made of.

`postBody--wide` says post, body and wide. `split_names` tells how one value is split; `_Names` does the same for all
values of a page at once, without a string for each name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.methods.word_hashes import codes_of, hash_runs, join_texts
from chaffinch.page.arrays import frozen, offsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.methods.containers import Skeleton
    from chaffinch.page.arrays import HashArray, IndexArray, IntArray, SmallArray
    from chaffinch.page.table import Page

_TELLING: Final = ("id", "role", "itemprop", "itemtype", "aria-label", "data-testid", "rel")
"""The attributes that are read, beside the class."""
_NAME: Final = re.compile(r"[A-Za-z][a-z]+|[A-Z]+|[^\W\d_a-zA-Z]+")
_LONGEST: Final = 200
"""Characters that are read of a value."""
_MOST_NAMES: Final = 12
"""Different names that are read of a value."""


def split_names(value: str) -> tuple[str, ...]:
    """Split the value of a class, an id or a role into names."""
    return tuple(dict.fromkeys(map(str.lower, _NAME.findall(_plain(value[:_LONGEST])))))[:_MOST_NAMES]


def _plain(text: str) -> str:
    """Replace the capitals whose small letters are several, or depend on what is around them."""
    return text.replace("\u0130", "\u0131").replace("\u03a3", "\u03c3")


@dataclass(frozen=True, eq=False)
class Marks:
    """The values of the telling attributes around the text of a page, one array entry for each that an element bears.

    Elements are numbered as in the page's skeleton: those without text tell nothing.
    """

    values: tuple[str, ...]
    """The different values."""
    number: IntArray
    """The place in `values`."""
    element: IndexArray
    """The number of the element; ascending."""
    name_hash: HashArray
    """The hashes of the names in each of `values`, one value after the other."""
    name_start: IntArray
    """Where the names of each value start, and at the end how many there are."""
    class_hash: HashArray
    """For each element a hash of its classes, whatever numbers they have; 0 without any."""

    @classmethod
    def of(cls, page: Page, skeleton: Skeleton) -> Marks:
        """Collect the marks around the text of a page."""
        table = page.element_attributes
        place_of = dict(zip(skeleton.element.tolist(), count(), strict=False))
        # Attributes without a value, and elements without text, say nothing.
        pairs = [
            (place_of[number], value)
            for number, value in zip(*table.values("class"), strict=True)
            if value and number in place_of
        ]
        classed, classes = [place for place, _ in pairs], [value for _, value in pairs]
        pairs = [
            (place_of[number], value)
            for number in table.holders(*_TELLING)
            if number in place_of
            for key, value in table[number]
            if value and key in _TELLING
        ]
        others, values = [place for place, _ in pairs], [value for _, value in pairs]
        values = classes + values
        numbered = dict(zip(dict.fromkeys(values), count(), strict=False))
        numbers = np.fromiter(map(numbered.__getitem__, values), dtype=np.int32, count=len(values))
        bearer = np.array(classed + others, dtype=np.intp)
        order = bearer.argsort(kind="stable")
        names, name_start = _names(tuple(numbered))
        hashes = np.zeros(len(skeleton.node), dtype=np.uint64)
        hashes[classed] = _hash_together(names, name_start)[numbers[: len(classed)]]
        return cls(tuple(numbered), numbers[order], bearer[order], names, name_start, hashes)

    @cached_property
    def names(self) -> Names:
        """The names that the values are made of, as strings."""
        lists = list(map(split_names, self.values))
        numbered = dict(zip(dict.fromkeys(chain.from_iterable(lists)), count(), strict=False))
        numbers = [[numbered[name] for name in names] for names in lists]
        borne = [numbers[value] for value in self.number.tolist()]
        lengths = np.fromiter(map(len, borne), dtype=np.int32, count=len(borne))
        return Names(
            tuple(numbered),
            np.fromiter(chain.from_iterable(borne), dtype=np.int32, count=int(lengths.sum())),
            np.repeat(self.element, lengths),
        )


@dataclass(frozen=True, eq=False)
class Names:
    """The names in the marks of a page, one array entry for each that an element bears."""

    different: tuple[str, ...]
    number: IntArray
    """The place in `different`."""
    element: IndexArray
    """The number of the element; ascending."""


_LOWER, _UPPER, _OTHER = 1, 2, 3
"""Letters of English in lower and upper case, and of all other scripts and languages."""


def _names(values: Sequence[str]) -> tuple[HashArray, IntArray]:
    """Hash the names of each value, as `split_names` splits it; and return where those of each start."""
    joined = _plain(join_texts(value[:_LONGEST] for value in values))
    codes = codes_of(joined)
    kinds = _kinds().take(codes, mode="clip")
    borders = (kinds[1:] != kinds[:-1]).nonzero()[0]
    borders += 1
    begin, stop = borders[:-1], borders[1:]
    kind = kinds[begin]
    # One capital begins a name in lower case; several are a name of their own. A small letter alone is none.
    single = stop - begin == 1
    joins = (kind[1:] == _LOWER) & (kind[:-1] == _UPPER) & single[:-1]
    stop = stop.copy()
    stop[:-1][joins] = stop[1:][joins]
    is_name = (kind > 0) & ~(single & (kind == _LOWER))
    is_name[1:] &= ~joins
    begin, stop = begin[is_name], stop[is_name]
    value = np.searchsorted((codes == 0).nonzero()[0], begin) - 1
    hashes = hash_runs(codes_of(joined.lower()), begin, stop)
    # Of a value each name counts once.
    first = np.unique(hashes ^ (value.astype(np.uint64) * np.uint64(_PAIR_FACTOR)), return_index=True)[1]
    first.sort()
    lengths = np.bincount(value[first], minlength=len(values))
    rank = np.arange(len(first)) - np.repeat(lengths.cumsum() - lengths, lengths)
    first = first[rank < _MOST_NAMES]
    return hashes[first], offsets(np.minimum(lengths, _MOST_NAMES).astype(np.int32))


def _hash_together(names: HashArray, starts: IntArray) -> HashArray:
    """Return a hash of the names of each value, in their order."""
    lengths = np.diff(starts)
    rank = np.arange(len(names)) - np.repeat(starts[:-1], lengths)
    sums = np.zeros(len(names) + 1, dtype=np.uint64)
    np.cumsum(names * _rank_factors()[rank], out=sums[1:])
    result: HashArray = sums[starts[1:]] - sums[starts[:-1]] + np.uint64(_PAIR_FACTOR)
    result ^= result >> np.uint64(32)
    return result


_PAIR_FACTOR: Final = 0xC2B2AE3D27D4EB4F
"""Odd, with its bits well spread."""


@cache
def _rank_factors() -> HashArray:
    return frozen(np.cumprod(np.full(_MOST_NAMES, 0x9E3779B97F4A7C15, dtype=np.uint64), dtype=np.uint64))


@cache
def _kinds() -> SmallArray:
    """Return a table over characters."""
    kinds = np.zeros(_TABLE_SIZE, dtype=np.uint8)
    alphabet = "".join(map(chr, range(_TABLE_SIZE)))
    for run in re.finditer(r"[^\W\d_]+", alphabet):
        kinds[run.start() : run.end()] = _OTHER
    kinds[ord("a") : ord("z") + 1] = _LOWER
    kinds[ord("A") : ord("Z") + 1] = _UPPER
    return frozen(kinds)


_TABLE_SIZE: Final = 0x32400
"""No letter of Unicode stands behind."""
