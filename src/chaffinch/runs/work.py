"""What is done to a batch of captures, in whichever process.

A bad page never raises here: it becomes an outcome that names the page and the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from chaffinch.document import make_document
from chaffinch.errors import ChaffinchError, PageError
from chaffinch.methods import Fold, learn_template
from chaffinch.page import Page, parse_capture
from chaffinch.runs.options import Outcome, RunOptions
from chaffinch.sources import Capture

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Batch:
    """Captures that stand side by side in the input, and what to compare the first of them with."""

    captures: tuple[Capture, ...]
    before: tuple[Capture, ...] = ()
    """The last page before the batch of each directory in it, for methods that stream."""


def learn_batch(batch: Batch, options: RunOptions) -> dict[str, Any]:
    """Return a summary for each site of the batch.

    Pages that fail here fail again when they are cleaned, and are told of then.
    """
    folds: dict[str, Fold[Any, Any]] = {}
    for capture in batch.captures:
        page = _parsed(capture)
        if isinstance(page, Page) and options.wants(page):
            fold = folds.setdefault(page.place.site, Fold(options.method))
            summary = _guarded(page, options.method.summarise)
            if not isinstance(summary, PageError):
                fold.add_summary(summary)
    return {site: fold.summary() for site, fold in folds.items() if fold.summary() is not None}


def clean_batch(batch: Batch, options: RunOptions, templates: Mapping[str, Any]) -> list[Outcome]:
    """Clean the pages of a batch by the templates of their sites."""
    return [
        _outcome(page, templates.get(page.place.site) if isinstance(page, Page) else None, options)
        for page in map(_parsed, batch.captures)
    ]


def clean_stream(batch: Batch, options: RunOptions) -> list[Outcome]:
    """Clean the pages of a batch, comparing each with the page before it in its directory.

    The first page of a directory is compared with the one after it, as far as the batch reaches.
    """
    pages = [_parsed(capture) for capture in batch.captures]
    last = {page.place.directory: page for page in map(_parsed, batch.before) if isinstance(page, Page)}
    second: dict[str, Page] = {}
    first: set[str] = set()
    for page in pages:
        if isinstance(page, Page):
            directory = page.place.directory
            if directory in first:
                second.setdefault(directory, page)
            first.add(directory)

    outcomes = []
    for page in pages:
        template = None
        if isinstance(page, Page):
            peer = last.get(page.place.directory) or second.get(page.place.directory)
            last[page.place.directory] = page
            if peer is not None:
                template = _guarded(peer, lambda peer: learn_template(options.method, (peer,)))
        outcomes.append(_outcome(page, None if isinstance(template, PageError) else template, options))
    return outcomes


def _outcome(page: Page | PageError, template: object, options: RunOptions) -> Outcome:
    """Return what becomes of a page."""
    if isinstance(page, PageError):
        return Outcome(page.subject, error=page.reason)
    if not options.wants(page):
        return Outcome(page.source, page.place.site)

    def clean(page: Page) -> Outcome:
        method = options.method
        scores = method.score(page, template)
        document = make_document(page, scores, method=method.name, threshold=options.threshold, format=options.format)
        return Outcome(page.source, page.place.site, document, informed=method.knows(page, template))

    outcome = _guarded(page, clean)
    return Outcome(page.source, page.place.site, error=outcome.reason) if isinstance(outcome, PageError) else outcome


def _parsed(capture: Capture) -> Page | PageError:
    try:
        return parse_capture(capture)
    except Exception as error:  # noqa: BLE001  (see _reason)
        return PageError(capture.source, _reason(error))


def _guarded(page: Page, work: Callable[[Page], T]) -> T | PageError:
    """Return what `work` makes of a page, or why it could not."""
    try:
        return work(page)
    except Exception as error:  # noqa: BLE001  (see _reason)
        return PageError(page.source, _reason(error))


def _reason(error: Exception) -> str:
    """Say in words why a page failed.

    Whatever goes wrong with one page, a defect of ours included, costs that page only and is told; so this is the one
    place that catches every kind of error.
    """
    if isinstance(error, ChaffinchError):
        return error.reason if isinstance(error, PageError) else str(error)
    if isinstance(error, MemoryError):
        return "needs more memory than there is"
    return f"failed with {type(error).__name__}: {error}"
