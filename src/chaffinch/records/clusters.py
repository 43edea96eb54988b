"""Data strings of the same meaning brought together: single-link clustering by bounds, type and position.

Strings that agree in everything but their place in the text are one atom from the start, so that the cost grows with
the kinds of strings, not with their pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from rapidfuzz.distance import Levenshtein
from xxhash import xxh3_64_intdigest

from chaffinch.page.arrays import frozen
from chaffinch.records.text_types import TextType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import HashArray, IndexArray
    from chaffinch.records.joints import Joints
    from chaffinch.records.pieces import Pieces
    from chaffinch.records.sheet import Sheet
    from chaffinch.records.strings import Strings

    Numbers = NDArray[np.float64]
    Bound = tuple[int, ...]

_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
MOST_ATOMS: Final = 800
"""Rarer atoms beyond these do not take part: the cost is quadratic in them."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts how much in the distance of two strings, and how far clusters reach."""

    left: float = 1.0
    type: float = 1.0
    right: float = 0.5
    position: float = 1.0
    anchor: float = 2.0
    """The elements around the strings; not in the paper's distance."""
    reach: float = 0.25

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return self.left + self.type + self.right + self.position + self.anchor


def _type_distances() -> Numbers:
    result = np.ones((len(TextType), len(TextType)))
    np.fill_diagonal(result, 0.0)
    near = (
        (TextType.TEXT, TextType.HYPERLINK, 0.4), (TextType.NUMBER, TextType.PRICE, 0.6),
        (TextType.TEXT, TextType.DATE, 0.7), (TextType.TEXT, TextType.NUMBER, 0.7),
        (TextType.TEXT, TextType.PRICE, 0.8), (TextType.NUMBER, TextType.DATE, 0.7),
    )  # fmt: skip
    for one, other, distance in near:
        result[one, other] = result[other, one] = distance
    return frozen(result)


TYPE_DISTANCE: Final = _type_distances()


@dataclass(frozen=True, eq=False)
class Bounds:
    """The template strings on both sides of each string: numbers into `distinct`."""

    left: IndexArray
    right: IndexArray
    distinct: tuple[Bound, ...]

    @cached_property
    def hashes(self) -> HashArray:
        """A number for each distinct bound that is the same on all pages."""
        texts = (" ".join(map(str, bound)) for bound in self.distinct)
        return np.array([xxh3_64_intdigest(text.encode()) for text in texts], dtype=np.uint64)


def bounds_of(sheet: Sheet, pieces: Pieces, joints: Joints, strings: Strings) -> Bounds:
    """Return the template strings between data strings: the tags that close and open there."""
    at_joint = np.full(len(pieces) + 1, -1, dtype=np.intp)
    at_joint[joints.left + 1] = joints.kind
    number_of: dict[Bound, int] = {}
    _, examples = np.unique(joints.kind, return_index=True)
    of_kind = np.array(
        [number_of.setdefault(_between(sheet, pieces, joints, joint), len(number_of)) for joint in examples.tolist()],
        dtype=np.intp,
    )
    leaf = sheet.leaf[pieces.leaf].astype(np.intp)
    inside = np.append(of_kind, -1)
    left, right = inside[at_joint[strings.first]], inside[at_joint[strings.stop]]
    for side, places, sign in ((left, strings.first, 1), (right, strings.stop - 1, -1)):
        edges = np.flatnonzero(side < 0)
        anchors = sheet.parent[leaf[places[edges]]]
        with np.errstate(over="ignore"):
            keys = sheet.path[anchors] * _MIX ^ sheet.classes[anchors]
        _, examples, which = np.unique(keys, return_index=True, return_inverse=True)
        found = [
            number_of.setdefault(_edge(sheet, int(anchors[example]), sign), len(number_of))
            for example in examples.tolist()
        ]
        side[edges] = np.array(found, dtype=np.intp)[which]
    return Bounds(frozen(left), frozen(right), tuple(number_of))


def _token(sheet: Sheet, node: int) -> int:
    return int(sheet.tag[node]) ^ (int(sheet.classes[node]) << 8)


def _between(sheet: Sheet, pieces: Pieces, joints: Joints, joint: int) -> Bound:
    left = int(joints.left[joint])
    one, other = int(sheet.leaf[pieces.leaf[left]]), int(sheet.leaf[pieces.leaf[left + 1]])
    common = int(joints.common[joint])
    closed = [-_token(sheet, node) for node in _chain(sheet, int(sheet.parent[one]), common)]
    opened = [_token(sheet, node) for node in _chain(sheet, int(sheet.parent[other]), common)]
    return (*closed, *reversed(opened))


def _edge(sheet: Sheet, anchor: int, sign: int) -> Bound:
    """Return the bound at the end of a record: the tags nearest to the text."""
    chain = [sign * _token(sheet, node) for node in _chain(sheet, anchor, -1)[:3]]
    return (0, *reversed(chain)) if sign > 0 else (*chain, 0)


def _chain(sheet: Sheet, node: int, top: int) -> list[int]:
    result: list[int] = []
    while node not in (top, -1) and len(result) < 40:
        result.append(node)
        node = int(sheet.parent[node])
    return result


