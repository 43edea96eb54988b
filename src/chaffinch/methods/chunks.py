"""The method of Ma, Goharian, Chowdhury and Chung (2003): text chunks that many pages of a site have.

A *chunk* is the text between the closest delimiter tags. Pass one counts on how many pages each chunk stands; pass
two takes for template what stands on enough of them.

The paper's delimiters are tables and image maps, which the sites of its day were laid out with. They are kept as the
option `delimiters=tables`; the default also ends a chunk at every other element that starts a line of its own.

Counting pages is a sum, so it is free of order and takes bounded memory (see `frequency`). Clustering is neither by
nature: to cut a site into clusters one needs its pages side by side. With `cluster=true` the summary therefore also
keeps a sample of the site's pages, those whose names come first by hash, whatever their order. The clusters are made
of the sample, and counts within a cluster are counts within its part of the sample.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.errors import ModelError
from chaffinch.methods.bounds import Count, Share, check_bounds
from chaffinch.methods.clustering import jaccard_distances, min_max_clusters
from chaffinch.methods.codec import pack, unpack
from chaffinch.methods.frequency import Frequencies
from chaffinch.page.arrays import frozen, offsets
from chaffinch.page.tags import BLOCK_LEVEL, LINE_BREAK, Visibility, tag_set

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, FloatArray, HashArray, IntArray
    from chaffinch.page.table import Page

Delimiters: TypeAlias = Literal["tables", "cells", "containers", "blocks", "lines"]

_TABLES: Final = ("table", "map")
_CELLS: Final = (*_TABLES, "tr", "td", "th", "caption")
_CONTAINERS: Final = (
    *_CELLS,
    "article", "aside", "blockquote", "body", "center", "details", "dialog", "dir", "div", "dl", "fieldset", "figure",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "main", "menu", "nav", "ol",
    "search", "section", "select", "ul",
)  # fmt: skip

DELIMITERS: Final[Mapping[Delimiters, BoolArray]] = {
    "tables": tag_set(*_TABLES),
    "cells": tag_set(*_CELLS),
    "containers": tag_set(*_CONTAINERS),
    "blocks": frozen(BLOCK_LEVEL | tag_set("map", "hr")),
    "lines": frozen(BLOCK_LEVEL | tag_set("map") | LINE_BREAK),
}
"""Which elements end a chunk where they start and where they end."""

_FIT_SAMPLE: Final = 32
"""How many pages are sampled where there is no clustering; a chunk on a quarter of the pages stands on one of them but
in one of 10,000 cases."""
_MOST_HASHES: Final = 4096
"""How many different chunks of a page the sample keeps: those with the smallest hashes, which are the same ones of
the same chunks on every page."""


@dataclass(frozen=True, eq=False)
class PageChunks:
    """The chunks of one page, in document order."""

    of_text: IntArray
    """For each of the page's text nodes, its chunk; -1 for text outside all chunks."""
    texts: tuple[str, ...]
    """Runs of white space are folded to one space, none at the ends."""

    def hashes(self) -> HashArray:
        """Return a hash of each chunk's words: equal on every page and machine, however the words are marked up."""
        encoded = map(str.encode, self.texts)
        return np.fromiter(map(xxh3_64_intdigest, encoded), dtype=np.uint64, count=len(self.texts))


def find_chunks(page: Page, delimiters: Delimiters) -> PageChunks:
    """Split a page's visible text into chunks."""
    ends = np.flatnonzero(DELIMITERS[delimiters][page.tag])
    boundary = np.zeros(len(page) + 1, dtype=np.int32)
    boundary[ends] = 1
    boundary[page.end[ends]] = 1
    run = np.cumsum(boundary)

    visible = page.visibility[page.text_nodes] == Visibility.VISIBLE
    nodes = page.text_nodes[visible]
    begins = np.ones(len(nodes), dtype=np.bool_)
    begins[1:] = run[nodes[1:]] != run[nodes[:-1]]
    first = np.flatnonzero(begins)
    text = "".join(compress(page.texts, visible.tolist()))
    node_start = offsets(page.text_offset[nodes + 1] - page.text_offset[nodes])
    starts = node_start[np.append(first, len(nodes))].tolist()
    pieces = [" ".join(text[start:stop].split()) for start, stop in pairwise(starts)]
    written = np.fromiter(map(bool, pieces), dtype=np.bool_, count=len(pieces))
    number = np.where(written, np.cumsum(written) - 1, -1)
    of_text = np.full(len(visible), -1, dtype=np.int32)
    of_text[visible] = number[np.cumsum(begins) - 1]
    return PageChunks(frozen(of_text), tuple(filter(None, pieces)))


@dataclass(frozen=True, eq=False)
class SampledPage:
    """A page of the sample: its place in the order of all pages, and its different chunks."""

    rank: int
    hashes: HashArray

    @property
    def key(self) -> tuple[int, bytes]:
        """The order in which pages are kept; it does not depend on the order in which they came."""
        return self.rank, self.hashes.tobytes()


