"""The experiment of Chen, Ye and Li (2006) on the open sites: accuracy and time against the paper's two rivals.

    python -m chaffinch.evaluation.chen2006 [--pages N] [--limit N]

Accuracy is the paper's: on sampled pages, which share of the actual template blocks is found. People marked them for
the paper; here they are derived from text gold, a block being template when nearly all of its word runs are runs of
the page's gold template and not nearly all are runs of its content. As that measure cannot see content that is lost,
the share of content blocks that are taken for template is given too.

Time is CPU time with every method building the index's hash table, as in the paper. Parsing is common to all and
counted apart.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.errors import ChaffinchError
from chaffinch.evaluation.datasets import Regions, open_set
from chaffinch.evaluation.predictors import Clock
from chaffinch.evaluation.rivals import Shingles, StyleTree
from chaffinch.methods.bitset import bitwise_similar, build_postings, differences, signatures
from chaffinch.methods.index_table import IndexTable, PostingStyles
from chaffinch.methods.layout import leaf_words, mixed
from chaffinch.methods.offsets import Offsets, pages_of
from chaffinch.page.build import parse_capture

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from chaffinch.evaluation.datasets import GoldSite
    from chaffinch.page.arrays import BoolArray, HashArray, IndexArray, IntArray
    from chaffinch.page.table import Page

_SET: Final = "sites"
_RUN: Final = 3
"""How many words make a run; short blocks are one run."""
_WORD: Final = re.compile(r"\w+")
_MOSTLY: Final = 0.9
_PAIRS: Final = 2000
"""How many pairs of offset sequences are compared exactly on each site."""
_SEGMENTS: Final = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class BlockKinds:
    """The leaf text blocks of one page that the gold decides."""

    template: BoolArray
    content: BoolArray


@dataclass(frozen=True, slots=True)
class Detection:
    """What one method found on one site."""

    method: str
    accuracy: float
    """Right template blocks by actual ones, averaged over the sampled pages that have any."""
    lost: float
    """Content blocks taken for template by all content blocks, averaged likewise."""
    milliseconds: float
    """CPU time per page, index hash table included, parsing not."""


@dataclass(frozen=True, slots=True)
class FilterFacts:
    """What the devices of the paper's implementation section save and cost on one site."""

    rare: float
    """The share of postings whose word stands on too few pages to be compared."""
    exit: float
    """The share of the comparisons in scoring that the early exit leaves out, going word by word."""
    errors: dict[int, float]
    """By number of segments: how often the bits decide otherwise than an exact comparison."""
    repeated_errors: dict[int, float]
    """The same among words that stand more than once in one of the two blocks."""
    seconds: float
    """Scoring without the early exit."""
    seconds_exit: float
    """Scoring with it."""


@dataclass(frozen=True, slots=True)
class SiteReport:
    """One site."""

    site: str
    pages: int
    parse_milliseconds: float
    detections: tuple[Detection, ...]
    facts: FilterFacts


