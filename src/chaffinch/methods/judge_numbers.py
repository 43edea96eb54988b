"""What the second network of `fused` looks at: a block's first score among those around it, the page, and the site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.methods.page_evidence import LEVELS, NUMBER_NAMES
from chaffinch.methods.site_evidence import PLACE_NAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.methods.page_evidence import PageEvidence
    from chaffinch.methods.site_evidence import SiteEvidence
    from chaffinch.page.arrays import FloatArray

_NEIGHBOURS: Final = (-3, -2, -1, 1, 2, 3)
_SITE_NEIGHBOURS: Final = (-2, -1, 1, 2)
_QUANTILES: Final = (0.5, 0.75, 0.9, 0.97, 1.0)
_SITE_LEVELS: Final = (1, 2, 3, 4)
_FREQUENT: Final = 0.1
_MANY_PAGES: Final = 64
"""Beyond it more pages say no more."""
_MANY_COPIES: Final = 50

SCORE_NAMES: Final[tuple[str, ...]] = (
    "page score", "page probability",
    *(f"page {what} of container {level}" for level in range(1, LEVELS + 1) for what in ("score", "probability")),
    *(f"page score {abs(step)} {'before' if step < 0 else 'behind'}" for step in _NEIGHBOURS),
    "page score of group", "page probability of group",
    *(f"page score at quantile {quantile}" for quantile in _QUANTILES),
    "page score below the highest", "probable share of page", "rank on page",
)  # fmt: skip
_POOLED: Final = (
    "frequent text", "share of pages with the text", "share of pages with the shape", "variety of near place",
    "variety of full place", "page score of full place", "share of pages with an edge",
)  # fmt: skip
SITE_NAMES: Final[tuple[str, ...]] = (
    "pages of the site", "share of pages with the text", "share of pages with the shape",
    "pages with the text", "pages with the shape",
    *(f"{name} of {place} place" for place in ("near", "full") for name in PLACE_NAMES),
    "share of pages with the first word", "share of pages with the first words", "share of pages with the last word",
    "names another page",
    *(f"{name} in container {level}" for level in _SITE_LEVELS for name in _POOLED),
    *(
        f"{name} {abs(step)} {'before' if step < 0 else 'behind'}"
        for step in _SITE_NEIGHBOURS
        for name in ("share of pages with the text", "variety of full place", "page score of full place")
    ),
    *(f"{name} on page" for name in _POOLED),
)  # fmt: skip
JUDGE_NAMES: Final[tuple[str, ...]] = (*SCORE_NAMES, *NUMBER_NAMES, *SITE_NAMES)
"""What the columns of `judge_numbers` are."""


def judge_numbers(evidence: PageEvidence, logits: FloatArray, site: SiteEvidence | None) -> FloatArray:
    """Return a column for each of `JUDGE_NAMES`; NaN where nothing is known of the site."""
    count = len(evidence)
    about_site = (
        np.full((count, len(SITE_NAMES)), np.nan, dtype=np.float32) if site is None else _site_numbers(evidence, site)
    )
    return np.concatenate((_score_numbers(evidence, logits), evidence.numbers, about_site), axis=1)


def _score_numbers(evidence: PageEvidence, logits: FloatArray) -> FloatArray:
    count = len(evidence)
    weight = np.log1p(1.0 + np.diff(evidence.word_start))
    likely = 1.0 / (1.0 + np.exp(-logits.astype(np.float64)))
    weighted = np.stack((logits * weight, likely * weight, weight), axis=1)
    means = _Means(weighted)
    columns: list[NDArray[np.floating]] = [logits, likely]
    for level in range(1, LEVELS + 1):
        columns += list(means.of(evidence.first[:, level], evidence.stop[:, level]).T)
    here = np.arange(count)
    columns += [logits[np.clip(here + step, 0, count - 1)] for step in _NEIGHBOURS]
    sums = np.stack([np.bincount(evidence.group, weights=column) for column in weighted.T], axis=1)
    columns += list((sums[:, :-1] / sums[:, -1:])[evidence.group].T)
    columns += [np.full(count, value) for value in np.quantile(logits, _QUANTILES)]
    rank = np.empty(count)
    rank[np.argsort(-logits, kind="stable")] = here
    columns += [logits - logits.max(), np.full(count, float(weighted[:, 1].sum() / weight.sum())), rank / count]
    return np.stack(columns, axis=1).astype(np.float32)


def _site_numbers(evidence: PageEvidence, site: SiteEvidence) -> FloatArray:
    count, others = len(evidence), max(1, site.pages - 1)
    texts = site.texts.of(evidence.text).astype(np.float64)
    shapes = site.shapes.of(evidence.shape).astype(np.float64)
    edges = site.edges.of(evidence.edges.ravel()).reshape(count, 3).astype(np.float64)
    titles = site.titles.of(evidence.text) - np.isin(evidence.text, evidence.title)
    text, shape, edge = (np.clip((counted - 1) / others, 0, 1) for counted in (texts, shapes, edges))
    near = site.near.numbers(evidence.near_path, site.pages)
    full = site.full.numbers(evidence.full_path, site.pages)
    variety, score = PLACE_NAMES.index("variety"), PLACE_NAMES.index("page score")
    columns: list[NDArray[np.floating]] = [
        np.full(count, np.log1p(min(site.pages, _MANY_PAGES))), text, shape,
        np.log1p(np.minimum(texts, _MANY_COPIES)), np.log1p(np.minimum(shapes, _MANY_COPIES)),
        *near.T, *full.T, *edge.T, (titles > 0).astype(np.float64),
    ]  # fmt: skip
    weight = np.diff(evidence.word_start) + 0.1
    frequent = (text >= _FREQUENT) & (texts > 1)
    pooled = (frequent, text, shape, near[:, variety], full[:, variety], full[:, score], edge.max(axis=1))
    means = _Means(np.stack([*(weight * column for column in pooled), weight], axis=1))
    for level in _SITE_LEVELS:
        columns += list(means.of(evidence.first[:, level], evidence.stop[:, level]).T)
    here = np.arange(count)
    for step in _SITE_NEIGHBOURS:
        other = np.clip(here + step, 0, count - 1)
        columns += [text[other], full[other, variety], full[other, score]]
    columns += list(means.of(np.zeros(count, dtype=np.int32), np.full(count, count)).T)
    return np.stack(columns, axis=1).astype(np.float32)


class _Means:
    """Weighted means of any run of blocks; the last column holds the weights."""

    def __init__(self, weighted: NDArray[np.float64]) -> None:
        self._before = np.zeros((len(weighted) + 1, weighted.shape[1]))
        np.cumsum(weighted, axis=0, out=self._before[1:])

    def of(self, first: NDArray[np.integer], stop: NDArray[np.integer]) -> NDArray[np.float64]:
        sums = self._before[stop] - self._before[first]
        return np.asarray(sums[:, :-1] / np.maximum(sums[:, -1:], 1e-6))
