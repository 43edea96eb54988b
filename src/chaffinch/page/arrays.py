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


def subtree_ends(parent: IntArray) -> IntArray:
    """Return, for one tree in document order, the node behind each subtree.

    A subtree ends with its last child's; of several writes to one place numpy keeps the last, so writing every node to
    its parent's place leaves the last child there.
    """
    last = np.arange(len(parent), dtype=np.int32)
    last[parent[1:]] = last[1:].copy()
    return _ascend(last) + np.int32(1)


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
