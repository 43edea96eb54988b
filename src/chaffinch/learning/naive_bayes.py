"""The classifiers of words: naive Bayes, trained by site and applied to sites that it has not seen.

A text counts once for each site and class, so that a template block of a thousand pages says as much as one of a
hundred. A word counts once for each text. Words are known that stand on at least five sites.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.methods.text_scores import LISTS, TEXT_FEATURES, TextScores, WordOdds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.learning.example_set import ExampleSet, WordLists

    Numbers = NDArray[np.float64]

LEAST_SITES: Final = 5
"""A word that fewer sites have is not known, and never leaves the training machine."""
_SMOOTHING: Final = 2.0
_MOST_TEXTS: Final = 20
"""A site with more texts of a class counts as one with so many: else what is learned are the words of large sites."""
_INNER: Final = 5


@dataclass(frozen=True, eq=False)
class SiteCounts:
    """For each site, class and word, in how many texts it stands; only what is not 0."""

    sites: int
    words: int
    site: NDArray[np.int32]
    word: NDArray[np.int32]
    count: NDArray[np.float64]
    """Column 0 content, column 1 template."""

    def odds(self, chosen: NDArray[np.bool_], least_sites: int = LEAST_SITES) -> Numbers:
        """Return each word's log odds for template on the chosen sites; 0 for words that few of them have."""
        here = chosen[self.site]
        on_sites = np.bincount(self.word[here], minlength=self.words)
        known = on_sites >= least_sites
        logs = []
        for label in (0, 1):
            counts = np.bincount(self.word[here], weights=self.count[here, label], minlength=self.words)
            logs.append(np.log((counts + _SMOOTHING) / (counts[known].sum() + _SMOOTHING * max(1, known.sum()))))
        return np.where(known, logs[1] - logs[0], 0.0)


def count_words(examples: ExampleSet, kind: str) -> SiteCounts:
    """Count the words of one kind of lists."""
    lists = examples.lists[kind]
    key = (examples.site.astype(np.int64) * 2 + examples.template) * len(lists) + examples.of[kind]
    unique = np.unique(key)
    site_class, number = unique // len(lists), unique % len(lists)
    distinct = _distinct(lists)
    sizes = distinct.sizes[number]
    starts = np.repeat(distinct.start[number] - np.append(0, np.cumsum(sizes)[:-1]), sizes)
    token = distinct.token[starts + np.arange(sizes.sum())]
    pair = np.repeat(site_class, sizes) * len(lists.words) + token
    pairs, counts = np.unique(pair, return_counts=True)
    site_class, word = pairs // max(1, len(lists.words)), pairs % max(1, len(lists.words))
    both, place = np.unique((site_class // 2) * len(lists.words) + word, return_inverse=True)
    table = np.zeros((len(both), 2))
    texts = np.bincount(unique // len(lists), minlength=2 * len(examples.sites))
    table[place, site_class % 2] = counts * np.minimum(1, _MOST_TEXTS / np.maximum(texts, 1))[site_class]
    width = max(1, len(lists.words))
    return SiteCounts(
        len(examples.sites), len(lists.words), (both // width).astype(np.int32), (both % width).astype(np.int32), table
    )


def _distinct(lists: WordLists) -> WordLists:
    """Return the lists with each word once."""
    width = max(1, len(lists.words))
    key = np.unique(np.repeat(np.arange(len(lists)), lists.sizes) * width + lists.token)
    sizes = np.bincount(key // width, minlength=len(lists))
    return type(lists)(lists.words, (key % width).astype(np.int32), np.append(0, np.cumsum(sizes)))


@dataclass(frozen=True, eq=False)
class WordCounts:
    """What both classifiers are made from."""

    examples: ExampleSet
    text: SiteCounts
    names: SiteCounts

    @classmethod
    def of(cls, examples: ExampleSet) -> WordCounts:
        """Count all words."""
        return cls(examples, count_words(examples, "tokens"), count_words(examples, "names"))

    def scores(self, chosen: NDArray[np.bool_], rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return each of `TEXT_FEATURES` for some blocks, by classifiers trained on the chosen sites."""
        examples = self.examples
        odds = {"text": self.text.odds(chosen), "names": self.names.odds(chosen)}
        sums = {
            name: examples.lists[name].sums(odds[vocabulary])[examples.of[name][rows]]
            for name, vocabulary in LISTS.items()
        }
        length = np.maximum(examples.lists["tokens"].sizes[examples.of["tokens"][rows]], 1)
        text = sums.pop("tokens")
        return np.stack((text / np.sqrt(length), text / length, *sums.values())).astype(np.float32)

    def out_of_fold(self, chosen: NDArray[np.bool_], rows: NDArray[np.intp], seed: int) -> NDArray[np.float32]:
        """Return the features for blocks of the chosen sites, each by classifiers that did not see its site."""
        sites = np.flatnonzero(chosen)
        shuffled = np.random.Generator(np.random.PCG64(seed)).permutation(sites)
        result = np.zeros((len(TEXT_FEATURES), len(rows)), dtype=np.float32)
        of_row = self.examples.site[rows]
        for fold in range(min(_INNER, len(sites))):
            held = np.zeros_like(chosen)
            held[shuffled[fold::_INNER]] = True
            here = held[of_row]
            result[:, here] = self.scores(chosen & ~held, rows[here])
        return result

    def classifiers(self, chosen: NDArray[np.bool_]) -> TextScores:
        """Return the classifiers trained on the chosen sites."""
        made = []
        for counts, kind in ((self.text, "tokens"), (self.names, "names")):
            odds = counts.odds(chosen)
            words = self.examples.lists[kind].words
            known = sorted((words[number], odds[number]) for number in np.flatnonzero(odds))
            made.append(WordOdds(tuple(word for word, _ in known), np.array([odd for _, odd in known], np.float32)))
        return TextScores(made[0], made[1])
