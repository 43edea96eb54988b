"""Ranking functions: BM25 as the embedded engine computes it, and pivoted TF-IDF, which it does not have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import tantivy

from chaffinch.index.fields import WORDS, make_analyzer, prepared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import IndexArray

DEPTH: Final = 1000
"""No more pages are ranked for a query."""
_SLOPE: Final = 0.2
"""How much of a page's length counts in pivoted TF-IDF (Singhal, Buckley and Mitra 1996)."""
_HEAP: Final = 64_000_000


class Ranker(Protocol):
    """Pages that are ranked for queries."""

    def rank(self, query: str) -> list[int]:
        """Return the numbers of the pages with any of the query's words, the best first, ties in their order."""
        ...


class EngineRanker:
    """BM25 in an index of the engine that `chaffinch index` uses, with its words."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Index texts, in memory."""
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("number", fast=True)
        builder.add_text_field("content", tokenizer_name=WORDS)
        self._schema = builder.build()
        self._analyzer = make_analyzer(None)
        index = tantivy.Index(self._schema)
        index.register_tokenizer(WORDS, self._analyzer)
        writer = index.writer(_HEAP, 1)
        for number, text in enumerate(texts):
            page = tantivy.Document()
            page.add_unsigned("number", number)
            page.add_text("content", prepared(text))
            writer.add_document(page)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher = index.searcher()

    def rank(self, query: str) -> list[int]:
        """Rank the pages."""
        terms = [
            tantivy.Query.term_query(self._schema, "content", word, "freq")
            for word in dict.fromkeys(self._analyzer.analyze(prepared(query)))
        ]
        if not terms:
            return []
        any_of = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
        hits = self._searcher.search(any_of, DEPTH, count=False).hits
        numbers = self._searcher.fast_field_values("number", [address for _, address in hits])
        ranked = [(-score, int(number or 0)) for (score, _), number in zip(hits, numbers, strict=True)]
        return [number for _, number in sorted(ranked)]


@dataclass(frozen=True)
class PivotedRanker:
    """TF-IDF with lengths pivoted around their mean."""

    texts: Sequence[str]

    @cached_property
    def _pages_of(self) -> dict[str, tuple[IndexArray, NDArray[np.float64]]]:
        """For each word the pages that have it, and how often."""
        analyzer = make_analyzer(None)
        found: dict[str, tuple[list[int], list[int]]] = {}
        for number, text in enumerate(self.texts):
            for word, times in Counter(analyzer.analyze(prepared(text))).items():
                pages, counts = found.setdefault(word, ([], []))
                pages.append(number)
                counts.append(times)
        return {word: (np.array(pages), np.array(counts, dtype=np.float64)) for word, (pages, counts) in found.items()}

    @cached_property
    def _length(self) -> NDArray[np.float64]:
        """How long each page is, 1 being the mean."""
        length = np.zeros(len(self.texts))
        for pages, counts in self._pages_of.values():
            length[pages] += counts
        return length / max(1.0, float(length.mean()))

    def rank(self, query: str) -> list[int]:
        """Rank the pages."""
        scores = np.zeros(len(self.texts))
        for word, times in Counter(words_of(query)).items():
            if word in self._pages_of:
                pages, counts = self._pages_of[word]
                rarity = np.log((len(self.texts) + 1) / len(pages))
                damped = 1 + np.log1p(np.log(counts))
                scores[pages] += times * rarity * damped / (1 - _SLOPE + _SLOPE * self._length[pages])
        order = np.argsort(-scores, kind="stable")[:DEPTH]
        return [int(number) for number in order if scores[number] > 0]

    @property
    def postings(self) -> int:
        """How many pairs there are of a word and a page that has it."""
        return sum(len(pages) for pages, _ in self._pages_of.values())

    def pages_with(self, word: str) -> int:
        """Return how many pages have a word of `words_of`."""
        return len(self._pages_of[word][0]) if word in self._pages_of else 0


def words_of(text: str) -> list[str]:
    """Return the words of a text as an index has them."""
    return make_analyzer(None).analyze(prepared(text))
