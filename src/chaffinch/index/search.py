"""Searching an index."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import tantivy

from chaffinch.errors import QueryError, UsageError
from chaffinch.index.about import read_about
from chaffinch.index.engine import open_engine, told
from chaffinch.index.fields import (
    DEFAULT_FIELDS,
    FIELDS,
    SEPARATOR,
    WORD_FIELDS,
    is_spaceless,
    make_analyzer,
    make_schema,
    prepared,
)
from chaffinch.index.query import Days, Everything, Words, parse_query
from chaffinch.index.writer import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chaffinch.index.fields import Field
    from chaffinch.index.query import Query

MOST_RESULTS: Final = 10_000
"""Nobody pages further than this; each page of results costs the engine all those before it."""
_SNIPPET: Final = 200
"""How many characters a snippet has, about."""

_OCCUR: Final = {
    "should": tantivy.Occur.Should,
    "must": tantivy.Occur.Must,
    "must not": tantivy.Occur.MustNot,
}


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that was found."""

    score: float
    entry: Entry
    snippet: str
    """A piece of the content around the words that were searched for, or its beginning."""
    highlights: tuple[tuple[int, int], ...]
    """Where in the snippet these words stand."""


@dataclass(frozen=True, slots=True)
class Results:
    """A page of results."""

    total: int
    """How many pages match."""
    hits: tuple[Hit, ...]


class SearchIndex:
    """An index that is open for searching: all that was committed when it was opened."""

    def __init__(self, path: str) -> None:
        """Open an index, or raise `SearchIndexError`."""
        self.path = path
        self.about = read_about(path)
        index = open_engine(path, self.about.stem)
        self._schema = make_schema()
        self._analyzer = make_analyzer(self.about.stem)
        with told(path):
            self._searcher = index.searcher()

    @property
    def pages(self) -> int:
        """How many pages it holds."""
        return self._searcher.num_docs

    def search(
        self,
        query: str,
        *,
        site: str | None = None,
        fields: Sequence[str] = (),
        limit: int = 10,
        offset: int = 0,
    ) -> Results:
        """Return the best pages for a query, or raise `QueryError` if it cannot be understood.

        With `fields`, words are looked for in these alone, where the query does not name one itself.
        """
        if limit < 1 or offset < 0 or offset + limit > MOST_RESULTS:
            raise UsageError(f"results 1 to {MOST_RESULTS:,} can be shown, not {offset + 1:,} to {offset + limit:,}")
        parsed = parse_query(query)
        made = self._engine_query(parsed, _weights(fields))
        if made is None:
            raise QueryError("the query has no words to search for")
        wanted = made
        if site is not None:
            of_site = tantivy.Query.boost_query(_term("site", site, self._schema), 0.0)
            wanted = tantivy.Query.boolean_query([(tantivy.Occur.Must, made), (tantivy.Occur.Must, of_site)])
        with told(self.path):
            found = self._searcher.search(wanted, limit, offset=offset)
            snippets = tantivy.SnippetGenerator.create(self._searcher, made, self._schema, "content")
            snippets.set_max_num_chars(_SNIPPET)
            hits = tuple(self._hit(score, address, snippets) for score, address in found.hits)
        return Results(_count(found), hits)

    def _hit(self, score: float, address: tantivy.DocAddress, snippets: tantivy.SnippetGenerator) -> Hit:
        entry = Entry.from_stored(self._searcher.doc(address).get_first)
        snippet, highlights = _snippet(snippets, entry.content)
        return Hit(float(score), entry, snippet, highlights)

    def _engine_query(self, query: Query, weights: Mapping[Field, float]) -> tantivy.Query | None:
        """Translate a query; None if there is nothing in it to search for."""
        if isinstance(query, Everything):
            return tantivy.Query.all_query()
        if isinstance(query, Days):
            return self._days(query)
        if isinstance(query, Words):
            fields = {query.field: 1.0} if query.field else weights
            made = [self._words(query, field, weight) for field, weight in fields.items()]
            return _any_of([one for one in made if one is not None])
        clauses = [(clause.occurrence, self._engine_query(clause.query, weights)) for clause in query.clauses]
        joined = [(_OCCUR[occurrence], made) for occurrence, made in clauses if made is not None]
        if all(occurrence == tantivy.Occur.MustNot for occurrence, _ in joined):
            return None
        boolean = tantivy.Query.boolean_query(joined)
        return _boosted(boolean, query.boost)

    def _words(self, words: Words, field: Field, weight: float) -> tantivy.Query | None:
        if field == "language":  # "en" stands for "en-GB" too
            pattern = f"{re.escape(words.text)}(-.*)?"
            return tantivy.Query.regex_query(self._schema, field, pattern)
        if field not in WORD_FIELDS:
            return _term(field, words.text, self._schema)
        tokens = self._analyzer.analyze(prepared(words.text))
        if not tokens:
            return None
        schema = self._schema
        if len(tokens) == 1:
            made = _term(field, tokens[0], schema)
        elif not words.quoted and len(tokens) > 2 and all(map(is_spaceless, tokens)):
            # Nobody put spaces between these words: every two characters side by side may be one.
            made = tantivy.Query.boolean_query(
                [
                    (tantivy.Occur.Should, tantivy.Query.phrase_query(schema, field, list(pair)))
                    for pair in pairwise(tokens)
                ]
            )
        else:
            made = tantivy.Query.phrase_query(schema, field, list(tokens), words.slop)
        return _boosted(made, weight * words.boost)

    def _days(self, days: Days) -> tantivy.Query:
        low, high = (None if day is None else datetime.combine(day, time(), UTC) for day in (days.first, days.last))
        return tantivy.Query.range_query(
            self._schema, "date", tantivy.FieldType.Date, lower_bound=low, upper_bound=high, use_inverted_index=True
        )


