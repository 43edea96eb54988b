"""Examples to learn from: the labelled blocks of a crawl with all that is seen of them, in parts on disk.

Both passes over the crawl, the counting of texts and the taking of features, go on where they were when a run was
killed: what was counted and the parts that are whole lie in the journal's folder. Memory holds a part at a time.
"""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from chaffinch.errors import InputError, PageError, UsageError
from chaffinch.learning.labels import LABELLING, LEAST_PAGES, label_page
from chaffinch.methods.block_features import block_features
from chaffinch.methods.blocks import FrequentBlocks
from chaffinch.methods.page_blocks import MIN_CHARACTERS, MIN_WORDS, PageBlocks
from chaffinch.methods.text_scores import word_lists
from chaffinch.page import parse_capture
from chaffinch.runs import Failure, RunOptions
from chaffinch.runs.batches import cut_batches
from chaffinch.runs.learning import Learning, learn_into, learning_workers
from chaffinch.runs.pool import Workers
from chaffinch.runs.record import identity_of
from chaffinch.runs.work import reason_of
from chaffinch.sources import input_states, open_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from chaffinch.page import FloatArray, Page
    from chaffinch.page.arrays import BoolArray, HashArray
    from chaffinch.runs.journal import Journal
    from chaffinch.runs.templates import SiteTemplates
    from chaffinch.runs.work import Batch

_ROWS: Final = 1 << 15
"""A part holds about so many blocks."""
_PART: Final = re.compile(r"examples-([0-9]{5})-([0-9]{9})\.parquet")


@dataclass(frozen=True, slots=True)
class ExampleOptions:
    """How examples are taken from a crawl."""

    modern: bool = True
    """Whether elements of today's layouts, and paragraphs, are blocks too; without, the list of the paper."""
    share: float = LABELLING.share
    """The share of a site's pages that makes a block template."""
    least_pages: int = LEAST_PAGES
    """Sites with fewer pages give no examples."""
    step: Callable[[int], None] = lambda _: None
    """Is told how many more pages were read; every page is read twice."""

    @property
    def labelling(self) -> FrequentBlocks:
        """The method that labels."""
        return FrequentBlocks(
            leaves=False,
            modern=self.modern,
            min_characters=MIN_CHARACTERS,
            min_words=MIN_WORDS,
            share=self.share,
            menus=1,
        )


@dataclass(frozen=True, eq=False)
class PageExamples:
    """The labelled blocks of one page."""

    site: str
    page: str
    """Its URL, or its source if it has none."""
    template: BoolArray
    text: HashArray
    """A hash of each block's words."""
    features: FloatArray
    """A row for each of `FEATURES`, a column for each block."""
    lists: Mapping[str, list[Sequence[str]]]
    """For each kind of lists of words, that of each block."""


@dataclass(slots=True)
class ExampleReport:
    """What became of a crawl."""

    pages: int = 0
    sites: dict[str, list[int]] = field(default_factory=dict)
    """For each site: pages, template blocks, content blocks."""
    least_pages: int = LEAST_PAGES
    failures: list[Failure] = field(default_factory=list)

    @property
    def template(self) -> int:
        """How many blocks are template."""
        return sum(counts[1] for counts in self.sites.values())

    @property
    def content(self) -> int:
        """How many are content."""
        return sum(counts[2] for counts in self.sites.values())

    @property
    def labelled_sites(self) -> list[str]:
        """The sites that give examples."""
        return [site for site, (_, template, content) in self.sites.items() if template or content]

    def missing(self) -> str | None:
        """Say what keeps a model from being trained, if anything does."""
        large = sum(counts[0] >= self.least_pages for counts in self.sites.values())
        sites = f"{len(self.sites):,} site{'s' * (len(self.sites) != 1)}, {large} of them"
        lacks = (
            (not self.pages, "there is no page in the input"),
            (large < 2, f"needs at least two sites of {self.least_pages} pages or more; there are {sites} so large"),
            (not self.template and not self.content, "no page has a block with text enough to learn from"),
            (not self.template, "no block stands on enough pages of its site to be an example of template"),
            (not self.content, "every block stands on several pages, so that there is no example of content"),
            (len(self.labelled_sites) < 2, f"needs blocks of two sites; all stand on {' '.join(self.labelled_sites)}"),
        )
        return next((reason for is_so, reason in lacks if is_so), None)


def extract_examples(
    inputs: Sequence[str], run: RunOptions, how: ExampleOptions, journal: Journal
) -> tuple[list[Path], ExampleReport]:
    """Label the blocks of a crawl and take their features, in parts in the folder of the journal."""
    if "-" in inputs:
        raise UsageError("training needs its input twice, so it cannot be standard input")
    journal.begin()
    report = ExampleReport(least_pages=how.least_pages)
    with Learning(run.method, journal=journal) as learning:

        def told(answer: object) -> None:
            if not isinstance(answer, InputError | PageError):
                how.step(sum(part.pages for part in answer.sites.values()))  # type: ignore[attr-defined]

        items = open_inputs(inputs, run.sources)
        learn_into(learning, items, learning_workers(run, sampling=False), heed=told, journal=journal)
        with closing(learning.templates()) as templates:
            parts = _write_parts(inputs, run, how, templates, journal, report)
    return parts, report


