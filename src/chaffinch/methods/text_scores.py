"""Naive Bayes over the words of blocks and over the names that their elements bear (class, id, role).

What a block scores is a sum over its words, so that one running sum over the page's words gives the scores of all
blocks, however they lie in each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.methods.block_features import blocks_around

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from chaffinch.methods.block_features import PageBlocks
    from chaffinch.page.arrays import FloatArray, IntArray

TEXT_FEATURES: Final[dict[str, str]] = {
    "text_score": "naive Bayes log odds of its words for template, by the square root of their number",
    "text_score_per_word": "the same for each word",
    "names_score": "naive Bayes log odds of its class, id and role",
    "names_around_score": "the same of the blocks around it",
}
"""The features that classifiers of words give, by name."""

_ROUNDS: Final = 4
MOST_AROUND: Final = (1 << _ROUNDS) - 1
"""So many of the blocks around a block give their names."""
_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


@lru_cache(maxsize=1 << 14)
def name_tokens(names: str) -> tuple[str, ...]:
    """Return the parts of class, id and role: `siteFooter nav-2` gives site, footer, nav."""
    return tuple(dict.fromkeys(part.lower() for part in _PART.findall(names[:400])))


@dataclass(frozen=True, eq=False)
class Around:
    """For each block, the nearest block around it; `len(up) - 1` stands for none."""

    up: IntArray

    def above(self, block: int) -> Iterator[int]:
        """Yield the blocks around one, from the innermost, as far as names are looked at."""
        none = len(self.up) - 1
        for _ in range(MOST_AROUND):
            block = int(self.up[block])
            if block == none:
                return
            yield block

    def sums(self, values: FloatArray) -> FloatArray:
        """Return for each block the sum of the values of those around it, as far as `above` goes."""
        total = np.append(values, np.float32(0))
        up = self.up
        for _ in range(_ROUNDS):
            total = total + total[up]
            up = up[up]
        return (total[:-1] - values).astype(np.float32)


@dataclass(frozen=True, eq=False)
class WordOdds:
    """Words and what each says for template: the logarithm of its odds."""

    words: tuple[str, ...]
    odds: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "_of", dict(zip(self.words, self.odds.tolist(), strict=True)))

    def of(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return the log odds of each word; 0 of those that are not known."""
        known: dict[str, float] = self._of  # type: ignore[attr-defined]
        return np.array([known.get(word, 0.0) for word in words], dtype=np.float64)

    def total(self, words: Sequence[str]) -> float:
        """Return the log odds of words together."""
        known: dict[str, float] = self._of  # type: ignore[attr-defined]
        return sum(known.get(word, 0.0) for word in words)


@dataclass(frozen=True, eq=False)
class TextScores:
    """The two classifiers of words."""

    text: WordOdds
    names: WordOdds

    def features(self, blocks: PageBlocks) -> FloatArray:
        """Return a row for each block, a column for each of `TEXT_FEATURES`."""
        odds = self.text.of(blocks.tokens)
        before = np.append(0.0, np.cumsum(odds[blocks.words.number]))
        score = before[blocks.last_word] - before[blocks.first_word]
        words = np.maximum(blocks.last_word - blocks.first_word, 1)
        scored: dict[str, float] = {}
        for names in (own := blocks.names()):
            if names not in scored:
                scored[names] = self.names.total(name_tokens(names))
        named = np.array([scored[names] for names in own], dtype=np.float32)
        around = Around(blocks_around(blocks.page, blocks.node)).sums(named)
        return np.stack((score / np.sqrt(words), score / words, named, around), axis=1).astype(np.float32)
