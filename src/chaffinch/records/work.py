"""What a run over result pages does to a batch of captures, in whichever process; a bad page never raises here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from chaffinch.errors import PageError
from chaffinch.page import Page
from chaffinch.records.applying import Applied, apply_wrapper
from chaffinch.records.grouping import Sketched
from chaffinch.records.mining import mine
from chaffinch.records.results import PageRecords
from chaffinch.runs.watch import rest
from chaffinch.runs.work import Batch, guarded, reason_of, wanted_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chaffinch.records.ledger import Numbered
    from chaffinch.records.wrapper import Wrapper
    from chaffinch.runs import RunOptions


class Wrappers(Protocol):
    """Where the wrappers are found that a page may fit."""

    def of(self, capture: Numbered) -> Sequence[Wrapper]:
        """Return them."""
        ...


@dataclass(frozen=True)
class GivenWrappers:
    """Wrappers that any page may fit."""

    wrappers: tuple[Wrapper, ...]

    def of(self, capture: Numbered) -> Sequence[Wrapper]:  # noqa: ARG002 - any page
        """Return all."""
        return self.wrappers


@dataclass(frozen=True, slots=True)
class BatchSketched:
    """What tells the templates of the pages of a batch."""

    pages: dict[int, Sketched]
    """By the number of the capture."""
    failures: tuple[PageError, ...]
    unwanted: int


@dataclass(frozen=True, slots=True)
class BatchRead:
    """What became of the pages of a batch."""

    found: dict[int, tuple[int, str]]
    """How many records a page has, and all of it as JSON, by the number of the capture."""
    misfits: dict[int, tuple[float, str]]
    """How well pages fit that no wrapper fits, and what there is of them as JSON: no records."""
    failures: tuple[PageError, ...]
    wrapper: str | None = None
    """What was learned, as JSON."""
    unwanted: int = 0


def sketch_batch(batch: Batch, options: RunOptions) -> BatchSketched:
    """Look at the pages of a batch."""
    pages: dict[int, Sketched] = {}
    failures: list[PageError] = []
    unwanted = 0
    for capture, page in _pages(batch, options):
        if isinstance(page, PageError):
            failures.append(page)
        elif page is None:
            unwanted += 1
        else:
            sketched = guarded(page, Sketched.of)
            if isinstance(sketched, PageError):
                failures.append(sketched)
            else:
                pages[capture.number] = sketched
    return BatchSketched(pages, tuple(failures), unwanted)


def mine_batch(batch: Batch, options: RunOptions) -> BatchRead:
    """Learn from the pages of a batch, which share a template, and return their records."""
    numbers: list[int] = []
    pages: list[Page] = []
    failures: list[PageError] = []
    for capture, page in _pages(batch, options):
        if isinstance(page, Page):
            numbers.append(capture.number)
            pages.append(page)
        elif page is not None:
            failures.append(page)
    rest()  # what follows is done with all pages at once
    if not pages:
        return BatchRead({}, {}, tuple(failures))
    try:
        mined = mine(pages)
    except Exception as error:  # noqa: BLE001  (see reason_of)
        failures += [PageError(page.source, reason_of(error)) for page in pages]
        return BatchRead({}, {}, tuple(failures))
    found = {number: _written(page) for number, page in zip(numbers, mined.pages, strict=True)}
    return BatchRead(found, {}, tuple(failures), json.dumps(mined.wrapper.as_json(), sort_keys=True))


def apply_batch(batch: Batch, options: RunOptions, wrappers: Wrappers) -> BatchRead:
    """Return the records of pages by the wrapper that fits each best."""
    found: dict[int, tuple[int, str]] = {}
    misfits: dict[int, tuple[float, str]] = {}
    failures: list[PageError] = []
    unwanted = 0
    for capture, page in _pages(batch, options):
        if isinstance(page, PageError):
            failures.append(page)
            continue
        if page is None:
            unwanted += 1
            continue

        def applied(page: Page, capture: Numbered = capture) -> Applied | None:
            tried = (apply_wrapper(wrapper, page) for wrapper in wrappers.of(capture))
            return max(tried, key=lambda applied: applied.fit, default=None)

        best = guarded(page, applied)
        if isinstance(best, PageError):
            failures.append(best)
        elif best is None or not best.fits:
            nothing = PageRecords(page.source, page.url, ())
            misfits[capture.number] = (best.fit if best else 0.0, _written(nothing)[1])
        else:
            found[capture.number] = _written(best.page)
    return BatchRead(found, misfits, tuple(failures), unwanted=unwanted)


def _pages(batch: Batch, options: RunOptions) -> Iterator[tuple[Numbered, Page | PageError | None]]:
    """Yield each capture with its page, or why it has none; None if it is not wanted."""
    for capture, page in zip(batch.captures, wanted_pages(batch, options), strict=True):
        numbered = cast("Numbered", capture)
        if isinstance(page, Page):
            yield numbered, page
        else:
            yield numbered, PageError(page.source, page.error) if page.error is not None else None


def _written(page: PageRecords) -> tuple[int, str]:
    return len(page.records), json.dumps(page.as_json())
