"""Learning the templates of all sites of a crawl, within bounded memory, and keeping them."""

from __future__ import annotations

import time
from collections import OrderedDict
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from chaffinch.errors import InputError, PageError, UsageError
from chaffinch.methods import Fold
from chaffinch.runs.batches import cut_batches
from chaffinch.runs.pool import Workers
from chaffinch.runs.reading import reading
from chaffinch.runs.report import LEAST_PAGES, Failure, LearnReport, SiteLearned
from chaffinch.runs.templates import HeldTemplates, KeptTemplates
from chaffinch.runs.work import learn_batch, reason_of
from chaffinch.store import KeptSite, Samples, TemplateStore, check_replaceable, merge_samples
from chaffinch.store.explain import sample_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self, TypeAlias

    from chaffinch.methods import AnyMethod
    from chaffinch.runs.options import RunOptions
    from chaffinch.runs.templates import SiteTemplates
    from chaffinch.runs.work import BatchLearned, SitePart
    from chaffinch.sources import Capture

    Answer: TypeAlias = BatchLearned | InputError | PageError

MOST_PAGES_HELD: Final = 10_000
"""When the sites in memory have been learned from more pages than this, those seen longest ago are written out."""


@dataclass(slots=True)
class _Site:
    """A site that is being learned."""

    fold: Fold[Any, Any]
    pages: int = 0
    samples: Samples = ()
    held: int = 0
    """Pages added since it was opened: what bounds the memory it takes."""


@dataclass(slots=True)
class Learned:
    """A site that was learned from all pages of the run."""

    site: str
    pages: int
    summary: Any
    samples: Samples


