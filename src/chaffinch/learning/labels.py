"""Labels that a crawl gives itself (Kolcz and Yih 2007, sections 3 and 4.1): blocks known to be template or content.

A block that stands on a tenth of its site's pages is template. One that stands on a single page is content, unless
something inside it stands on other pages too; of content blocks inside each other the outermost is labelled. What lies
between is left without a label: a labelled block should be a sure example, and there are more than enough of them.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from chaffinch.errors import InputError, PageError, UsageError
from chaffinch.methods.blocks import FrequentBlocks
from chaffinch.page import Page, parse_capture
from chaffinch.page.arrays import covered, frozen
from chaffinch.runs import Failure, RunOptions
from chaffinch.runs.batches import cut_batches
from chaffinch.runs.learning import Learning, learn_answers
from chaffinch.runs.pool import Workers
from chaffinch.runs.work import BatchLearned, reason_of
from chaffinch.sources import open_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from chaffinch.methods.blocks import BlockCounts
    from chaffinch.page.arrays import BoolArray, IntArray
    from chaffinch.runs.templates import SiteTemplates
    from chaffinch.runs.work import Batch

LABELLING: Final = FrequentBlocks(leaves=False, modern=False, min_characters=40, min_words=3, share=0.1, menus=1)
"""The paper's settings: elements alone, from its list."""

LEAST_PAGES: Final = 20
"""A site needs so many pages: of fewer, a tenth is not even two, and a block on two pages is no sure template."""


@dataclass(frozen=True, eq=False)
class Labels:
    """The labelled blocks of one page, in document order."""

    node: IntArray
    """The block's element, as a position in the page's table of nodes."""
    template: BoolArray
    """Whether it is template; all others are content."""
    count: NDArray[np.int64]
    """On how many of the site's pages its text stands."""
    pages: int
    """How many pages of the site were counted."""

    def __len__(self) -> int:
        return len(self.node)


def label_page(page: Page, template: BlockCounts, method: FrequentBlocks = LABELLING) -> Labels:
    """Label the blocks of a page by the counts of its site, which the page is part of.

    A text that stands more than once on the page is labelled once, where it comes first.
    """
    found = method.candidates(page)
    nodes = found.node[: found.elements]
    texts = found.text[: found.elements]
    counts = template.counts.of(texts)
    is_template = counts >= method.least_pages(template.pages)
    repeated = np.zeros(len(page) + 1, dtype=np.int32)
    repeated[nodes + 1] = counts > 1
    before = np.cumsum(repeated, dtype=np.int32)
    is_own = (counts == 1) & ~is_template & (before[page.end[nodes]] == before[nodes])
    outermost = is_own & ~covered(nodes[is_own] + 1, page.end[nodes[is_own]], len(page))[nodes]
    is_first = np.zeros(len(nodes), dtype=np.bool_)
    is_first[np.unique(texts, return_index=True)[1]] = True
    labelled = (is_template | outermost) & is_first
    return Labels(frozen(nodes[labelled]), frozen(is_template[labelled]), frozen(counts[labelled]), template.pages)


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """How labels are made and written."""

    run: RunOptions = field(default_factory=lambda: RunOptions(method=LABELLING))
    """What is read, and how; its method is a `FrequentBlocks`."""
    least_pages: int = LEAST_PAGES
    """Sites with fewer pages give no labels."""
    step: Callable[[int], None] = lambda _: None
    """Is told how many more pages were read; every page is read twice."""


