"""Runs on this machine: one process or several, one pass or two."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from chaffinch.errors import UsageError
from chaffinch.methods import METHODS
from chaffinch.runs.batches import cut_batches
from chaffinch.runs.learning import Learning, check_same, learn_into, learning_workers
from chaffinch.runs.memory import peak_of_process
from chaffinch.runs.options import Outcome, RunOptions
from chaffinch.runs.pool import Workers
from chaffinch.runs.reading import Readable, reading
from chaffinch.runs.report import RunReport
from chaffinch.runs.templates import HeldTemplates, KeptTemplates
from chaffinch.runs.work import clean_batch, clean_stream, outcomes_of
from chaffinch.store import TemplateStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chaffinch.runs.journal import Journal
    from chaffinch.runs.templates import SiteTemplates


def clean_inputs(
    inputs: Sequence[str], options: RunOptions, report: RunReport | None = None, journal: Journal | None = None
) -> Iterator[Outcome]:
    """Clean every page of `inputs` and yield what becomes of it, in the order of the input, after the duplicates.

    Pages that are given up because their process died come behind those of their batch. Learned templates, a method
    that streams and a run page by page read every page once; all else reads the inputs twice: once to learn, once to
    clean. The `report` is told how long that took. With a `journal`, what it holds is gone on with.
    """
    told = report if report is not None else RunReport.of(options)
    two_passes = options.templates is None and not options.page_by_page and not options.method.streams
    with ExitStack() as stack:
        readable = stack.enter_context(reading(inputs, options, often=two_passes))
        told.superseded = readable.superseded
        yield from (Outcome(source, duplicate=True) for source in readable.duplicates)
        templates: SiteTemplates | None = None
        if options.templates is not None:
            templates = _kept(options, options.templates)
        elif two_passes:
            templates = _learned(readable, options, told, journal, stack)
        yield from _clean(readable, options, templates, told, journal)


def with_templates(options: RunOptions, path: str) -> RunOptions:
    """Return options that go by a database of templates, with its method and its kind of sites."""
    own = None if options.method.name in METHODS else options.method
    with TemplateStore.open(path, method=own) as store:
        return replace(options, method=store.method, site_by=store.site_by, templates=path)


def _kept(options: RunOptions, path: str) -> KeptTemplates:
    if options.page_by_page:
        raise UsageError("a run page by page knows nothing of sites: it does not go with learned templates")
    with TemplateStore.open(path, method=options.method) as store:
        check_same(store, options)
    return KeptTemplates(path, options.method, measured=True, most_bytes=options.budget.templates)


def _learned(
    readable: Readable, options: RunOptions, report: RunReport, journal: Journal | None, stack: ExitStack
) -> SiteTemplates:
    """Learn from all pages. Those that fail here fail again when they are cleaned, and are told of then."""
    budget = options.budget
    if journal is not None and (path := journal.templates) is not None:
        return KeptTemplates(str(path), options.method, measured=False, most_bytes=budget.templates)
    start = time.perf_counter()
    learning = stack.enter_context(Learning(options.method, most_bytes=budget.learning, journal=journal))
    workers = learning_workers(options, sampling=False)
    learn_into(learning, readable.read(), workers, journal=journal)
    templates = learning.templates(budget.templates)
    report.stages["learn"] = time.perf_counter() - start
    report.peak_memory = max(report.peak_memory, peak_of_process() + workers.peak_memory)
    return templates


def _clean(
    readable: Readable,
    options: RunOptions,
    templates: SiteTemplates | None,
    report: RunReport,
    journal: Journal | None,
) -> Iterator[Outcome]:
    streaming = templates is None and not options.page_by_page
    found = templates or HeldTemplates({})
    work: Callable[..., list[Outcome]] = (
        partial(clean_stream, options=options) if streaming else partial(clean_batch, options=options, templates=found)
    )
    workers: Workers[list[Outcome]] = Workers(work, options.jobs, options.page_limits)
    start = time.perf_counter()
    done = journal.items if journal else 0
    if journal is not None:
        yield from journal.replayed()
    try:
        for answered in workers.answered(islice(cut_batches(readable.read(), remember=streaming), done, None)):
            outcomes = [outcome for answer in answered.answers for outcome in outcomes_of(answer)]
            if journal is not None:
                journal.write(outcomes)
            yield from outcomes
            report.stages["clean"] = time.perf_counter() - start
            report.peak_memory = max(report.peak_memory, peak_of_process() + workers.peak_memory)
    finally:
        found.close()
