"""What labelled pages teach about finding records: which candidates are the records, and how nearly."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.learning.networks import Training, train_ranker
from chaffinch.learning.record_gold import GoldResultPage, GoldResultSite, overlap
from chaffinch.learning.record_marks import leaf_words
from chaffinch.records.candidates import Candidates, find_candidates
from chaffinch.records.evidence import evidence_of
from chaffinch.records.finding import NOTHING, Spans, members_of
from chaffinch.records.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import FloatArray
    from chaffinch.records.network import Network

RANKER: Final = Training(hidden=16, epochs=60, rate=0.02, decay=0.01, networks=8)
_LIST_SPREAD: Final = 0.1
"""How much worse a candidate may be to be still a good answer."""
_ALONE: Final = 1 / 3
"""The weight of a page alone, beside that of its whole site."""
_MATCH: Final = 0.7
"""A member is a record if the words agree so much, what it says twice counted once: later steps drop that."""
_LONGEST: Final = 5000


@dataclass(frozen=True, eq=False)
class _List:
    """The candidates of some pages, and how good each is."""

    rows: FloatArray
    quality: NDArray[np.float64]
    weight: float


@dataclass(frozen=True, eq=False)
class FindingExamples:
    """What one labelled site teaches about finding."""

    name: str
    lists: tuple[_List, ...]
    best: Spans
    """The members of the best candidate of all pages together."""
    candidates: Candidates


def finding_examples(site: GoldResultSite) -> FindingExamples:
    """Return what a site teaches: all of its pages together, and each alone."""
    sheet = Sheet.of([page.page for page in site.pages])
    candidates = find_candidates(sheet)
    lists = [_list_of(sheet, candidates, site.pages, 1.0)]
    best = members_of(candidates, int(np.argmax(lists[0].quality))) if len(candidates) else NOTHING
    for page in site.pages:
        alone = Sheet.of([page.page])
        lists.append(_list_of(alone, find_candidates(alone), [page], _ALONE))
    return FindingExamples(site.name, tuple(found for found in lists if len(found.rows)), best, candidates)


def train_finding(examples: Sequence[FindingExamples], how: Training = RANKER) -> Network:
    """Train the network that puts candidates in order."""
    lists = [found for site in examples for found in site.lists]
    targets = []
    for found in lists:
        powers = np.exp((found.quality - found.quality.max()) / _LIST_SPREAD)
        targets.append(powers / powers.sum())
    return train_ranker(
        np.concatenate([found.rows for found in lists]),
        [len(found.rows) for found in lists],
        np.concatenate(targets),
        np.array([found.weight for found in lists]),
        how,
    )


def _list_of(sheet: Sheet, candidates: Candidates, pages: Sequence[GoldResultPage], weight: float) -> _List:
    return _List(evidence_of(sheet, candidates), _quality(sheet, candidates, pages), weight)


def _quality(sheet: Sheet, candidates: Candidates, pages: Sequence[GoldResultPage]) -> NDArray[np.float64]:
    """Return the F1 of each candidate's members against the records of the pages."""
    matches = _Matches(sheet, pages)
    low, high = sheet.leaves_before[candidates.first].tolist(), sheet.leaves_before[candidates.stop].tolist()
    page_of = sheet.page_of[candidates.first].tolist()
    gold = sum(len(page.records) for page in pages)
    result = np.zeros(len(candidates))
    bounds = candidates.offset.tolist()
    for number, (start, stop) in enumerate(pairwise(bounds)):
        taken: set[tuple[int, int]] = set()
        for member in range(start, stop):
            page = page_of[member]
            for record in matches.find(page, low[member], high[member]):
                if (page, record) not in taken:
                    taken.add((page, record))
                    break
        result[number] = 2 * len(taken) / (stop - start + gold) if gold else 0.0
    return result


class _Matches:
    """Finds the labelled records that a run of shown texts may stand for."""

    def __init__(self, sheet: Sheet, pages: Sequence[GoldResultPage]) -> None:
        self._words = leaf_words(sheet)
        self._records = [page.records for page in pages]
        self._sizes = [np.array([record.size for record in page.records], dtype=np.int64) for page in pages]
        self._known: dict[tuple[int, int], list[int]] = {}

    def find(self, page: int, low: int, high: int) -> list[int]:
        """Return the numbers of the records that the texts from `low` up to `high` match, the likest first."""
        found = self._known.get((low, high))
        if found is None:
            found = self._known[low, high] = self._search(page, low, high)
        return found

    def _search(self, page: int, low: int, high: int) -> list[int]:
        words: list[str] = []
        seen: set[str] = set()
        for text in self._words[low:high]:
            joined = " ".join(text)
            if joined not in seen:
                seen.add(joined)
                words += text
            if len(words) > _LONGEST:
                return []
        sizes, size = self._sizes[page], len(words)
        near = np.flatnonzero(2 * np.minimum(size, sizes) >= _MATCH * (size + sizes)).tolist() if size else []
        bag = Counter(words) if near else Counter()
        likeness = {
            number: overlap(bag, self._records[page][number].bag, (size, int(sizes[number]))) for number in near
        }
        found = [number for number in near if likeness[number] >= _MATCH]
        return sorted(found, key=lambda number: -likeness[number])
