"""Runs on this machine: one process or several, one pass or two."""

from __future__ import annotations

import pickle
import tempfile
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from chaffinch.errors import InputError, PageError
from chaffinch.methods import Fold
from chaffinch.runs.batches import cut_batches
from chaffinch.runs.options import Outcome, RunOptions
from chaffinch.runs.pool import Workers
from chaffinch.runs.work import clean_batch, clean_stream, learn_batch
from chaffinch.sources import Capture, open_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Items = Iterable[Capture | InputError]


def clean_inputs(inputs: Sequence[str], options: RunOptions) -> Iterator[Outcome]:
    """Clean every page of `inputs` and yield what becomes of it, in the order of the input.

    A method that streams reads every page once, as does a run page by page. Every other method reads the inputs twice:
    once to learn, once to clean.
    """
    if options.page_by_page or options.method.streams:
        yield from _clean(open_inputs(inputs, options.sources), options, None)
        return
    if "-" not in inputs:
        templates = learn_sites(open_inputs(inputs, options.sources), options)
        yield from _clean(open_inputs(inputs, options.sources), options, templates)
        return
    with tempfile.TemporaryFile(prefix="chaffinch-") as spool:
        templates = learn_sites(_copied(open_inputs(inputs, options.sources), spool), options)
        yield from _clean(_read_again(spool), options, templates)


def learn_sites(items: Items, options: RunOptions) -> dict[str, Any]:
    """Return the template of each site among `items`."""
    folds: dict[str, Fold[Any, Any]] = {}
    workers = Workers(partial(learn_batch, options=options), options.jobs)
    for answer in workers.answers(cut_batches(items, remember=False)):
        if isinstance(answer, dict):
            for site, summary in answer.items():
                folds.setdefault(site, Fold(options.method)).add_summary(summary)
    return {site: fold.template() for site, fold in folds.items()}


def _clean(items: Items, options: RunOptions, templates: dict[str, Any] | None) -> Iterator[Outcome]:
    streaming = templates is None and not options.page_by_page
    work: Callable[..., list[Outcome]] = (
        partial(clean_stream, options=options)
        if streaming
        else partial(clean_batch, options=options, templates=templates or {})
    )
    for answer in Workers(work, options.jobs).answers(cut_batches(items, remember=streaming)):
        if isinstance(answer, InputError | PageError):
            yield Outcome(answer.subject, error=answer.reason)
        else:
            yield from answer


def _copied(items: Items, spool: IO[bytes]) -> Iterator[Capture | InputError]:
    """Pass items on and keep a copy in a file: standard input cannot be read again."""
    for item in items:
        pickle.dump(item, spool)
        yield item


def _read_again(spool: IO[bytes]) -> Iterator[Capture | InputError]:
    spool.seek(0)
    while True:
        try:
            yield pickle.load(spool)  # noqa: S301  (an unnamed file of ours, which nobody else can open)
        except EOFError:
            return
