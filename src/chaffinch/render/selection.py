"""`Selection`: the text nodes to render, cleaned, and what all formats ask about them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.tags import BLOCK_LEVEL, Visibility

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, IntArray
    from chaffinch.page.table import Page

MARKS: Final = "\x01\x02\x03\x04\x05\x06"
"""Control characters that no text means to contain; renderers use them as marks while they put text together."""

_UNWANTED: Final = MARKS + "\u200b\ufeff\u00ad"
"""These and the characters without width, which only guide line breaks, are removed. Joiners and bidi controls stay."""

_REMOVAL: Final = dict.fromkeys(map(ord, _UNWANTED))

SPACES: Final = " \t\n\r\f\v\xa0"
"""What folds to one space: white space as browsers fold it, and no-break spaces."""


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen text nodes that are visible and not blank, in document order."""

    page: Page
    nodes: IntArray
    """Their positions in the page."""
    indexes: IntArray
    """Their places in `page.texts`."""
    texts: list[str]
    """Their texts, without the characters that are never rendered; white space as in the source."""
    gap: BoolArray
    """For each, whether it is set off from the one before it.

    That is where other visible text (blank or not chosen) stands between them, or a block that is not seen, such as the
    title of an icon.
    """

    def __len__(self) -> int:
        return len(self.texts)

    def first_inside(self, elements: NDArray[np.integer]) -> tuple[NDArray[np.intp], BoolArray]:
        """Return for each element the number of the first chosen node behind its start, and whether it is inside."""
        number = np.searchsorted(self.nodes, elements)
        inside = np.zeros(len(elements), dtype=np.bool_)
        found = number < len(self.nodes)
        inside[found] = self.nodes[number[found]] < self.page.end[elements[found]]
        return number, inside

    @cached_property
    def visible(self) -> BoolArray:
        """Which of the page's nodes are visible."""
        result: BoolArray = self.page.visibility == Visibility.VISIBLE
        return result

    @cached_property
    def block_level(self) -> BoolArray:
        """Which of the page's nodes are visible block-level elements."""
        result: BoolArray = BLOCK_LEVEL[self.page.tag] & self.visible
        return result

    @cached_property
    def runs(self) -> IntArray:
        """A number for each node that changes wherever a visible block-level element starts or ends."""
        return boundary_counts(self.page, np.flatnonzero(self.block_level))[:-1]


def counts(marked: BoolArray) -> IntArray:
    """Return how many of `marked` stand before each position, and behind the last one all of them."""
    result = np.zeros(len(marked) + 1, dtype=np.int32)
    np.cumsum(marked, out=result[1:])
    return result


def boundary_counts(page: Page, elements: NDArray[np.integer]) -> IntArray:
    """Return how many starts and ends of `elements` stand at or before each position."""
    boundary = np.bincount(elements, minlength=len(page) + 1) + np.bincount(page.end[elements], minlength=len(page) + 1)
    return np.cumsum(boundary).astype(np.int32)


def select(page: Page, kept: BoolArray) -> Selection:
    """Reduce a choice to what is rendered."""
    nodes = page.text_nodes
    is_visible = page.visibility[nodes] == Visibility.VISIBLE
    chosen = kept & page.shown_text_nodes
    texts = list(compress(page.texts, chosen.tolist()))
    indexes = np.flatnonzero(chosen).astype(np.int32)
    together = "".join(texts)
    if any(character in together for character in _UNWANTED):
        texts = [text.translate(_REMOVAL) for text in texts]
        filled = [bool(text) and not text.isspace() for text in texts]
        void = indexes[[not text for text in texts]]
        is_visible[void] = False
        texts = list(compress(texts, filled))
        indexes = indexes[filled]
    rank = np.cumsum(is_visible)[indexes]
    runs = boundary_counts(page, np.flatnonzero(BLOCK_LEVEL[page.tag]))[nodes[indexes]]
    gap = np.zeros(len(rank), dtype=np.bool_)
    gap[1:] = (rank[1:] - rank[:-1] > 1) | (runs[1:] != runs[:-1])
    return Selection(page=page, nodes=nodes[indexes], indexes=indexes, texts=texts, gap=gap)


def fold(text: str) -> str:
    """Fold white space to single spaces, none at the ends."""
    if "\xa0" in text:
        text = text.replace("\xa0", " ")
    # Splitting bytes knows ASCII white space only: ideographic and other wide spaces stay as they are.
    return b" ".join(text.encode().split()).decode()
