"""The classifiers of blocks, applied to all blocks of a page at once: cuts, logistic regression, random forest.

Training needs more than applying: what is here needs numpy alone. What is seen of blocks comes as an array with a row
for each feature and a column for each block.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

from chaffinch.page.arrays import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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

    def bins(self, values: FloatArray) -> SmallArray:
        """Return the bin of each value."""
        result = np.zeros(values.shape, dtype=np.uint8)
        for cut in self.at.T:
            result += values >= cut[:, None]
        return result


@dataclass(frozen=True, eq=False)
class Logistic:
    """Logistic regression over bins: each bin of each feature has a weight."""

    cuts: Cuts
    weight: FloatArray
    """Features x bins."""
    bias: float

    def parts(self, values: FloatArray) -> FloatArray:
        """Return what each feature adds to the log odds of each block."""
        return np.take_along_axis(self.weight, self.cuts.bins(values).astype(np.intp), axis=1)

    def __call__(self, values: FloatArray) -> Numbers:
        """Return the chance that each block is template."""
        return sigmoid(self.parts(values).sum(axis=0) + self.bias)


@dataclass(frozen=True, eq=False)
class Forest:
    """A random forest: the nodes of its trees one after the other, the two below a node side by side.

    A node asks whether a feature is at or above a cut. Few different questions are asked by many nodes, so all are
    answered once for each block, and on the way down a tree one number of a node tells both where the answer is and
    where to go on.
    """

    feature: IntArray
    """What each node asks of; of leaves, nothing that matters."""
    cut: FloatArray
    """The block goes on to the second node below if its feature is at or above; infinite for a leaf."""
    below: IntArray
    """The first of the two nodes below; of a leaf, the leaf itself."""
    value: FloatArray
    """The chance of template of the training blocks that came to each node."""
    roots: IntArray
    """Where each tree starts."""
    depth: int

    def __call__(self, values: FloatArray) -> Numbers:
        """Return the mean chance of template over all trees."""
        total = np.zeros(values.shape[1])
        for place in self._levels(values):
            last = place
        if values.shape[1]:
            total += self.value.take(last).sum(axis=0, dtype=np.float64)
        return total / len(self.roots)

    def parts(self, values: FloatArray) -> FloatArray:
        """Return how each feature moved the mean chance of each block, on the way from the roots to the leaves."""
        features, blocks = values.shape
        result = np.zeros(values.size)
        column = np.arange(blocks)
        before: NDArray[np.int64] | None = None
        for place in self._levels(values):
            if before is not None:
                moved = self.value[place] - self.value[before]
                key = self.feature[before] * blocks + column
                result += np.bincount(key.ravel(), weights=moved.ravel(), minlength=values.size)
            before = place
        return (result.reshape(features, blocks) / len(self.roots)).astype(np.float32)

    @property
    def bias(self) -> float:
        """The mean chance at the roots."""
        return float(self.value[self.roots].mean())

    def _levels(self, values: FloatArray) -> Iterator[NDArray[np.int64]]:
        """Yield at which node of each tree each block is: at the roots, a level deeper, and so on."""
        feature, cut, packed, bits = self._questions
        blocks = values.shape[1]
        answers = (values.take(feature, axis=0) >= cut[:, None]).view(np.uint8).ravel()
        column = np.arange(blocks)
        place = np.repeat(self.roots.astype(np.int64)[:, None], blocks, axis=1)
        yield place
        for _ in range(self.depth):
            node = packed.take(place)
            question = node & ((1 << bits) - 1)
            question *= blocks
            question += column
            node >>= bits
            node += answers.take(question)
            place = node
            yield place

    @cached_property
    def _questions(self) -> tuple[IntArray, FloatArray, NDArray[np.int64], int]:
        """The different questions; for each node the first node below and its question in one number; the bits of that.

        The last question is that of leaves, to which the answer is always no.
        """
        pairs, number = np.unique(np.stack((self.feature, self.cut), axis=1), axis=0, return_inverse=True)
        bits = len(pairs).bit_length()
        packed = (self.below.astype(np.int64) << bits) | number.ravel()
        return pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.float32), frozen(packed), bits


def forest_arrays(forest: Forest, cuts: Cuts) -> Mapping[str, NDArray[Any]]:
    """Return a forest as the arrays of a model file; a cut is named by its place among those of its feature."""
    places = (cuts.at[forest.feature] < forest.cut[:, None]).sum(axis=1)
    return {
        "forest_feature": forest.feature.astype(np.uint8),
        "forest_cut": np.where(np.isinf(forest.cut), _LEAF, places).astype(np.uint8),
        "forest_below": forest.below.astype(np.uint32),
        "forest_value": forest.value.astype(np.float16),
        "forest_roots": forest.roots,
        "forest_depth": np.array([forest.depth]),
    }


def forest_of(arrays: Mapping[str, NDArray[Any]], cuts: Cuts) -> Forest:
    """Read a forest back."""
    feature, place = arrays["forest_feature"].astype(np.int32), arrays["forest_cut"]
    at = np.concatenate((cuts.at, np.full((len(cuts.at), _LEAF + 1 - cuts.at.shape[1]), np.inf, np.float32)), axis=1)
    return Forest(
        feature=feature,
        cut=at[feature, place],
        below=arrays["forest_below"].astype(np.int32),
        value=arrays["forest_value"].astype(np.float32),
        roots=arrays["forest_roots"].astype(np.int32),
        depth=int(arrays["forest_depth"][0]),
    )


_LEAF: Final = 255
