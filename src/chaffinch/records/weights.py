"""The trained parts of record mining, in one model file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from chaffinch.models.files import Model, load_model, read_model, write_model
from chaffinch.records.network import Network

if TYPE_CHECKING:
    from pathlib import Path

    from chaffinch.models.files import Card

KIND: Final = "records"
VERSION: Final = 1


@dataclass(frozen=True, eq=False)
class Weights:
    """Everything that is learned once, from labelled pages of many sites."""

    ranker: Network
    """Tells records from what else repeats."""


@cache
def shipped_weights() -> Weights:
    """Return the weights that come with Chaffinch."""
    return _weights(load_model(KIND, KIND, VERSION))


def read_weights(path: Path) -> Weights:
    """Read weights that somebody trained."""
    return _weights(read_model(path, KIND, VERSION))


def write_weights(path: Path, weights: Weights, card: Card) -> None:
    """Write weights, with the card that says where they come from."""
    write_model(path, Model(KIND, VERSION, card, weights.ranker.arrays("ranker")))


def _weights(model: Model) -> Weights:
    return Weights(Network.from_arrays(model.arrays, "ranker"))
