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
from chaffinch.methods.explain import block_scores

if TYPE_CHECKING:
    from chaffinch.page import FloatArray, Page
    from chaffinch.store.database import KeptSite, SiteSummary, TemplateStore

MOST_BLOCKS: Final = 200
"""Blocks that are shown of a site."""
MOST_CHARACTERS: Final = 200
"""How much of a block's text is shown."""


@dataclass(frozen=True, slots=True)
class TemplateBlock:
    """A text that is template on at least one of the sample pages."""

    text: str
    pages: int
    """On how many of the sample pages it stands."""
    template_on: int
    """On how many of them it is template."""
    score: float
    """Its mean score."""


@dataclass(frozen=True, slots=True)
class SiteExplanation:
    """A site's template in words."""

    summary: SiteSummary
    template_bytes: int
    samples: tuple[str, ...]
    """The addresses of the sample pages."""
    template_words: float
    """Which share of the words of the sample pages is template."""
    blocks: tuple[TemplateBlock, ...]
    """Those on most pages first, then in the order of the page."""
    more: int
    """How many further blocks there are."""


def explain_site(store: TemplateStore, kept: KeptSite, threshold: float = DEFAULT_THRESHOLD) -> SiteExplanation:
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
        for text, score in _scores_by_text(page, scores).items():
            found.setdefault(text, []).append(score)
    blocks = [
        TemplateBlock(text[:MOST_CHARACTERS], len(scores), sum(score >= threshold for score in scores), fmean(scores))
        for text, scores in found.items()
        if max(scores) >= threshold
    ]
    blocks.sort(key=lambda block: -block.pages)
    return SiteExplanation(
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


def _scores_by_text(page: Page, scores: FloatArray) -> dict[str, float]:
    """Return the score of each leaf block, by its text; of equal blocks, the higher."""
    result: dict[str, float] = {}
    for text, score in zip(page.blocks.texts, block_scores(page, scores).tolist(), strict=True):
        result[text] = max(score, result.get(text, 0.0))
    return result
