"""Naive Bayes over the words of blocks, and over the names that their elements bear (class, id, role).

What a block scores is a sum over its words, so that one running sum over the page's words gives the scores of all
blocks, however they lie in each other. Which words tell of a block stands in `word_lists`, for training; `TextScores`
gives the same sums for all blocks at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from chaffinch.methods.page_blocks import PageBlocks
    from chaffinch.page.arrays import FloatArray, IndexArray, IntArray

    Numbers = NDArray[np.float64]

TEXT_FEATURES: Final[dict[str, str]] = {
    "text_score": "naive Bayes log odds of its words for template, by the square root of their number",
    "text_score_per_word": "the same for each word",
    "names_score": "naive Bayes log odds of its class, id and role",
    "names_around_score": "the same of the blocks around it",
}
"""The features that classifiers of words give, by name."""

VocabularyName: TypeAlias = Literal["text", "names"]
VOCABULARIES: Final[tuple[VocabularyName, ...]] = get_args(VocabularyName)
LISTS: Final[dict[str, VocabularyName]] = {
    "tokens": "text",
    "names": "names",
    "names_around": "names",
}
"""The lists of words that tell of a block, and the classifier that each is asked of."""

_ROUNDS: Final = 4
MOST_AROUND: Final = (1 << _ROUNDS) - 1
"""So many of the blocks around a block give their names."""
_BREAK: Final = "\n"
_LONGEST: Final = 400
"""So many characters of class, id and role are looked at."""
_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\n")


def name_tokens(names: Iterable[str]) -> tuple[list[str], IntArray]:
    """Return the parts of class, id and role, and how many stand before each: `siteFooter nav-2` has site, footer, nav.

    Names are read in one go, parted by line breaks.
    """
    text = "".join([f"{name[:_LONGEST].replace(_BREAK, ' ')}\n" for name in names])
    parts = list(map(str.lower, _PART.findall(text)))
    ends = np.flatnonzero(np.fromiter(map("\n".__eq__, parts), np.bool_, len(parts)))
    return parts, np.append(0, ends).astype(np.int32)


@dataclass(frozen=True, eq=False)
class WordOdds:
    """Words and what each says for template: the logarithm of its odds."""

    words: tuple[str, ...]
    odds: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "_of", dict(zip(self.words, self.odds.tolist(), strict=True)))

    def of(self, words: Sequence[str]) -> Numbers:
        """Return the log odds of each word; 0 of those that are not known."""
        known: dict[str, float] = self._of  # type: ignore[attr-defined]
        return np.fromiter(map(known.get, words, repeat(0.0)), np.float64, len(words))


@dataclass(frozen=True, eq=False)
class TextScores:
    """The two classifiers of words."""

    text: WordOdds
    names: WordOdds

    def features(self, blocks: PageBlocks, chosen: IndexArray) -> FloatArray:
        """Return a row for each of `TEXT_FEATURES`, a column for each of the chosen blocks."""
        return np.concatenate((self._of_words(blocks, chosen), self._of_names(blocks, chosen))).astype(np.float32)

    def _of_words(self, blocks: PageBlocks, chosen: IndexArray) -> Numbers:
        before = np.append(0.0, np.cumsum(self.text.of(blocks.tokens)[blocks.words.number]))
        first, last = blocks.first_word[chosen], blocks.last_word[chosen]
        score = before[last] - before[first]
        result: Numbers = np.stack((score / np.sqrt(last - first), score / (last - first)))
        return result

    def _of_names(self, blocks: PageBlocks, chosen: IndexArray) -> Numbers:
        names = blocks.names()
        number_of: dict[str, int] = {}
        number = np.fromiter((number_of.setdefault(name, len(number_of)) for name in names), np.intp, len(names))
        parts, start = name_tokens(number_of)
        own = np.diff(np.append(0.0, np.cumsum(self.names.of(parts)))[start])[number]
        around = np.append(own, 0.0)
        up = blocks.nesting.up
        for _ in range(_ROUNDS):
            around = around + around[up]
            up = up[up]
        return np.stack((own[chosen], around[chosen] - own[chosen]))


def word_lists(blocks: PageBlocks, chosen: IndexArray) -> Mapping[str, list[Sequence[str]]]:
    """Return for each of `LISTS` the words of each of the chosen blocks."""
    words, number = blocks.tokens, blocks.words.number
    parts, ends = name_tokens(blocks.names())
    bounds = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    names = [[part for part in parts[start:stop] if part != "\n"] for start, stop in bounds]

    spans = zip(blocks.first_word[chosen].tolist(), blocks.last_word[chosen].tolist(), strict=True)
    return {
        "tokens": [[words[place] for place in number[first:last].tolist()] for first, last in spans],
        "names": [names[block] for block in chosen.tolist()],
        "names_around": [
            [part for other in _above(blocks, block) for part in names[other]] for block in chosen.tolist()
        ],
    }


def _above(blocks: PageBlocks, block: int) -> Iterator[int]:
    """Yield the blocks around one, from the innermost, as far as names are looked at."""
    for _ in range(MOST_AROUND):
        block = int(blocks.nesting.up[block])
        if block == len(blocks):
            return
        yield block
