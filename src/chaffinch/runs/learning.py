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
from chaffinch.runs.journal import Journal
from chaffinch.runs.limits import Budget
from chaffinch.runs.memory import bytes_of, peak_of_process
from chaffinch.runs.pool import Workers
from chaffinch.runs.reading import STDIN, reading
from chaffinch.runs.record import identity_of
from chaffinch.runs.report import LEAST_PAGES, Failure, LearnReport, SiteLearned
from chaffinch.runs.templates import HeldTemplates, KeptTemplates
from chaffinch.runs.work import learn_batch, reason_of
from chaffinch.sources import input_states
from chaffinch.store import KeptSite, Samples, Spill, SpilledPart, TemplateStore, check_replaceable, merge_samples
from chaffinch.store.explain import sample_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self, TypeAlias

    from chaffinch.methods import AnyMethod
    from chaffinch.runs.engine import Engine
    from chaffinch.runs.options import RunOptions
    from chaffinch.runs.templates import SiteTemplates
    from chaffinch.runs.work import BatchLearned, SitePart
    from chaffinch.sources import Capture, InputState

    Answer: TypeAlias = BatchLearned | InputError | PageError

_MOST_HELD: Final = 16 << 20
"""Templates up to this size are handed to every process; larger ones are looked up on disk."""


@dataclass(slots=True)
class _Site:
    """A site that is being learned."""

    fold: Fold[Any, Any]
    pages: int = 0
    samples: Samples = ()
    size: int = 0
    """What it takes in memory, at most."""


@dataclass(slots=True)
class Learned:
    """A site that was learned from all pages of the run."""

    site: str
    pages: int
    summary: Any
    samples: Samples


