"""Records of several siblings: runs that begin with a node of one kind, such as a heading or the first row of three.

A run goes on up to the next node of that kind. What hardly any run holds is cut off at its end: advertisements and
headings between records. The last run of a list goes on as far as the others do, and no further than what they hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import frozen

if TYPE_CHECKING:
    from chaffinch.page.arrays import BoolArray, IndexArray, IntArray
    from chaffinch.records.sheet import Sheet

_RARE: Final = 0.25
"""Siblings of a kind that fewer runs hold do not end a run."""


@dataclass(frozen=True, slots=True)
class Tail:
    """What a run holds: on a new page it tells where the last one ends."""

    longest: int
    kinds: frozenset[int]
    """Names and classes of siblings, as numbers that are the same on all pages."""
    usual: frozenset[int]
    """Those of them that a run may end with."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Members of a candidate as spans of nodes."""

    first: IntArray
    stop: IntArray
    width: IntArray
    """How many siblings with text each has."""
    tail: Tail | None = None


def single(sheet: Sheet, nodes: IndexArray) -> Runs:
    """Return nodes as runs of one."""
    return Runs(nodes.astype(np.int32), sheet.end[nodes], np.ones(len(nodes), dtype=np.int32))


def find_runs(sheet: Sheet, starts: IndexArray, tail: Tail | None = None) -> Runs | None:
    """Return the runs that begin with `starts`, which are of one depth; None if the nodes are all there is of them.

    `tail` is what is known of such runs from other pages.
    """
    children, place, behind = sheet.shown_children
    begin = np.sort(place[starts[sheet.parent[starts] >= 0]]).astype(np.intp)
    if len(begin) == 0:
        return None
    parent = sheet.parent[children[begin]]
    is_last = np.append(parent[1:] != parent[:-1], True)
    end = np.where(is_last, behind[parent], np.append(begin[1:], 0))
    if tail is None and (is_last.all() or int((end - begin)[~is_last].max()) == 1):
        return None
    width = end - begin
    run = np.repeat(np.arange(len(begin)), width)
    place_in = np.arange(len(run)) - np.repeat(np.cumsum(width) - width, width)
    kind = sheet.sibling_kind[children[place_in + begin[run]]]
    kinds, which = np.unique(kind, return_inverse=True)
    if tail is None:
        tail = _tail(kinds, which, run, is_last, width)
    known = np.isin(kinds, np.array(sorted(tail.kinds), dtype=np.uint64))[which]
    usual = np.isin(kinds, np.array(sorted(tail.usual), dtype=np.uint64))[which]
    strange = np.cumsum(~known) - np.cumsum(~known)[np.cumsum(width) - width][run]
    inside = ~is_last[run] | ((place_in < tail.longest) & (strange <= 0))
    kept: BoolArray = (usual & inside) | (place_in == 0)
    width = np.maximum.reduceat(np.where(kept, place_in + 1, 1), np.cumsum(width) - width)
    first, last = children[begin], children[begin + width - 1]
    order = np.argsort(first, kind="stable")
    return Runs(frozen(first[order]), frozen(sheet.end[last[order]]), width[order].astype(np.int32), tail)


def _tail(kinds: np.ndarray[tuple[int], np.dtype[np.uint64]], which: IndexArray, run: IndexArray,
          is_last: BoolArray, width: IndexArray) -> Tail:  # fmt: skip
    """See what the runs hold that another follows."""
    inner = ~is_last[run]
    pairs = np.unique(np.stack((which[inner], run[inner])), axis=1)[0]
    having = np.bincount(pairs, minlength=len(kinds))
    least = _RARE * max(int((~is_last).sum()), 1)
    return Tail(
        int(width[~is_last].max()),
        frozenset(kinds[having > 0].tolist()),
        frozenset(kinds[having >= max(least, 1)].tolist()),
    )
