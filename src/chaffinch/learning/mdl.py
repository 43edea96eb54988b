"""Discretisation by the minimum description length principle (Fayyad and Irani 1993).

A range of values is cut where the entropy of the classes falls most, as long as what is gained is worth more bits than
telling of the cut takes; then each side is cut likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_DEEPEST: Final = 4
"""Ranges are halved at most so often in a row: at most 15 cuts."""


def cut_points(values: NDArray[np.floating], labels: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return where to cut the values to tell two classes apart, ascending; a value belongs above a cut from it on."""
    distinct, place = np.unique(values.astype(np.float32), return_inverse=True)
    if len(distinct) < 2:
        return np.zeros(0, dtype=np.float32)
    counts = np.zeros((len(distinct) + 1, 2), dtype=np.float64)
    for label in (0, 1):
        counts[1:, label] = np.cumsum(np.bincount(place[labels == bool(label)], minlength=len(distinct)))
    cuts: list[int] = []
    waiting = [(0, len(distinct), 0)]
    while waiting:
        start, stop, depth = waiting.pop()
        cut = _best_cut(counts[start : stop + 1])
        if cut is not None:
            cuts.append(start + cut)
            if depth + 1 < _DEEPEST:
                waiting += [(start, start + cut, depth + 1), (start + cut, stop, depth + 1)]
    return np.sort(distinct[cuts])


def _best_cut(before: Numbers) -> int | None:
    """Return before which of the values to cut, None if no cut is worth it; `before` sums up the classes."""
    if len(before) < 3:
        return None
    left = before[1:-1] - before[0]
    right = before[-1] - before[1:-1]
    whole = before[-1] - before[0]
    total = whole.sum()
    left_entropy, right_entropy = _entropy(left), _entropy(right)
    divided = (left.sum(axis=1) * left_entropy + right.sum(axis=1) * right_entropy) / total
    cut = int(np.argmin(divided))
    entropy = float(_entropy(whole[None])[0])
    gain = entropy - divided[cut]
    classes, left_classes, right_classes = (int(np.count_nonzero(part)) for part in (whole, left[cut], right[cut]))
    spent = classes * entropy - left_classes * left_entropy[cut] - right_classes * right_entropy[cut]
    if gain * total <= np.log2(total - 1) + np.log2(3.0**classes - 2) - spent:
        return None
    return cut + 1


def _entropy(counts: Numbers) -> Numbers:
    """Return the entropy of the classes of each row, in bits."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
    result: Numbers = -(shares * np.log2(np.maximum(shares, 1e-300))).sum(axis=1)
    return result
