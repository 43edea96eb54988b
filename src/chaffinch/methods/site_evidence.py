"""What the pages of a site show together: how many have a text, and what stands in each place of the layout.

Texts are counted by hash, as they are and with all numbers alike. A *place* is the tags and classes around a block,
once those of the four nearest elements and once all up to the root. Of each place the site tells on how many pages it
is, how often it is filled, with how many different texts, and how much like content these looked page by page.

Different texts are counted by linear counting (Whang, Vander-Zanden and Taylor 1990) with 64 bits a place: each text
sets one, and the share of bits that are not set tells how many set them. Everything here is a sum or a union of whole
numbers, so pages may come in any order and grouping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.methods.frequency import Frequencies
from chaffinch.page.arrays import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.methods.page_evidence import PageEvidence
    from chaffinch.page.arrays import FloatArray, HashArray

_BITS: Final = 64
_UNIT: Final = 1024
"""Page scores are kept as whole parts of this, so that sums do not depend on their order."""
_PAGES, _BLOCKS, _SCORE = range(3)

PLACE_NAMES: Final = ("share of pages", "variety", "different texts", "blocks a page", "page score", "newness")
"""What the columns of `Places.numbers` are."""


@dataclass(frozen=True, eq=False)
class Places:
    """What stands in each place, by the place's hash. Beyond `most` places those with the lowest hashes are kept.

    A place that is kept was kept in every part that it was counted in, so its sums are exact.
    """

    most: int
    keys: HashArray
    """In ascending order."""
    sums: NDArray[np.int64]
    """A row for each: pages, blocks, and the sum of their page scores."""
    seen: HashArray
    """Which bits its texts have set."""

    @classmethod
    def of_page(cls, places: HashArray, texts: HashArray, scores: FloatArray, most: int) -> Places:
        """Count the places of one page."""
        rows = np.zeros((len(places), 3), dtype=np.int64)
        rows[:, _BLOCKS] = 1
        rows[:, _SCORE] = np.rint(scores.astype(np.float64) * _UNIT)
        bits = np.uint64(1) << ((texts ^ places) & np.uint64(_BITS - 1))
        counted = _summed(most, places, rows, bits)
        sums = counted.sums.copy()
        sums[:, _PAGES] = 1
        return cls(most, counted.keys, frozen(sums), counted.seen)

    def merge(self, other: Places) -> Places:
        """Return the places of both."""
        return _summed(
            self.most,
            np.concatenate((self.keys, other.keys)),
            np.concatenate((self.sums, other.sums)),
            np.concatenate((self.seen, other.seen)),
        )

    def numbers(self, places: HashArray, pages: int) -> NDArray[np.float64]:
        """Return what is known of each of `places`: a column for each of `PLACE_NAMES`, 0 for those never seen."""
        if not len(self.keys):
            return np.zeros((len(places), len(PLACE_NAMES)))
        at = np.minimum(np.searchsorted(self.keys, places), len(self.keys) - 1)
        known = self.keys[at] == places
        sums = self.sums[at].astype(np.float64)
        bits = np.bitwise_count(self.seen[at]).astype(np.float64)
        different = -_BITS * np.log1p(-np.minimum(bits, _BITS - 0.5) / _BITS)
        blocks = np.maximum(sums[:, _BLOCKS], 1.0)
        shown = np.maximum(sums[:, _PAGES], 1.0)
        columns = (
            sums[:, _PAGES] / max(1, pages),
            np.minimum(1.0, different / np.minimum(blocks, 4 * _BITS)),
            np.log1p(different) / 5,
            np.log1p(blocks / shown) / 4,
            sums[:, _SCORE] / blocks / _UNIT,
            np.minimum(2.0, different / shown),
        )
        return np.where(known[:, None], np.stack(columns, axis=1), 0.0)


def _summed(most: int, keys: HashArray, rows: NDArray[np.int64], bits: HashArray) -> Places:
    """Add up what has the same key."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    fresh = np.ones(len(keys), dtype=np.bool_)
    fresh[1:] = keys[1:] != keys[:-1]
    starts = np.flatnonzero(fresh)[:most]
    stop = len(keys) if len(starts) < most or len(starts) == 0 else _stop(fresh, starts)
    if len(starts) == 0:
        return Places(most, frozen(keys[:0]), frozen(rows[:0]), frozen(bits[:0]))
    return Places(
        most,
        frozen(keys[starts]),
        frozen(np.add.reduceat(rows[order][:stop], starts, axis=0)),
        frozen(np.bitwise_or.reduceat(bits[order][:stop], starts)),
    )


def _stop(fresh: NDArray[np.bool_], starts: NDArray[np.intp]) -> int:
    """Return where the rows of the last key that is kept end."""
    behind = np.flatnonzero(fresh[starts[-1] + 1 :])
    return int(starts[-1] + 1 + behind[0]) if len(behind) else len(fresh)


@dataclass(frozen=True, eq=False)
class SiteEvidence:
    """What is known of a site."""

    pages: int
    texts: Frequencies
    shapes: Frequencies
    edges: Frequencies
    """First and last words of blocks, by their near place."""
    titles: Frequencies
    """What the pages are called."""
    near: Places
    full: Places

    @classmethod
    def of_page(cls, evidence: PageEvidence, scores: FloatArray, most: int) -> SiteEvidence:
        """Return what one page tells; `scores` say how much like content its blocks look."""
        return cls(
            1,
            Frequencies.of_page(evidence.text, most),
            Frequencies.of_page(evidence.shape, most),
            Frequencies.of_page(evidence.edges[evidence.edges > 0], most),
            Frequencies.of_page(evidence.title, most),
            Places.of_page(evidence.near_path, evidence.text, scores, most),
            Places.of_page(evidence.full_path, evidence.text, scores, most),
        )

    def merge(self, other: SiteEvidence) -> SiteEvidence:
        """Return what both tell."""
        return SiteEvidence(
            self.pages + other.pages,
            self.texts.merge(other.texts),
            self.shapes.merge(other.shapes),
            self.edges.merge(other.edges),
            self.titles.merge(other.titles),
            self.near.merge(other.near),
            self.full.merge(other.full),
        )
