"""Where the pages of a run on Spark come from: files that its tasks read themselves, or the rows of a DataFrame."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pyarrow as pa

from chaffinch.errors import InputError, UsageError
from chaffinch.sources import Capture, Place, SourceOptions, list_places, read_place
from chaffinch.sources.kinds import Kind, kind_by_name
from chaffinch.sources.places import STDIN, size_of
from chaffinch.sources.remote import is_remote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

Read: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[Capture | InputError]]
Part: TypeAlias = tuple[Place | InputError, ...]

_MB: Final = 1 << 20
_SMALLEST: Final = _MB
_LARGEST: Final = 64 * _MB
_REMOTE_PAGE: Final = _MB // 16
_BESIDE: Final = ("source", "charset", "captured")


@dataclass(frozen=True)
class Crawl:
    """A frame whose partitions are worked on where they are, and how captures are made of its rows."""

    frame: DataFrame
    read: Read
    parts: int
    """How many partitions there are."""


def crawl_of_inputs(session: SparkSession, inputs: Sequence[str], options: SourceOptions) -> Crawl:
    """Return the pages of files that every executor can open under the same path.

    The files are listed here and opened there; an archive is never split, small files are put together.
    """
    if STDIN in inputs:
        raise UsageError("standard input cannot be read by a cluster; give files that every executor can open")
    parts = _cut(list(list_places(inputs, options)), session.sparkContext.defaultParallelism)
    frame = session.range(0, len(parts), 1, len(parts))
    return Crawl(frame, partial(_read_parts, parts=parts, options=options), len(parts))


def crawl_of_pages(frame: DataFrame, options: SourceOptions) -> Crawl:
    """Return the pages of a frame: columns of URLs and pages, and if they are there `source`, `charset`, `captured`."""
    for column in (options.url_column, options.html_column):
        if column not in frame.columns:
            raise UsageError(f"the frame has no column {column!r}; its columns are: {', '.join(frame.columns)}")
    beside = [name for name in _BESIDE if name in frame.columns]
    pages = frame.select(options.url_column, options.html_column, *beside)
    return Crawl(pages, partial(_read_rows, options=options), pages.rdd.getNumPartitions())


def _cut(places: Sequence[Place | InputError], parallelism: int) -> list[Part]:
    """Cut a list of files into parts of about the same size, in order."""
    sizes = [_size(place) for place in places]
    most = max(_SMALLEST, min(_LARGEST, sum(sizes) // (4 * parallelism)))
    parts: list[Part] = []
    begun: list[Place | InputError] = []
    held = 0
    for place, size in zip(places, sizes, strict=True):
        if begun and held + size > most:
            parts.append(tuple(begun))
            begun, held = [], 0
        begun.append(place if isinstance(place, InputError) else _located(place))
        held += size
    return [*parts, tuple(begun)] if begun or not parts else parts


def _size(place: Place | InputError) -> int:
    if isinstance(place, InputError):
        return 0
    if is_remote(place.path):
        return _REMOTE_PAGE if kind_by_name(place.path) is Kind.HTML else _LARGEST
    return size_of(place.path)


def _located(place: Place) -> Place:
    """Return a place that is found from every working folder."""
    return place if is_remote(place.path) else replace(place, at=os.path.abspath(place.path))  # noqa: PTH100


def _read_parts(
    batches: Iterable[pa.RecordBatch], parts: Sequence[Part], options: SourceOptions
) -> Iterator[Capture | InputError]:
    for batch in batches:
        for row in batch.to_pylist():
            for place in parts[row["id"]]:
                if isinstance(place, InputError):
                    yield place
                else:
                    yield from read_place(place, options)


def _read_rows(batches: Iterable[pa.RecordBatch], options: SourceOptions) -> Iterator[Capture | InputError]:
    from pyspark import TaskContext  # noqa: PLC0415  (an optional part)

    context = TaskContext.get()
    part = context.partitionId() if context else 0
    number = 0
    for batch in batches:
        for row in batch.to_pylist():
            yield _capture(row, f"part-{part}#{number}", options)
            number += 1


def _capture(row: dict[str, Any], name: str, options: SourceOptions) -> Capture | InputError:
    url: str = (row[options.url_column] or "").strip()
    html = row[options.html_column]
    source = row.get("source") or url or name
    if html is None:
        return InputError(source, f"{options.html_column!r} is null")
    is_text = isinstance(html, str)
    return Capture(
        source=source,
        body=html.encode() if is_text else bytes(html),
        url=url or None,
        http_charset="utf-8" if is_text else row.get("charset"),
        path=source,
        captured=row.get("captured"),
    )
