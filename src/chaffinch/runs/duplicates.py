"""Duplicate pages of a crawl, found by I-Match: on their own, or before a run so that it leaves them out.

Pass one takes the terms of every page and counts on how many pages each stands; pass two, over the terms kept in a
file, tells which pages are known by the same ones. A run that leaves duplicates out then reads its inputs once more,
or twice.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from functools import partial
from typing import IO, TYPE_CHECKING

from xxhash import xxh3_128_digest

from chaffinch.errors import InputError, PageError
from chaffinch.methods.duplicates import IMatch, TermStatistics, groups_of, terms_of
from chaffinch.page import parse_capture
from chaffinch.runs.batches import cut_batches
from chaffinch.runs.pool import Workers
from chaffinch.runs.work import reason_of
from chaffinch.sources import Capture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from chaffinch.runs.options import RunOptions
    from chaffinch.runs.work import Batch


@dataclass(frozen=True, slots=True)
class PageName:
    """Which page it is."""

    source: str
    url: str | None
    key: bytes
    """A hash of source and content: the input may name one source twice."""


@dataclass(frozen=True, slots=True)
class PageTerms:
    """A page and its different terms, sorted."""

    name: PageName
    terms: list[str]


@dataclass(slots=True)
class Found:
    """The pages of a crawl, and which of them are duplicates."""

    names: list[PageName] = field(default_factory=list)
    groups: list[list[int]] = field(default_factory=list)
    """The numbers of pages that are duplicates of each other; the first of each group is the one to keep."""
    failures: list[InputError | PageError] = field(default_factory=list)

    @property
    def duplicates(self) -> list[int]:
        """The numbers of the pages to leave out."""
        return sorted(number for group in self.groups for number in group[1:])

    def without(self, items: Iterable[Capture | InputError]) -> Iterator[Capture | InputError]:
        """Pass on what is no duplicate."""
        gone = {self.names[number].key for number in self.duplicates}
        # Of captures that are the same in everything, the first is kept.
        first = {self.names[group[0]].key for group in self.groups} & gone
        for item in items:
            if isinstance(item, Capture):
                key = _key(item)
                if key in gone and key not in first:
                    continue
                first.discard(key)
            yield item


def find_duplicates(
    items: Iterable[Capture | InputError],
    options: RunOptions,
    match: IMatch,
    step: Callable[[int], None] = lambda _: None,
) -> Found:
    """Find the duplicates among the pages that are wanted; `step` is told how many more inputs were read.

    A page without any word is no duplicate: nothing tells that it is.
    """
    found = Found()
    with tempfile.TemporaryFile(prefix="chaffinch-") as spool:
        statistics = TermStatistics.of_pages(_read(items, options, spool, found, step))
        spool.seek(0)
        terms = (line.decode("utf-8", "surrogatepass").split() for line in spool)
        named = ((number, match.fingerprint(own, statistics)) for number, own in enumerate(terms) if own)
        found.groups = groups_of(named)
    return found


def _read(
    items: Iterable[Capture | InputError],
    options: RunOptions,
    spool: IO[bytes],
    found: Found,
    step: Callable[[int], None],
) -> Iterator[list[str]]:
    """Yield the terms of each page, and keep them."""
    workers: Workers[list[PageTerms | PageError]] = Workers(partial(terms_batch, options=options), options.jobs)
    for answer in workers.answers(cut_batches(items, remember=False)):
        pages = answer if isinstance(answer, list) else [answer]
        for page in pages:
            if not isinstance(page, PageTerms):
                found.failures.append(page)
                continue
            found.names.append(page.name)
            spool.write(" ".join(page.terms).encode("utf-8", "surrogatepass") + b"\n")
            yield page.terms
        step(len(pages))


def terms_batch(batch: Batch, options: RunOptions) -> list[PageTerms | PageError]:
    """Return the terms of the pages of a batch, in whichever process."""
    found: list[PageTerms | PageError] = []
    for capture in batch.captures:
        try:
            page = parse_capture(capture, options.site_by)
            if options.wants(page):
                found.append(PageTerms(PageName(page.source, page.url, _key(capture)), sorted(terms_of(page))))
        except Exception as error:  # noqa: BLE001  (whatever goes wrong with a page costs that page only, and is told)
            found.append(PageError(capture.source, reason_of(error)))
    return found


def _key(capture: Capture) -> bytes:
    return xxh3_128_digest(capture.source.encode("utf-8", "surrogatepass") + b"\0" + capture.body)