def cluster_strings(sheet: Sheet, strings: Strings, bounds: Bounds, weights: Weights) -> IndexArray:
    """Return a number for each string's cluster; -1 for strings of too rare kinds."""
    if len(strings) == 0:
        return np.zeros(0, dtype=np.intp)
    anchor = anchors_of(sheet, strings)
    atom_key = atom_keys(anchor, strings, bounds)
    _, examples, atom, counts = np.unique(atom_key, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((examples, -counts))
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    atom = rank[atom]
    kept = order[:MOST_ATOMS]
    examples, sizes = examples[kept], counts[kept]
    count = len(kept)
    inside = atom < count
    position = np.bincount(atom[inside], weights=strings.position[inside], minlength=count) / sizes
    distance = _distances(sheet, strings, bounds, weights, examples, position, anchor[examples])
    cluster = _linked(distance, weights.reach, _record_sets(strings.record, atom, count))
    result = np.full(len(strings), -1, dtype=np.intp)
    result[inside] = cluster[atom[inside]]
    return _renumbered(result)


def anchors_of(sheet: Sheet, strings: Strings) -> HashArray:
    """Return a number for the place of each string: the names and the classes around it."""
    with np.errstate(over="ignore"):
        result: HashArray = sheet.path[strings.anchor] * _MIX ^ sheet.classes[strings.anchor]
    return result


def atom_keys(anchor: HashArray, strings: Strings, bounds: Bounds) -> HashArray:
    """Return a number for all that strings of one atom share, the same on all pages and machines."""
    with np.errstate(over="ignore"):
        key = anchor * _MIX + strings.types.astype(np.uint64) * np.uint64(7)
        key = key * _MIX + bounds.hashes[bounds.left]
        key = key * _MIX + bounds.hashes[bounds.right] * np.uint64(0xC2B2AE3D27D4EB4F)
    return _with_ordinal(strings, key)


def _with_ordinal(strings: Strings, key: HashArray) -> HashArray:
    """Tell strings of one key in one record apart by their order."""
    order = np.lexsort((strings.first, key, strings.record))
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = (key[order][1:] != key[order][:-1]) | (strings.record[order][1:] != strings.record[order][:-1])
    run = np.cumsum(fresh) - 1
    ordinal = np.zeros(len(order), dtype=np.uint64)
    ordinal[order] = (np.arange(len(order)) - np.flatnonzero(fresh)[run]).astype(np.uint64)
    with np.errstate(over="ignore"):
        result: HashArray = key + ordinal * np.uint64(0xC2B2AE3D27D4EB4F)
    return result


def _record_sets(record: IndexArray, atom: IndexArray, count: int) -> list[int]:
    """Return for each atom the set of its records, as the bits of a number."""
    width = (int(record.max()) + 8) // 8
    sets = []
    order = np.argsort(atom, kind="stable")
    cuts = np.searchsorted(atom[order], np.arange(count + 1))
    for number in range(count):
        bits = np.zeros(width * 8, dtype=np.bool_)
        bits[record[order[cuts[number] : cuts[number + 1]]]] = True
        sets.append(int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little"))
    return sets


def _distances(
    sheet: Sheet, strings: Strings, bounds: Bounds, weights: Weights, examples: IndexArray, position: Numbers,
    anchor: HashArray,
) -> Numbers:  # fmt: skip
    types = strings.types[examples]
    path = sheet.path[strings.anchor[examples]]
    result = weights.type * TYPE_DISTANCE[types[:, None], types[None, :]]
    result += weights.position * np.abs(position[:, None] - position[None, :])
    result += weights.anchor * (0.5 * (anchor[:, None] != anchor[None, :]) + 0.5 * (path[:, None] != path[None, :]))
    for side, weight in ((bounds.left[examples], weights.left), (bounds.right[examples], weights.right)):
        used, which = np.unique(side, return_inverse=True)
        result += (
            weight
            * _bound_distances([bounds.distinct[number] for number in used.tolist()])[which[:, None], which[None, :]]
        )
    total: Numbers = result / weights.total
    return total


def _bound_distances(distinct: Sequence[Bound]) -> Numbers:
    result = np.zeros((len(distinct), len(distinct)))
    for row, one in enumerate(distinct):
        for column in range(row):
            result[row, column] = result[column, row] = Levenshtein.normalized_distance(one, distinct[column])
    return result


def _linked(distance: Numbers, reach: float, records: list[int]) -> IndexArray:
    """Link the nearest first, unless a record would have two strings in one cluster."""
    rows, columns = np.nonzero(np.triu(distance <= reach, 1))
    order = np.lexsort((columns, rows, distance[rows, columns]))
    root = list(range(len(records)))

    def find(number: int) -> int:
        while root[number] != number:
            root[number] = root[root[number]]
            number = root[number]
        return number

    sets = list(records)
    for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        one, other = find(row), find(column)
        if one != other and not sets[one] & sets[other]:
            root[other] = one
            sets[one] |= sets[other]
    return np.array([find(number) for number in range(len(records))], dtype=np.intp)


def _renumbered(cluster: IndexArray) -> IndexArray:
    """Number clusters by their first string."""
    present, first, which = np.unique(cluster, return_index=True, return_inverse=True)
    shown = first[present >= 0]
    rank = np.empty(len(shown), dtype=np.intp)
    rank[np.argsort(shown)] = np.arange(len(shown))
    table = np.concatenate((np.full(len(present) - len(shown), -1, dtype=np.intp), rank))
    return frozen(table[which])
