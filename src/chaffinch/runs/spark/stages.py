"""The stages of a run as functions from Arrow batches to Arrow batches, and how they are joined.

No page leaves the task that reads it. What is shuffled is one row for each site and task, and after the first of two
merging steps one for each site and salt, so no row or task holds more than a few summaries at a time, however large a
site is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from math import isqrt
from typing import TYPE_CHECKING, Any, Final

from chaffinch.errors import InputError, PageError
from chaffinch.methods import Fold
from chaffinch.runs.batches import cut_batches
from chaffinch.runs.learning import Learning, learn_into, learning_workers
from chaffinch.runs.pool import Workers
from chaffinch.runs.report import Failure
from chaffinch.runs.spark.rows import (
    LEARNED,
    OUTCOMES,
    batched,
    dump_samples,
    load_samples,
    row_of_failure,
    row_of_outcome,
    spark_schema,
)
from chaffinch.runs.templates import HeldTemplates, KeptTemplates
from chaffinch.runs.work import clean_batch, outcomes_of
from chaffinch.store import merge_samples
from chaffinch.store.database import key_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from chaffinch.methods import AnyMethod
    from chaffinch.runs.options import Outcome, RunOptions
    from chaffinch.runs.spark.crawl import Crawl, Read
    from chaffinch.runs.work import BatchLearned

MERGED_AT_ONCE: Final = 16
"""So many tasks, their summaries of a site are merged in one step; of more, in two."""


def learned_sites(crawl: Crawl, options: RunOptions, *, sampling: bool) -> DataFrame:
    """Return a row of `LEARNED` for each site of a crawl, its salt 0, and the rows that are of no site."""
    work = replace(options, jobs=1)
    salts = isqrt(crawl.parts) if crawl.parts > MERGED_AT_ONCE else 1
    schema = spark_schema(LEARNED)
    merge = partial(_merge, method=options.method)
    # As many partitions as the cluster is set up for, but not for a small crawl: each starts a worker.
    merging = min(crawl.parts, int(crawl.frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1))
    found = crawl.frame.mapInArrow(
        partial(_learn, read=crawl.read, options=work, sampling=sampling, salts=salts), schema
    )
    if salts > 1:
        found = (
            found.repartition(merging, "site", "salt").sortWithinPartitions("site", "salt").mapInArrow(merge, schema)
        )
    return (
        found.repartition(merging, "site").sortWithinPartitions("site").mapInArrow(partial(merge, unsalt=True), schema)
    )


def cleaned_pages(crawl: Crawl, options: RunOptions, templates: str | None) -> DataFrame:
    """Return a row of `OUTCOMES` for each page, in the order of the crawl.

    `templates` is the name of a database that was added to the session's files; without one, pages stand alone.
    """
    work = partial(_clean, read=crawl.read, options=replace(options, jobs=1), templates=templates)
    return crawl.frame.mapInArrow(work, spark_schema(OUTCOMES))


def _learn(
    batches: Iterable[pa.RecordBatch], read: Read, options: RunOptions, *, sampling: bool, salts: int
) -> Iterator[pa.RecordBatch]:
    """Learn from the pages of a task: a row for each site, and one for each failure."""
    from pyspark import TaskContext  # noqa: PLC0415  (an optional part)

    context = TaskContext.get()
    salt = (context.partitionId() if context else 0) % salts
    failures: list[Failure] = []
    unwanted = 0

    def heed(answer: BatchLearned | InputError | PageError) -> None:
        nonlocal unwanted
        if isinstance(answer, InputError | PageError):
            failures.append(Failure(answer.subject, answer.reason))
        else:
            failures.extend(Failure(failure.subject, failure.reason) for failure in answer.failures)
            unwanted += answer.unwanted

    def rows(learning: Learning) -> Iterator[dict[str, Any]]:
        method = options.method
        for learned in learning.sites():
            yield {
                "site": key_of(learned.site),
                "salt": salt,
                "pages": learned.pages,
                "template": method.dump(method.finish(learned.summary)),
                "samples": dump_samples(learned.samples),
            }
        yield from map(row_of_failure, failures)
        if unwanted:
            yield {"pages": unwanted}

    with Learning(options.method, most_bytes=options.budget.learning) as learning:
        learn_into(learning, read(batches), learning_workers(options, sampling=sampling), heed=heed)
        yield from batched(rows(learning), LEARNED)


def _merge(batches: Iterable[pa.RecordBatch], method: AnyMethod, *, unsalt: bool = False) -> Iterator[pa.RecordBatch]:
    """Merge rows that stand side by side and are of one site and salt; without salts, of one site."""
    yield from batched(_merged(batches, method, unsalt=unsalt), LEARNED)


def _merged(batches: Iterable[pa.RecordBatch], method: AnyMethod, *, unsalt: bool) -> Iterator[dict[str, Any]]:
    key: tuple[str, int] | None = None
    group: _Group | None = None
    for batch in batches:
        for row in batch.to_pylist():
            if row["site"] is None:
                yield row
                continue
            found = (row["site"], 0 if unsalt else row["salt"])
            if group is None or found != key:
                if group is not None:
                    yield group.row()
                key, group = found, _Group(method, *found)
            group.add(row)
    if group is not None:
        yield group.row()


class _Group:
    """The rows of one site that were seen so far; log n summaries of them are held."""

    def __init__(self, method: AnyMethod, site: str, salt: int) -> None:
        self._method = method
        self._fold: Fold[Any, Any] = Fold(method)
        self._site = site
        self._salt = salt
        self._pages = 0
        self._samples = load_samples(dump_samples(()))

    def add(self, row: dict[str, Any]) -> None:
        self._fold.add_summary(self._method.reopen(self._method.load(row["template"])))
        self._pages += row["pages"]
        self._samples = merge_samples(self._samples, load_samples(row["samples"]))

    def row(self) -> dict[str, Any]:
        return {
            "site": self._site,
            "salt": self._salt,
            "pages": self._pages,
            "template": self._method.dump(self._method.finish(self._fold.summary())),
            "samples": dump_samples(self._samples),
        }


def _clean(
    batches: Iterable[pa.RecordBatch], read: Read, options: RunOptions, templates: str | None
) -> Iterator[pa.RecordBatch]:
    """Clean the pages of a task by the templates of their sites."""
    from pyspark import SparkFiles  # noqa: PLC0415  (an optional part)

    found: HeldTemplates | KeptTemplates = HeldTemplates({})
    if templates is not None:
        measured = options.templates is not None
        path = SparkFiles.get(templates)
        found = KeptTemplates(path, options.method, measured=measured, most_bytes=options.budget.templates)
    work = partial(clean_batch, options=options, templates=found)
    workers: Workers[list[Outcome]] = Workers(work, 1, options.page_limits)
    try:
        answers = workers.answers(cut_batches(read(batches), remember=False))
        outcomes = (outcome for answer in answers for outcome in outcomes_of(answer))
        yield from batched(map(row_of_outcome, outcomes), OUTCOMES)
    finally:
        found.close()
