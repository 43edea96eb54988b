"""Nouns of WordNet, abstract and concrete, as Debian's package `wordnet-base` holds them.

A noun is abstract or concrete by its most frequent sense, which WordNet lists first: every sense lies in one file of
the lexicographers, such as those of acts, feelings, animals or artifacts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from chaffinch.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_ABSTRACT: Final = frozenset("04 07 09 10 11 12 16 19 21 22 23 24 25 26 28".split())
"""Acts, attributes, cognition, communication, events, feelings, motives, phenomena, possession, processes, quantities,
relations, shapes, states, times."""
_CONCRETE: Final = frozenset("05 06 08 13 15 17 18 20 27".split())
"""Animals, artifacts, bodies, food, locations, objects, people, plants, substances."""


@dataclass(frozen=True, slots=True)
class Nouns:
    """Words of one part, in lower case."""

    abstract: frozenset[str]
    concrete: frozenset[str]


def read_nouns(folder: Path) -> Nouns:
    """Read the nouns from WordNet's `index.noun` and `data.noun`."""
    try:
        data = (folder / "data.noun").read_text("ascii", "replace")
        index = (folder / "index.noun").read_text("ascii", "replace")
    except OSError as error:
        raise InputError(str(folder), f"holds no WordNet: {error.strerror or error}") from error
    file_of_sense = {line[:8]: line[9:11] for line in data.splitlines() if not line.startswith(" ")}
    abstract, concrete = set(), set()
    for line in index.splitlines():
        if line.startswith(" "):
            continue
        word, _, senses, pointers, *rest = line.split()
        if not word.isalpha():
            continue
        file = file_of_sense.get(rest[int(pointers) + 2] if int(senses) else "", "")
        if file in _ABSTRACT:
            abstract.add(word)
        elif file in _CONCRETE:
            concrete.add(word)
    return Nouns(frozenset(abstract), frozenset(concrete))
