"""A page whose text waits in pieces until it is known which of its blocks are content.

The page itself is let go: what is left is its text, what it says of itself, and where its headings are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from chaffinch.document.build import describe, with_content, with_structured
from chaffinch.document.document import Document
from chaffinch.document.parts import HEADINGS, Parts
from chaffinch.document.structured import structured_page
from chaffinch.render import join_pieces, render_pieces

if TYPE_CHECKING:
    from chaffinch.methods import AnyMethod
    from chaffinch.page import BoolArray, Page
    from chaffinch.page.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PagePieces:
    """A piece for each leaf text block of a page."""

    described: Document
    """The document, without its content."""
    pieces: tuple[str, ...]
    words: IntArray
    """How many words each block has."""
    headings: tuple[tuple[int, int, str], ...]
    """A number for each heading, the block of a part of it, and the text of this part."""
    instead: Document | None = None
    """The whole document, of a page that shows next to nothing and has its text as structured data."""

    @classmethod
    def of(cls, page: Page, method: AnyMethod) -> PagePieces:
        """Take a page apart."""
        described = describe(page, method=method, format="text")
        structured = structured_page(page)
        instead = with_structured(described, structured) if structured is not None else None
        return cls(described, render_pieces(page), page.blocks.words, tuple(_headings(page)), instead)

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        instead = len(self.instead.content) if self.instead is not None else 0
        return instead + sum(map(len, self.pieces)) + 64 * len(self.pieces) + self.words.nbytes + 2_000

    def document(self, kept: BoolArray) -> Document:
        """Return the document, given for each block whether it is content."""
        if self.instead is not None:
            return self.instead
        return with_content(self.described, join_pieces(self.pieces, kept), int(self.words[kept].sum()))

    def parts(self, kept: BoolArray) -> Parts:
        """Return what the document leaves out."""
        found = (part for part in self.headings if kept[part[1]])
        headings = tuple(" ".join(text for _, _, text in parts) for _, parts in groupby(found, lambda part: part[0]))
        return Parts(headings, join_pieces(self.pieces, ~kept))


def _headings(page: Page) -> list[tuple[int, int, str]]:
    """Return the headings, cut at the borders of blocks."""
    found = []
    for number, heading in enumerate(page.find(*HEADINGS)):
        first, last = np.searchsorted(page.text_nodes, (heading, page.end[heading])).tolist()
        shown = (np.flatnonzero(page.shown_text_nodes[first:last]) + first).tolist()
        for block, nodes in groupby(shown, lambda node: int(page.blocks.of_text[node])):
            text = " ".join("".join(page.texts[node] for node in nodes).split())
            if text:
                found.append((number, block, text))
    return found
