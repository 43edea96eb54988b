"""The trained parts of record mining, in one model file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from chaffinch.models.files import Model, load_model, read_model, write_model
from chaffinch.page.tags import IDS, NAMES, UNKNOWN
from chaffinch.records.decoration import NEUTRAL
from chaffinch.records.network import Network
from chaffinch.records.priors import Priors

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from chaffinch.models.files import Card

KIND: Final = "records"
VERSION: Final = 3
_NETWORKS: Final = ("ranker", "decorative", "joint", "template", "keeping")
_PRIORS: Final = ("tags", "template_prior", "name_prior", "word_prior")


@dataclass(frozen=True, eq=False)
class Weights:
    """Everything that is learned once, from labelled pages of many sites."""

    ranker: Network
    """Tells records from what else repeats."""
    decorative: Network
    """Tells decorative tags (9-4-1)."""
    joint: Network
    """Tells where a unit goes on from one text to the next."""
    template: Network
    """Tells template texts (7-3-1)."""
    keeping: Network
    """Tells slots of data from slots of template."""
    tags: Priors
    """How often elements of a name are decorative."""
    template_prior: Priors
    """How often a token of a frequent text is template."""
    name_prior: Priors
    """How often elements with a word in their class or id hold data."""
    word_prior: Priors
    """How often constant texts with a word are data."""

    @property
    def tag_prior(self) -> NDArray[np.float64]:
        """The probability of each tag number to be decorative."""
        return prior_by_tag(self.tags)


def prior_by_tag(priors: Priors) -> NDArray[np.float64]:
    """Return a table over tag numbers."""
    result = np.full(len(NAMES), NEUTRAL)
    for name, value in priors.table.items():
        if IDS[name] != UNKNOWN:
            result[IDS[name]] = value
    return result


@cache
def shipped_weights() -> Weights:
    """Return the weights that come with Chaffinch."""
    return _weights(load_model(KIND, KIND, VERSION))


def read_weights(path: Path) -> Weights:
    """Read weights that somebody trained."""
    return _weights(read_model(path, KIND, VERSION))


def write_weights(path: Path, weights: Weights, card: Card) -> None:
    """Write weights, with the card that says where they come from."""
    arrays: dict[str, NDArray[Any]] = {}
    for name in (*_NETWORKS, *_PRIORS):
        arrays |= getattr(weights, name).arrays(name)
    write_model(path, Model(KIND, VERSION, card, arrays))


def _weights(model: Model) -> Weights:
    networks = {name: Network.from_arrays(model.arrays, name) for name in _NETWORKS}
    priors = {name: Priors.from_arrays(model.arrays, name) for name in _PRIORS}
    return Weights(**networks, **priors)  # type: ignore[arg-type]
