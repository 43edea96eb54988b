"""What is done to a batch of captures, in whichever process.

A bad page never raises here: it becomes an outcome that names the page and the reason.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from chaffinch.document import make_document, make_parts
from chaffinch.errors import ChaffinchError, InputError, ModelError, PageError
from chaffinch.methods import Fold, learn_template, threshold_of
from chaffinch.page import Page, parse_capture
from chaffinch.runs.options import Outcome, RunOptions
from chaffinch.runs.templates import Known, SiteTemplates
from chaffinch.runs.watch import note, watched
from chaffinch.sources import Capture
from chaffinch.store import Samples, with_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Batch:
    """Captures that stand side by side in the input, and what to compare the first of them with."""

    captures: tuple[Capture, ...]
    before: tuple[Capture, ...] = ()
    """The last page before the batch of each directory in it, for methods that stream."""


@dataclass(frozen=True, slots=True)
class SitePart:
    """What is learned of some pages of a site."""

    pages: int
    summary: Any
    samples: Samples


@dataclass(frozen=True, slots=True)
class BatchLearned:
    """What is learned of a batch."""

    sites: dict[str, SitePart]
    failures: tuple[PageError, ...]
    unwanted: int


def learn_batch(batch: Batch, options: RunOptions, *, sampling: bool) -> BatchLearned:
    """Return what there is to know of each site of the batch; with `sampling`, sample pages too."""
    folds: dict[str, Fold[Any, Any]] = {}
    pages: Counter[str] = Counter()
    samples: dict[str, Samples] = {}
    failures: list[PageError] = []
    unwanted = 0
    for capture in watched(batch.captures):
        page = _parsed(capture, options)
        if isinstance(page, PageError):
            failures.append(page)
        elif not options.wants(page):
            unwanted += 1
        else:
            site = page.place.site
            summary = guarded(page, options.method.summarise)
            if isinstance(summary, PageError):
                failures.append(summary)
                continue
            folds.setdefault(site, Fold(options.method)).add_summary(summary)
            pages[site] += 1
            if sampling:
                samples[site] = with_page(samples.get(site, ()), page, capture)
    parts = {site: SitePart(pages[site], fold.summary(), samples.get(site, ())) for site, fold in folds.items()}
    return BatchLearned(parts, tuple(failures), unwanted)


def wanted_pages(batch: Batch, options: RunOptions) -> Iterator[Page | Outcome]:
    """Yield the pages of a batch, and what becomes of those that cannot be read or were not asked for."""
    for capture in watched(batch.captures):
        page = _parsed(capture, options)
        if isinstance(page, PageError):
            yield Outcome(page.subject, error=page.reason)
        elif not options.wants(page):
            yield Outcome(page.source, page.place.site)
        else:
            yield page


def clean_batch(batch: Batch, options: RunOptions, templates: SiteTemplates) -> list[Outcome]:
    """Clean the pages of a batch by the templates of their sites."""
    outcomes = []
    for capture in watched(batch.captures):
        page = _parsed(capture, options)
        known = None
        if isinstance(page, Page) and options.wants(page):
            try:
                known = templates.of_site(page.place.site)
            except ModelError as error:  # the template of this one site is damaged
                outcomes.append(Outcome(page.source, page.place.site, error=str(error)))
                continue
        outcomes.append(_outcome(capture, page, known, options))
    return outcomes


def clean_stream(batch: Batch, options: RunOptions) -> list[Outcome]:
    """Clean the pages of a batch, comparing each with the page before it in its directory.

    The first page of a directory is compared with the one after it, as far as the batch reaches.
    """
    pages = _Ahead(batch.captures, options)
    last: dict[str, object] = {}
    for position, capture in enumerate(batch.before, -len(batch.before)):
        note(position)
        page = _parsed(capture, options)
        if isinstance(page, Page):
            last[page.place.directory] = _template_of(page, options)
    outcomes = []
    for position, (capture, page) in enumerate(zip(batch.captures, pages, strict=True)):
        if isinstance(page, Page):
            directory = page.place.directory
            if directory not in last:
                following = pages.next_in(directory)
                last[directory] = None if following is None else _template_of(following, options)
            note(position)
            outcomes.append(_outcome(capture, page, Known(last[directory]), options))
            last[directory] = _template_of(page, options)
        else:
            outcomes.append(_outcome(capture, page, None, options))
    return outcomes


class _Ahead:
    """Parses captures one by one, and further ahead only where that is asked for: a parsed page is large."""

    def __init__(self, captures: tuple[Capture, ...], options: RunOptions) -> None:
        self._captures = captures
        self._options = options
        self._ahead: deque[Page | PageError] = deque()
        self._parsed = 0

    def __iter__(self) -> Iterator[Page | PageError]:
        while self._ahead or self._parsed < len(self._captures):
            yield self._ahead.popleft() if self._ahead else self._parse_next()

    def next_in(self, directory: str) -> Page | None:
        """Return the next page of a directory, or None if the captures hold no other."""
        for page in self._ahead:
            if isinstance(page, Page) and page.place.directory == directory:
                return page
        while self._parsed < len(self._captures):
            page = self._parse_next()
            self._ahead.append(page)
            if isinstance(page, Page) and page.place.directory == directory:
                return page
        return None

    def _parse_next(self) -> Page | PageError:
        note(self._parsed)
        self._parsed += 1
        return _parsed(self._captures[self._parsed - 1], self._options)


def _template_of(page: Page, options: RunOptions) -> object:
    """Return what is learned from one page, or None if nothing can be."""
    template = guarded(page, lambda page: learn_template(options.method, (page,)))
    return None if isinstance(template, PageError) else template


def _outcome(capture: Capture, page: Page | PageError, known: Known | None, options: RunOptions) -> Outcome:
    """Return what becomes of a page, by what is known of its site."""
    if isinstance(page, PageError):
        return Outcome(page.subject, error=page.reason)
    if not options.wants(page):
        return Outcome(page.source, page.place.site)

    def clean(page: Page) -> Outcome:
        method = options.method
        template = known.template if known else None
        scores = method.score(page, template)
        threshold = threshold_of(method, options.favor)
        document = make_document(page, scores, method=method, threshold=threshold, format=options.format)
        if capture.captured is not None or capture.offset is not None:
            document = replace(document, captured=capture.captured, offset=capture.offset)
        parts = make_parts(page, scores, method=method, threshold=threshold) if options.parts else None
        informed = method.knows(page, template)
        fit = method.fit(page, template) if known and known.measured and informed else None
        learned = known.fit if known and fit is not None else None
        return Outcome(
            page.source, page.place.site, document, informed=informed, fit=fit, fit_learned=learned, parts=parts
        )

    outcome = guarded(page, clean)
    return Outcome(page.source, page.place.site, error=outcome.reason) if isinstance(outcome, PageError) else outcome


def _parsed(capture: Capture, options: RunOptions) -> Page | PageError:
    try:
        return parse_capture(capture, options.site_by)
    except Exception as error:  # noqa: BLE001  (see reason_of)
        return PageError(capture.source, reason_of(error))


def guarded(page: Page, work: Callable[[Page], T]) -> T | PageError:
    """Return what `work` makes of a page, or why it could not."""
    try:
        return work(page)
    except Exception as error:  # noqa: BLE001  (see reason_of)
        return PageError(page.source, reason_of(error))


def reason_of(error: Exception) -> str:
    """Say in words why a page failed, or a site.

    Whatever goes wrong with one page, a defect of ours included, costs that page only and is told; so this is the one
    place that catches every kind of error.
    """
    if isinstance(error, ChaffinchError):
        return error.reason if isinstance(error, PageError) else str(error)
    if isinstance(error, MemoryError):
        return "needs more memory than there is"
    return f"failed with {type(error).__name__}: {error}"


def outcomes_of(answer: list[Outcome] | InputError | PageError) -> list[Outcome]:
    """Return what became of a batch, or of an input that could not be read, as outcomes."""
    return [Outcome(answer.subject, error=answer.reason)] if isinstance(answer, InputError | PageError) else answer
