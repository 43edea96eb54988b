"""How far a method is trusted: from what a user favors to the score from which on text is dropped.

Every method scores so that 0.5 is its own, balanced decision. Somebody who cannot bear template in the text favors
precision, somebody who cannot bear to lose any of it favors recall, and a number says outright which share of the
template should go. What that means as a score is the method's matter: one that was measured on sites it had never seen
has a calibration; for all others the score itself is taken at its word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, get_args, runtime_checkable

import numpy as np

from chaffinch.errors import UsageError
from chaffinch.methods.protocol import DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from chaffinch.methods.protocol import AnyMethod
    from chaffinch.page.arrays import FloatArray

FavorName: TypeAlias = Literal["precision", "balanced", "recall"]
Favor: TypeAlias = FavorName | float
FAVORS: Final[tuple[FavorName, ...]] = get_args(FavorName)
DEFAULT_FAVOR: Final[Favor] = "balanced"

_UNCALIBRATED: Final[dict[str, float]] = {"precision": 0.75, "recall": 0.25}
"""What the names mean as a share of the template, for a method without a calibration."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """What scores were worth on pages of sites that had no part in training."""

    thresholds: FloatArray
    """The scores from which on 0, 1/n, 2/n … all of the template is found; descending."""
    precision: float
    """The share of the template that is to go where clean text matters most."""
    recall: float
    """And where no content may be lost."""

    def threshold(self, share: float) -> float:
        """Return the score from which on this share of the template is found."""
        shares = np.linspace(0.0, 1.0, len(self.thresholds))
        return float(np.interp(share, shares, self.thresholds))


@runtime_checkable
class Calibrated(Protocol):
    """A method whose scores were measured against a known share of template."""

    @property
    def calibration(self) -> Calibration:
        """What the scores are worth."""
        ...


def threshold_of(method: AnyMethod, favor: Favor, calibration: Calibration | None = None) -> float:
    """Return the score from which on text is dropped, by what the user favors.

    A calibration that is given stands in for the method's own.
    """
    favor = read_favor(str(favor))
    if favor == "balanced":
        return DEFAULT_THRESHOLD
    if calibration is None and isinstance(method, Calibrated):
        calibration = method.calibration
    share = favor if isinstance(favor, float) else getattr(calibration, favor, _UNCALIBRATED[favor])
    if share <= 0:
        return math.inf
    if share >= 1:
        return 0.0
    return calibration.threshold(share) if calibration else 1.0 - share


def read_favor(text: str) -> Favor:
    """Read what a user favors: a name, or a share of the template."""
    for name in FAVORS:
        if text == name:
            return name
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise UsageError(f"what is favored is {', '.join(FAVORS)} or a number from 0 to 1, not {text!r}")
    return share
