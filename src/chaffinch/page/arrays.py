"""Array types, and the few array operations on trees that are not in numpy."""

from __future__ import annotations

from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int32]
IndexArray: TypeAlias = NDArray[np.intp]
SmallArray: TypeAlias = NDArray[np.uint8]
TagArray: TypeAlias = NDArray[np.int16]
HashArray: TypeAlias = NDArray[np.uint64]
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float32]

PATH_FACTOR: Final = 0x9E3779B97F4A7C15
"""What one more level multiplies a path's hash by. Odd, with its bits well spread: as in Fibonacci hashing."""

_Array = TypeVar("_Array", bound=NDArray[Any])


def frozen(array: _Array) -> _Array:
    """Return `array`, closed to writing."""
    array.setflags(write=False)
    return array


def offsets(lengths: IntArray | BoolArray) -> IntArray:
    """Return where each of several joined pieces starts, and behind the last one the total."""
    result = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(lengths, out=result[1:])
    return result


def _ascend(step: IntArray) -> IntArray:
    """Return where each chain of `step` ends; the ends of chains point at themselves.

    Every round doubles the length that is followed, so a chain of n nodes takes log n rounds: no input, however deep,
    costs more than n log n.
    """
    while True:
        further = step[step]
        if np.array_equal(further, step):
            return step
        step = further


def ancestry(parent: IntArray, label: HashArray) -> tuple[IntArray, HashArray]:
    """Return each node's depth, and a hash of the labels from the node up to its root.

    Both double the distance in every round, as in `_ascend`. The hash is a polynomial in the labels of the path: the
    same labels in the same order give the same number on every page and every machine.
    """
    count = len(parent)
    depth = np.zeros(count + 1, dtype=np.int32)
    depth[:count] = parent >= 0
    path = np.zeros(count + 1, dtype=np.uint64)
    path[:count] = label
    up = np.full(count + 1, count, dtype=np.int32)
    up[:count] = np.where(parent < 0, count, parent)
    factor = np.uint64(PATH_FACTOR)
    with np.errstate(over="ignore"):
        while (up != count).any():
            depth += depth[up]
            path += factor * path[up]
            factor *= factor
            up = up[up]
    return depth[:count], path[:count]


def nest(children: IntArray) -> tuple[IntArray, IntArray]:
    """Return, for trees in document order, each node's parent (-1 for roots) and the node behind its subtree.

    All that is known of each node is how many children it has. Each takes one of the places that wait for nodes, and
    makes as many as it has children; its subtree ends where for the first time one place less waits than when it began.
    """
    count = len(children)
    roots = count - int(children.sum())
    waiting = np.full(count + 1, roots, dtype=np.int32)
    waiting[1:] += np.cumsum(children - 1, dtype=np.int32)
    # Each node asks for the number that it waits for, then says its own. Sorted by number, the next answer is right.
    asked = np.empty(2 * count + 2, dtype=np.int32)
    asked[0::2], asked[1::2] = waiting - 1, waiting
    order = _sorted(asked)
    says = order & 1
    answer = np.where(says, np.arange(len(order)), len(order))
    answer = np.minimum.accumulate(answer[::-1])[::-1]
    asks = np.flatnonzero(says == 0)
    asks = asks[order[asks] < 2 * count]
    end = np.empty(count, dtype=np.int32)
    end[order[asks] >> 1] = order[answer[asks]] >> 1

    depth = np.arange(count, dtype=np.int32) - np.cumsum(np.bincount(end, minlength=count + 1))[:count]
    # Level by level, nodes come in the order of their parents.
    order = _sorted(depth)
    parent = np.full(count, -1, dtype=np.int32)
    parent[order[roots:]] = np.repeat(order, children[order])
    return parent, end


def _sorted(numbers: IntArray) -> IndexArray:
    """Sort as equals keep their order; small numbers, which most are, in a time that only grows with their count."""
    small = len(numbers) == 0 or int(numbers.max()) < 1 << 15
    return np.argsort(numbers.astype(np.int16) if small else numbers, kind="stable")


def nearest_marked(parent: IntArray, marked: BoolArray) -> IntArray:
    """Return, for every node, itself if it is marked, else its nearest marked ancestor, else -1."""
    count = len(parent)
    step = np.arange(count + 1, dtype=np.int32)
    step[:count] = np.where(marked, step[:count], np.where(parent < 0, count, parent))
    found = _ascend(step)[:count]
    return np.where(found == count, -1, found).astype(np.int32)


def covered(start: IntArray, end: IntArray, count: int) -> BoolArray:
    """Return which of `count` nodes lie in at least one of the spans from `start` up to `end`."""
    if len(start) == 0:
        return np.zeros(count, dtype=np.bool_)
    change = np.bincount(start, minlength=count + 1) - np.bincount(end, minlength=count + 1)
    return np.cumsum(change[:-1]) > 0
