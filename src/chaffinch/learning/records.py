"""The trained parts of record mining, from labelled result pages.

python -m chaffinch.learning.records FOLDER -o records.npz
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.learning.networks import Training, train_ranker
from chaffinch.learning.record_gold import GoldResultPage, GoldResultSite, overlap, read_site, site_folders, words_of
from chaffinch.records.candidates import Candidates, find_candidates
from chaffinch.records.evidence import evidence_of
from chaffinch.records.sheet import Sheet
from chaffinch.records.weights import Weights, write_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import FloatArray
    from chaffinch.records.network import Network

RANKER: Final = Training(hidden=16, epochs=150, rate=0.02, decay=0.01, networks=5)
_LIST_SPREAD: Final = 0.1
"""How much worse a candidate may be to be still a good answer."""
_ALONE: Final = 1 / 3
"""The weight of a page alone, beside that of its whole site."""
_MATCH, _LOOSE_MATCH, _LOOSE_RECALL = 0.7, 0.55, 0.95
"""A member is a record if the words agree so much; or less, if it has all words of the record: what it has too many is
for the later steps to drop."""
_LONGEST: Final = 5000


@dataclass(frozen=True, eq=False)
class _List:
    """The candidates of some pages, and how good each is."""

    rows: FloatArray
    quality: NDArray[np.float64]
    weight: float


@dataclass(frozen=True, eq=False)
class SiteExamples:
    """What one labelled site teaches."""

    name: str
    lists: tuple[_List, ...]


def examples_of(site: GoldResultSite) -> SiteExamples:
    """Return what a site teaches: all of its pages together, and each alone."""
    lists = [_list_of(site.pages, 1.0)]
    lists += [_list_of([page], _ALONE) for page in site.pages]
    return SiteExamples(site.name, tuple(found for found in lists if len(found.rows)))


def train(examples: Sequence[SiteExamples]) -> Weights:
    """Train everything."""
    return Weights(_train_ranker([found for site in examples for found in site.lists]))


def _train_ranker(lists: Sequence[_List]) -> Network:
    targets = []
    for found in lists:
        powers = np.exp((found.quality - found.quality.max()) / _LIST_SPREAD)
        targets.append(powers / powers.sum())
    return train_ranker(
        np.concatenate([found.rows for found in lists]),
        [len(found.rows) for found in lists],
        np.concatenate(targets),
        np.array([found.weight for found in lists]),
        RANKER,
    )


def _list_of(pages: Sequence[GoldResultPage], weight: float) -> _List:
    sheet = Sheet.of([page.page for page in pages])
    candidates = find_candidates(sheet)
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
        self._words: list[list[str]] = []
        for page in sheet.pages:
            shown = page.shown_text_nodes.tolist()
            self._words += [words_of(text) for text, is_shown in zip(page.texts, shown, strict=True) if is_shown]
        self._records = [page.records for page in pages]
        self._sizes = [np.array([record.size for record in page.records], dtype=np.int64) for page in pages]
        self._known: dict[tuple[int, int], list[int]] = {}

    def find(self, page: int, low: int, high: int) -> list[int]:
        """Return the numbers of the records that the texts from `low` up to `high` match."""
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
        near = np.flatnonzero(2 * np.minimum(size, sizes) >= _LOOSE_MATCH * (size + sizes)).tolist() if size else []
        bag = Counter(words) if near else Counter()
        return [number for number in near if _is_match(bag, size, self._records[page][number].bag)]


def _is_match(bag: Counter[str], size: int, gold: Counter[str]) -> bool:
    wanted = gold.total()
    found = overlap(bag, gold, (size, wanted))
    recall = found * (size + wanted) / 2 / wanted
    return found >= _MATCH or (found >= _LOOSE_MATCH and recall >= _LOOSE_RECALL)


def _hash(folders: Sequence[Path]) -> str:
    """Return a hash of all labels and pages."""
    result = hashlib.sha256()
    for folder in folders:
        for path in sorted([*folder.glob("*.json"), *folder.glob("*.html")]):
            data = path.read_bytes()
            result.update(f"{folder.name}/{path.name}:{len(data)}:".encode())
            result.update(data)
    return result.hexdigest()


def main() -> None:
    """Train on all labelled sites of a folder."""
    parser = argparse.ArgumentParser(
        description="Train the parts of record mining that are learned from labelled pages."
    )
    parser.add_argument("folder", type=Path, help="the labelled result pages: SITE/N.html and SITE/N.json")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the model file")
    parsed = parser.parse_args()
    folders = site_folders(parsed.folder)
    examples = [examples_of(read_site(folder)) for folder in folders]
    card = {
        "data": "result pages of the set `records`, open half",
        "sites": len(folders),
        "pages": sum(max(len(site.lists) - 1, 1) for site in examples),
        "data_sha256": _hash(folders),
        "command": "python -m chaffinch.learning.records FOLDER -o records.npz",
        "seed": RANKER.seed,
    }
    write_weights(parsed.output, train(examples), card)
    sys.stderr.write(f"trained on {len(folders)} sites\n")


if __name__ == "__main__":
    main()