@dataclass(frozen=True, slots=True)
class Experiment:
    """All sites."""

    method: Offsets = field(default_factory=Offsets)
    shingles: Shingles = field(default_factory=Shingles)
    tree: StyleTree = field(default_factory=StyleTree)
    sampled: int = 20
    """How many pages of each site are looked at; everything is learned from all."""

    def run(self, *, limit: int | None = None, root: Path | None = None) -> list[SiteReport]:
        """Measure every site."""
        data = open_set(_SET, root)
        return [self._site(data.load(name)) for name in data.site_names()[:limit]]

    def _site(self, site: GoldSite) -> SiteReport:
        clock = Clock()
        with clock.step("parse"):
            pages = [parse_capture(page.capture) for page in site.pages]
        for page in pages:
            _ = page.blocks.texts  # every method reads them
        found = {
            name: (run(pages, clock), clock.seconds[name])
            for name, run in (("offsets", self._offsets), ("shingle", self._shingles), ("style tree", self._tree))
        }
        step = max(1, len(pages) // self.sampled)
        chosen = range(0, len(pages), step)[: self.sampled]
        kinds = {number: block_kinds(pages[number], site.pages[number].gold) for number in chosen}
        detections = tuple(
            _detection(name, marks, kinds, 1000 * seconds / len(pages)) for name, (marks, seconds) in found.items()
        )
        facts = filter_facts(self.method, pages)
        return SiteReport(site.name, len(pages), 1000 * clock.seconds["parse"] / len(pages), detections, facts)

    def _offsets(self, pages: Sequence[Page], clock: Clock) -> list[BoolArray]:
        """Mark leaf blocks by offsets, from the index's own hash table."""
        with clock.step("offsets"):
            made = [self.method.postings(page) for page in pages]
            table = IndexTable.joined([styled for styled, _ in made], [0] * len(pages))
            found = table.by_page(self.method.template_blocks(table))
            return [marks[of_leaf] for marks, (_, of_leaf) in zip(found, made, strict=True)]

    def _shingles(self, pages: Sequence[Page], clock: Clock) -> list[BoolArray]:
        with clock.step("shingle"):
            terms = [index_page(page) for page in pages]
            tables = [self.shingles.fingerprints(page, *found) for page, found in zip(pages, terms, strict=True)]
            marks = self.shingles.template_blocks([prints for prints, _ in tables])
            return [mark[of_leaf] for mark, (_, of_leaf) in zip(marks, tables, strict=True)]

    def _tree(self, pages: Sequence[Page], clock: Clock) -> list[BoolArray]:
        with clock.step("style tree"):
            for page in pages:
                index_page(page)
            root = self.tree.build(pages)
            return [self.tree.template_nodes(page, root)[page.blocks.first] for page in pages]


def index_page(page: Page) -> tuple[HashArray, IntArray]:
    """Build the hash table of one page as an index builder does that knows nothing of styles; return its words."""
    words, leaf = leaf_words(page)
    build_postings(words, leaf)
    return words, leaf


def block_kinds(page: Page, gold: object) -> BlockKinds:
    """Derive from a page's gold which of its leaf text blocks are template and which are content."""
    regions = gold if isinstance(gold, Regions) else Regions("", "", "")
    template, content = _runs(regions.template), _runs(regions.content)
    shares = np.array([(_share(text, template), _share(text, content)) for text in page.blocks.texts]).reshape(-1, 2)
    return BlockKinds(
        template=(shares[:, 0] >= _MOSTLY) & (shares[:, 1] < _MOSTLY),
        content=(shares[:, 1] >= _MOSTLY) & (shares[:, 0] < _MOSTLY),
    )


def filter_facts(method: Offsets, pages: Sequence[Page]) -> FilterFacts:
    """Measure low document frequency, early exit and the bit filter on one site."""
    tables = [method.postings(page)[0] for page in pages]
    features = [method.features(styled) for styled in tables]
    words = method.template_words(features)
    keys = [mixed(table[:, 0], table[:, 1], table[:, 2]) for table in features]
    page = np.repeat(np.arange(len(pages)), [len(key) for key in keys])
    rare = pages_of(np.concatenate(keys), page) < max(2, method.share * len(pages) - 1e-9)
    clock = Clock()
    hasty = replace(method, early_exit=True)
    with clock.step("all"):
        for styled in tables:
            method.template_ratios(styled, words)
    with clock.step("exit"):
        for styled in tables:
            hasty.template_ratios(styled, words)
    left_out = [
        _left_out(styled, method.is_template_word(table, words), method.ratio)
        for styled, table in zip(tables, features, strict=True)
    ]
    errors, repeated = _bit_errors(method, tables, np.concatenate(keys))
    saved = sum(left_out) / max(1, sum(map(len, features)))
    return FilterFacts(float(rare.mean()), saved, errors, repeated, clock.seconds["all"], clock.seconds["exit"])


def _left_out(styled: PostingStyles, is_template: BoolArray, ratio: float) -> int:
    """Count the words of a page that need not be compared once their block is lost."""
    block = styled.postings.block
    if not len(block):
        return 0
    begins = np.flatnonzero(np.diff(block, prepend=-1))
    missed = np.cumsum(~is_template)
    before = np.where(begins > 0, missed[begins - 1], 0)
    length = np.diff(np.append(begins, len(block)))
    run = np.repeat(np.arange(len(begins)), length)
    # A word is left out when the words before it have used up what may be missed.
    used_up = (missed - ~is_template - before[run]) > (1 - ratio) * length[run] + 1e-9
    return int(used_up.sum())


def _bit_errors(
    method: Offsets, tables: Sequence[PostingStyles], keys: NDArray[np.uint64]
) -> tuple[dict[int, float], dict[int, float]]:
    """Compare bits with sequences, on pairs of postings of one word in one style."""
    steps = [differences(styled.postings, from_block_start=method.from_block_start) for styled in tables]
    sequences = [
        found
        for styled, step in zip(tables, steps, strict=True)
        for found in np.split(step, styled.postings.start[1:-1])
        if len(styled.postings)
    ]
    one, other = _pairs(keys)
    alike = np.array(
        [exactly_similar(sequences[i], sequences[j], method.similarity) for i, j in zip(one, other, strict=True)],
        dtype=np.bool_,
    )
    repeated = np.array([max(len(sequences[i]), len(sequences[j])) > 1 for i, j in zip(one, other, strict=True)])
    errors: dict[int, float] = {}
    of_repeated: dict[int, float] = {}
    for segments in _SEGMENTS:
        bits = np.concatenate(
            [signatures(styled.postings, step, segments) for styled, step in zip(tables, steps, strict=True)]
        )
        wrong = bitwise_similar(bits[one], bits[other], method.similarity) != alike
        errors[segments] = float(wrong.mean()) if len(wrong) else 0.0
        of_repeated[segments] = float(wrong[repeated].mean()) if len(wrong) and repeated.any() else 0.0
    return errors, of_repeated


def _pairs(keys: NDArray[np.uint64]) -> tuple[IndexArray, IndexArray]:
    """Draw pairs of different rows with one key, the same ones each time."""
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    generator = np.random.Generator(np.random.PCG64(2006))
    drawn = generator.choice(same, min(_PAIRS, len(same)), replace=False) if len(same) else same
    return order[drawn], order[drawn + 1]


def exactly_similar(one: IndexArray, other: IndexArray, least: float) -> bool:
    """Tell whether two difference sequences share at least this part of their entries, whatever their order."""
    shared = (Counter(one.tolist()) & Counter(other.tolist())).total()
    return shared >= least * max(len(one), len(other)) - 1e-9


def _detection(name: str, marks: Sequence[BoolArray], kinds: dict[int, BlockKinds], milliseconds: float) -> Detection:
    right = [float(marks[page][kind.template].mean()) for page, kind in kinds.items() if kind.template.any()]
    lost = [float(marks[page][kind.content].mean()) for page, kind in kinds.items() if kind.content.any()]
    return Detection(name, fmean(right) if right else 0.0, fmean(lost) if lost else 0.0, milliseconds)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """Return all runs of up to three words."""
    words = _words(text)
    pairs = list(pairwise(words))
    return frozenset([*((word,) for word in words), *pairs, *zip(words, words[1:], words[2:], strict=False)])


def _share(text: str, runs: frozenset[tuple[str, ...]]) -> float:
    """Return which share of a block's runs is among `runs`."""
    words = _words(text)
    length = min(_RUN, len(words))
    own = [tuple(words[start : start + length]) for start in range(len(words) - length + 1)] if words else []
    return sum(run in runs for run in own) / len(own) if own else 0.0


def table(reports: Sequence[SiteReport]) -> str:
    """Print what was found, as Markdown."""
    names = [found.method for found in reports[0].detections] if reports else []
    lines = [
        "Accuracy: right template blocks / actual template blocks (content blocks taken for template).",
        "",
        f"| site | pages | {' | '.join(names)} |",
        f"|---|--:|{'--:|' * len(names)}",
    ]
    lines += [
        f"| {report.site} | {report.pages} | "
        + " | ".join(f"{found.accuracy:.3f} ({found.lost:.3f})" for found in report.detections)
        + " |"
        for report in reports
    ]
    means = [
        (fmean(found.accuracy for found in column), fmean(found.lost for found in column))
        for column in zip(*(report.detections for report in reports), strict=True)
    ]
    lines.append("| macro | | " + " | ".join(f"{right:.3f} ({lost:.3f})" for right, lost in means) + " |")
    return "\n".join([*lines, "", *_time_table(reports, names), "", *_facts(reports), ""])


def _time_table(reports: Sequence[SiteReport], names: Sequence[str]) -> list[str]:
    cells = [
        (report.site, [report.parse_milliseconds, *(found.milliseconds for found in report.detections)])
        for report in reports
    ]
    cells.append(("macro", [fmean(column) for column in zip(*(values for _, values in cells), strict=True)]))
    return [
        "CPU milliseconds per page, index hash table included, parsing apart.",
        "",
        f"| site | parsing | {' | '.join(names)} |",
        f"|---|--:|{'--:|' * len(names)}",
        *(f"| {site} | " + " | ".join(f"{value:.2f}" for value in values) + " |" for site, values in cells),
    ]


def _facts(reports: Sequence[SiteReport]) -> list[str]:
    facts = [report.facts for report in reports]
    lines = [
        "| device | macro |",
        "|---|--:|",
        f"| postings skipped for low document frequency | {fmean(fact.rare for fact in facts):.3f} |",
        f"| comparisons that the early exit leaves out | {fmean(fact.exit for fact in facts):.3f} |",
        f"| CPU time of scoring with the early exit, relative | {_relative(facts):.2f} |",
    ]
    for segments in _SEGMENTS:
        every = fmean(fact.errors[segments] for fact in facts)
        repeated = fmean(fact.repeated_errors[segments] for fact in facts)
        lines.append(
            f"| bit filter errs, {segments} integers: all words / repeated words | {every:.4f} / {repeated:.4f} |"
        )
    return lines


def _relative(facts: Sequence[FilterFacts]) -> float:
    return sum(fact.seconds_exit for fact in facts) / max(1e-9, sum(fact.seconds for fact in facts))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment and print its tables."""
    parser = argparse.ArgumentParser(prog="python -m chaffinch.evaluation.chen2006", description="Chen et al. 2006.")
    parser.add_argument("--pages", type=int, default=20, help="how many pages of each site are looked at")
    parser.add_argument("--limit", type=int, help="only the first sites")
    options = parser.parse_args(arguments)
    try:
        reports = Experiment(sampled=options.pages).run(limit=options.limit)
    except ChaffinchError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(table(reports) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