class Learning:
    """Gathers what is learned of each site, in any order.

    Summaries are held in memory up to a number of pages; beyond it the sites seen longest ago are written to a scratch
    database and opened again when more of their pages come, so a crawl may have any number of sites.
    """

    def __init__(self, method: AnyMethod, *, most_pages: int = MOST_PAGES_HELD) -> None:
        self._method = method
        self._most_pages = most_pages
        self._open: OrderedDict[str, _Site] = OrderedDict()
        self._held = 0
        self._scratch: TemplateStore | None = None
        self._folder: TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._scratch is not None:
            self._scratch.close()
        if self._folder is not None:
            self._folder.cleanup()

    def add(self, site: str, part: SitePart) -> None:
        """Take in what some pages of a site tell."""
        entry = self._reopened(site)
        entry.fold.add_summary(part.summary)
        entry.pages += part.pages
        entry.held += part.pages
        entry.samples = merge_samples(entry.samples, part.samples)
        self._held += part.pages
        if self._held > self._most_pages:
            self._write_out(self._most_pages // 2)

    def sites(self) -> Iterator[Learned]:
        """Yield every site by name, and forget those in memory on the way."""
        if self._scratch is None:
            for site in sorted(self._open):
                entry = self._open.pop(site)
                yield Learned(site, entry.pages, entry.fold.summary(), entry.samples)
            return
        self._write_out(0)
        for summary in list(self._scratch.sites()):
            kept = self._scratch.kept(summary.site)
            assert kept is not None  # noqa: S101  (it was just listed, in a file that is ours alone)
            template = self._scratch.load(kept.site, kept.template)
            yield Learned(kept.site, kept.pages, self._method.reopen(template), kept.samples)

    def templates(self) -> SiteTemplates:
        """Return the finished templates for looking up; they last as long as this object is open."""
        if self._scratch is None:
            return HeldTemplates({learned.site: self._method.finish(learned.summary) for learned in self.sites()})
        self._write_out(0)
        return KeptTemplates(self._scratch.path, self._method, measured=False)

    def _reopened(self, site: str) -> _Site:
        entry = self._open.get(site)
        if entry is None:
            entry = self._open[site] = _Site(Fold(self._method))
            kept = self._scratch.kept(site) if self._scratch else None
            if kept and self._scratch:
                entry.fold.add_summary(self._method.reopen(self._scratch.load(site, kept.template)))
                entry.pages, entry.samples = kept.pages, kept.samples
        self._open.move_to_end(site)
        return entry

    def _write_out(self, most: int) -> None:
        """Write sites out until at most so many pages are held."""
        if self._scratch is None:
            self._folder = TemporaryDirectory(prefix="chaffinch-")
            self._scratch = TemplateStore.create(Path(self._folder.name, "learning.db"), self._method, scratch=True)
        with self._scratch.transaction():
            while self._open and (self._held > most or not most):
                site, entry = self._open.popitem(last=False)
                template = self._method.dump(self._method.finish(entry.fold.summary()))
                self._scratch.put(KeptSite(site, entry.pages, None, template, entry.samples))
                self._held -= entry.held


@dataclass
class LearnOptions:
    """How `learn_templates` treats a database that is there already."""

    replace: bool = False
    """Start anew: the database that was there is replaced when all is learned."""
    relearn: bool = False
    """Learn the sites of the input anew, as after a redesign; other sites stay."""
    step: Callable[[int], None] = field(default=lambda _: None)
    """Called with the number of pages that were read."""


def learn_answers(items: Iterable[Capture | InputError], options: RunOptions, *, sampling: bool) -> Iterator[Answer]:
    """Yield what is learned of each batch, and what could not be read."""
    workers: Workers[BatchLearned] = Workers(partial(learn_batch, options=options, sampling=sampling), options.jobs)
    yield from workers.answers(cut_batches(items, remember=False))


def learn_templates(
    inputs: Sequence[str], path: str, options: RunOptions, how: LearnOptions | None = None
) -> LearnReport:
    """Learn the templates of all sites in `inputs` and keep them in the database `path`.

    A database that is there is updated: it must be of the same method, and the pages are learned in addition to those
    before. All sites are written in one transaction, so that a run that is killed has done nothing, and can be
    repeated without any page being counted twice.
    """
    how = how or LearnOptions()
    start = time.perf_counter()
    report = LearnReport(options.method.name, path)
    with Learning(options.method) as learning:
        if how.replace or not Path(path).exists() or not Path(path).stat().st_size:
            check_replaceable(path)
            with TemplateStore.replacing(path, options.method, options.site_by) as store:
                _read_all(inputs, options, how, learning, report)
                _write_all(store, learning, report)
        else:
            with _opened(path, options) as store, store.transaction():
                pass  # a file that cannot be written to is told of before the work, not after
            _read_all(inputs, options, how, learning, report)
            with _opened(path, options) as store, store.transaction():
                _write_all(store, learning, report, relearn=how.relearn)
    report.seconds = time.perf_counter() - start
    return report


@contextmanager
def _opened(path: str, options: RunOptions) -> Iterator[TemplateStore]:
    """Open a database for writing that was learned as `options` say."""
    with closing(TemplateStore.open(path, readonly=False, method=options.method)) as store:
        check_same(store, options)
        yield store


def check_same(store: TemplateStore, options: RunOptions) -> None:
    """Raise `UsageError` unless the sites of a database are of the kind that `options` ask for."""
    if store.site_by != options.site_by:
        raise UsageError(f"the sites of {store.path} are by {store.site_by}, not by {options.site_by}")


def _read_all(
    inputs: Sequence[str], options: RunOptions, how: LearnOptions, learning: Learning, report: LearnReport
) -> None:
    with reading(inputs, options, often=False) as (read, duplicates):
        if options.duplicates is not None:
            report.duplicates = len(duplicates)
            how.step(len(duplicates))
        for answer in learn_answers(read(), options, sampling=True):
            if isinstance(answer, InputError | PageError):
                report.failures.append(Failure(answer.subject, answer.reason))
                continue
            report.failures.extend(Failure(failure.subject, failure.reason) for failure in answer.failures)
            report.unwanted += answer.unwanted
            for site, part in answer.sites.items():
                learning.add(site, part)
            how.step(sum(part.pages for part in answer.sites.values()) + len(answer.failures))


def _write_all(store: TemplateStore, learning: Learning, report: LearnReport, *, relearn: bool = False) -> None:
    for learned in learning.sites():
        try:
            kept = _finished(store, learned, None if relearn else store.kept(learned.site))
        except Exception as error:  # noqa: BLE001  (a site that cannot be learned costs that site only, and is told)
            report.failures.append(Failure(f"site {learned.site}", reason_of(error)))
            continue
        store.put(kept)
        report.sites[learned.site] = SiteLearned(learned.pages, kept.pages, kept.fit)


def _finished(store: TemplateStore, learned: Learned, before: KeptSite | None) -> KeptSite:
    """Return what is to be kept of a site, together with what was kept before."""
    method = store.method
    summary, pages, samples = learned.summary, learned.pages, learned.samples
    if before is not None:
        summary = method.merge(method.reopen(store.load(before.site, before.template)), summary)
        pages += before.pages
        samples = merge_samples(before.samples, samples)
    template = method.finish(summary)
    kept = KeptSite(learned.site, pages, None, method.dump(template), samples)
    fits = [method.fit(page, template) for page in sample_pages(store, kept) if method.knows(page, template)]
    return replace(kept, fit=fmean(fits)) if len(fits) >= LEAST_PAGES else kept
