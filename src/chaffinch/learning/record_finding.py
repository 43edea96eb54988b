"""What labelled pages teach about finding records: which candidates are the records, and how nearly."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.learning.networks import Training, train_ranker
from chaffinch.learning.record_breaking import broken_up
from chaffinch.learning.record_gold import GoldResultPage, GoldResultSite
from chaffinch.learning.record_marks import leaf_words
from chaffinch.records.candidates import Candidates, find_candidates
from chaffinch.records.evidence import evidence_of
from chaffinch.records.finding import NOTHING, Spans, members_of
from chaffinch.records.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import FloatArray, IndexArray
    from chaffinch.records.network import Network

RANKER: Final = Training(hidden=16, epochs=60, rate=0.02, decay=0.01, networks=8)
_LIST_SPREAD: Final = 0.1
"""How much worse a candidate may be to be still a good answer."""
_ALONE: Final = 1 / 3
"""The weight of a page alone, beside that of its whole site."""
_OF_BROKEN: Final = 1 / 4
"""The weight of pages whose records are made runs of siblings, once as they are and once as rows of a table."""
_LEAST_RECALL: Final = 0.65
"""A member may be a record if it has so much of its words."""
_MATCH: Final = 0.7
"""Or if the words of both agree so much."""
_SURPLUS: Final = 0.25
"""How little it costs what a member has beside the record: later steps drop such text, but add nothing."""
_LEAST_PRECISION: Final = 0.05
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
    """Return what a site teaches: all of its pages together, each alone, and with its records made runs of siblings."""
    sheet = Sheet.of([page.page for page in site.pages])
    candidates = find_candidates(sheet)
    lists = [_list_of(sheet, candidates, site.pages, 1.0)]
    chosen = int(np.argmax(lists[0].quality)) if len(candidates) else -1
    best = members_of(candidates, chosen) if chosen >= 0 else NOTHING
    for page in site.pages:
        alone = Sheet.of([page.page])
        lists.append(_list_of(alone, find_candidates(alone), [page], _ALONE))
    for broken in broken_up(sheet, best):
        fresh = Sheet.of(broken)
        lists.append(_list_of(fresh, find_candidates(fresh), site.pages, _OF_BROKEN))
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
    """Return how well each candidate's members stand for the records of the pages: F1, but each pair by its worth."""
    matches = _Matches(sheet, pages)
    low, high = sheet.leaves_before[candidates.first].tolist(), sheet.leaves_before[candidates.stop].tolist()
    page_of = sheet.page_of[candidates.first].tolist()
    gold = sum(len(page.records) for page in pages)
    result = np.zeros(len(candidates))
    bounds = candidates.offset.tolist()
    for number, (start, stop) in enumerate(pairwise(bounds)):
        taken: set[tuple[int, int]] = set()
        total = 0.0
        for member in range(start, stop):
            page = page_of[member]
            for worth, record in matches.find(page, low[member], high[member]):
                if (page, record) not in taken:
                    taken.add((page, record))
                    total += worth
                    break
        result[number] = 2 * total / (stop - start + gold) if gold else 0.0
    return result


class _Matches:
    """Finds the labelled records that a run of shown texts may stand for."""

    def __init__(self, sheet: Sheet, pages: Sequence[GoldResultPage]) -> None:
        texts = leaf_words(sheet)
        numbers: dict[str, int] = {}
        for page in pages:
            for record in page.records:
                for word in record.bag:
                    numbers.setdefault(word, len(numbers))
        self._words = np.array([numbers.get(word, -1) for text in texts for word in text], dtype=np.intp)
        self._start = np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=np.intp)))
        self._text = np.array([hash(tuple(text)) for text in texts], dtype=np.int64)
        self._records = []
        for page in pages:
            counts = np.zeros((len(page.records), len(numbers)), dtype=np.int16)
            for row, record in enumerate(page.records):
                for word, count in record.bag.items():
                    counts[row, numbers[word]] = count
            self._records.append(counts)
        self._sizes = [np.maximum(counts.sum(axis=1), 1) for counts in self._records]
        self._known: dict[tuple[int, int], list[tuple[float, int]]] = {}

    def find(self, page: int, low: int, high: int) -> list[tuple[float, int]]:
        """Return what the texts from `low` up to `high` are worth for which record, the best first."""
        found = self._known.get((low, high))
        if found is None:
            found = self._known[low, high] = self._search(page, low, high)
        return found

    def _search(self, page: int, low: int, high: int) -> list[tuple[float, int]]:
        every = self._words[self._start[low] : self._start[high]]
        if len(every) > _LONGEST or not len(self._records[page]):
            return []
        worth = self._worth(page, every)
        # What is said twice may be meant twice, or be dropped by later steps.
        _, first = np.unique(self._text[low:high], return_index=True)
        if len(first) < high - low:
            again = np.ones(high - low, dtype=np.bool_)
            again[first] = False
            lengths = np.diff(self._start[low : high + 1])
            worth = np.maximum(worth, self._worth(page, every[~np.repeat(again, lengths)]))
        found = np.flatnonzero(worth)
        order = found[np.argsort(-worth[found], kind="stable")]
        return [(float(worth[number]), int(number)) for number in order.tolist()]

    def _worth(self, page: int, words: IndexArray) -> NDArray[np.float64]:
        """Return what some words are worth for each record of a page: 0 for all that they do not stand for."""
        records = self._records[page]
        known, counts = np.unique(words[words >= 0], return_counts=True)
        common = np.minimum(records[:, known], counts).sum(axis=1)
        sizes = self._sizes[page]
        recall, precision = common / sizes, common / max(len(words), 1)
        alike = 2 * common / (sizes + len(words))
        worth: NDArray[np.float64] = recall * np.maximum(precision, _LEAST_PRECISION) ** _SURPLUS
        return np.where((recall >= _LEAST_RECALL) | (alike >= _MATCH), worth, 0.0)
