"""Training of small networks by backpropagation: to tell two classes apart, or to put the best of a list first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.records.network import Network, sigmoid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Slope = Callable[[Numbers], Numbers]

_LEAST_DEVIATION: Final = 1e-3
_MOMENTUM: Final = 0.9
_SQUARES: Final = 0.99


@dataclass(frozen=True, slots=True)
class Training:
    """How networks are trained."""

    hidden: int
    epochs: int = 150
    rate: float = 0.02
    decay: float = 0.01
    """How strongly weights are drawn to 0."""
    networks: int = 5
    """How many vote."""
    seed: int = 0


def train_classifier(rows: NDArray[np.floating], labels: Numbers, weights: Numbers, how: Training) -> Network:
    """Return networks whose output is the chance that a row is of class 1."""
    total = weights.sum()

    def slope(outputs: Numbers) -> Numbers:
        result: Numbers = (sigmoid(outputs) - labels) * weights / total
        return result

    return _train(rows, slope, how)


def train_ranker(
    rows: NDArray[np.floating], sizes: Sequence[int], targets: Numbers, weights: Numbers, how: Training
) -> Network:
    """Return networks that give the best row of each list the highest number.

    `targets` are the shares of the rows in their lists, `weights` those of the lists.
    """
    start = np.concatenate(([0], np.cumsum(sizes)))[:-1]
    group = np.repeat(np.arange(len(sizes)), sizes)
    total = weights.sum()

    def slope(outputs: Numbers) -> Numbers:
        powers = np.exp(outputs - np.maximum.reduceat(outputs, start)[group])
        shares = powers / np.add.reduceat(powers, start)[group]
        result: Numbers = (shares - targets) * weights[group] / total
        return result

    return _train(rows, slope, how)


def _train(rows: NDArray[np.floating], slope: Slope, how: Training) -> Network:
    values = rows.astype(np.float64)
    mean, deviation = values.mean(axis=0), values.std(axis=0) + _LEAST_DEVIATION
    empty = Network(mean, deviation, np.zeros((0, 0, 0)), np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0))
    scaled = empty.scaled(values).astype(np.float32)
    trained = [
        _train_one(scaled, slope, how, np.random.Generator(np.random.PCG64([how.seed, number])))
        for number in range(how.networks)
    ]
    hidden, bias, output, shift = (np.stack(parts) for parts in zip(*trained, strict=True))
    return Network(mean, deviation, hidden, bias, output, shift)


def _train_one(
    scaled: NDArray[np.float32], slope: Slope, how: Training, random: np.random.Generator
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Descend along the gradient, with step sizes by the gradients' running means and squares (Adam)."""
    inputs = scaled.shape[1]
    weights: list[Numbers] = [
        random.normal(size=(inputs, how.hidden)) * (2.0 / np.sqrt(inputs)),
        np.zeros(how.hidden),
        random.normal(size=how.hidden) * 0.2,
        np.zeros(()),
    ]
    means = [np.zeros_like(part) for part in weights]
    squares = [np.zeros_like(part) for part in weights]
    for epoch in range(1, how.epochs + 1):
        hidden = 1.0 / (1.0 + np.exp(-(scaled @ weights[0].astype(np.float32) + weights[1].astype(np.float32))))
        back = slope(hidden @ weights[2] + weights[3])
        inner = np.outer(back, weights[2]).astype(np.float32) * hidden * (1.0 - hidden)
        gradients = (scaled.T @ inner, inner.sum(axis=0), hidden.T @ back, back.sum())
        for number, gradient in enumerate(gradients):
            means[number] = _MOMENTUM * means[number] + (1 - _MOMENTUM) * gradient
            squares[number] = _SQUARES * squares[number] + (1 - _SQUARES) * gradient**2
            mean = means[number] / (1 - _MOMENTUM**epoch)
            square = squares[number] / (1 - _SQUARES**epoch)
            weights[number] = weights[number] - how.rate * (
                mean / (np.sqrt(square) + 1e-8) + how.decay * weights[number]
            )
    return weights[0], weights[1], weights[2], weights[3]
