"""Training of the classifiers of blocks (Kolcz and Yih 2007, section 4.1), with the extra `train`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.errors import MissingExtraError
from chaffinch.learning.mdl import cut_points
from chaffinch.learning.naive_bayes import WordCounts
from chaffinch.methods.classifiers import Cuts, Forest, Logistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, FloatArray, SmallArray


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How classifiers are trained."""

    seed: int = 0
    trees: int = 32
    depth: int = 12
    least_leaf: int = 5
    """Blocks that come to a leaf of a tree, at least."""
    strength: float = 0.1
    """The inverse of how strongly the weights of the regression are drawn to 0."""
    jobs: int = 1
    """Trees are grown by so many threads; they are the same with any number."""

    def as_json(self) -> dict[str, float]:
        """Return what the result depends on."""
        return {name: value for name, value in asdict(self).items() if name != "jobs"}


@dataclass(frozen=True, eq=False)
class Trained:
    """The classifiers, and how many blocks were left after duplicates were taken out."""

    logistic: Logistic
    forest: Forest
    blocks: tuple[int, int, int]
    """Before, after the first time, after the second time."""


def require_extra() -> None:
    """Raise `MissingExtraError` if what training needs is not installed."""
    try:
        import sklearn  # noqa: F401, PLC0415
    except ImportError as error:
        raise MissingExtraError("training", "train") from error


def train_on_sites(words: WordCounts, chosen: BoolArray, how: TrainingOptions) -> Trained:
    """Train on the drawn blocks of the chosen sites; what the words say of each comes from the other sites."""
    examples = words.examples
    rows = np.flatnonzero(chosen[examples.site] & examples.drawn)
    features = np.concatenate((examples.features[:, rows], words.out_of_fold(chosen, rows, how.seed)))
    return train(features, examples.template[rows], how)


def train(features: FloatArray, template: BoolArray, how: TrainingOptions) -> Trained:
    """Take out duplicates, cut the features, take out duplicates again, and train both classifiers."""
    total = len(template)
    once = _first_of_each(features, template)
    features, template = features[:, once], template[once]
    cuts = find_cuts(features, template)
    bins = cuts.bins(features)
    again = _first_of_each(bins, template)
    rows, template = np.ascontiguousarray(bins[:, again].T), template[again]
    return Trained(
        _train_logistic(rows, template, cuts, how),
        _train_forest(rows, template, cuts, how),
        (total, len(once), len(again)),
    )


def find_cuts(features: FloatArray, template: BoolArray) -> Cuts:
    """Cut each feature by the minimum description length principle."""
    found = [cut_points(column, template) for column in features]
    widest = max(map(len, found), default=0)
    at = np.full((len(found), widest), np.inf, dtype=np.float32)
    for row, cuts in zip(at, found, strict=True):
        row[: len(cuts)] = cuts
    return Cuts(at)


def _first_of_each(values: NDArray[Any], template: BoolArray) -> NDArray[np.intp]:
    """Return the first of all examples that are equal in features and label."""
    data = np.ascontiguousarray(values.T)
    hashes = np.array([xxh3_64_intdigest(row.tobytes()) for row in data], dtype=np.uint64)
    _, first = np.unique(hashes * np.uint64(2) + template.astype(np.uint64), return_index=True)
    return np.sort(first)


def _train_logistic(bins: SmallArray, template: BoolArray, cuts: Cuts, how: TrainingOptions) -> Logistic:
    """Train a regression with one binary feature for each bin that is not empty."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415  (an extra)
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    (rows, columns), width = bins.shape, cuts.at.shape[1] + 1
    places = np.arange(columns) * width + bins
    shape = (rows, columns * width)
    data = np.ones(bins.size, dtype=np.float32)
    binary = csr_matrix((data, places.ravel(), np.arange(rows + 1) * columns), shape=shape)
    fitted = LogisticRegression(C=how.strength, max_iter=300).fit(binary, template)
    weight = fitted.coef_.reshape(columns, width)
    # A constant of a feature belongs to the bias, so that what is left tells what speaks for and against.
    used = np.zeros(columns * width)
    used[: places.max() + 1] = np.bincount(places.ravel())
    shares = used.reshape(columns, width) / rows
    mean = (weight * shares).sum(axis=1, keepdims=True)
    return Logistic(cuts, (weight - mean).astype(np.float32), float(fitted.intercept_[0] + mean.sum()))


def _train_forest(bins: SmallArray, template: BoolArray, cuts: Cuts, how: TrainingOptions) -> Forest:
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415  (an extra)

    fitted = RandomForestClassifier(
        how.trees, max_depth=how.depth, min_samples_leaf=how.least_leaf, random_state=how.seed, n_jobs=how.jobs
    ).fit(bins.astype(np.float32), template)
    trees = [estimator.tree_ for estimator in fitted.estimators_]
    roots = np.cumsum([0, *(tree.node_count for tree in trees)])
    parts = [_tree_arrays(tree, cuts, root) for tree, root in zip(trees, roots[:-1].tolist(), strict=True)]
    feature, cut, below, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Forest(feature, cut, below, value, roots[:-1].astype(np.int32), how.depth)


def _tree_arrays(tree: Any, cuts: Cuts, root: int) -> tuple[NDArray[Any], ...]:  # noqa: ANN401 - of scikit-learn
    """Return a tree's features, cuts, first nodes below and values, its nodes level by level."""
    order = [0]
    for node in order:  # it grows on the way
        if tree.children_left[node] >= 0:
            order += [tree.children_left[node], tree.children_right[node]]
    place = np.zeros(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    below = tree.children_left[order]
    is_inner = below >= 0
    feature = np.where(is_inner, tree.feature[order], 0).astype(np.int32)
    cut = np.full(len(order), np.inf, dtype=np.float32)
    # A bin above the threshold is one at or above the cut of this number.
    cut[is_inner] = cuts.at[feature[is_inner], np.floor(tree.threshold[order][is_inner]).astype(np.intp)]
    counts = tree.value[order, 0, :]
    value = counts[:, -1] / counts.sum(axis=1)
    return (
        feature,
        cut,
        (root + np.where(is_inner, place[below], place[order])).astype(np.int32),
        value.astype(np.float16).astype(np.float32),
    )
