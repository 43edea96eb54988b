"""The experiments of Ma, Goharian, Chowdhury and Chung (2003), repeated with the method `chunks` on the labelled sets.

    python -m chaffinch.evaluation.ma2003 TABLE [--limit N]

Their pages were judged by hand. Here a chunk is a template chunk when at least nine tenths of its words are gold
template; the gold is text, so each leaf block of a page is first found again in it (see `gold_regions`).
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property, partial
from itertools import islice
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.evaluation.datasets import Regions, open_set
from chaffinch.evaluation.measures import RegionWords, region_score, template_leak, words_and_bigrams
from chaffinch.evaluation.predictors import Clock
from chaffinch.methods import DEFAULT_THRESHOLD, learn_template
from chaffinch.methods.chunks import Chunks, find_chunks
from chaffinch.methods.duplicates import IMatch, TermStatistics, groups_of, terms_of
from chaffinch.page.build import parse_capture
from chaffinch.render import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from chaffinch.evaluation.datasets import GoldSite, SetName
    from chaffinch.methods.chunks import ChunkTemplate
    from chaffinch.page.arrays import BoolArray, IntArray
    from chaffinch.page.table import Page

TEMPLATE_SHARE: Final = 0.9
"""A chunk with at least this share of template words is a template chunk."""

SAMPLE_SIZES: Final = (2, 3, 5, 9, 13, 20, 40, 80)


class Region(IntEnum):
    """What a piece of a page is by its gold; in case of doubt the lower one."""

    TEMPLATE = 0
    CONTENT = 1
    IGNORED = 2
    UNKNOWN = 3


def gold_regions(page: Page, gold: Regions) -> IntArray:
    """Return the `Region` of each leaf block.

    A block is a line of the gold text of its region. A line that stands in several regions goes to that of the block
    before, as far as the region has such lines left. A block that is no line has its words counted.
    """
    texts = (gold.template, gold.content, gold.ignored)
    lines = [Counter(map(_folded, text.splitlines())) for text in texts]
    words = [words_and_bigrams(text) for text in texts]
    result: list[Region] = []
    before = Region.TEMPLATE
    for text in page.blocks.texts:
        key = _folded(text)
        having = [Region(number) for number, left in enumerate(lines) if left[key] > 0]
        if having:
            before = before if before in having else having[0]
            lines[before][key] -= 1
            result.append(before)
        else:
            result.append(_by_words(words_and_bigrams(text), words))
    return np.array(result, dtype=np.int32)


def _folded(text: str) -> str:
    """Leave out what the gold and the page may have in different ways."""
    return "".join(words_and_bigrams(text))


def _by_words(found: Counter[str], regions: Sequence[Counter[str]]) -> Region:
    shared = [(found & words).total() for words in regions]
    best = max(range(len(shared)), key=shared.__getitem__)
    return Region(best) if 2 * shared[best] >= max(1, found.total()) else Region.UNKNOWN


@dataclass(frozen=True)
class JudgedPage:
    """A page of which every chunk is known to be template or not."""

    page: Page
    gold: Regions
    of_text: IntArray
    """For each of the page's text nodes, its chunk; -1 for text outside all chunks."""
    is_template: BoolArray
    """For each chunk."""
    is_judged: BoolArray
    """For each chunk; the others have no word, or are mostly of what the gold ignores, and count for nothing."""

    @classmethod
    def of(cls, page: Page, gold: Regions, method: Chunks) -> JudgedPage:
        """Judge the chunks of a page."""
        chunks = find_chunks(page, method.delimiters)
        blocks = page.blocks
        inside = (blocks.of_text >= 0) & (chunks.of_text >= 0)
        region = gold_regions(page, gold)[blocks.of_text[inside]]
        words = np.zeros((len(Region), len(chunks.texts)), dtype=np.int64)
        np.add.at(words, (region, chunks.of_text[inside]), blocks.text_words[inside])
        return cls(
            page=page,
            gold=gold,
            of_text=chunks.of_text,
            is_template=(words[Region.TEMPLATE] >= TEMPLATE_SHARE * words.sum(axis=0)) & (words[Region.TEMPLATE] > 0),
            is_judged=words[[Region.TEMPLATE, Region.CONTENT]].sum(axis=0)
            > words[[Region.IGNORED, Region.UNKNOWN]].sum(axis=0),
        )

    def found(self, method: Chunks, template: ChunkTemplate | None) -> BoolArray:
        """Return for each chunk whether the method takes it for template."""
        return self.found_by(method.score(self.page, template) >= DEFAULT_THRESHOLD)

    def found_by(self, dropped: BoolArray) -> BoolArray:
        """Return for each chunk that is judged whether some of its text is dropped."""
        gone = self.of_text[dropped & (self.of_text >= 0)]
        return (np.bincount(gone, minlength=len(self.is_template)) > 0) & self.is_judged

    @cached_property
    def gold_words(self) -> RegionWords:
        """The words of the gold, counted."""
        return RegionWords.of(self.gold)


