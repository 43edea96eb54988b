"""Choosing among predictions honestly: each site is measured under what the other sites choose."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chaffinch.evaluation.results import Result


@dataclass(frozen=True, slots=True)
class Choice:
    """What comes of leaving each site out in turn, choosing by all the others, and measuring on the one left out."""

    measures: Mapping[str, float]
    """Means over sites."""
    chosen: Mapping[str, int]
    """How often each prediction was chosen, the one chosen most often first."""


def leave_one_out(results: Sequence[Result], measure: str = "f1") -> Choice:
    """Choose the prediction that is best by a measure, in the mean over all sites but the one it is measured on.

    Among equals the first one is chosen.
    """
    counts: Counter[str] = Counter()
    measured: list[Mapping[str, float]] = []
    for left_out in range(len(results[0].sites)):
        best = max(
            results,
            key=lambda result: fmean(
                [site.measures[measure] for number, site in enumerate(result.sites) if number != left_out] or [0.0]
            ),
        )
        counts[best.name] += 1
        measured.append(best.sites[left_out].measures)
    means = {name: fmean(row[name] for row in measured) for name in measured[0]} if measured else {}
    return Choice(means, dict(counts.most_common()))
