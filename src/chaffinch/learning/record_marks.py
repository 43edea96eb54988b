"""Where the labelled units of a page stand: which shown texts of which record belong to which unit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.learning.record_gold import GoldRecord, GoldUnit, overlap, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.learning.record_gold import GoldResultPage
    from chaffinch.page.arrays import IntArray
    from chaffinch.records.finding import Spans
    from chaffinch.records.sheet import Sheet

_LEAST_RECALL: Final = 0.7
"""How many words of a labelled record a found one must have to stand for it."""
_LONGEST: Final = 20_000


@dataclass(frozen=True, eq=False)
class Marks:
    """What the labels say of found records."""

    gold: tuple[GoldRecord | None, ...]
    """For each found record, the labelled one that it stands for."""
    unit: IntArray
    """For each shown text of the sheet: a number for the labelled unit it is part of, or -1."""


def leaf_words(sheet: Sheet) -> list[list[str]]:
    """Return the words of every shown text."""
    return [words_of(text) for texts in sheet.leaf_texts for text in texts]


def mark_units(sheet: Sheet, spans: Spans, pages: Sequence[GoldResultPage]) -> Marks:
    """Pair found records with labelled ones, and find their units in them."""
    words = leaf_words(sheet)
    low, high = sheet.leaves_before[spans.first].tolist(), sheet.leaves_before[spans.stop].tolist()
    gold = _paired(sheet, spans, pages, words)
    unit = np.full(len(sheet.leaf), -1, dtype=np.int32)
    count = 0
    for record, start, stop in zip(gold, low, high, strict=True):
        if record is not None:
            for first, last in places_of(record.units, words[start:stop]):
                unit[start + first : start + last + 1] = count
                count += 1
    return Marks(gold, unit)


def _paired(
    sheet: Sheet, spans: Spans, pages: Sequence[GoldResultPage], words: list[list[str]]
) -> tuple[GoldRecord | None, ...]:
    page_of = sheet.page_of[spans.first].tolist()
    low, high = sheet.leaves_before[spans.first].tolist(), sheet.leaves_before[spans.stop].tolist()
    near: list[tuple[float, int, int, int]] = []
    for number, (page, start, stop) in enumerate(zip(page_of, low, high, strict=True)):
        found = Counter(word for leaf in words[start:stop] for word in leaf)
        size = found.total()
        if not 0 < size < _LONGEST:
            continue
        for place, record in enumerate(pages[page].records):
            likeness = overlap(found, record.bag, (size, record.size))
            recall = likeness * (size + record.size) / 2 / record.size
            if recall >= _LEAST_RECALL:
                near.append((-likeness, number, page, place))
    result: list[GoldRecord | None] = [None] * len(page_of)
    taken: set[tuple[int, int]] = set()
    for _, number, page, place in sorted(near):
        if result[number] is None and (page, place) not in taken:
            taken.add((page, place))
            result[number] = pages[page].records[place]
    return tuple(result)


def places_of(units: Sequence[GoldUnit], words: list[list[str]]) -> list[tuple[int, int]]:
    """Return the first and the last text of each unit that is found, longest units first, each text used once."""
    joined = "".join("".join(leaf) for leaf in words)
    owner = np.repeat(np.arange(len(words)), [sum(map(len, leaf)) for leaf in words])
    begins = np.ones(len(owner) + 1, dtype=np.bool_)
    begins[1:-1] = owner[1:] != owner[:-1]
    free = np.ones(len(owner), dtype=np.bool_)
    found: list[tuple[int, int]] = []
    order = sorted(range(len(units)), key=lambda number: -len(units[number].key))
    places: dict[int, int] = {}
    for number in order:
        key = units[number].key
        left = max((place + 1 for other, place in places.items() if other < number), default=0)
        best: tuple[int, int, int] | None = None
        cursor = joined.find(key)
        while cursor >= 0:
            end = cursor + len(key)
            if free[cursor:end].all():
                cuts = 2 - int(begins[cursor]) - int(begins[end])
                rank = (cuts, int(cursor < left), cursor)
                best = rank if best is None or rank < best else best
            cursor = joined.find(key, cursor + 1)
        if best is not None:
            start, end = best[2], best[2] + len(key)
            free[start:end] = False
            places[number] = start
            found.append((int(owner[start]), int(owner[end - 1])))
    return found
