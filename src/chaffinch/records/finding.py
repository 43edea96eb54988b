"""Where the records of a site's pages stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.records.candidates import find_candidates
from chaffinch.records.evidence import evidence_of
from chaffinch.records.network import Network

if TYPE_CHECKING:
    from chaffinch.page.arrays import IntArray
    from chaffinch.records.candidates import Candidates
    from chaffinch.records.sheet import Sheet


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
    """Return the records of all pages: the candidate that the ranker puts first."""
    candidates = find_candidates(sheet)
    if len(candidates) == 0:
        return Found(NOTHING, (), candidates)
    scores = ranker.logits(evidence_of(sheet, candidates))
    best = int(np.argmax(scores))
    return Found(members_of(candidates, best), (best,), candidates)


def members_of(candidates: Candidates, number: int) -> Spans:
    """Return the members of one candidate."""
    low, high = candidates.offset[number], candidates.offset[number + 1]
    return Spans(candidates.first[low:high], candidates.stop[low:high])