@dataclass(frozen=True, eq=False)
class ChunkCounts:
    """What pages have shown: on how many of them each chunk stands, and a sample of them."""

    pages: int
    frequencies: Frequencies
    sample: tuple[SampledPage, ...]
    """In the order of their keys."""

    def without(self, copies: int) -> int:
        """Return how many pages there are without the copies of a page, of which the sample has so many."""
        if not copies:
            return self.pages
        alike = round((copies + 1) * self.pages / len(self.sample))
        return self.pages - alike + 1


@dataclass(frozen=True, eq=False)
class Cluster:
    """Pages of the sample that share a template."""

    centre: HashArray
    pages: int
    frequencies: Frequencies


@dataclass(frozen=True, eq=False)
class ChunkTemplate:
    """The counts of a site, and its clusters if there are any to tell apart."""

    counts: ChunkCounts
    clusters: tuple[Cluster, ...] = ()

    @cached_property
    def _copied(self) -> dict[bytes, int]:
        """How often each page stands in the sample, of those that stand there several times."""
        found = Counter(page.hashes.tobytes() for page in self.counts.sample)
        return {key: count for key, count in found.items() if count > 1}

    def other_copies(self, hashes: Callable[[], HashArray]) -> int:
        """Return how many copies of a page are in the sample besides the page itself.

        `hashes` gives the page's chunks. It is not called where no page of the sample has a copy, as usual.
        """
        if not self._copied:
            return 0
        return self._copied.get(_distinct(hashes()).tobytes(), 1) - 1

    def nearest_cluster(self, hashes: HashArray) -> int:
        """Return the cluster whose centre is nearest to a page with these chunks; -1 if there are no clusters.

        The centre has but those chunks that another page has too, so the page's own do not tell for or against any.
        """
        if not self.clusters:
            return -1
        return int(jaccard_distances([cluster.centre for cluster in self.clusters], _distinct(hashes)).argmin())


