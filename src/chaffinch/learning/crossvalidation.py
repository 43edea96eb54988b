"""Cross-validation by site: what classifiers answer for blocks of sites that had no part in their training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.learning.classifiers import Trained, TrainingOptions, train_on_sites
from chaffinch.methods.classifiers import CLASSIFIERS
from chaffinch.methods.favor import Calibration
from chaffinch.methods.model_weights import Grading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from chaffinch.learning.naive_bayes import WordCounts
    from chaffinch.methods.classifiers import ClassifierName
    from chaffinch.page.arrays import BoolArray

    Numbers = NDArray[np.float64]

FOLDS: Final = 10
BALANCE: Final = 0.9
"""The precision at which a classifier is balanced, as the paper gives its recall."""
_CLEAN, _WHOLE = 0.8, 0.97
"""The precision that is enough where clean text matters most, and where no content may be lost."""
_STEPS: Final = 100
_POINTS: Final = 100


@dataclass(frozen=True, eq=False)
class Curve:
    """Precision and recall of template, from the surest answer on."""

    precision: Numbers
    recall: Numbers
    answer: Numbers
    """The answer from which on a block is taken for template."""

    @classmethod
    def of(cls, template: BoolArray, answers: Numbers) -> Curve:
        """Draw the curve; answers that are equal are taken together."""
        order = np.argsort(-answers, kind="stable")
        found = np.cumsum(template[order])
        last = np.append(np.flatnonzero(np.diff(answers[order])), len(order) - 1) if len(order) else order
        total = max(1, int(template.sum()))
        return cls(found[last] / (last + 1), found[last] / total, answers[order][last])

    def recall_at(self, precision: float) -> float:
        """Return the greatest recall at this precision or more."""
        return float(self.recall[self.precision >= precision].max(initial=0.0))

    def balance(self, precision: float) -> float:
        """Return the answer from which on F1 is greatest at this precision or more; halfway to the next answer."""
        f1 = 2 * self.precision * self.recall / np.maximum(self.precision + self.recall, 1e-12)
        best = int(np.argmax(np.where(self.precision >= precision, f1, -self.answer[0] + self.answer - 1)))
        return float(self.answer[best : best + 2].mean())

    def precision_at(self, recall: float) -> float:
        """Return the precision at the point where the recall is reached."""
        place = int(np.searchsorted(self.recall, recall - 1e-12))
        return float(self.precision[min(place, len(self.precision) - 1)])

    def points(self) -> list[tuple[float, float]]:
        """Return recall and precision at evenly spread recalls, for drawing."""
        shares = np.linspace(1 / _POINTS, 1, _POINTS).tolist()
        return [(round(share, 4), round(self.precision_at(share), 4)) for share in shares]

    def answer_for(self, recall: float) -> float:
        """Return the answer from which on this share of the template is found."""
        place = int(np.searchsorted(self.recall, recall - 1e-12))
        return float(self.answer[min(place, len(self.answer) - 1)])


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """The answers of classifiers to blocks of sites that they had not seen."""

    template: BoolArray
    fold: NDArray[np.int32]
    answers: Mapping[ClassifierName, Numbers]
    """The text classifier answers with log odds, the others with chances."""

    def of(self, rows: BoolArray) -> OutOfFold:
        """Return what was found for some of the blocks."""
        answers = {name: found[rows] for name, found in self.answers.items()}
        return OutOfFold(self.template[rows], self.fold[rows], answers)

    def curve(self, classifier: ClassifierName) -> Curve:
        """Return precision and recall over all folds."""
        return Curve.of(self.template, self.answers[classifier])

    def recalls(self, classifier: ClassifierName, precision: float = BALANCE) -> list[float]:
        """Return the recall in each fold at a precision; folds without template are left out."""
        folds = [self.fold == number for number in range(int(self.fold.max(initial=0)) + 1)]
        answers = self.answers[classifier]
        return [
            Curve.of(self.template[fold], answers[fold]).recall_at(precision)
            for fold in folds
            if self.template[fold].any()
        ]


def folds_of_sites(sites: int, folds: int, seed: int) -> NDArray[np.int32]:
    """Deal out sites to folds."""
    result = np.zeros(sites, dtype=np.int32)
    result[np.random.Generator(np.random.PCG64(seed)).permutation(sites)] = np.arange(sites) % min(folds, sites)
    return result


def cross_validate(
    words: WordCounts,
    how: TrainingOptions,
    *,
    folds: int = FOLDS,
    step: Callable[[int, int], None] = lambda _done, _total: None,
    keep: Callable[[int, Trained], None] = lambda _fold, _trained: None,
) -> OutOfFold:
    """Train on the sites of all folds but one, and ask about those of that one, for each fold.

    `keep` is given what was trained for each fold.
    """
    examples = words.examples
    of_site = folds_of_sites(len(examples.sites), folds, how.seed)
    folds = min(folds, len(examples.sites))
    answers: dict[ClassifierName, Numbers] = {name: np.zeros(len(examples)) for name in CLASSIFIERS}
    for fold in range(folds):
        step(fold, folds)
        held = of_site == fold
        rows = np.flatnonzero(held[examples.site])
        trained = train_on_sites(words, ~held, how)
        keep(fold, trained)
        scores = words.scores(~held, rows)
        values = np.concatenate((examples.features[:, rows], scores))
        answers["forest"][rows] = trained.forest(values)
        answers["logistic"][rows] = trained.logistic(values)
        answers["text"][rows] = scores[0]
    return OutOfFold(examples.template, of_site[examples.site], answers)


def grade(found: OutOfFold, classifier: ClassifierName) -> Grading:
    """Return what a classifier's answers are worth: its balance, and from which score on a share is found."""
    curve = found.curve(classifier)
    balance = min(max(curve.balance(BALANCE), 0.01), 0.99)
    answers = np.array([curve.answer_for(share) for share in np.linspace(0.0, 1.0, _STEPS + 1)])
    unscaled = Grading(balance, Calibration(np.zeros(1, dtype=np.float32), 0.0, 0.0))
    clean, whole = (min(max(curve.recall_at(precision), 0.01), 0.99) for precision in (_CLEAN, _WHOLE))
    return Grading(balance, Calibration(unscaled.scores(answers), clean, whole))
