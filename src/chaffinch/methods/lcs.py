"""The longest common subsequence of two sequences, with a bound on its cost.

Equal ends are cut off first, and elements that the other sequence lacks are dropped. What remains, n against m, is
solved exactly by the bit-parallel algorithm of Hyyrö (2004, as implemented in rapidfuzz) in n · m / 64 steps and
n · m / 8 bytes, as long as n · m is at most `EXACT_CELLS`. Beyond that the k-th occurrence of an element is matched
with the k-th occurrence of the same element on the other side, and the longest increasing subsequence of these matches
is taken in n log n: still a common subsequence, and the longest one wherever no element repeats.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

import numpy as np
from rapidfuzz.distance import LCSseq

if TYPE_CHECKING:
    from chaffinch.page.arrays import BoolArray, HashArray, IndexArray

EXACT_CELLS: Final = 400_000_000
"""20,000 lines against 20,000 are still solved exactly, in 50 MB."""


def in_common(one: HashArray, other: HashArray) -> BoolArray:
    """Return which elements of `one` belong to the longest common subsequence with `other`."""
    shared = np.zeros(len(one), dtype=np.bool_)
    head = _equal_ends(one, other)
    shared[:head] = True
    rest_one, rest_other = one[head:], other[head:]
    tail = _equal_ends(rest_one[::-1], rest_other[::-1])
    if tail:
        shared[-tail:] = True
        rest_one, rest_other = rest_one[:-tail], rest_other[:-tail]
    if not len(rest_one) or not len(rest_other):
        return shared

    _, number = np.unique(np.concatenate((rest_one, rest_other)), return_inverse=True)
    number = number.astype(np.intp)
    left, right = number[: len(rest_one)], number[len(rest_one) :]
    size = int(number.max()) + 1
    in_both = (np.bincount(left, minlength=size) > 0) & (np.bincount(right, minlength=size) > 0)
    candidates = np.flatnonzero(in_both[left])
    left, right = left[candidates], right[in_both[right]]
    if len(left):
        solve = _exact if len(left) * len(right) <= EXACT_CELLS else _by_occurrence
        shared[head + candidates[solve(left, right)]] = True
    return shared


def _equal_ends(one: HashArray, other: HashArray) -> int:
    """Return how many elements the two sequences have in common from their start on."""
    length = min(len(one), len(other))
    different = np.flatnonzero(one[:length] != other[:length])
    return int(different[0]) if different.size else length


def _exact(left: IndexArray, right: IndexArray) -> IndexArray:
    blocks = LCSseq.opcodes(left.tolist(), right.tolist())
    equal = [np.arange(block.src_start, block.src_end) for block in blocks if block.tag == "equal"]
    return np.concatenate(equal) if equal else np.zeros(0, dtype=np.intp)


def _by_occurrence(left: IndexArray, right: IndexArray) -> IndexArray:
    """Match k-th occurrences with k-th occurrences, and keep the longest increasing run of them."""
    most = max(len(left), len(right))
    left_keys, right_keys = _numbered(left, most), _numbered(right, most)
    order = np.argsort(right_keys, kind="stable")
    place = np.searchsorted(right_keys[order], left_keys)
    found = place < len(order)
    found[found] = right_keys[order[place[found]]] == left_keys[found]
    source = np.flatnonzero(found)
    return source[_longest_increasing(order[place[source]].tolist())]


def _numbered(values: IndexArray, most: int) -> IndexArray:
    """Return a number for each (element, how often it stood before) pair; nothing stands more than `most` times.

    Both sides need the same `most`, or their numbers mean different pairs.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    counts = np.diff(np.append(starts, len(ordered)))
    occurrence = np.empty(len(values), dtype=np.intp)
    occurrence[order] = np.arange(len(values)) - np.repeat(starts, counts)
    return values.astype(np.intp) * most + occurrence


def _longest_increasing(values: list[int]) -> list[int]:
    """Return the positions of a longest strictly increasing subsequence."""
    tails: list[int] = []
    tail_positions: list[int] = []
    before = [-1] * len(values)
    for position, value in enumerate(values):
        length = bisect_left(tails, value)
        before[position] = tail_positions[length - 1] if length else -1
        if length == len(tails):
            tails.append(value)
            tail_positions.append(position)
        else:
            tails[length] = value
            tail_positions[length] = position
    chain: list[int] = []
    position = tail_positions[-1] if tail_positions else -1
    while position >= 0:
        chain.append(position)
        position = before[position]
    return chain[::-1]
