"""Two more ways from pages to the text that is indexed, for retrieval only: the raw sandwich filter, and shingles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from chaffinch.evaluation.predictors import Texts, visible_text
from chaffinch.evaluation.rivals import Shingles
from chaffinch.methods.layout import leaf_words
from chaffinch.methods.line_filter import LineFilter
from chaffinch.page.build import parse
from chaffinch.render import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.page.table import Page


@dataclass(frozen=True, slots=True)
class RawLines:
    """The lines of a page's source that the page before it in its directory does not have; no HTML is understood."""

    name: str = "sandwich, raw lines"
    label: str = "the raw filter of the sandwich paper, in the order of the pages"

    def predict(self, pages: Sequence[Page]) -> Texts:
        """Filter the pages, then take what is left of them for pages."""
        line_filter = LineFilter()
        left = [
            line_filter.filter(page.url or page.source, page.html.encode("utf-8", "replace")).body for page in pages
        ]
        texts = [visible_text(parse(body.decode("utf-8"))) for body in left]
        return Texts(texts, page_bytes=sum(map(len, left)))


@dataclass(frozen=True, slots=True)
class ShingleBlocks:
    """Blocks whose fingerprints no other pages have."""

    shingles: Shingles = field(default_factory=Shingles)
    name: str = "shingle"

    @property
    def label(self) -> str:
        """All there is to know of it."""
        return repr(self.shingles)

    def predict(self, pages: Sequence[Page]) -> Texts:
        """Drop the blocks whose fingerprints are frequent."""
        tables = [self.shingles.fingerprints(page, *leaf_words(page)) for page in pages]
        marks = self.shingles.template_blocks([prints for prints, _ in tables])
        texts = []
        for page, mark, (_, of_leaf) in zip(pages, marks, tables, strict=True):
            leaf = page.blocks.of_text
            gone = np.zeros(len(leaf), dtype=np.bool_)
            gone[leaf >= 0] = mark[of_leaf][leaf[leaf >= 0]]
            texts.append(render(page, ~gone, "text"))
        return Texts(texts)
