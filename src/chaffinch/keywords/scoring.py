"""How likely a candidate is a keyword: its features, and a logistic regression over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from chaffinch.errors import ModelError
from chaffinch.keywords.candidates import FLAGS, MOST_WORDS, Candidates
from chaffinch.methods.codec import pack_texts, unpack_texts
from chaffinch.models.files import Model, load_model, read_model, write_model

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from chaffinch.keywords.frequencies import DocumentFrequencies
    from chaffinch.models.files import Card

    Numbers = NDArray[np.float64]

KIND: Final = "keywords"
VERSION: Final = 1
KEYWORD_FEATURES: Final[dict[str, str]] = {
    "frequency": "how often it stands on the page, logarithm",
    "frequency_share": "how often, for each word of the page",
    "document_frequency": "share of the collection's pages that have it, logarithm",
    "unseen": "whether no page of the collection has it",
    "rarity": "frequency times the negative of document_frequency",
    **{f"in_{flag}": f"share of its places that are {flag.replace('_', ' ')}" for flag in FLAGS},
    **{f"any_{flag}": f"whether one of its places is {flag.replace('_', ' ')}" for flag in FLAGS},
    "in_description": "whether the page's description has it",
    "position": "its first place on the page, from 0 to 1",
    "last_position": "its last place",
    "run_length": "words of the shortest run of words that it stands in, logarithm",
    "whole_run": "whether it is such a run all by itself",
    "characters": "characters of its words, logarithm",
    **{f"words_{number}": f"whether it has {number} words" for number in range(1, MOST_WORDS + 1)},
    "short": "whether a word of it has fewer than three characters",
    "number": "whether it is a number",
}
"""What each feature is, by its name."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword of a page."""

    text: str
    """As it stands first on the page."""
    score: float
    """How likely it is one, from 0 to 1."""
    count: int
    """How often it stands on the page."""


@dataclass(frozen=True, eq=False)
class KeywordModel:
    """A logistic regression."""

    mean: Numbers
    deviation: Numbers
    weight: Numbers
    bias: float

    def log_odds(self, rows: Numbers) -> Numbers:
        """Return the log odds of each row."""
        result: Numbers = ((rows - self.mean) / self.deviation) @ self.weight + self.bias
        return result


def keyword_rows(found: Candidates, frequencies: DocumentFrequencies) -> Numbers:
    """Return the features of each candidate, a column for each of `KEYWORD_FEATURES`."""
    shares = frequencies.shares(found.key)
    rare = -np.log(shares + 0.5 / max(1, frequencies.pages))
    often = np.log1p(found.count)
    texts = [found.text(number) for number in range(len(found))]
    columns = [
        often,
        found.count / max(1, len(found.words)),
        -rare,
        shares == 0,
        often * rare,
        *found.flags.T,
        *(found.flags > 0).T,
        found.in_description,
        found.position,
        found.last_position,
        np.log(found.run_length),
        found.run_length == found.length,
        np.log(np.array([len(text) for text in texts] or [1])[: len(texts)]),
        *(found.length == number for number in range(1, MOST_WORDS + 1)),
        np.array([min(map(len, text.split())) < 3 for text in texts], dtype=np.bool_),
        np.array([text.isdigit() for text in texts], dtype=np.bool_),
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def extract_keywords(
    found: Candidates,
    model: KeywordModel,
    frequencies: DocumentFrequencies,
    *,
    top: int,
    queries: Mapping[int, float] | None = None,
) -> tuple[Keyword, ...]:
    """Return the likeliest keywords of a page.

    `queries` is how often people search for phrases, by `key_of` the phrase; each tenfold is worth `QUERY_WORTH`.
    """
    if not len(found):
        return ()
    odds = model.log_odds(keyword_rows(found, frequencies))
    if queries:
        asked = np.array([queries.get(key, 0.0) for key in found.key.tolist()])
        odds = odds + QUERY_WORTH * np.log10(1.0 + asked)
    chosen = np.lexsort((found.first, -odds))[:top]
    chances = 1.0 / (1.0 + np.exp(-np.clip(odds[chosen], -50, 50)))
    return tuple(
        Keyword(found.text(number), round(chance, 4), int(found.count[number]))
        for number, chance in zip(chosen.tolist(), chances.tolist(), strict=True)
    )


QUERY_WORTH: Final = 0.5
"""What it adds to the log odds that a phrase is searched for ten times as often. Set by hand: there is no open log of
queries to learn it from."""


@lru_cache(maxsize=1)
def shipped_keyword_model() -> KeywordModel:
    """Return the weights that come with Chaffinch."""
    return _model("keywords", load_model(KIND, KIND, VERSION))


def read_keyword_model(path: Path) -> KeywordModel:
    """Read weights that somebody trained."""
    return _model(str(path), read_model(path, KIND, VERSION))


def write_keyword_model(path: Path, model: KeywordModel, card: Card) -> None:
    """Write weights, with the card that says where they come from."""
    arrays: dict[str, NDArray[Any]] = {
        "features": pack_texts(tuple(KEYWORD_FEATURES)),
        "mean": model.mean,
        "deviation": model.deviation,
        "weight": model.weight,
        "bias": np.array([model.bias]),
    }
    write_model(path, Model(KIND, VERSION, card, arrays))


def _model(subject: str, model: Model) -> KeywordModel:
    arrays = model.arrays
    try:
        if unpack_texts(arrays["features"]) != tuple(KEYWORD_FEATURES):
            raise ModelError(subject, "was trained on other features than this version computes: train it again")
        return KeywordModel(arrays["mean"], arrays["deviation"], arrays["weight"], float(arrays["bias"][0]))
    except (KeyError, IndexError, ValueError) as error:
        raise ModelError(subject, f"is damaged ({error})") from error
