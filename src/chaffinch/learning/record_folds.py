"""Cross-validation by site of what record mining learns: whole weights for each fold, and the two detectors alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.learning.record_units import DECORATIVE, TEMPLATE, train_lessons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.learning.networks import Training
    from chaffinch.learning.record_units import Learned, Lesson

FOLDS: Final = 5
SEED: Final = 7


def folds_of(sites: int, folds: int = FOLDS, seed: int = SEED) -> NDArray[np.intp]:
    """Return the fold of each site: drawn once, of sizes that differ by one at most."""
    order = np.random.Generator(np.random.PCG64(seed)).permutation(sites)
    result = np.empty(sites, dtype=np.intp)
    result[order] = np.arange(sites) % folds
    return result


@dataclass(frozen=True, slots=True)
class DetectorFold:
    """How well a detector does on the sites of one fold."""

    samples: int
    accuracy: float
    majority: float
    """The accuracy of always saying what is more frequent."""
    precision: float
    recall: float


def detector_folds(learned: Learned, folds: int = FOLDS, seed: int = SEED) -> dict[str, list[DetectorFold]]:
    """Return for both of the paper's detectors how well they do on the sites of each fold, trained on the others."""
    return {
        "decorative tags": _folds(learned.decorative, DECORATIVE, folds, seed),
        "template texts": _folds(learned.template, TEMPLATE, folds, seed),
    }


def _folds(lessons: Sequence[Lesson], how: Training, folds: int, seed: int) -> list[DetectorFold]:
    fold_of = folds_of(len(lessons), folds, seed)
    result = []
    for fold in range(folds):
        network = train_lessons([lesson for lesson, here in zip(lessons, fold_of, strict=True) if here != fold], how)
        held = [lesson for lesson, here in zip(lessons, fold_of, strict=True) if here == fold and len(lesson.rows)]
        seen = np.concatenate([lesson.seen for lesson in held]) > 0
        truth = (np.concatenate([lesson.share for lesson in held]) > 0.5)[seen]
        said = (network(np.concatenate([lesson.rows for lesson in held])) > 0.5)[seen]
        right = int((said & truth).sum())
        result.append(
            DetectorFold(
                samples=len(truth),
                accuracy=float((said == truth).mean()),
                majority=float(max(truth.mean(), 1 - truth.mean())),
                precision=right / max(int(said.sum()), 1),
                recall=right / max(int(truth.sum()), 1),
            )
        )
    return result
