"""What a program calls: parse a page, extract one page, learn a site or a crawl, clean a crawl."""

from __future__ import annotations

import time
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING

from chaffinch.document import Document, make_document
from chaffinch.errors import MethodError, UsageError
from chaffinch.methods import (
    DEFAULT_FAVOR,
    AnyMethod,
    Favor,
    keeping_comments,
    learn_template,
    make_method,
    threshold_of,
)
from chaffinch.methods.explain import Explanation, explain_page
from chaffinch.page import Page, parse
from chaffinch.page.collector import uncollected
from chaffinch.records import MinedRecords, mine_all
from chaffinch.runs import (
    Engine,
    Journal,
    LearnOptions,
    LearnReport,
    Outcome,
    RunOptions,
    RunReport,
    clean_inputs,
    learn_templates,
    with_templates,
)
from chaffinch.runs.journal import EVERY as CHECKPOINT_SECONDS
from chaffinch.runs.reading import STDIN
from chaffinch.runs.record import changed_inputs, identity_of
from chaffinch.sinks import check_own, open_sink
from chaffinch.sources import InputState, input_states
from chaffinch.store import SiteTemplate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from chaffinch.render.formats import Format


def records(pages: Iterable[Page | bytes | str]) -> MinedRecords:
    """Return the records of result pages: of a shop, a job board, a forum, any list.

    Pages are HTML or parsed already. Those that share a template are learned from together, so give several result
    pages of a site; sites may be mixed. `.to_arrow()` makes a table of it, with a column for each slot.
    """
    parsed = [page if isinstance(page, Page) else parse(page) for page in pages]
    found, wrappers = mine_all(parsed)
    return MinedRecords(tuple(found), tuple(wrappers))


def extract(
    page: Page | bytes | str,
    *,
    url: str | None = None,
    template: SiteTemplate | None = None,
    method: str | AnyMethod | None = None,
    format: Format = "text",  # noqa: A002
    favor: Favor = DEFAULT_FAVOR,
    keep_comments: bool = False,
) -> Document:
    """Return one page's own content.

    Give the `template` that `learn` made from other pages of the site; without one, only what the page itself shows
    is there to go by. The first argument is HTML or a page that is parsed already. `favor` is `precision` for clean
    text, `recall` for whole text, or the share of the template that should go, from 0 to 1. With `keep_comments` what
    readers wrote under an article is kept too, by methods that tell it apart.
    """
    with uncollected():
        parsed, used = _page_and_method(page, url, template, method)
        if keep_comments:
            used = keeping_comments(used)
        scores = used.score(parsed, template.template if template else None)
        document = make_document(parsed, scores, method=used, threshold=threshold_of(used, favor), format=format)
        del parsed  # while the collector is away, so that it never looks at what is left of the page
    return document


def explain(
    page: Page | bytes | str,
    *,
    url: str | None = None,
    template: SiteTemplate | None = None,
    method: str | AnyMethod | None = None,
    favor: Favor = DEFAULT_FAVOR,
) -> Explanation:
    """Say of every block of a page what the method makes of it, and why; the arguments are those of `extract`."""
    page, used = _page_and_method(page, url, template, method)
    return explain_page(used, page, template.template if template else None, favor=favor)


def learn(pages: Iterable[Page | bytes | str], *, method: str | AnyMethod | None = None) -> SiteTemplate:
    """Learn what the pages of one site share."""
    made = _method(method)
    template = learn_template(made, (page if isinstance(page, Page) else parse(page) for page in pages))
    if template is None:
        raise MethodError(made.name, "there is no page to learn from")
    return SiteTemplate(made, template)