@dataclass(frozen=True)
class Discovery:
    """How many template chunks of a site there are and were found, all pages pooled."""

    actual: int
    found: int
    right: int
    """How many of those found are template."""

    @property
    def ratio(self) -> float:
        """The paper's template table discovery ratio: above 1 where more is found than there is."""
        return self.found / self.actual if self.actual else 1.0

    @property
    def recall(self) -> float:
        """Which share of the template chunks is found."""
        return self.right / self.actual if self.actual else 1.0

    @property
    def precision(self) -> float:
        """Which share of what is found is template."""
        return self.right / self.found if self.found else 1.0


def discovery_of(pages: Iterable[JudgedPage], method: Chunks, template: ChunkTemplate | None) -> Discovery:
    """Apply a template to pages and count."""
    pairs = [(page.is_template, page.found(method, template)) for page in pages]
    return Discovery(
        actual=sum(int(actual.sum()) for actual, _ in pairs),
        found=sum(int(found.sum()) for _, found in pairs),
        right=sum(int((actual & found).sum()) for actual, found in pairs),
    )


def sample_size(confidence: float, deviation: float, difference: float) -> int:
    """Return how many pages to judge for a measure with this standard deviation: Z² S² / D², as in the paper.

    The measure is then known to `difference` more or less with `confidence`, both from 0 to 1.
    """
    percentile = NormalDist().inv_cdf((1 + confidence) / 2)
    return int(np.ceil((percentile * deviation / difference) ** 2))


def template_ratios(
    set_name: SetName, method: Chunks, *, limit: int | None = None, root: Path | None = None
) -> dict[str, tuple[float, float | None]]:
    """Return for each site the share of words that the method takes for template, and the gold share if known."""
    result: dict[str, tuple[float, float | None]] = {}
    for site in _sites(set_name, limit, root):
        pages = [parse_capture(page.capture) for page in site.pages]
        template = learn_template(method, pages)
        gone = shown = 0
        for page in pages:
            words = page.blocks.text_words
            shown += int(words.sum())
            gone += int(words[method.score(page, template) >= DEFAULT_THRESHOLD].sum())
        known = [RegionWords.of(page.gold) for page in site.pages if isinstance(page.gold, Regions)]
        of_gold = sum(gold.template.total() for gold in known)
        whole = of_gold + sum(gold.content.total() + gold.ignored.total() for gold in known)
        result[site.name] = gone / max(1, shown), of_gold / whole if whole else None
    return result


def judged_sites(
    method: Chunks, *, limit: int | None = None, root: Path | None = None
) -> Iterator[tuple[str, list[JudgedPage], float]]:
    """Yield the sites of `sites` by name, their pages judged, with the CPU seconds that parsing took for each page."""
    for site in _sites("sites", limit, root):
        clock = Clock()
        with clock.step("parse"):
            parsed = [parse_capture(page.capture) for page in site.pages]
        judged = [
            JudgedPage.of(page, gold.gold, method)
            for page, gold in zip(parsed, site.pages, strict=True)
            if isinstance(gold.gold, Regions)
        ]
        yield site.name, judged, clock.seconds["parse"] / max(1, len(parsed))


def _sites(set_name: SetName, limit: int | None, root: Path | None) -> Iterator[GoldSite]:
    data = open_set(set_name, root)
    return map(data.load, islice(data.site_names(), limit))


@dataclass(frozen=True)
class Sampled:
    """What a template from few pages finds on all pages of its site, as the mean over draws, or over sites."""

    pages: float
    """How many pages were learned from: fewer than asked for where the site has fewer."""
    ratio: float
    recall: float
    f1: float
    leak: float
    seconds: float
    """CPU time for learning, the parsing of the pages learned from included."""

    @classmethod
    def mean(cls, several: Sequence[Sampled]) -> Sampled:
        """Return the mean of all numbers."""
        columns = zip(*((one.pages, one.ratio, one.recall, one.f1, one.leak, one.seconds) for one in several))  # noqa: B905
        return cls(*map(fmean, columns))


