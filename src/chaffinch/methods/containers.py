"""The elements around the leaf text blocks of a page: larger and larger containers, and paths to the root.

All is computed over the elements that hold text blocks, numbered anew in document order; those that hold the very same
blocks, one inside the other, make a *chain*.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import ancestry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import HashArray, IndexArray, IntArray
    from chaffinch.page.table import Page

LEVELS: Final = 5
"""How many containers around a block are looked at."""
_MOST_CLIMBS: Final = 24
"""How many containers are climbed in search of the next larger one."""
_NEAR: Final = 4
"""How many elements a near path has."""
_PAIR_FACTOR: Final = 0xC2B2AE3D27D4EB4F
_MIX_FACTOR: Final = 0x9E3779B97F4A7C15
"""Odd, with their bits well spread."""


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The elements of a page that hold leaf text blocks, one array entry for each."""

    node: IntArray
    """The position in the page; ascending."""
    element: IndexArray
    """The number among the elements of the page."""
    parent: IntArray
    """The number of the parent among these elements; that of the root is -1."""
    end: IntArray
    """The number behind the last of those inside."""
    first: IntArray
    """The first block that it holds."""
    stop: IntArray
    """And the one behind the last."""
    of_block: IntArray
    """For each block, the number of the element that it stands in."""

    @classmethod
    def of(cls, page: Page, elements: IntArray, first_block: IntArray) -> Skeleton:
        """Find the elements that hold blocks; `first_block` gives for each position the first block from there on."""
        first, stop = first_block[elements], first_block[page.end[elements]]
        held = (stop > first).nonzero()[0]
        node = elements[held]
        number = np.full(len(page) + 1, -1, dtype=np.int32)  # the parent of the root is at -1
        number[node] = np.arange(len(node), dtype=np.int32)
        return cls(
            node,
            held,
            number[page.parent[node]],
            np.searchsorted(node, page.end[node]).astype(np.int32),
            first[held],
            stop[held],
            number[page.parent[page.blocks.first]],
        )


@dataclass(frozen=True, eq=False)
class Containers:
    """Around each block `LEVELS` containers, each with at least twice the blocks of the one before, or the whole page.

    Containers have an entry for each level that they are one of; the levels stand one after the other.
    """

    element: IndexArray
    """The element's number in the skeleton: it is the outermost of those that hold the same blocks."""
    first: IntArray
    """The first block inside."""
    stop: IntArray
    """The block behind the last."""
    starts: tuple[int, ...]
    """Where each level starts, and at the end how many there are."""
    of_block: IndexArray
    """For each level a row: the container of each block."""
    above: IndexArray
    """The container of the next level around each; itself at the last."""

    @classmethod
    def of(cls, skeleton: Skeleton) -> Containers:
        """Climb from container to container; it is cut short on pages that nest ever so slightly growing ones."""
        if not len(skeleton.of_block):
            return _NONE
        first, stop, parent = skeleton.first, skeleton.stop, skeleton.parent
        # Only one element inside another can hold the same blocks, and it comes next in document order.
        heads = np.ones(len(first), dtype=np.bool_)
        heads[1:] = (first[1:] != first[:-1]) | (stop[1:] != stop[:-1])
        chain = heads.cumsum() - 1
        head = heads.nonzero()[0]
        above = chain[parent[head]]
        above[0] = 0
        held = (stop - first)[head]
        here = chain[skeleton.of_block]
        place = np.zeros(len(head), dtype=np.intp)
        found: list[IndexArray] = []
        rows: list[IndexArray] = []
        links: list[IndexArray] = []
        starts = [0]
        reached = _different(here, place)
        goal: NDArray[np.integer] = np.full(len(reached), 2)
        for level in range(LEVELS):
            higher = _climb(reached, goal, held, above)
            distinct = _different(higher, place)
            step = place[higher] + starts[-1]
            if level:
                links.append(step)
                rows.append(step[rows[-1] - starts[-2]])
            else:
                place[reached] = step
                rows.append(place[here])
            found.append(distinct)
            starts.append(starts[-1] + len(distinct))
            reached = distinct
            goal = 2 * held[reached]
        links.append(np.arange(starts[-2], starts[-1]))
        at = head[np.concatenate(found)]
        return cls(at, first[at], stop[at], tuple(starts), np.stack(rows), np.concatenate(links))

    @cached_property
    def size(self) -> IntArray:
        """How many blocks each holds."""
        return self.stop - self.first


def _climb(start: IndexArray, goal: NDArray[np.integer], held: IntArray, above: IndexArray) -> IndexArray:
    """Return the nearest chain from each on upwards that holds at least `goal` blocks."""
    result = start
    for _ in range(_MOST_CLIMBS):
        small = held[result] < goal
        if not small.any():
            break
        further = np.where(small, above[result], result)
        if (further == result).all():
            break
        result = further
    return result


def _different(values: IndexArray, place: IndexArray) -> IndexArray:
    """Return the different values in ascending order, and write the number of each to its place in `place`."""
    marked = np.zeros(len(place), dtype=np.bool_)
    marked[values] = True
    result = marked.nonzero()[0]
    place[result] = np.arange(len(result))
    return result


_NO_BLOCKS: Final = np.zeros(0, dtype=np.int32)
_NONE: Final = Containers(
    np.zeros(0, dtype=np.intp),
    _NO_BLOCKS,
    _NO_BLOCKS,
    (0,) * (LEVELS + 1),
    np.zeros((LEVELS, 0), dtype=np.intp),
    np.zeros(0, dtype=np.intp),
)


@dataclass(frozen=True, eq=False)
class Paths:
    """For each block hashes of the tags and classes around it; the same on every page and machine."""

    depth: IntArray
    """How many elements there are around the block's text."""
    near: HashArray
    """Of the nearest four elements."""
    full: HashArray
    """Of all up to the root."""

    @classmethod
    def of(cls, skeleton: Skeleton, classes: HashArray, names: HashArray) -> Paths:
        """Hash paths; `classes` and `names` are those of the skeleton's elements."""
        count = len(skeleton.node)
        label = np.zeros(count + 1, dtype=np.uint64)  # what is above the root is at -1, and has no label
        label[:count] = classes
        label *= np.uint64(_PAIR_FACTOR)
        label[:count] += names
        depth, path = ancestry(skeleton.parent, label[:count])
        node = skeleton.of_block
        up = np.append(skeleton.parent, np.int32(-1))
        near = np.zeros(len(node), dtype=np.uint64)
        for _ in range(_NEAR):
            near += label[node]
            near *= np.uint64(_MIX_FACTOR)
            near ^= near >> np.uint64(29)
            node = up[node]
        return cls(depth[skeleton.of_block] + np.int32(1), near, path[skeleton.of_block])
