"""Where the records of a site's pages stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.tags import IDS
from chaffinch.records.candidates import find_candidates
from chaffinch.records.evidence import evidence_of
from chaffinch.records.network import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import IntArray
    from chaffinch.records.candidates import Candidates
    from chaffinch.records.sheet import Sheet

    Numbers = NDArray[np.float64]


_NEAR: Final = 3.0
"""How far below the best candidate another may lie whose members are records too, in the ranker's numbers."""
_FEWER: Final = 0.9
_AS_LONG: Final = (0.45, 1.6)


@dataclass(frozen=True, eq=False)
class Spans:
    """Records as spans of nodes, in document order, none inside another."""

    first: IntArray
    stop: IntArray

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, eq=False)
class Found:
    """The records of a site, and the kinds of nodes that were taken for records."""

    spans: Spans
    chosen: tuple[int, ...]
    """Which candidates."""
    candidates: Candidates


NOTHING: Final = Spans(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))


def find_records(sheet: Sheet, ranker: Network) -> Found:
    """Return the records of all pages: the candidate that the ranker puts first, and others that go on with it."""
    candidates = find_candidates(sheet)
    if len(candidates) == 0:
        return Found(NOTHING, (), candidates)
    scores = ranker.logits(evidence_of(sheet, candidates))
    chosen = _with_other_regions(sheet, candidates, scores)
    members = np.concatenate([np.arange(candidates.offset[one], candidates.offset[one + 1]) for one in chosen])
    members = members[np.argsort(candidates.first[members], kind="stable")]
    spans = Spans(candidates.first[members], candidates.stop[members])
    return Found(without_headers(sheet, spans), tuple(chosen), candidates)


def without_headers(sheet: Sheet, spans: Spans) -> Spans:
    """Leave out rows of nothing but header cells where other rows have cells of data."""
    cells, headers = (sheet.node_totals(sheet.tag == IDS[name]) for name in ("td", "th"))
    with_cells = cells[spans.stop] > cells[spans.first]
    is_header = ~with_cells & (headers[spans.stop] > headers[spans.first])
    if not is_header.any() or not with_cells.any():
        return spans
    return Spans(spans.first[~is_header], spans.stop[~is_header])


def _with_other_regions(sheet: Sheet, candidates: Candidates, scores: Numbers) -> list[int]:
    """Return the best candidate, and others of about its worth elsewhere on the pages.

    They are of the same element, about as long, and fewer: the results of an advertiser, those of the next screen.
    """
    sizes = np.diff(candidates.offset)
    of = np.repeat(np.arange(len(sizes)), sizes)
    low, high = sheet.leaves_before[candidates.first], sheet.leaves_before[candidates.stop]
    words = np.bincount(of, weights=sheet.words_before[high] - sheet.words_before[low], minlength=len(sizes)) / sizes
    order = np.argsort(-scores, kind="stable").tolist()
    best = order[0]
    tag = sheet.tag[candidates.first[candidates.offset[:-1]]]
    near = (
        (scores >= scores[best] - _NEAR) & (tag == tag[best]) & (sizes <= _FEWER * sizes[best])
        & (words >= words[best] * _AS_LONG[0]) & (words <= words[best] * _AS_LONG[1])
    )  # fmt: skip
    taken = np.zeros(len(sheet.leaf) + 1, dtype=np.int32)
    chosen: list[int] = []
    for one in [best, *(one for one in order[1:] if near[one])]:
        span = slice(candidates.offset[one], candidates.offset[one + 1])
        covered = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(taken[:-1] > 0)))
        if not chosen or (covered[high[span]] == covered[low[span]]).all():
            chosen.append(one)
            for begin, end in zip(low[span].tolist(), high[span].tolist(), strict=True):
                taken[begin:end] = 1
    return chosen


def members_of(candidates: Candidates, number: int) -> Spans:
    """Return the members of one candidate."""
    low, high = candidates.offset[number], candidates.offset[number + 1]
    return Spans(candidates.first[low:high], candidates.stop[low:high])
