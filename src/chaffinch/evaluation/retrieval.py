"""What removing templates does to search: the experiments of three papers, on real collections.

Ma et al. (2003) count the queries that are answered better and worse without template. Chen et al. (2006) count the
relevant among the first ten results under two ranking functions, by what the template does to the query. Rowlands et
al. (2009) compare the sizes of collection and index, and test average precision per query.

Every prediction (a method, or a rival) makes one index of each corpus from the text that it keeps; one more index holds
all visible text. Measures are those of ir-measures.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from chaffinch.errors import MissingExtraError
from chaffinch.evaluation.corpora import COLLECTIONS, open_collection
from chaffinch.evaluation.predictors import EVERYTHING, Everything
from chaffinch.evaluation.ranking import EngineRanker, PivotedRanker, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from chaffinch.evaluation.corpora import Collection, Corpus, Kind
    from chaffinch.evaluation.predictors import Predictor
    from chaffinch.evaluation.ranking import Ranker
    from chaffinch.evaluation.topics import Query

Progress: TypeAlias = Callable[[int, int, str], None]
"""Is told after each corpus how many are done, how many there are, and the corpus's name."""

CUTS: Final = (1, 5, 10)
"""How many results a user looks at."""
BM25_MEASURES: Final = (*(f"P@{cut}" for cut in CUTS), "AP", "RR")
PIVOTED: Final = "pivoted P@10"
"""P@10 under pivoted TF-IDF; all other measures are under BM25."""


@dataclass(frozen=True, slots=True)
class QueryRow:
    """What became of one query."""

    collection: str
    corpus: str
    kind: Kind
    text: str
    relevant: int
    """How many pages answer it."""
    in_template: Mapping[str, bool]
    """For each prediction, whether some page has one of the query's words only in what was removed."""
    measures: Mapping[str, Mapping[str, float]]
    """For each prediction its measures, precisions divided by what is attainable."""


@dataclass(frozen=True, slots=True)
class SizeRow:
    """How large a corpus is under one prediction."""

    collection: str
    corpus: str
    prediction: str
    pages: int
    text_bytes: int
    """Bytes of UTF-8 that are indexed."""
    postings: int
    """Pairs of a word and a page that has it."""
    page_bytes: int | None = None
    """Bytes that a crawler stores, for what works on pages and not on text."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """All that was measured."""

    predictions: tuple[str, ...]
    """The methods and rivals, without `everything`."""
    queries: tuple[QueryRow, ...]
    sizes: tuple[SizeRow, ...]


def measure_retrieval(
    predictors: Sequence[Predictor],
    *,
    collections: Sequence[str] = COLLECTIONS,
    limit: int | None = None,
    jobs: int = 1,
    root: Path | None = None,
    progress: Progress | None = None,
) -> Retrieval:
    """Measure predictions on collections; `limit` takes only the first corpora of each."""
    module("ir_measures")  # a missing package is told before the work begins
    module("scipy.stats")
    found = [open_collection(name, root) for name in collections]
    work = [_Job(one, corpus, tuple(predictors)) for one in found for corpus in one.corpus_names()[:limit]]
    queries: list[QueryRow] = []
    sizes: list[SizeRow] = []
    for number, (job, (rows, size_rows)) in enumerate(zip(work, _run(work, jobs), strict=True), 1):
        queries += rows
        sizes += size_rows
        if progress:
            progress(number, len(work), job.corpus)
    return Retrieval(tuple(predictor.name for predictor in predictors), tuple(queries), tuple(sizes))


def module(name: str) -> Any:  # noqa: ANN401 - they declare no types
    """Return a module of the extra, or raise `MissingExtraError` if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError("measuring retrieval", "retrieval") from error


@dataclass(frozen=True, slots=True)
class _Job:
    collection: Collection
    corpus: str
    predictors: tuple[Predictor, ...]


_Outcome: TypeAlias = tuple[list[QueryRow], list[SizeRow]]


def _run(work: Sequence[_Job], jobs: int) -> Iterator[_Outcome]:
    if jobs <= 1:
        yield from map(_measure, work)
        return
    # Fresh processes: a fork of one that has threads can hang.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_measure, work)


def _measure(job: _Job) -> _Outcome:
    corpus = job.collection.load(job.corpus)
    queries = [(kind, query) for kind, found in corpus.queries.items() for query in found]
    qrels = {str(number): dict.fromkeys(map(str, query.relevant), 1) for number, (_, query) in enumerate(queries)}
    sizes: list[SizeRow] = []
    measures: dict[str, list[dict[str, float]]] = {}
    pages_with: dict[str, PivotedRanker] = {}
    for predictor in (Everything(), *job.predictors):
        predicted = predictor.predict(corpus.pages)
        pivoted = PivotedRanker(predicted.texts)
        size = sum(len(text.encode("utf-8", "replace")) for text in predicted.texts)
        where = (job.collection.name, corpus.name, predictor.name, len(corpus.pages))
        stored = _stored(corpus) if predictor.name == EVERYTHING else predicted.page_bytes
        sizes.append(SizeRow(*where, size, pivoted.postings, stored))
        by_engine = _precise(qrels, _ranked(EngineRanker(predicted.texts), queries), BM25_MEASURES)
        by_pivot = _precise(qrels, _ranked(pivoted, queries), ("P@10",))
        measures[predictor.name] = [
            {**one, PIVOTED: other["P@10"]} for one, other in zip(by_engine, by_pivot, strict=True)
        ]
        pages_with[predictor.name] = pivoted
    whole = pages_with[EVERYTHING]
    rows = [
        QueryRow(
            job.collection.name,
            corpus.name,
            kind,
            query.text,
            len(query.relevant),
            {name: _in_template(query, whole, left) for name, left in pages_with.items() if name != EVERYTHING},
            {name: found[number] for name, found in measures.items()},
        )
        for number, (kind, query) in enumerate(queries)
    ]
    return rows, sizes


def _stored(corpus: Corpus) -> int:
    return sum(len(page.html.encode("utf-8", "replace")) for page in corpus.pages)


def _in_template(query: Query, whole: PivotedRanker, left: PivotedRanker) -> bool:
    return any(left.pages_with(word) < whole.pages_with(word) for word in words_of(query.text))


def _ranked(ranker: Ranker, queries: Sequence[tuple[Kind, Query]]) -> dict[str, dict[str, float]]:
    """Return a score for every page that is found, in the form of ir-measures; ties are broken already."""
    return {
        str(number): {str(page): -float(rank) for rank, page in enumerate(ranker.rank(query.text))}
        for number, (_, query) in enumerate(queries)
    }


def _precise(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]], names: Sequence[str]
) -> list[dict[str, float]]:
    """Return the measures of each query, precisions divided by what is attainable."""
    if not qrels:
        return []
    package = module("ir_measures")
    result: list[dict[str, float]] = [dict.fromkeys(names, 0.0) for _ in qrels]
    for found in package.iter_calc([package.parse_measure(name) for name in names], qrels, run):
        name, relevant = str(found.measure), len(qrels[found.query_id])
        cut = int(name.removeprefix("P@")) if name.startswith("P@") else 1
        result[int(found.query_id)][name] = float(found.value) * cut / min(cut, relevant)
    return result
