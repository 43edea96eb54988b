"""A site's template in words: which blocks of its sample pages are template, and how many of the pages show them.

What a template holds is the method's own business, hashes mostly, and no method need say it in words. Instead the
sample pages are scored with it as any page is, so that what is shown is what `clean` drops.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.errors import ModelError
from chaffinch.methods import DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from chaffinch.page import Page
    from chaffinch.store.database import KeptSite, SiteSummary, TemplateStore

MOST_BLOCKS: Final = 200
"""Blocks that are shown of a site."""
MOST_CHARACTERS: Final = 200
"""How much of a block's text is shown."""


@dataclass(frozen=True, slots=True)
class ExplainedBlock:
    """A text that is template on at least one of the sample pages."""

    text: str
    pages: int
    """On how many of the sample pages it stands."""
    template_on: int
    """On how many of them it is template."""
    score: float
    """Its mean score."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A site's template in words."""

    summary: SiteSummary
    template_bytes: int
    samples: tuple[str, ...]
    """The addresses of the sample pages."""
    template_words: float
    """Which share of the words of the sample pages is template."""
    blocks: tuple[ExplainedBlock, ...]
    """Those on most pages first, then in the order of the page."""
    more: int
    """How many further blocks there are."""


def explain(store: TemplateStore, kept: KeptSite, threshold: float = DEFAULT_THRESHOLD) -> Explanation:
    """Score the sample pages of a site and list the blocks that are template."""
    template = store.load(kept.site, kept.template)
    found: dict[str, list[float]] = {}
    addresses = []
    words = template_words = 0
    for page in sample_pages(store, kept):
        addresses.append(page.url or page.source)
        scores = store.method.score(page, template)
        words += int(page.blocks.words.sum())
        template_words += int(np.sum(page.blocks.text_words, where=scores >= threshold))
        for text, score in _block_scores(page, scores).items():
            found.setdefault(text, []).append(score)
    blocks = [
        ExplainedBlock(text[:MOST_CHARACTERS], len(scores), sum(score >= threshold for score in scores), fmean(scores))
        for text, scores in found.items()
        if max(scores) >= threshold
    ]
    blocks.sort(key=lambda block: -block.pages)
    return Explanation(
        summary=kept.summary,
        template_bytes=len(kept.template),
        samples=tuple(addresses),
        template_words=template_words / words if words else 0.0,
        blocks=tuple(blocks[:MOST_BLOCKS]),
        more=max(0, len(blocks) - MOST_BLOCKS),
    )


def sample_pages(store: TemplateStore, kept: KeptSite) -> list[Page]:
    """Parse the sample pages of a site, or raise `ModelError`."""
    try:
        return [sample.page(store.site_by) for sample in kept.samples]
    except ModelError as error:
        raise ModelError(store.path, f"site {kept.site}: {error}") from error


def _block_scores(page: Page, scores: np.ndarray[tuple[int], np.dtype[np.float32]]) -> dict[str, float]:
    """Return the mean score of each leaf block's words, by its text; of equal blocks, the higher."""
    blocks = page.blocks
    inside = blocks.of_text >= 0
    # Signs alone make no word, but a block of them has a score as well.
    weights = np.maximum(blocks.text_words[inside], 0.001)
    of_text = blocks.of_text[inside]
    total = np.bincount(of_text, weights=weights, minlength=len(blocks))
    means = np.bincount(of_text, weights=weights * scores[inside], minlength=len(blocks)) / np.maximum(total, 0.001)
    result: dict[str, float] = {}
    for text, score in zip(blocks.texts, means.tolist(), strict=True):
        result[text] = max(score, result.get(text, 0.0))
    return result
