"""The trained parts of method `model`, in one model file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from chaffinch.errors import ModelError
from chaffinch.methods.block_features import FEATURES, block_features
from chaffinch.methods.classifiers import CLASSIFIERS, Cuts, Forest, Logistic, forest_arrays, forest_of
from chaffinch.methods.codec import pack_texts, unpack_texts
from chaffinch.methods.favor import Calibration
from chaffinch.methods.text_scores import TEXT_FEATURES, TextScores, WordOdds
from chaffinch.models.files import Model, load_model, read_model, write_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from chaffinch.methods.classifiers import ClassifierName
    from chaffinch.methods.page_blocks import PageBlocks
    from chaffinch.models.files import Card
    from chaffinch.page.arrays import FloatArray, IndexArray

KIND: Final = "model"
VERSION: Final = 2
"""Raised whenever the features or the classifiers change."""
COLUMNS: Final = (*FEATURES, *TEXT_FEATURES)
"""The features that classifiers see, by name."""


@dataclass(frozen=True, eq=False)
class Grading:
    """What a classifier's answers were worth on sites that it had not seen."""

    balance: float
    """The answer from which on most is found while nine of ten blocks are template: it becomes the score 0.5."""
    calibration: Calibration
    """In scores."""

    def scores(self, answers: NDArray[np.float64]) -> FloatArray:
        """Return scores for a classifier's answers."""
        return np.interp(answers, (0.0, self.balance, 1.0), (0.0, 0.5, 1.0)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Weights:
    """Everything that is learned from a crawl of many sites."""

    modern: bool
    """Whether elements of today's layouts, and paragraphs, are blocks too."""
    text: TextScores
    logistic: Logistic
    forest: Forest
    gradings: Mapping[ClassifierName, Grading]
    card: Card

    def features(self, blocks: PageBlocks, chosen: IndexArray) -> FloatArray:
        """Return what is seen of the chosen blocks: a row for each of `COLUMNS`, a column for each block."""
        return np.concatenate((block_features(blocks, chosen), self.text.features(blocks, chosen)))


@lru_cache(maxsize=4)
def weights_of(file: str) -> Weights:
    """Return the weights of a model file, or, for an empty name, those that come with Chaffinch."""
    if not file:
        return _weights("model", load_model(KIND, KIND, VERSION))
    return _weights(file, read_model(Path(file), KIND, VERSION))


def write_weights(path: Path, weights: Weights) -> None:
    """Write weights, with the card that says where they come from."""
    arrays: dict[str, NDArray[Any]] = {
        "modern": np.array([weights.modern]),
        "columns": pack_texts(COLUMNS),
        "cuts": weights.logistic.cuts.at,
        "logistic_weight": weights.logistic.weight,
        "logistic_bias": np.array([weights.logistic.bias]),
        **forest_arrays(weights.forest, weights.logistic.cuts),
    }
    for name, odds in (("text", weights.text.text), ("names", weights.text.names)):
        arrays[f"{name}_words"] = pack_texts(odds.words)
        arrays[f"{name}_odds"] = odds.odds.astype(np.float32)
    for classifier, grading in weights.gradings.items():
        arrays[f"{classifier}_balance"] = np.array([grading.balance])
        arrays[f"{classifier}_thresholds"] = grading.calibration.thresholds
        arrays[f"{classifier}_favors"] = np.array([grading.calibration.precision, grading.calibration.recall])
    write_model(path, Model(KIND, VERSION, weights.card, arrays))


def _weights(subject: str, model: Model) -> Weights:
    arrays = model.arrays
    try:
        cuts = Cuts(arrays["cuts"])
        if unpack_texts(arrays["columns"]) != COLUMNS:
            raise ModelError(subject, "was trained on other features than this version computes: train it again")
        odds = [
            WordOdds(unpack_texts(arrays[f"{name}_words"]), arrays[f"{name}_odds"].astype(np.float32))
            for name in ("text", "names")
        ]
        return Weights(
            modern=bool(arrays["modern"][0]),
            text=TextScores(odds[0], odds[1]),
            logistic=Logistic(cuts, arrays["logistic_weight"], float(arrays["logistic_bias"][0])),
            forest=forest_of(arrays, cuts),
            gradings={name: _grading(arrays, name) for name in CLASSIFIERS if f"{name}_balance" in arrays},
            card=model.card,
        )
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise ModelError(subject, f"is damaged ({error})") from error


def _grading(arrays: Mapping[str, NDArray[Any]], name: ClassifierName) -> Grading:
    precision, recall = arrays[f"{name}_favors"].tolist()
    return Grading(
        float(arrays[f"{name}_balance"][0]),
        Calibration(arrays[f"{name}_thresholds"].astype(np.float32), precision, recall),
    )
