"""The template text detector: texts that many strings of a slot share, and whether they are template.

Frequent texts are found by votes weighted with position; seven numbers say how regularly each occurs; a network of
three layers (7-3-1) tells template from data. Template texts part data strings, or join the tags at their ends.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.records.decoration import NEUTRAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

FEATURES: Final = (
    "occurrences", "their deviation", "first position from the left", "its deviation from the left",
    "first position from the right", "its deviation from the right", "prior probability",
)  # fmt: skip
_TOKEN: Final = re.compile(r"\d+(?:[.,]\d+)*|\w+|[^\w\s]")
_SEEDS: Final = 5
_VOTERS: Final = 60
"""Strings of a cluster that vote, evenly spread over it; more would cost and change little."""
_MOST_TOKENS: Final = 80
_LEAST_VOTES: Final = 0.3
"""The share of the possible votes that a frequent token has."""
_LEAST_STRINGS: Final = 3


def tokens_of(text: str) -> tuple[str, ...]:
    """Return the tokens of a text, case folded: words, numbers, marks."""
    return tuple(_TOKEN.findall(text.casefold()))


@dataclass(frozen=True, slots=True)
class FrequentText:
    """A text that many strings of a cluster share."""

    cluster: int
    tokens: tuple[str, ...]
    evidence: tuple[float, ...]


def frequent_texts(clusters: Mapping[int, Sequence[str]], prior: Mapping[str, float]) -> Iterator[FrequentText]:
    """Yield the frequent texts of each cluster of data strings."""
    for number, texts in clusters.items():
        if len(texts) < _LEAST_STRINGS:
            continue
        step = max(len(texts) / _VOTERS, 1.0)
        voters = [tokens_of(texts[int(place * step)])[:_MOST_TOKENS] for place in range(min(len(texts), _VOTERS))]
        voters = [tokens for tokens in voters if tokens]
        for found in sorted(_voted(voters)):
            yield FrequentText(number, found, _evidence(found, voters, prior))


def _voted(voters: Sequence[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return the longest runs of tokens with enough votes, of a few strings."""
    found: set[tuple[str, ...]] = set()
    if len(voters) < _LEAST_STRINGS:
        return found
    places: list[dict[str, list[float]]] = []
    for tokens in voters:
        here: dict[str, list[float]] = defaultdict(list)
        for place, token in enumerate(tokens, 1):
            here[token].append(place / len(tokens))
        places.append(here)
    for seed in range(0, len(voters), max(len(voters) // _SEEDS, 1)):
        tokens = voters[seed]
        run: list[str] = []
        for place, token in enumerate(tokens, 1):
            relative = place / len(tokens)
            votes = sum(
                max((1 - abs(relative - other) for other in here.get(token, ())), default=0.0)
                for number, here in enumerate(places)
                if number != seed
            )
            if votes >= _LEAST_VOTES * (len(voters) - 1):
                run.append(token)
            elif run:
                found.add(tuple(run))
                run = []
        if run:
            found.add(tuple(run))
    return found


def _evidence(
    text: tuple[str, ...], voters: Sequence[tuple[str, ...]], prior: Mapping[str, float]
) -> tuple[float, ...]:
    counts, lefts, rights = [], [], []
    for tokens in voters:
        places = occurrences(text, tokens)
        counts.append(len(places))
        if places:
            lefts.append(places[0] / len(tokens))
            rights.append((len(tokens) - places[-1] - len(text)) / len(tokens))
    numbers: list[float] = []
    for values in (counts, lefts, rights):
        numbers += (float(np.mean(values)), float(np.std(values))) if values else (0.0, 0.0)
    known = [prior[token] for token in text if token in prior]
    return (*numbers, max(known, default=NEUTRAL))


def occurrences(text: tuple[str, ...], tokens: tuple[str, ...]) -> list[int]:
    """Return where a text begins in a string of tokens, without overlaps."""
    found: list[int] = []
    place, length = 0, len(text)
    while place + length <= len(tokens):
        if tokens[place : place + length] == text:
            found.append(place)
            place += length
        else:
            place += 1
    return found


def rows_of(texts: Sequence[FrequentText]) -> NDArray[np.float32]:
    """Return the evidence of several texts as rows."""
    return np.array([text.evidence for text in texts], dtype=np.float32).reshape(-1, len(FEATURES))


def split_text(text: str, template: Sequence[tuple[str, ...]]) -> list[str]:
    """Return what template texts leave of a string: the parts between them, none if all is template."""
    found = list(_TOKEN.finditer(text))
    tokens = tuple(match.group().casefold() for match in found)
    covered = [False] * len(tokens)
    for part in sorted(template, key=len, reverse=True):
        for place in occurrences(part, tokens):
            covered[place : place + len(part)] = [True] * len(part)
    parts: list[str] = []
    begin: int | None = None
    for number, match in enumerate(found):
        if covered[number]:
            if begin is not None:
                parts.append(text[begin : found[number - 1].end()])
            begin = None
        elif begin is None:
            begin = match.start()
    if begin is not None:
        parts.append(text[begin : found[-1].end()])
    return [part for part in parts if any(map(str.isalnum, part))]
