"""Runs on this machine: one process or several, one pass or two."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from chaffinch.errors import InputError, PageError, UsageError
from chaffinch.methods import METHODS
from chaffinch.runs.batches import cut_batches
from chaffinch.runs.learning import Learning, check_same, learn_answers
from chaffinch.runs.options import Outcome, RunOptions
from chaffinch.runs.pool import Workers
from chaffinch.runs.reading import reading
from chaffinch.runs.templates import HeldTemplates, KeptTemplates
from chaffinch.runs.work import BatchLearned, clean_batch, clean_stream
from chaffinch.store import TemplateStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chaffinch.runs.reading import Items
    from chaffinch.runs.templates import SiteTemplates


def clean_inputs(inputs: Sequence[str], options: RunOptions) -> Iterator[Outcome]:
    """Clean every page of `inputs` and yield what becomes of it, in the order of the input, after the duplicates.

    Learned templates, a method that streams and a run page by page read every page once. All else reads the inputs
    twice: once to learn, once to clean. To leave out duplicates, they are read once more.
    """
    alone = options.page_by_page or options.method.streams
    learns = options.templates is None and not alone
    with reading(inputs, options, often=learns) as (read, duplicates):
        yield from (Outcome(source, duplicate=True) for source in duplicates)
        if options.templates is not None:
            yield from _clean(read(), options, _kept(options, options.templates))
        elif alone:
            yield from _clean(read(), options, None)
        else:
            with Learning(options.method) as learning:
                _learn(read(), options, learning)
                yield from _clean(read(), options, learning.templates())


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
    return KeptTemplates(path, options.method, measured=True)


def _learn(items: Items, options: RunOptions, learning: Learning) -> None:
    """Learn from all pages. Those that fail here fail again when they are cleaned, and are told of then."""
    for answer in learn_answers(items, options, sampling=False):
        if isinstance(answer, BatchLearned):
            for site, part in answer.sites.items():
                learning.add(site, part)


def _clean(items: Items, options: RunOptions, templates: SiteTemplates | None) -> Iterator[Outcome]:
    streaming = templates is None and not options.page_by_page
    found = templates or HeldTemplates({})
    work: Callable[..., list[Outcome]] = (
        partial(clean_stream, options=options) if streaming else partial(clean_batch, options=options, templates=found)
    )
    try:
        for answer in Workers(work, options.jobs).answers(cut_batches(items, remember=streaming)):
            if isinstance(answer, InputError | PageError):
                yield Outcome(answer.subject, error=answer.reason)
            else:
                yield from answer
    finally:
        found.close()