def sampling_curve(
    method: Chunks,
    sizes: Sequence[int] = SAMPLE_SIZES,
    *,
    draws: int = 3,
    alone: bool = False,
    limit: int | None = None,
    root: Path | None = None,
) -> dict[int, Sampled]:
    """Learn from a few pages drawn at random and apply to all pages of the site; the mean over sites for each size.

    With `alone`, the pages drawn are all there is of the site, and are scored alone.
    """
    by_size: dict[int, list[Sampled]] = {size: [] for size in sizes}
    for name, pages, parse_seconds in judged_sites(method, limit=limit, root=root):
        for size in sizes:
            generator = random.Random(f"{name}/{size}")  # noqa: S311 - a draw that can be repeated
            drawn = [generator.sample(pages, min(size, len(pages))) for _ in range(draws)]
            found = [_sampled(method, one if alone else pages, one, parse_seconds) for one in drawn]
            by_size[size].append(Sampled.mean(found))
    return {size: Sampled.mean(several) for size, several in by_size.items()}


def _sampled(
    method: Chunks, pages: Sequence[JudgedPage], learned: Sequence[JudgedPage], parse_seconds: float
) -> Sampled:
    clock = Clock()
    with clock.step("learn"):
        template = learn_template(method, (judged.page for judged in learned))
    found = discovery_of(pages, method, template)
    scores = []
    for judged in pages:
        kept = method.score(judged.page, template) < DEFAULT_THRESHOLD
        scores.append(region_score(words_and_bigrams(render(judged.page, kept, "text")), judged.gold_words))
    return Sampled(
        pages=len(learned),
        ratio=found.ratio,
        recall=found.recall,
        f1=fmean(score.f1 for score in scores),
        leak=template_leak(scores),
        seconds=clock.seconds["learn"] + parse_seconds * len(learned),
    )


@dataclass(frozen=True)
class Clustering:
    """How well clusters of mixed pages agree with the sites they came from."""

    pages: int
    sites: int
    clusters: int
    correct: float
    """The share of pages in a cluster of which most pages are from their own site."""
    matched: float
    """The same when each site may own but its largest cluster."""


def cluster_correctness(
    set_name: SetName, method: Chunks, *, pages_each: int = 80, limit: int | None = None, root: Path | None = None
) -> Clustering:
    """Mix the first pages of all sites, cluster them as one site's, and compare with where they came from.

    Pages of one site need not share one template, so that a site may well fall into several clusters.
    """
    pages: list[tuple[str, Page]] = []
    for site in _sites(set_name, limit, root):
        pages.extend((site.name, parse_capture(page.capture)) for page in site.pages[:pages_each])
    whole = replace(method, cluster=True, most_sampled=len(pages))
    template = learn_template(whole, (page for _, page in pages))
    placed = [(name, whole.cluster_of(page, template)) for name, page in pages] if template else []
    counts = Counter(placed)
    clusters = {cluster for _, cluster in placed}
    names = {name for name, _ in placed}
    owner = {cluster: max(sorted(names), key=lambda name: counts[name, cluster]) for cluster in clusters}
    owned = {name: [counts[name, cluster] for cluster in clusters if owner[cluster] == name] for name in names}
    return Clustering(
        pages=len(pages),
        sites=len(names),
        clusters=len(clusters),
        correct=sum(map(sum, owned.values())) / max(1, len(pages)),
        matched=sum(max(sizes, default=0) for sizes in owned.values()) / max(1, len(pages)),
    )


@dataclass(frozen=True)
class Duplicates:
    """What I-Match took for duplicates, each compared with the page of its group that is kept."""

    duplicates: int = 0
    same_gold: int = 0
    """How many have the gold of the page that is kept."""
    least_overlap: float = 1.0
    """The smallest Jaccard similarity of the words of two such pages."""


