"""What the second network of `fused` looks at: a block's first score among those around it, the page, and the site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.methods.fused_network import ANSWERS
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
_VIEW_LEVELS: Final = (1, 3)
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
VIEW_NAMES: Final[tuple[str, ...]] = (
    *(f"score as in {name}" for name in ANSWERS[1:]),
    *(f"score as in {name} of container {level}" for level in _VIEW_LEVELS for name in ANSWERS[1:]),
)
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
JUDGE_NAMES: Final[tuple[str, ...]] = (*SCORE_NAMES, *VIEW_NAMES, *NUMBER_NAMES, *SITE_NAMES)
"""What the columns of `judge_numbers` are."""


def judge_numbers(evidence: PageEvidence, views: FloatArray, site: SiteEvidence | None) -> FloatArray:
    """Return a column for each of `JUDGE_NAMES`; NaN where nothing is known of the site.

    `views` are what the first network makes of the page, a column for each of its answers.
    """
    if site is None:
        about_site = np.full((len(evidence), len(SITE_NAMES)), np.nan, dtype=np.float32)
    else:
        about_site = site_numbers(evidence, site)
    return np.concatenate((page_numbers(evidence, views), about_site), axis=1)


def page_numbers(evidence: PageEvidence, views: FloatArray) -> FloatArray:
    """Return a column for each of `SCORE_NAMES`, `VIEW_NAMES` and `NUMBER_NAMES`."""
    count = len(evidence)
    scores, both = len(SCORE_NAMES), len(SCORE_NAMES) + len(VIEW_NAMES)
    rows = np.empty((both + len(NUMBER_NAMES), count), dtype=np.float32)
    rows[both:] = evidence.numbers.T
    if count:
        _fill_scores(rows[:scores], evidence, views[:, 0])
        _fill_views(rows[scores:both], evidence, views[:, 1:].T)
    return rows.T


def _fill_scores(rows: FloatArray, evidence: PageEvidence, logits: FloatArray) -> None:
    count, containers = len(evidence), evidence.containers
    weight = np.log1p(1.0 + np.diff(evidence.word_start))
    likely = 1.0 / (1.0 + np.exp(-logits.astype(np.float64)))
    weighted = np.stack((logits * weight, likely * weight, weight))
    rows[:2] = logits, likely
    means = _means(weighted, containers.first, containers.stop)
    next_row = 2 + 2 * LEVELS
    rows[2:next_row] = means.take(containers.of_block, axis=1).swapaxes(0, 1).reshape(-1, count)
    for step in _NEIGHBOURS:
        _shift(rows[next_row], logits, step)
        next_row += 1
    sums = np.stack([np.bincount(evidence.group, weights=row) for row in weighted])
    rows[next_row : next_row + 2] = (sums[:-1] / sums[-1]).take(evidence.group, axis=1)
    next_row += 2
    order = (-logits).argsort(kind="stable")
    rank = np.empty(count)
    rank[order] = np.arange(count)
    rows[next_row : next_row + len(_QUANTILES)] = _quantiles(logits[order])[:, None]
    rows[-3] = logits - logits[order[0]]
    rows[-2] = weighted[1].sum() / weight.sum()
    rows[-1] = rank / count


def _fill_views(rows: FloatArray, evidence: PageEvidence, others: FloatArray) -> None:
    containers, number = evidence.containers, len(others)
    weight = np.log1p(1.0 + np.diff(evidence.word_start))
    weighted = np.concatenate((others * weight, weight[None, :]))
    rows[:number] = others
    for place, level in enumerate(_VIEW_LEVELS, 1):
        span = slice(*containers.starts[level - 1 : level + 1])
        means = _means(weighted, containers.first[span], containers.stop[span])
        of_block = containers.of_block[level - 1] - containers.starts[level - 1]
        rows[place * number : (place + 1) * number] = means.take(of_block, axis=1)


def _quantiles(falling: FloatArray) -> NDArray[np.float64]:
    """Return `_QUANTILES` of values in falling order."""
    place = (1.0 - np.array(_QUANTILES)) * (len(falling) - 1)
    return np.interp(place, np.arange(len(falling)), falling)


def _shift(row: FloatArray, values: NDArray[np.floating], step: int) -> None:
    """Write what each block's neighbour has; at the ends of the page the last one there is."""
    count = len(values)
    if abs(step) >= count:
        row[:] = values[0] if step < 0 else values[-1]
    elif step < 0:
        row[-step:] = values[:step]
        row[:-step] = values[0]
    else:
        row[:-step] = values[step:]
        row[-step:] = values[-1]


def site_numbers(evidence: PageEvidence, site: SiteEvidence) -> FloatArray:
    """Return a column for each of `SITE_NAMES`."""
    count, others = len(evidence), max(1, site.pages - 1)
    texts = site.texts.of(evidence.text).astype(np.float64)
    shapes = site.shapes.of(evidence.shape).astype(np.float64)
    edges = site.edges.of(evidence.edges.ravel()).reshape(count, 3).astype(np.float64)
    titles = site.titles.of(evidence.text) - np.isin(evidence.text, evidence.title)
    text, shape, edge = (np.clip((counted - 1) / others, 0, 1) for counted in (texts, shapes, edges))
    near = site.near.numbers(evidence.near_path, site.pages).T
    full = site.full.numbers(evidence.full_path, site.pages).T
    variety, score = PLACE_NAMES.index("variety"), PLACE_NAMES.index("page score")
    weight = np.diff(evidence.word_start) + 0.1
    frequent = (text >= _FREQUENT) & (texts > 1)
    pooled = np.stack((frequent, text, shape, near[variety], full[variety], full[score], edge.max(axis=1)))
    weighted = np.concatenate((pooled * weight, weight[None, :]))
    rows = np.empty((len(SITE_NAMES), count), dtype=np.float32)
    if not count:
        return rows.T
    rows[0] = np.log1p(min(site.pages, _MANY_PAGES))
    rows[1:3] = text, shape
    rows[3:5] = np.log1p(np.minimum((texts, shapes), _MANY_COPIES))
    fixed = 5 + 2 * len(PLACE_NAMES)
    rows[5:fixed] = np.concatenate((near, full))
    rows[fixed : fixed + 3] = edge.T
    rows[fixed + 3] = titles > 0
    next_row = fixed + 4
    containers = evidence.containers
    levels = slice(0, containers.starts[len(_SITE_LEVELS)])
    means = _means(weighted, containers.first[levels], containers.stop[levels])
    pools = len(_SITE_LEVELS) * len(_POOLED)
    of_block = containers.of_block[: len(_SITE_LEVELS)]
    rows[next_row : next_row + pools] = means.take(of_block, axis=1).swapaxes(0, 1).reshape(pools, count)
    next_row += pools
    for step in _SITE_NEIGHBOURS:
        for values in (text, full[variety], full[score]):
            _shift(rows[next_row], values, step)
            next_row += 1
    rows[next_row:] = _means(weighted, np.zeros(1, dtype=np.int32), np.full(1, count))
    return rows.T


def _means(weighted: NDArray[np.float64], first: NDArray[np.integer], stop: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return weighted means of runs of blocks, a row for each of `weighted` but the last, which holds the weights."""
    before = np.zeros((len(weighted), weighted.shape[1] + 1))
    np.cumsum(weighted, axis=1, out=before[:, 1:])
    sums = before.take(stop, axis=1) - before.take(first, axis=1)
    return np.asarray(sums[:-1] / np.maximum(sums[-1], 1e-6))