def example_journal_identity(inputs: Sequence[str], run: RunOptions, how: ExampleOptions) -> dict[str, Any]:
    """Return all that decides which examples a crawl gives."""
    return identity_of("train", input_states(inputs), run, modern=how.modern, least_pages=how.least_pages)


def _write_parts(
    inputs: Sequence[str],
    run: RunOptions,
    how: ExampleOptions,
    templates: SiteTemplates,
    journal: Journal,
    report: ExampleReport,
) -> list[Path]:
    from chaffinch.learning.examples_file import read_report, write_part  # noqa: PLC0415  (Arrow is slow to import)

    parts = _parts(journal.folder)
    done = 0
    if parts:
        match = _PART.fullmatch(parts[-1].name)
        done = int(match[2]) if match else 0
        read_report(parts[-1], report)
        how.step(report.pages)
    held: list[PageExamples] = []
    rows = 0

    def flush() -> None:
        path = journal.folder / f"examples-{len(parts):05}-{done:09}.parquet"
        write_part(path, held, report)
        parts.append(path)
        held.clear()

    work = partial(example_batch, options=run, taking=_Taking(how.modern, how.least_pages, run.method, templates))
    workers: Workers[ExampleBatch] = Workers(work, run.jobs, run.page_limits)
    for answered in workers.answered(islice(cut_batches(open_inputs(inputs, run.sources), remember=False), done, None)):
        for answer in answered.answers:
            if isinstance(answer, InputError | PageError):
                report.failures.append(Failure(answer.subject, answer.reason))
                continue
            for site, examples in answer.pages:
                _count(report, site, examples)
                if examples is not None and len(examples.template):
                    held.append(examples)
                    rows += len(examples.template)
            report.failures += [Failure(failure.subject, failure.reason) for failure in answer.failures]
            how.step(len(answer.pages))
        done += 1
        if rows >= _ROWS or journal.is_time():
            flush()
            rows = 0
            journal.kept()
    flush()
    return parts


def _parts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if _PART.fullmatch(path.name))


def _count(report: ExampleReport, site: str, examples: PageExamples | None) -> None:
    report.pages += 1
    counts = report.sites.setdefault(site, [0, 0, 0])
    counts[0] += 1
    if examples is not None:
        template = int(examples.template.sum())
        counts[1] += template
        counts[2] += len(examples.template) - template


@dataclass(frozen=True, slots=True)
class ExampleBatch:
    """What became of a batch: each page's site and its examples, None if the site has too few pages."""

    pages: tuple[tuple[str, PageExamples | None], ...]
    failures: tuple[PageError, ...]


@dataclass(frozen=True, slots=True)
class _Taking:
    """What each process needs to know."""

    modern: bool
    least_pages: int
    method: Any
    templates: SiteTemplates

    def take(self, page: Page) -> PageExamples | None:
        """Return the examples of a page if its site has pages enough."""
        known = self.templates.of_site(page.place.site)
        if known is None or known.template.pages < self.least_pages:
            return None
        labels = label_page(page, known.template, self.method)
        return page_examples(page, labels.node, labels.template, modern=self.modern)


def page_examples(page: Page, nodes: NDArray[np.int32], template: BoolArray, *, modern: bool) -> PageExamples:
    """Return what is seen of these blocks of a page."""
    blocks = PageBlocks.of(page, modern=modern)
    chosen = np.searchsorted(blocks.node, nodes)
    return PageExamples(
        site=page.place.site,
        page=page.url or page.source,
        template=template,
        text=blocks.hashes()[chosen],
        features=block_features(blocks, chosen),
        lists=word_lists(blocks, chosen),
    )


def example_batch(batch: Batch, options: RunOptions, taking: _Taking) -> ExampleBatch:
    """Take the examples of the pages of a batch, in whichever process."""
    return ExampleBatch(*_taken(batch, options, taking))


def _taken(
    batch: Batch, options: RunOptions, taking: _Taking
) -> tuple[tuple[tuple[str, PageExamples | None], ...], tuple[PageError, ...]]:
    pages: list[tuple[str, PageExamples | None]] = []
    failures: list[PageError] = []
    for capture in batch.captures:
        try:
            page = parse_capture(capture, options.site_by)
            if options.wants(page):
                pages.append((page.place.site, taking.take(page)))
        except Exception as error:  # noqa: BLE001  (whatever goes wrong with a page costs that page only, and is told)
            failures.append(PageError(capture.source, reason_of(error)))
    return tuple(pages), tuple(failures)
