"""Prior probabilities of tokens: how often what has a token turned out to be of a class, on labelled sites."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

LEAST_SITES: Final = 5
"""A token that fewer labelled sites have is not kept: it would tell more of the sites than of the world."""
_SMOOTHING: Final = 2.0
_NAME_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]{2,}(?![a-z])")
_LONGEST_NAME: Final = 24


@dataclass(frozen=True, eq=False)
class Priors:
    """A table from tokens to probabilities."""

    table: Mapping[str, float]

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Return the table as arrays of a model file."""
        tokens = sorted(self.table)
        values = np.array([self.table[token] for token in tokens], dtype=np.float32)
        return {f"{prefix}_tokens": np.array(tokens, dtype=np.str_), f"{prefix}_values": values}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> Priors:
        """Return the table that `arrays` made arrays of."""
        tokens, values = arrays[f"{prefix}_tokens"], arrays[f"{prefix}_values"]
        return cls(dict(zip(map(str, tokens.tolist()), map(float, values.tolist()), strict=True)))


@dataclass(frozen=True, slots=True)
class Observation:
    """Some tokens that stand together, and the share of the class among what has them."""

    tokens: tuple[str, ...]
    share: float


def learn_priors(sites: Sequence[Sequence[Observation]]) -> Priors:
    """Return probabilities from what was observed on several sites; each site counts once for each token."""
    shares: dict[str, list[float]] = defaultdict(list)
    everything: list[float] = []
    for observed in sites:
        here: dict[str, list[float]] = defaultdict(list)
        for observation in observed:
            for token in set(observation.tokens):
                here[token].append(observation.share)
            everything.append(observation.share)
        for token, values in here.items():
            shares[token].append(float(np.mean(values)))
    base = float(np.mean(everything)) if everything else 0.5
    return Priors(
        {
            token: (sum(values) + _SMOOTHING * base) / (len(values) + _SMOOTHING)
            for token, values in shares.items()
            if len(values) >= LEAST_SITES
        }
    )


def name_tokens(value: str) -> tuple[str, ...]:
    """Return the words that a class or an id is made of."""
    return tuple(part.lower() for part in _NAME_PART.findall(value) if 1 < len(part) <= _LONGEST_NAME)
