"""The classifiers of blocks, applied to all blocks of a page at once: cuts, logistic regression, random forest.

Training needs more than applying: what is here needs numpy alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from chaffinch.page.arrays import FloatArray, IntArray, SmallArray

    Numbers = NDArray[np.float64]

ClassifierName: TypeAlias = Literal["forest", "logistic", "text"]
"""Random forest, logistic regression, or the naive Bayes text classifier alone."""
CLASSIFIERS: Final[tuple[ClassifierName, ...]] = get_args(ClassifierName)


def sigmoid(values: Numbers) -> Numbers:
    """Return the logistic function of `values`."""
    result: Numbers = 1.0 / (1.0 + np.exp(-np.clip(values, -50.0, 50.0)))
    return result


@dataclass(frozen=True, eq=False)
class Cuts:
    """Where each feature is cut. A value's bin is how many cuts are at or below it."""

    at: FloatArray
    """Features x cuts, ascending; infinite where there are no more."""

    def bins(self, rows: FloatArray) -> SmallArray:
        """Return the bin of each value."""
        result = np.zeros(rows.shape, dtype=np.uint8)
        for cut in self.at.T:
            result += rows >= cut
        return result


@dataclass(frozen=True, eq=False)
class Logistic:
    """Logistic regression over bins: each bin of each feature has a weight."""

    weight: FloatArray
    """Features x bins."""
    bias: float

    def parts(self, bins: SmallArray) -> FloatArray:
        """Return what each feature adds to the log odds of each row."""
        return np.take_along_axis(self.weight, bins.T.astype(np.intp), axis=1).T

    def __call__(self, bins: SmallArray) -> Numbers:
        """Return the chance that each row is template."""
        return sigmoid(self.parts(bins).sum(axis=1) + self.bias)


@dataclass(frozen=True, eq=False)
class Forest:
    """A random forest over bins: trees x nodes, each tree's root first; a leaf leads to itself."""

    feature: IntArray
    above: SmallArray
    """A row goes to the right if its bin is greater."""
    left: IntArray
    right: IntArray
    value: FloatArray
    """The chance of template of the training blocks that came to each node."""
    depth: int

    def __call__(self, bins: SmallArray) -> Numbers:
        """Return the mean chance of template over all trees."""
        if not len(bins):
            return np.zeros(0)
        flat, width = bins.ravel(), bins.shape[1]
        row = np.arange(len(bins), dtype=np.int32) * width
        feature, above, value = self.feature.ravel(), self.above.ravel(), self.value.ravel()
        child = np.stack((self.left, self.right), axis=-1).ravel()
        place = self._roots(len(bins))
        for _ in range(self.depth):
            goes_right = flat[feature[place] + row] > above[place]
            place = child[2 * place + goes_right]
        result: Numbers = value[place].mean(axis=0, dtype=np.float64)
        return result

    def parts(self, bins: SmallArray) -> FloatArray:
        """Return how each feature moved the mean chance of each row, on the way from the roots to the leaves."""
        result = np.zeros(bins.size)
        flat, width = bins.ravel(), bins.shape[1]
        row = np.arange(len(bins), dtype=np.int32) * width
        feature, above, value = self.feature.ravel(), self.above.ravel(), self.value.ravel()
        left, right = self.left.ravel(), self.right.ravel()
        place = self._roots(len(bins))
        for _ in range(self.depth if len(bins) else 0):
            key = feature[place] + row
            following = np.where(flat[key] > above[place], right[place], left[place])
            moved = value[following] - value[place]
            result += np.bincount(key.ravel(), weights=moved.ravel(), minlength=bins.size)
            place = following
        return (result.reshape(bins.shape) / len(self.feature)).astype(np.float32)

    @property
    def bias(self) -> float:
        """The mean chance at the roots."""
        return float(self.value[:, 0].mean())

    def _roots(self, rows: int) -> IntArray:
        trees, nodes = self.feature.shape
        return np.repeat(np.arange(trees, dtype=np.int32)[:, None] * nodes, rows, axis=1)


def forest_arrays(forest: Forest) -> Mapping[str, NDArray[Any]]:
    """Return a forest as the arrays of a model file."""
    nodes = forest.feature.shape[1]
    base = np.arange(len(forest.feature))[:, None] * nodes
    return {
        "forest_feature": forest.feature.astype(np.uint8),
        "forest_above": forest.above,
        "forest_left": (forest.left - base).astype(np.uint16),
        "forest_right": (forest.right - base).astype(np.uint16),
        "forest_value": forest.value.astype(np.float16),
    }


def forest_of(arrays: Mapping[str, NDArray[Any]], depth: int) -> Forest:
    """Read a forest back."""
    trees, nodes = arrays["forest_feature"].shape
    base = (np.arange(trees, dtype=np.int32) * nodes)[:, None]
    return Forest(
        feature=arrays["forest_feature"].astype(np.int32),
        above=arrays["forest_above"],
        left=arrays["forest_left"].astype(np.int32) + base,
        right=arrays["forest_right"].astype(np.int32) + base,
        value=arrays["forest_value"].astype(np.float32),
        depth=depth,
    )