class Learning:
    """Gathers what is learned of each site, in any order, within so many bytes of memory.

    Beyond them the sites seen longest ago are appended to a file, as parts which are merged when all pages are in. So
    a crawl may have any number of sites, in any order. With a `journal` the file lies there, and a run that was killed
    can go on with what it has kept.
    """

    def __init__(
        self, method: AnyMethod, *, most_bytes: int = Budget().learning, journal: Journal | None = None
    ) -> None:
        self._method = method
        self._most_bytes = most_bytes
        self._open: OrderedDict[str, _Site] = OrderedDict()
        self._size = 0
        self._journal = journal
        self._own_folder: TemporaryDirectory[str] | None = None
        self._spill: Spill | None = None
        if journal is not None and journal.resumed and (path := journal.folder / "learning.db").exists():
            self._spill = Spill(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._spill is not None:
            self._spill.close()
        if self._own_folder is not None:
            self._own_folder.cleanup()

    @property
    def state(self) -> dict[str, Any]:
        """How far the run had come that is gone on with; empty at the beginning."""
        return (self._spill.state() if self._spill else None) or {}

    def add(self, site: str, part: SitePart) -> None:
        """Take in what some pages of a site tell."""
        entry = self._open.get(site)
        if entry is None:
            entry = self._open[site] = _Site(Fold(self._method))
        self._open.move_to_end(site)
        entry.fold.add_summary(part.summary)
        entry.pages += part.pages
        entry.samples = merge_samples(entry.samples, part.samples)
        size = bytes_of(part.summary) + bytes_of(part.samples)
        entry.size += size
        self._size += size
        if self._size > self._most_bytes:
            self._make_room()

    def keep(self, state: dict[str, Any]) -> None:
        """Write everything to disk, together with how far the run has come."""
        self._write_out(0)
        self._opened_spill().keep(state)

    def sites(self) -> Iterator[Learned]:
        """Yield every site by name, and forget those in memory on the way."""
        if self._spill is None:
            for site in sorted(self._open):
                entry = self._open.pop(site)
                yield Learned(site, entry.pages, entry.fold.summary(), entry.samples)
            return
        self._write_out(0)
        for site, parts in self._spill.sites():
            fold: Fold[Any, Any] = Fold(self._method)
            pages = 0
            for part in parts:
                fold.add_summary(self._method.reopen(self._method.load(part.template)))
                pages += part.pages
            yield Learned(site, pages, fold.summary(), self._spill.samples_of(site))

    def templates(self, most_bytes: int = Budget().templates) -> SiteTemplates:
        """Return the finished templates for looking up; they last as long as this object is open."""
        if self._spill is None and self._size <= _MOST_HELD:
            return HeldTemplates({learned.site: self._method.finish(learned.summary) for learned in self.sites()})
        path = self._scratch_folder() / "templates.db"
        with TemplateStore.replacing(path, self._method) as store:
            for learned in self.sites():
                template = self._method.dump(self._method.finish(learned.summary))
                store.put(KeptSite(learned.site, learned.pages, None, template))
        return KeptTemplates(str(path), self._method, measured=False, most_bytes=most_bytes)

    def _make_room(self) -> None:
        """Merge what there is of each site; if that does not help, write sites out."""
        self._size = 0
        for entry in self._open.values():
            summary = entry.fold.summary()
            entry.fold = Fold(self._method)
            entry.fold.add_summary(summary)
            entry.size = bytes_of(summary) + bytes_of(entry.samples)
            self._size += entry.size
        if self._size > self._most_bytes // 2:
            self._write_out(self._most_bytes // 4)

    def _write_out(self, most: int) -> None:
        """Write sites out until at most so much is held, those first that were seen longest ago."""
        spill = self._opened_spill()
        while self._open and (self._size > most or not most):
            site, entry = self._open.popitem(last=False)
            template = self._method.dump(self._method.finish(entry.fold.summary()))
            spill.append(site, SpilledPart(entry.pages, template), entry.samples)
            self._size -= entry.size

    def _opened_spill(self) -> Spill:
        if self._spill is None:
            self._spill = Spill(self._scratch_folder() / "learning.db")
        return self._spill

    def _scratch_folder(self) -> Path:
        if self._journal is not None:
            return self._journal.begin()
        if self._own_folder is None:
            self._own_folder = TemporaryDirectory(prefix="chaffinch-")
        return Path(self._own_folder.name)


@dataclass
class LearnOptions:
    """How `learn_templates` treats a database that is there already."""

    replace: bool = False
    """Start anew: the database that was there is replaced when all is learned."""
    relearn: bool = False
    """Learn the sites of the input anew, as after a redesign; other sites stay."""
    step: Callable[[int], None] = field(default=lambda _: None)
    """Called with the number of pages that were read."""
    journal: Journal | None = None
    """Where the run keeps what it has done, so that it can be gone on with."""
    engine: Engine | None = None
    """What does the work, if not this machine. It has its own ways to survive, and needs no journal."""


def learn_journal(
    path: str,
    states: Sequence[InputState],
    options: RunOptions,
    how: LearnOptions,
    *,
    resume: bool,
    every: float,
) -> Journal:
    """Return where a run into the database `path` keeps what it has done, so that it can be gone on with."""
    if resume and any(state.path == STDIN for state in states):
        raise UsageError("standard input cannot be read again, so its run cannot be gone on with")
    (before,) = input_states([path])  # what is learned is added to it
    identity = identity_of("learn", states, options, replace=how.replace, relearn=how.relearn, before=before.listing)
    return Journal(path, identity, resume=resume, every=every)


def learning_workers(options: RunOptions, *, sampling: bool) -> Workers[BatchLearned]:
    """Return the processes that learn."""
    return Workers(partial(learn_batch, options=options, sampling=sampling), options.jobs, options.page_limits)


def learn_answers(items: Iterable[Capture | InputError], options: RunOptions, *, sampling: bool) -> Iterator[Answer]:
    """Yield what is learned of each batch, and what could not be read."""
    yield from learning_workers(options, sampling=sampling).answers(cut_batches(items, remember=False))


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
    with Learning(options.method, most_bytes=options.budget.learning, journal=how.journal) as learning:
        if how.replace or not Path(path).exists() or not Path(path).stat().st_size:
            check_replaceable(path)
            with TemplateStore.replacing(path, options.method, options.site_by) as store:
                _write_all(store, _learned_from(inputs, options, how, learning, report), report)
        else:
            with _opened(path, options) as store, store.transaction():
                pass  # a file that cannot be written to is told of before the work, not after
            sites = _learned_from(inputs, options, how, learning, report)
            with _opened(path, options) as store, store.transaction():
                _write_all(store, sites, report, relearn=how.relearn)
    report.seconds = time.perf_counter() - start
    return report


def _learned_from(
    inputs: Sequence[str], options: RunOptions, how: LearnOptions, learning: Learning, report: LearnReport
) -> Iterable[Learned]:
    """Read all pages, and return what was learned of each site."""
    if how.engine is not None:
        return how.engine.learn(inputs, options, report)
    _read_all(inputs, options, how, learning, report)
    return learning.sites()


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
    before = learning.state
    report.failures += [Failure(source, reason) for source, reason in before.get("failures", ())]
    report.unwanted += before.get("unwanted", 0)

    def heed(answer: Answer) -> None:
        if isinstance(answer, InputError | PageError):
            report.failures.append(Failure(answer.subject, answer.reason))
            return
        report.failures.extend(Failure(failure.subject, failure.reason) for failure in answer.failures)
        report.unwanted += answer.unwanted
        how.step(sum(part.pages for part in answer.sites.values()) + len(answer.failures))

    def told() -> dict[str, Any]:
        failures = [(failure.source, failure.reason) for failure in report.failures]
        return {"failures": failures, "unwanted": report.unwanted}

    workers = learning_workers(options, sampling=True)
    with reading(inputs, options, often=False) as readable:
        if options.duplicates is not None:
            report.duplicates = len(readable.duplicates)
            how.step(len(readable.duplicates))
        report.superseded = readable.superseded
        learn_into(learning, readable.read(), workers, heed=heed, journal=how.journal, told=told)
    report.peak_memory = peak_of_process() + workers.peak_memory


def learn_into(
    learning: Learning,
    items: Iterable[Capture | InputError],
    workers: Workers[BatchLearned],
    *,
    heed: Callable[[Answer], None] = lambda _: None,
    journal: Journal | None = None,
    told: Callable[[], dict[str, Any]] = dict,
) -> None:
    """Learn from all pages. With a journal, what was learned is kept from time to time, and gone on with."""
    done = int(learning.state.get("items", 0))
    batches = iter(cut_batches(items, remember=False))
    for _ in range(done):
        next(batches, None)
    for answered in workers.answered(batches):
        for answer in answered.answers:
            if not isinstance(answer, InputError | PageError):
                for site, part in answer.sites.items():
                    learning.add(site, part)
            heed(answer)
        done += 1
        if journal is not None and journal.is_time():
            learning.keep({"items": done, **told()})
            journal.kept()


def _write_all(store: TemplateStore, sites: Iterable[Learned], report: LearnReport, *, relearn: bool = False) -> None:
    for learned in sites:
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