@dataclass(slots=True)
class LabelReport:
    """What became of a crawl."""

    pages: int = 0
    labelled_pages: int = 0
    """Pages of sites that have enough pages."""
    sites: set[str] = field(default_factory=set)
    labelled_sites: set[str] = field(default_factory=set)
    template: int = 0
    content: int = 0
    failures: list[Failure] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the counts for a machine."""
        found = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        failures = [{"source": failure.source, "reason": failure.reason} for failure in self.failures]
        return {
            **found,
            "sites": len(self.sites),
            "labelled_sites": len(self.labelled_sites),
            "failures": failures,
        }

    def as_line(self) -> str:
        """Return the counts for a person."""
        return (
            f"{self.template:,} template and {self.content:,} content blocks on {self.labelled_pages:,} of "
            f"{self.pages:,} pages, of {len(self.labelled_sites):,} of {len(self.sites):,} sites"
        )


def write_labels(inputs: Sequence[str], output: str, options: LabelOptions | None = None) -> LabelReport:
    """Label the blocks of a crawl and write them to a Parquet file, a row for each."""
    options = options or LabelOptions()
    method = options.run.method
    if not isinstance(method, FrequentBlocks):
        raise UsageError(f"labels come from method blocks, not {method.name}")
    if "-" in inputs:
        raise UsageError("labels need their input twice, so it cannot be standard input")
    from chaffinch.learning.labels_file import LabelFile  # noqa: PLC0415  (Arrow is slow to import)

    report = LabelReport()
    with LabelFile(output) as file, Learning(method) as learning:
        for learned in learn_answers(open_inputs(inputs, options.run.sources), options.run, sampling=False):
            # What fails here fails again when it is labelled, and is told of then.
            if isinstance(learned, BatchLearned):
                for site, part in learned.sites.items():
                    learning.add(site, part)
                options.step(sum(part.pages for part in learned.sites.values()))
        with closing(learning.templates()) as templates:
            labelling = _Labelling(method, templates, options.least_pages)
            for answer in _label_answers(inputs, options.run, labelling):
                if isinstance(answer, InputError | PageError):
                    report.failures.append(Failure(answer.subject, answer.reason))
                    continue
                for labelled in answer.pages:
                    _count(report, labelled)
                    file.write(labelled)
                report.failures += [Failure(failure.subject, failure.reason) for failure in answer.failures]
                options.step(len(answer.pages))
    return report


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page and its labels; None if its site has too few pages."""

    site: str
    page: str
    """Its URL, or its source if it has none."""
    labels: Labels | None


@dataclass(frozen=True, slots=True)
class LabelledBatch:
    """What became of a batch."""

    pages: tuple[LabelledPage, ...]
    failures: tuple[PageError, ...]


@dataclass(frozen=True, slots=True)
class _Labelling:
    """What each process needs to know to label pages."""

    method: FrequentBlocks
    templates: SiteTemplates
    least_pages: int

    def label(self, page: Page) -> LabelledPage:
        """Label a page if its site has pages enough."""
        known = self.templates.of_site(page.place.site)
        enough = known is not None and known.template.pages >= self.least_pages
        labels = label_page(page, known.template, self.method) if known is not None and enough else None
        return LabelledPage(page.place.site, page.url or page.source, labels)


def _label_answers(
    inputs: Sequence[str], options: RunOptions, labelling: _Labelling
) -> Iterator[LabelledBatch | InputError | PageError]:
    """Yield what becomes of each batch, in the order of the input."""
    work = partial(label_batch, options=options, labelling=labelling)
    workers: Workers[LabelledBatch] = Workers(work, options.jobs)
    yield from workers.answers(cut_batches(open_inputs(inputs, options.sources), remember=False))


def label_batch(batch: Batch, options: RunOptions, labelling: _Labelling) -> LabelledBatch:
    """Label the pages of a batch, in whichever process."""
    pages: list[LabelledPage] = []
    failures: list[PageError] = []
    for capture in batch.captures:
        try:
            page = parse_capture(capture, options.site_by)
            if options.wants(page):
                pages.append(labelling.label(page))
        except Exception as error:  # noqa: BLE001  (whatever goes wrong with a page costs that page only, and is told)
            failures.append(PageError(capture.source, reason_of(error)))
    return LabelledBatch(tuple(pages), tuple(failures))


def _count(report: LabelReport, labelled: LabelledPage) -> None:
    report.pages += 1
    report.sites.add(labelled.site)
    if labelled.labels is not None:
        report.labelled_pages += 1
        report.labelled_sites.add(labelled.site)
        template = int(labelled.labels.template.sum())
        report.template += template
        report.content += len(labelled.labels) - template
