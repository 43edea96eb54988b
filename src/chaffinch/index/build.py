"""From a crawl to an index in one go."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from chaffinch.errors import SearchIndexError, UsageError
from chaffinch.index.about import About, read_about
from chaffinch.index.remote import RemoteIndex
from chaffinch.index.table import clean_in_table
from chaffinch.index.writer import CHANGES, Change, Entry, IndexWriter, entry_of
from chaffinch.methods import make_method
from chaffinch.methods.offsets import Offsets
from chaffinch.methods.sandwich import Sandwich
from chaffinch.runs import Engine, Failure, Outcome, RunOptions, RunReport, clean_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Step: TypeAlias = Callable[[Outcome], None]


@dataclass
class IndexReport:
    """What was done to an index."""

    index: str
    run: RunReport
    changes: Counter[Change] = field(default_factory=Counter)
    deleted: int = 0
    pages: int = 0
    """How many pages the index holds now."""

    def as_json(self) -> dict[str, Any]:
        """Return the report for a machine."""
        changes: dict[str, int] = {name: self.changes[name] for name in CHANGES}
        return {
            "index": self.index,
            **changes,
            "deleted": self.deleted,
            "pages": self.pages,
            "run": self.run.as_json(),
        }

    def as_text(self) -> str:
        """Return the report for a person."""
        counts = (*((name, self.changes[name]) for name in CHANGES), ("deleted", self.deleted))
        done = [f"{number:,} {name}" for name, number in counts if number]
        pages = "1 page" if self.pages == 1 else f"{self.pages:,} pages"
        line = f"{self.index}: {', '.join(done) or 'nothing changed'}; {pages} in the index."
        return f"{self.run.as_table()}\n{line}" if self.run.sites or self.run.failures else line


def whole_pages(options: RunOptions) -> RunOptions:
    """Return options under which pages keep all their text."""
    return replace(options, method=Sandwich(), page_by_page=True, templates=None, favor=0.0)


def about_of(options: RunOptions, *, removal: bool = True, stem: str | None = None, one_pass: bool = False) -> About:
    """Describe the pages that a run with these options makes."""
    return About.of(options.method if removal else None, options.favor, options.site_by, stem, one_pass=one_pass)


def index_inputs(
    inputs: Sequence[str],
    path: str,
    options: RunOptions | None = None,
    *,
    removal: bool = True,
    stem: str | None = None,
    one_pass: bool = False,
    step: Step = lambda _: None,
    engine: Engine | None = None,
) -> IndexReport:
    """Put all pages of `inputs` into the index `path`, which is made if it is not there.

    Without `removal`, pages are indexed whole. With `one_pass`, every page is read once, and template is found while
    the index is built; the method must be `offsets`. `stem` is the language whose stemmer is used. `step` is told of
    each input when it is done. An `engine` cleans the pages, if it is not to be done on this machine.
    """
    run = _Run.of(options, path, removal=removal, stem=stem, one_pass=one_pass)
    with IndexWriter(path, run.about) as writer:
        for outcome, entry in run.entries(inputs, engine):
            if entry is not None:
                run.report.changes[writer.put(entry)] += 1
            step(outcome)
        writer.commit()
        run.report.pages = writer.pages
    return run.done()


def send_inputs(
    inputs: Sequence[str],
    url: str,
    options: RunOptions | None = None,
    *,
    removal: bool = True,
    stem: str | None = None,
    one_pass: bool = False,
    step: Step = lambda _: None,
    engine: Engine | None = None,
) -> IndexReport:
    """Put all pages of `inputs` into an index on a cluster, as `index_inputs` does into one on this machine.

    What the cluster takes, it keeps, whatever happens after. A page that it refuses counts as a failure.
    """
    remote = RemoteIndex(url)
    run = _Run.of(options, remote.path, removal=removal, stem=stem, one_pass=one_pass)
    remote.open(run.about)

    def entries() -> Iterator[Entry]:
        for outcome, entry in run.entries(inputs, engine):
            if entry is None:
                step(outcome)
            else:
                yield entry

    for sent in remote.send(entries()):
        if sent.change is None:
            run.report.run.failures.append(Failure(sent.key, sent.reason))
        else:
            run.report.changes[sent.change] += 1
        step(Outcome(sent.key, error=sent.reason or None))
    run.report.pages = remote.pages()
    return run.done()


@dataclass
class _Run:
    """A run whose pages go into an index, whichever."""

    options: RunOptions
    about: About
    report: IndexReport
    removal: bool
    start: float

    @classmethod
    def of(cls, options: RunOptions | None, path: str, *, removal: bool, stem: str | None, one_pass: bool) -> _Run:
        options = options or RunOptions(method=Offsets() if one_pass else make_method())
        if one_pass and not (removal and isinstance(options.method, Offsets) and not options.templates):
            raise UsageError(
                f"in one pass, template is found by the method {Offsets.name}, from what is in the index builder's "
                "table: that goes with no other method, nor with learned templates, nor without removal"
            )
        about = about_of(options, removal=removal, stem=stem, one_pass=one_pass)
        used = replace(options if removal else whole_pages(options), format="text", parts=True)
        report = IndexReport(path, RunReport.of(used) if removal else RunReport(about.method))
        return cls(used, about, report, removal, time.perf_counter())

    def entries(self, inputs: Sequence[str], engine: Engine | None) -> Iterator[tuple[Outcome, Entry | None]]:
        """Yield what becomes of each input, with its entry if there is one."""
        for outcome in self._outcomes(inputs, engine):
            self.report.run.count(outcome if self.removal else replace(outcome, informed=True))
            if outcome.document is not None and outcome.parts is not None:
                yield outcome, entry_of(outcome.document, outcome.parts)
            else:
                yield outcome, None

    def _outcomes(self, inputs: Sequence[str], engine: Engine | None) -> Iterator[Outcome]:
        method = self.options.method
        if self.about.one_pass and isinstance(method, Offsets):
            if engine is not None:
                raise UsageError("in one pass, the index is built on this machine: it does not go with another engine")
            return clean_in_table(inputs, self.options, method)
        if engine is not None:
            return engine.clean(inputs, self.options, RunReport.of(self.options))
        return clean_inputs(inputs, self.options)

    def done(self) -> IndexReport:
        """Return the report."""
        self.report.run.seconds = time.perf_counter() - self.start
        return self.report


def delete_pages(path: str, keys: Sequence[str], sites: Sequence[str]) -> IndexReport:
    """Delete pages from an index by URL (or source), and whole sites; what is not there is told as a failure."""
    report = IndexReport(path, RunReport(read_about(path).method))
    with IndexWriter(path, read_about(path)) as writer:
        for key in keys:
            if writer.delete(key):
                report.deleted += 1
            else:
                report.run.failures.append(Failure(key, f"is not in {path}"))
        for site in sites:
            pages = writer.delete_site(site)
            report.deleted += pages
            if not pages:
                report.run.failures.append(Failure(f"site {site}", f"is not in {path}"))
        report.pages = writer.pages
    return report


def delete_remote(url: str, keys: Sequence[str], sites: Sequence[str]) -> IndexReport:
    """Delete pages from an index on a cluster, as `delete_pages` does."""
    remote = RemoteIndex(url)
    about = remote.read_about()
    if about is None:
        raise SearchIndexError(remote.path, "there is no such index")
    report = IndexReport(remote.path, RunReport(about.method))
    for sent in remote.delete(keys):
        if sent.reason:
            report.run.failures.append(Failure(sent.key, sent.reason))
        else:
            report.deleted += 1
    for site in sites:
        pages = remote.delete_site(site)
        report.deleted += pages
        if not pages:
            report.run.failures.append(Failure(f"site {site}", "is not in the index"))
    report.pages = remote.pages()
    return report
