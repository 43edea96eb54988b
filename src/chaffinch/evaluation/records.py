"""Measures of records: how well records are found, cut into units, and lined up in slots.

Records of a page are paired with labelled ones so that the sum of the words' F1 is largest; pairs below 0.7 do not
count. Units of paired records are paired by their text. For aligned units, slots and columns of a page are paired one
to one first, and a unit is right only in the column of its slot.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.learning.record_gold import GoldRecord, GoldUnit, alike, overlap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from chaffinch.records import PageRecords

THRESHOLD: Final = 0.7
_ROUNDING: Final = 1e-9
_MOSTLY: Final = 0.8
_ORDER: Final = 1e-7
"""A tiny preference for pairs in the same order, where texts are equal."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What was found, was there, and is right."""

    records_right: int = 0
    records_found: int = 0
    records_there: int = 0
    units_right: int = 0
    units_found: int = 0
    units_there: int = 0
    aligned_right: int = 0
    columns: int = 0
    """Labelled columns of pages."""
    slots: int = 0
    """Slots that pages have units of."""
    slots_right: int = 0
    """Slots that stand for a column of their own: at least 80 % of their units are that column's."""

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @property
    def record_f1(self) -> float:
        """F1 of records."""
        return _f1(self.records_right, self.records_found, self.records_there)

    @property
    def unit_f1(self) -> float:
        """F1 of units."""
        return _f1(self.units_right, self.units_found, self.units_there)

    @property
    def aligned_f1(self) -> float:
        """F1 of units that stand in the right slot."""
        return _f1(self.aligned_right, self.units_found, self.units_there)


def _f1(right: int, found: int, there: int) -> float:
    return 2 * right / (found + there) if right else 0.0


def predicted_records(page: PageRecords) -> list[GoldRecord]:
    """Return a page's records as they are compared."""
    found = []
    for record in page.records:
        units = tuple(unit for unit in (GoldUnit(unit.text, unit.slot) for unit in record.units) if unit.words)
        if units:
            found.append(GoldRecord(units))
    return found


def score_page(found: Sequence[GoldRecord], gold: Sequence[GoldRecord], threshold: float = THRESHOLD) -> Counts:
    """Measure one page."""
    pairs = _pair_records(found, gold, threshold)
    right, ignored = 0, 0
    agreement: dict[str, Counter[str]] = defaultdict(Counter)
    for one, other in pairs:
        right_here, ignored_here = _count_units(found[one], gold[other])
        right += right_here
        ignored += ignored_here
        for unit in found[one].units:
            agreement[unit.slot].update({column.slot for column in gold[other].units if alike(unit, column)})
    column_of = _pair_slots(agreement, gold)
    sizes = Counter(unit.slot for record in found for unit in record.units)
    return Counts(
        columns=len({unit.slot for record in gold for unit in record.units}),
        slots=len(sizes),
        slots_right=sum(
            agreement[slot][column] >= _MOSTLY * sizes[slot] - _ROUNDING for slot, column in column_of.items()
        ),
        records_right=len(pairs),
        records_found=len(found),
        records_there=len(gold),
        units_right=right,
        units_found=sum(len(record.units) for record in found) - ignored,
        units_there=sum(len(record.units) for record in gold),
        aligned_right=_count_aligned(found, gold, pairs, column_of),
    )


def _pair_records(found: Sequence[GoldRecord], gold: Sequence[GoldRecord], threshold: float) -> list[tuple[int, int]]:
    weights = np.zeros((len(found), len(gold)))
    for row, one in enumerate(found):
        for column, other in enumerate(gold):
            if 2 * min(one.size, other.size) >= threshold * (one.size + other.size):
                weight = overlap(one.bag, other.bag, (one.size, other.size))
                if weight >= threshold - _ROUNDING:
                    weights[row, column] = weight
    return best_pairs(weights)


def best_pairs(weights: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Pair rows with columns, each once, so that the sum of weights is largest; only weights above 0 make pairs."""
    rows, columns = weights.shape
    if not weights.any():
        return []
    order = np.abs(np.arange(rows)[:, None] / max(rows, 1) - np.arange(columns)[None, :] / max(columns, 1))
    cost = np.where(weights > 0, _ORDER * order - weights, 0.0)
    if rows > columns:
        return sorted((row, column) for column, row in _assign(cost.T) if weights[row, column] > 0)
    return [(row, column) for row, column in _assign(cost) if weights[row, column] > 0]


def _assign(cost: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Give each row a column of its own at the least cost: one shortest augmenting path for each row."""
    rows, columns = cost.shape
    owner = np.full(columns, -1)
    row_price, column_price = np.zeros(rows), np.zeros(columns)
    for new in range(rows):
        distance = np.full(columns, np.inf)
        before = np.full(columns, -1)
        done = np.zeros(columns, dtype=np.bool_)
        row, reached, column = new, 0.0, -1
        while True:
            through = reached + cost[row] - row_price[row] - column_price
            better = ~done & (through < distance)
            distance[better] = through[better]
            before[better] = column
            column = int(np.argmin(np.where(done, np.inf, distance)))
            reached = float(distance[column])
            if owner[column] < 0:
                break
            done[column] = True
            row = int(owner[column])
        row_price[new] += reached
        for settled in np.flatnonzero(done):
            row_price[owner[settled]] += reached - distance[settled]
            column_price[settled] -= reached - distance[settled]
        while column >= 0:
            previous = int(before[column])
            owner[column] = new if previous < 0 else owner[previous]
            column = previous
    return sorted((int(row), column) for column, row in enumerate(owner.tolist()) if row >= 0)


def _count_units(found: GoldRecord, gold: GoldRecord) -> tuple[int, int]:
    """Return how many units are right, and how many may be there and do not count."""
    free = list(range(len(gold.units)))
    left: list[GoldUnit] = []
    right = 0
    for unit in found.units:
        same = next((number for number in free if gold.units[number].key == unit.key), None)
        if same is None:
            left.append(unit)
        else:
            free.remove(same)
            right += 1
    near = [
        (-likeness, place, number)
        for place, unit in enumerate(left)
        for number in free
        if (likeness := alike(unit, gold.units[number]))
    ]
    taken: set[int] = set()
    for _, place, number in sorted(near):
        if place not in taken and number in free:
            taken.add(place)
            free.remove(number)
            right += 1
    optional = list(gold.optional)
    ignored = 0
    for place, unit in enumerate(left):
        if place not in taken:
            hit = next((other for other in optional if alike(unit, other)), None)
            if hit is not None:
                optional.remove(hit)
                ignored += 1
    return right, ignored


def _pair_slots(agreement: dict[str, Counter[str]], gold: Sequence[GoldRecord]) -> dict[str, str]:
    """Pair slots with columns one to one, by falling agreement."""
    sizes = Counter(unit.slot for record in gold for unit in record.units)
    order = sorted(
        (-count, -count / sizes[column], slot, int(column), column)
        for slot, counts in agreement.items()
        for column, count in counts.items()
    )
    result: dict[str, str] = {}
    used: set[str] = set()
    for _, _, slot, _, column in order:
        if slot not in result and column not in used:
            result[slot] = column
            used.add(column)
    return result


def _count_aligned(
    found: Sequence[GoldRecord],
    gold: Sequence[GoldRecord],
    pairs: Iterable[tuple[int, int]],
    column_of: dict[str, str],
) -> int:
    right = 0
    for one, other in pairs:
        columns = {unit.slot: unit for unit in gold[other].units}
        for unit in found[one].units:
            column = column_of.get(unit.slot)
            if column in columns and alike(unit, columns[column]):
                del columns[column]
                right += 1
    return right
