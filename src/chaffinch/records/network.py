"""Small networks of three layers, evaluated for all rows at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

    from chaffinch.page.arrays import FloatArray

    Numbers = NDArray[np.float64]

_FAR: Final = 4.0
"""Inputs further from their mean, in deviations, count as this far."""


def sigmoid(values: Numbers) -> Numbers:
    """Return the logistic function of `values`."""
    result: Numbers = 1.0 / (1.0 + np.exp(-np.clip(values, -50.0, 50.0)))
    return result


@dataclass(frozen=True, eq=False)
class Network:
    """One or several networks with sigmoid units in the hidden layer; several vote by their mean."""

    mean: Numbers
    deviation: Numbers
    hidden: Numbers
    """Networks x inputs x hidden units."""
    hidden_bias: Numbers
    output: Numbers
    """Networks x hidden units."""
    output_bias: Numbers

    def scaled(self, rows: FloatArray | Numbers) -> Numbers:
        """Return inputs in deviations from their mean."""
        result: Numbers = np.clip((rows - self.mean) / self.deviation, -_FAR, _FAR)
        return result

    def logits(self, rows: FloatArray | Numbers) -> Numbers:
        """Return a number for each row, before the sigmoid of the output."""
        scaled = self.scaled(rows)
        total = np.zeros(len(scaled))
        for hidden, bias, output, shift in zip(
            self.hidden, self.hidden_bias, self.output, self.output_bias, strict=True
        ):
            total += sigmoid(scaled @ hidden + bias) @ output + shift
        return total / len(self.hidden)

    def __call__(self, rows: FloatArray | Numbers) -> Numbers:
        """Return a number between 0 and 1 for each row."""
        return sigmoid(self.logits(rows))

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Return the network as the arrays of a model file."""
        names = ("mean", "deviation", "hidden", "hidden_bias", "output", "output_bias")
        return {f"{prefix}_{name}": getattr(self, name).astype(np.float32) for name in names}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> Network:
        """Return the network that `arrays` made arrays of."""
        names = ("mean", "deviation", "hidden", "hidden_bias", "output", "output_bias")
        return cls(*(arrays[f"{prefix}_{name}"].astype(np.float64) for name in names))