def duplicates_found(
    set_name: SetName, matches: Sequence[IMatch], *, limit: int | None = None, root: Path | None = None
) -> dict[IMatch, Duplicates]:
    """Look for duplicates on each site by itself."""
    result = dict.fromkeys(matches, Duplicates())
    for site in _sites(set_name, limit, root):
        terms = [terms_of(parse_capture(page.capture)) for page in site.pages]
        statistics = TermStatistics.of_pages(terms)
        for match in matches:
            groups = groups_of((number, match.fingerprint(one, statistics)) for number, one in enumerate(terms))
            pairs = [(group[0], other) for group in groups for other in group[1:]]
            overlaps = [len(terms[one] & terms[other]) / len(terms[one] | terms[other] or {""}) for one, other in pairs]
            before = result[match]
            result[match] = Duplicates(
                duplicates=before.duplicates + len(pairs),
                same_gold=before.same_gold + sum(site.pages[a].gold == site.pages[b].gold for a, b in pairs),
                least_overlap=min([before.least_overlap, *overlaps]),
            )
    return result


def _ratio_lines(limit: int | None) -> Iterator[str]:
    for set_name in ("sites", "swde"):
        yield f"{set_name}\tfound\tgold"
        for site, (found, gold) in template_ratios(set_name, Chunks(), limit=limit).items():
            yield f"{site}\t{found:.1%}" + ("" if gold is None else f"\t{gold:.1%}")


def _discovery_lines(limit: int | None) -> Iterator[str]:
    yield "site\tchunks\tratio\trecall\tprecision"
    method = Chunks()
    ratios: list[float] = []
    for name, pages, _ in judged_sites(method, limit=limit):
        template = learn_template(method, (judged.page for judged in pages))
        found = discovery_of(pages, method, template)
        yield f"{name}\t{found.actual}\t{found.ratio:.2f}\t{found.recall:.3f}\t{found.precision:.3f}"
        ratios.extend(discovery_of([judged], method, template).ratio for judged in pages if judged.is_template.any())
    yield f"page by page\t{len(ratios)}\t{fmean(ratios):.2f}\tdeviation {np.std(ratios):.2f}"
    for difference in (0.1, 0.05, 0.02):
        needed = sample_size(0.9, float(np.std(ratios)), difference)
        yield f"pages to judge for the ratio +- {difference} at 90 %\t{needed}"


def _sampling_lines(limit: int | None, *, alone: bool = False) -> Iterator[str]:
    yield "asked\tpages\tratio\trecall\tF1\tleak\tms"
    for size, one in sampling_curve(Chunks(), alone=alone, limit=limit).items():
        numbers = f"{one.ratio:.2f}\t{one.recall:.3f}\t{one.f1:.3f}\t{one.leak:.3f}\t{1000 * one.seconds:.1f}"
        yield f"{size}\t{one.pages:.1f}\t{numbers}"


def _duplicate_lines(limit: int | None) -> Iterator[str]:
    matches = (
        IMatch(most_share=1.0),
        IMatch(),
        IMatch(most_share=0.1),
        IMatch(least_pages=2),
        IMatch(least_pages=3),
        IMatch(rarest=20),
    )
    for set_name in ("sites", "swde"):
        for match, found in duplicates_found(set_name, matches, limit=limit).items():
            yield f"{set_name}\t{match}\t{found.duplicates}\t{found.same_gold}\t{found.least_overlap:.2f}"


def _cluster_lines(limit: int | None) -> Iterator[str]:
    yield "set\tspread\tpages\tsites\tclusters\tcorrect\tmatched"
    for set_name in ("sites", "swde"):
        for spread in (0.6, 0.8, 0.9, 0.95):
            found = cluster_correctness(set_name, Chunks(spread=spread), limit=limit)
            sizes = f"{found.pages}\t{found.sites}\t{found.clusters}"
            yield f"{set_name}\t{spread}\t{sizes}\t{found.correct:.1%}\t{found.matched:.1%}"


TABLES: Final[dict[str, Callable[[int | None], Iterator[str]]]] = {
    "ratios": _ratio_lines,
    "discovery": _discovery_lines,
    "sampling": _sampling_lines,
    "small": partial(_sampling_lines, alone=True),
    "duplicates": _duplicate_lines,
    "clusters": _cluster_lines,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one of the tables, columns set apart by tabs."""
    parser = argparse.ArgumentParser(prog="python -m chaffinch.evaluation.ma2003", description=__doc__)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--limit", type=int, help="only the first sites of each set")
    parsed = parser.parse_args(arguments)
    for line in TABLES[parsed.table](parsed.limit):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