@dataclass(frozen=True)
class Chunks:
    """Drops the chunks of text that stand on many pages of the site."""

    delimiters: Delimiters = "lines"
    """Where a chunk ends: at tables and image maps as in the paper, at their rows and cells too, at containers such as
    `div` and `ul` and at headings too, at every element that starts a line, or at `<br>` as well."""
    share: Share = 0.25
    """A chunk is template if it stands on at least this share of the site's pages,"""
    least_count: Count = 2
    """and on at least so many pages."""
    min_pages: Count = 2
    """With fewer pages, copies of a page not counted, nothing is known of a site, and nothing is dropped."""
    cluster: bool = False
    """Whether pages are first put together by the template they share."""
    spread: Share = 0.8
    """How different from its centre, from 0 to 1, a page of a cluster may be."""
    most_sampled: Count = 200
    """How many pages are kept for clustering at most."""
    most_entries: Count = 1_000_000
    """How many different chunks of a site are counted exactly."""

    name: ClassVar[str] = "chunks"
    summary: ClassVar[str] = "drops chunks of text that many pages of the site have (Ma et al. 2003)"
    version: ClassVar[int] = 1
    streams: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse options that mean nothing."""
        check_bounds(self)

    def summarise(self, page: Page) -> ChunkCounts:
        """Count each different chunk of the page once."""
        hashes = np.unique(find_chunks(page, self.delimiters).hashes())
        sampled = SampledPage(_rank(page), frozen(_distinct(hashes)))
        return ChunkCounts(1, Frequencies.of_page(hashes, self.most_entries), (sampled,))

    def merge(self, one: ChunkCounts, other: ChunkCounts) -> ChunkCounts:
        """Add the counts, and keep of both samples the pages that come first."""
        most = self.most_sampled if self.cluster else min(self.most_sampled, _FIT_SAMPLE)
        sample = sorted((*one.sample, *other.sample), key=lambda page: page.key)[:most]
        return ChunkCounts(one.pages + other.pages, one.frequencies.merge(other.frequencies), tuple(sample))

    def finish(self, summary: ChunkCounts) -> ChunkTemplate:
        """Cluster the sample, if asked to."""
        return ChunkTemplate(summary, self._clusters(summary) if self.cluster else ())

    def reopen(self, template: ChunkTemplate) -> ChunkCounts:
        """Return the counts; clusters are made anew."""
        return template.counts

    def fit(self, page: Page, template: ChunkTemplate) -> float:
        """Return how much of the template the page shows, as against what a page of the site usually does.

        A chunk weighs as much as the share of pages that have it, and a page usually has that share of the chunk.
        """
        counts = template.counts
        if counts.frequencies.exact:
            known = counts.frequencies.hashes
        else:  # a sketch does not tell what is in it; the sample does
            known = np.unique(np.concatenate([sampled.hashes for sampled in counts.sample]))
        count = counts.frequencies.of(known)
        frequent = count >= self._least(counts.pages)
        weight = count[frequent] / counts.pages
        usual = float((weight**2).sum())
        shown = np.isin(known[frequent], find_chunks(page, self.delimiters).hashes())
        return min(1.0, float(weight[shown].sum()) / usual) if usual else 0.0

    def knows(self, page: Page, template: ChunkTemplate | None) -> bool:
        """Tell whether there were enough pages to learn from."""
        if template is None or template.counts.pages < self.min_pages:
            return False
        copies = template.other_copies(lambda: find_chunks(page, self.delimiters).hashes())
        return template.counts.without(copies) >= self.min_pages

    def score(self, page: Page, template: ChunkTemplate | None) -> FloatArray:
        """Score each text by the number of pages with its chunk: half at the least number that makes it template.

        With c pages, and t the least number, the score is 1 - 2^(-c/t): it is 0 for what was never seen, and nears 1
        for what stands on many times more pages than needed. Copies of the page itself are not counted: what makes
        them equal need not be template. Their number is estimated by the sample, which is the whole of a small site.
        """
        scores = np.zeros(len(page.text_nodes), dtype=np.float32)
        if template is None:
            return scores
        chunks = find_chunks(page, self.delimiters)
        hashes = chunks.hashes()
        copies = template.other_copies(lambda: hashes)
        pages, frequencies = template.counts.without(copies), template.counts.frequencies
        if pages < self.min_pages:
            return scores
        nearest = template.nearest_cluster(hashes)
        if nearest >= 0 and template.clusters[nearest].pages - copies >= self.min_pages:
            cluster = template.clusters[nearest]
            count = cluster.frequencies.of(hashes) - copies
            pages = cluster.pages - copies
        else:
            count = frequencies.of(hashes) - (template.counts.pages - pages)
        of_chunk = 1 - np.exp2(-np.maximum(count, 0) / self._least(pages))
        inside = chunks.of_text >= 0
        scores[inside] = of_chunk[chunks.of_text[inside]]
        return scores

    def dump(self, template: ChunkTemplate) -> bytes:
        """Write the counts and the sample; clusters follow from them."""
        counts = template.counts
        sample = [page.hashes for page in counts.sample]
        arrays: dict[str, NDArray[Any]] = {
            "numbers": np.array([counts.pages, counts.frequencies.most_entries], dtype=np.int64),
            "hashes": counts.frequencies.hashes,
            "counts": counts.frequencies.counts,
            "sketch": counts.frequencies.sketch,
            "ranks": np.array([page.rank for page in counts.sample], dtype=np.uint64),
            "lengths": np.array([len(hashes) for hashes in sample], dtype=np.int64),
            "sample": np.concatenate(sample) if sample else np.zeros(0, dtype=np.uint64),
        }
        return pack(self.name, self.version, arrays)

    def load(self, data: bytes) -> ChunkTemplate:
        """Read counts and sample back, and cluster as before."""
        names = ("numbers", "hashes", "counts", "sketch", "ranks", "lengths", "sample")
        numbers, hashes, counts, sketch, ranks, lengths, sampled = unpack(data, self.name, self.version, names)
        fits = len(numbers) == 2 and len(hashes) == len(counts) and len(ranks) == len(lengths)
        if not fits or int(lengths.sum()) != len(sampled):
            raise ModelError(f"template of method {self.name}", "is damaged (its parts differ in length)")
        frequencies = Frequencies(int(numbers[1]), frozen(hashes), frozen(counts), frozen(sketch))
        pieces = np.split(sampled, np.cumsum(lengths)[:-1]) if len(lengths) else []
        sample = tuple(SampledPage(int(rank), frozen(piece)) for rank, piece in zip(ranks, pieces, strict=True))
        return self.finish(ChunkCounts(int(numbers[0]), frequencies, sample))

    def cluster_of(self, page: Page, template: ChunkTemplate) -> int:
        """Return the number of the page's cluster; -1 if the site has none."""
        return template.nearest_cluster(find_chunks(page, self.delimiters).hashes())

    def _least(self, pages: int) -> float:
        """Return on how many of so many pages a chunk must stand to be template."""
        return max(self.least_count, self.share * pages)

    def _clusters(self, summary: ChunkCounts) -> tuple[Cluster, ...]:
        """Put the pages of the sample together by those of their chunks that some other page of it has too."""
        pages = [page.hashes for page in summary.sample]
        unique, count = np.unique(np.concatenate(pages), return_counts=True)
        repeated = unique[count > 1]
        shared = [hashes[np.isin(hashes, repeated)] for hashes in pages]
        found = min_max_clusters(shared, self.spread)
        result: list[Cluster] = []
        for number, centre in enumerate(found.centres):
            members = [hashes for hashes, of in zip(pages, found.of_set.tolist(), strict=True) if of == number]
            seen, times = np.unique(np.concatenate(members), return_counts=True)
            frequencies = Frequencies.of_counts(seen, times.astype(np.int64), len(seen))
            result.append(Cluster(frozen(shared[centre]), len(members), frequencies))
        return tuple(result) if len(result) > 1 else ()


def _distinct(hashes: HashArray) -> HashArray:
    """Return the different hashes of a page that a sample keeps."""
    return np.unique(hashes)[:_MOST_HASHES].copy()


def _rank(page: Page) -> int:
    """Where a page comes in the sample: by the hash of its name, so that a sample is a fair one."""
    name = f"{page.place.directory}\n{page.place.name}"
    return xxh3_64_intdigest(name.encode("utf-8", "surrogatepass"), seed=1)