class Cleaning:
    """A run over a crawl: iterate over it for the documents, or write them; `report` then tells what was done."""

    def __init__(self, inputs: Sequence[str], options: RunOptions, engine: Engine | None = None) -> None:
        """`engine` does the work, if it is not to be done on this machine."""
        self._inputs = inputs
        self._options = options
        self._engine = engine
        self._states: tuple[InputState, ...] | None = None
        self.report = RunReport.of(options)

    @property
    def inputs(self) -> tuple[InputState, ...]:
        """What the inputs were when this was asked for the first time; from then on, changes of them are told."""
        if self._states is None:
            self._states = self._look()
        return self._states

    def _look(self) -> tuple[InputState, ...]:
        return input_states(self._inputs, self._options.sources)

    def outcomes(self, journal: Journal | None = None) -> Iterator[Outcome]:
        """Yield what becomes of each input, failures included; with a journal, that of an interrupted run first."""
        self.report = RunReport.of(self._options)
        start = time.perf_counter()
        for outcome in self._outcomes(journal):
            self.report.count(outcome)
            self.report.seconds = time.perf_counter() - start
            yield outcome
        if self._states is not None:
            for path in changed_inputs(self._states, self._look()):
                changed = Outcome(path, error="changed while it was being read")
                self.report.count(changed)
                yield changed

    def _outcomes(self, journal: Journal | None) -> Iterator[Outcome]:
        if self._engine is not None:
            return self._engine.clean(self._inputs, self._options, self.report)
        return clean_inputs(self._inputs, self._options, self.report, journal)

    def journal(self, output: str, *, resume: bool = False, every: float = CHECKPOINT_SECONDS) -> Journal:
        """Return where a run into `output` keeps what it has done, so that it can be gone on with."""
        if resume and STDIN in self._inputs:
            raise UsageError("standard input cannot be read again, so its run cannot be gone on with")
        identity = identity_of("clean", self.inputs, self._options, output=Path(output).suffix)
        return Journal(output, identity, resume=resume, every=every)

    def __iter__(self) -> Iterator[Document]:
        for outcome in self.outcomes():
            if outcome.document is not None:
                yield outcome.document

    def write(self, output: str | PathLike[str], *, resume: bool = False) -> RunReport:
        """Write all documents: to a folder, or to one `.jsonl` or `.parquet` file.

        With `resume`, an interrupted run into the same output is gone on with.
        """
        path = fspath(output)
        check_own(path, self._inputs, self._options.format)
        self._options = replace(self._options, sources=replace(self._options.sources, leave_out=path))
        with self.journal(path, resume=resume) as journal, open_sink(path, self._options.format) as sink:
            for outcome in self.outcomes(journal):
                if outcome.document is not None:
                    sink.write(outcome.document)
        return self.report


def clean(
    *inputs: str | PathLike[str], options: RunOptions | None = None, templates: str | PathLike[str] | None = None
) -> Cleaning:
    """Clean a crawl: HTML files, folders, WARC, WACZ, JSON Lines and Parquet files, in any mixture.

    With `templates`, a database that `learn_crawl` made, the method and the kind of sites are the database's.
    """
    used = options or RunOptions()
    if templates is not None:
        path = fspath(templates)
        asked, used = used, with_templates(used, path)
        if asked.method not in (make_method(), used.method):
            raise UsageError(f"{path} was learned by another method than the one asked for; leave out `method`")
    return Cleaning([str(path) for path in inputs], used)


def learn_crawl(
    *inputs: str | PathLike[str],
    templates: str | PathLike[str],
    options: RunOptions | None = None,
    replace: bool = False,
    relearn: bool = False,
) -> LearnReport:
    """Learn the templates of all sites of a crawl and keep them in the database `templates`.

    A database that is there is updated, and must be of the same method; `replace` starts anew, `relearn` does so for
    the sites of these inputs.
    """
    how = LearnOptions(replace=replace, relearn=relearn)
    return learn_templates([str(path) for path in inputs], fspath(templates), options or RunOptions(), how)


def _page_and_method(
    page: Page | bytes | str, url: str | None, template: SiteTemplate | None, method: str | AnyMethod | None
) -> tuple[Page, AnyMethod]:
    if template is not None and method is not None and _method(method) != template.method:
        raise UsageError("the template was learned by another method than the one asked for; leave out `method`")
    parsed = page if isinstance(page, Page) else parse(page, url=url)
    return parsed, template.method if template else _method(method)


def _method(method: str | AnyMethod | None) -> AnyMethod:
    if method is None:
        return make_method()
    return make_method(method) if isinstance(method, str) else method
