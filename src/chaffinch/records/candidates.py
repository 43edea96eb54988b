"""Candidate records: sets of spans of nodes that look alike, over all pages of a site.

A candidate is a *kind* of node: the same tag path; the same path and classes; the same path and one class; the same
name and classes anywhere. Its members are the nodes of the kind, or the runs of siblings that begin with one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.page.arrays import offsets
from chaffinch.page.tags import TEXT
from chaffinch.records.runs import Runs, Tail, find_runs, single
from chaffinch.records.sheet import Sheet, class_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaffinch.page.arrays import BoolArray, HashArray, IndexArray, IntArray

LEAST_MEMBERS: Final = 2
LEAST_SHARE: Final = 0.01
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)

PATH, PATH_CLASSES, FAMILY, CLASSES, TOKEN = range(5)
RUN: Final = 8
"""Added to a kind: the runs of siblings that begin with a node of it."""
RUNNING: Final = (PATH, PATH_CLASSES)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Spans in candidate order; candidate `i` has the members `offset[i] … offset[i + 1] - 1`."""

    kind: IntArray
    key: HashArray
    tail: tuple[Tail | None, ...]
    """What follows the first node of a run; None for members of one node."""
    offset: IntArray
    first: IntArray
    stop: IntArray
    width: IntArray
    """How many siblings with text each member has."""

    def __len__(self) -> int:
        return len(self.kind)

    def what(self, number: int) -> tuple[int, int, Tail | None]:
        """Return by what a candidate's members are known on other pages."""
        return int(self.kind[number]), int(self.key[number]), self.tail[number]


def _mixed(one: HashArray, other: HashArray) -> HashArray:
    with np.errstate(over="ignore"):
        return (one * _MIX) ^ (other + (one >> np.uint64(29)))


def node_keys(sheet: Sheet, *, tokens: bool = True) -> list[tuple[int, IndexArray, HashArray]]:
    """Return for each kind the nodes that may be of it, and their keys; without `tokens` not of the costliest kind."""
    elements = np.flatnonzero((sheet.tag != TEXT) & (sheet.leaves_before[sheet.end] > sheet.leaves_before[:-1]))
    path, classes = sheet.path[elements], sheet.classes[elements]
    above = sheet.parent[elements]
    parent_classes = np.where(above < 0, np.uint64(0), sheet.classes[above])
    path_classes = _mixed(path, classes)
    classed = classes != 0
    names = sheet.tag[elements].astype(np.uint64)
    result = [
        (PATH, elements, path),
        (PATH_CLASSES, elements, path_classes),
        (FAMILY, elements, _mixed(path_classes, parent_classes)),
        (CLASSES, elements[classed], _mixed(classes[classed], names[classed])),
    ]
    return [*result, (TOKEN, *_token_keys(sheet))] if tokens else result


def _token_keys(sheet: Sheet) -> tuple[IndexArray, HashArray]:
    """Return an entry for each class of each node that has several."""
    nodes: list[int] = []
    keys: list[int] = []
    shown = sheet.leaves_before[sheet.end] > sheet.leaves_before[:-1]
    for page, base in zip(sheet.pages, sheet.start.tolist(), strict=False):
        elements = np.flatnonzero(page.tag != TEXT).tolist()
        for number, value in zip(*page.element_attributes.values("class"), strict=True):
            node = base + elements[number]
            if " " in value and shown[node]:
                hashes = _token_hashes(value)
                if len(hashes) > 1:
                    nodes.extend([node] * len(hashes))
                    keys.extend(hashes)
    where = np.array(nodes, dtype=np.intp)
    return where, _mixed(sheet.path[where], np.array(keys, dtype=np.uint64))


@lru_cache(maxsize=1 << 14)
def _token_hashes(value: str) -> tuple[int, ...]:
    return tuple(xxh3_64_intdigest(token.encode()) for token in class_tokens(value))


class _Collected:
    """Candidates as they are found, each set of members once."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._seen: set[tuple[int, int]] = set()
        self.found: list[tuple[int, np.uint64, Tail | None]] = []
        self.runs: list[Runs] = []

    def add(self, kind: int, key: np.uint64, runs: Runs) -> None:
        mark = _mark(self._sheet, runs.first, runs.stop)
        if mark not in self._seen:
            self._seen.add(mark)
            self.found.append((kind, key, runs.tail if kind >= RUN else None))
            self.runs.append(runs)


def find_candidates(sheet: Sheet) -> Candidates:
    """Return all candidates of a site, each set of members once."""
    collected = _Collected(sheet)
    for kind, nodes, node_key in node_keys(sheet):
        for key, group in _groups(sheet, nodes, node_key):
            members = np.sort(group)
            if not (np.bincount(sheet.page_of[members]) >= LEAST_MEMBERS).any():
                continue
            if kind == CLASSES:
                members = members[outer(members, sheet.end[members])]
            collected.add(kind, key, single(sheet, members))
            runs = find_runs(sheet, members) if kind in RUNNING else None
            if runs is not None:
                collected.add(kind + RUN, key, runs)
    nothing = np.zeros(0, dtype=np.int32)
    return Candidates(
        np.array([kind for kind, _, _ in collected.found], dtype=np.int32),
        np.array([key for _, key, _ in collected.found], dtype=np.uint64),
        tuple(tail for _, _, tail in collected.found),
        offsets(np.array([len(runs.first) for runs in collected.runs], dtype=np.int32)),
        np.concatenate([nothing, *(runs.first for runs in collected.runs)]),
        np.concatenate([nothing, *(runs.stop for runs in collected.runs)]),
        np.concatenate([nothing, *(runs.width for runs in collected.runs)]),
    )


def _groups(sheet: Sheet, nodes: IndexArray, keys: HashArray) -> Iterator[tuple[np.uint64, IndexArray]]:
    """Yield the nodes of each key that has several, with enough words to matter."""
    if len(keys) == 0:
        return
    order = np.argsort(keys, kind="stable")
    by_key, of_key = nodes[order], keys[order]
    begins = np.flatnonzero(np.concatenate(([True], of_key[1:] != of_key[:-1])))
    ends = np.append(begins[1:], len(of_key))
    before, behind = sheet.leaves_before[by_key], sheet.leaves_before[sheet.end[by_key]]
    words = np.concatenate(([0], np.cumsum(sheet.words_before[behind] - sheet.words_before[before])))
    enough = words[ends] - words[begins] >= LEAST_SHARE * max(int(sheet.leaf_words.sum()), 1)
    good = enough & (ends - begins >= LEAST_MEMBERS)
    for begin, end in zip(begins[good].tolist(), ends[good].tolist(), strict=True):
        yield of_key[begin], by_key[begin:end]


def outer(first: IndexArray | IntArray, stop: IntArray) -> BoolArray:
    """Tell which of several spans, in document order, lie inside no other."""
    reach = np.maximum.accumulate(stop)
    result: BoolArray = np.ones(len(first), dtype=np.bool_)
    result[1:] = first[1:] >= reach[:-1]
    return result


def _mark(sheet: Sheet, first: IntArray, stop: IntArray) -> tuple[int, int]:
    """Return a number for a set of spans, the same for spans of the same texts."""
    low, high = sheet.leaves_before[first].astype(np.uint64), sheet.leaves_before[stop].astype(np.uint64)
    spans = low * _MIX + high
    return int(np.bitwise_xor.reduce(spans * _MIX ^ (spans >> np.uint64(31)))), len(first)
