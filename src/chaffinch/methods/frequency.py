"""How many pages show a thing: exact up to a bound, and within fixed memory beyond it.

Things are known by 64-bit hashes. As long as there are at most `most_entries` different ones, every count is exact.
Beyond that the counts live in a count-min sketch (Cormode and Muthukrishnan 2005) of fixed size, which never counts
too low, and too high only where hashes collide in each of its rows. Either way the result depends on what was
counted alone, not on the order or grouping of the merges: a sketch is a sum, and a part with too many entries makes
the whole have too many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import HashArray

_ROWS: Final = 4
_WIDTH: Final = 1 << 20
"""Counters in each row. With a million different things, a count is too high by more than 3 in 2 % of the cases."""

_MULTIPLIERS: Final = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], dtype=np.uint64
)[:, None]
"""Odd constants: the upper bits of the products place a hash in each row."""


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Counts of pages, by hash. `sketch` is empty while the counts are exact, `hashes` and `counts` afterwards."""

    most_entries: int
    hashes: HashArray
    """In ascending order."""
    counts: NDArray[np.int64]
    sketch: NDArray[np.int64]

    @classmethod
    def of_page(cls, hashes: HashArray, most_entries: int) -> Frequencies:
        """Count every different hash of one page once."""
        unique = np.unique(hashes)
        return cls.of_counts(unique, np.ones(len(unique), dtype=np.int64), most_entries)

    @classmethod
    def of_counts(cls, hashes: HashArray, counts: NDArray[np.int64], most_entries: int) -> Frequencies:
        """Take over counts; the hashes are different and in ascending order."""
        if len(hashes) > most_entries:
            return cls(most_entries, _NO_HASHES, _NO_COUNTS, frozen(_add(_empty_sketch(), hashes, counts)))
        return cls(most_entries, frozen(hashes), frozen(counts), _NO_SKETCH)

    @property
    def exact(self) -> bool:
        """Whether the counts are exact."""
        return self.sketch.size == 0

    def merge(self, other: Frequencies) -> Frequencies:
        """Return the counts of both."""
        if self.exact and other.exact:
            hashes, place = np.unique(np.concatenate((self.hashes, other.hashes)), return_inverse=True)
            counts = np.zeros(len(hashes), dtype=np.int64)
            np.add.at(counts, place, np.concatenate((self.counts, other.counts)))
            return self.of_counts(hashes, counts, self.most_entries)
        total = _empty_sketch()
        for part in (self, other):
            if part.exact:
                _add(total, part.hashes, part.counts)
            else:
                total += part.sketch
        return Frequencies(self.most_entries, _NO_HASHES, _NO_COUNTS, frozen(total))

    def of(self, hashes: HashArray) -> NDArray[np.int64]:
        """Return the count of each hash; 0 for those that were never counted."""
        if not self.exact:
            return np.asarray(np.take_along_axis(self.sketch, _places(hashes), axis=1).min(axis=0))
        result = np.zeros(len(hashes), dtype=np.int64)
        if len(self.hashes):
            place = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
            found = self.hashes[place] == hashes
            result[found] = self.counts[place[found]]
        return result


_NO_HASHES: Final = frozen(np.zeros(0, dtype=np.uint64))
_NO_COUNTS: Final = frozen(np.zeros(0, dtype=np.int64))
_NO_SKETCH: Final = frozen(np.zeros((0, 0), dtype=np.int64))


def _empty_sketch() -> NDArray[np.int64]:
    return np.zeros((_ROWS, _WIDTH), dtype=np.int64)


def _places(hashes: HashArray) -> NDArray[np.intp]:
    with np.errstate(over="ignore"):
        return ((hashes[None, :] * _MULTIPLIERS) >> np.uint64(44)).astype(np.intp)


def _add(sketch: NDArray[np.int64], hashes: HashArray, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    for row, places in zip(sketch, _places(hashes), strict=True):
        np.add.at(row, places, counts)
    return sketch