def _weights(fields: Sequence[str]) -> Mapping[Field, float]:
    if not fields:
        return DEFAULT_FIELDS
    known: dict[Field, float] = {name: DEFAULT_FIELDS.get(name, 1.0) for name in FIELDS if name in fields}
    for name in fields:
        if name not in known:
            raise UsageError(f"there is no field {name!r}; the fields are: {', '.join(FIELDS)}")
    return known


def _term(field: str, word: str, schema: tantivy.Schema) -> tantivy.Query:
    return tantivy.Query.term_query(schema, field, word, "position" if field in WORD_FIELDS else "basic")


def _any_of(queries: list[tantivy.Query]) -> tantivy.Query | None:
    if len(queries) <= 1:
        return queries[0] if queries else None
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def _boosted(query: tantivy.Query, boost: float) -> tantivy.Query:
    return query if boost == 1.0 else tantivy.Query.boost_query(query, boost)


def _count(found: tantivy.SearchResult) -> int:
    count: int = getattr(found, "count", len(found.hits))
    return count


def _snippet(snippets: tantivy.SnippetGenerator, content: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return a piece of the content on one line, and where the words stand that were searched for."""
    found = snippets.snippet_from_doc(tantivy.Document(content=prepared(" ".join(content.split()))))
    marked = found.highlighted()
    if not marked:
        return _beginning(content), ()
    fragment = found.fragment().encode()
    pieces: list[str] = []
    highlights: list[tuple[int, int]] = []
    length = at = 0
    for word in marked:
        before = _plain(fragment[at : word.start])
        inside = _plain(fragment[word.start : word.end])
        length += len(before)
        if highlights and not before:  # characters that are words of their own, side by side
            highlights[-1] = (highlights[-1][0], length + len(inside))
        else:
            highlights.append((length, length + len(inside)))
        length += len(inside)
        pieces += (before, inside)
        at = word.end
    pieces.append(_plain(fragment[at:]))
    snippet = "".join(pieces)
    runs = [(start, stop) for start, stop in highlights if not is_spaceless(snippet[start:stop])]
    return snippet, tuple(runs or highlights)  # a lone ideograph is marked only if nothing better is


def _plain(piece: bytes) -> str:
    return piece.decode().replace(SEPARATOR, "")


def _beginning(content: str) -> str:
    folded = " ".join(content[: 4 * _SNIPPET].split())
    if len(folded) <= _SNIPPET:
        return folded
    cut = folded.rfind(" ", 0, _SNIPPET)
    return f"{folded[: cut if cut > _SNIPPET // 2 else _SNIPPET]} …"
