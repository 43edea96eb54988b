"""What an index wants of a page beside its document: the template, kept apart, and the headings of the content."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.methods import decide
from chaffinch.render import render

if TYPE_CHECKING:
    from chaffinch.methods import AnyMethod
    from chaffinch.page import BoolArray, FloatArray, Page

HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass(frozen=True, slots=True)
class Parts:
    """Texts of a page that its document leaves out or does not tell apart."""

    headings: tuple[str, ...]
    """The headings that are content."""
    template: str
    """All visible text that is not content."""


def make_parts(page: Page, scores: FloatArray, *, method: AnyMethod, threshold: float) -> Parts:
    """Return the parts of a page whose text nodes scored `scores`; those below `threshold` are content."""
    page, kept = decide(method, page, scores, threshold)
    dropped = ~kept
    template = render(page, dropped, "text") if (dropped & page.shown_text_nodes).any() else ""
    return Parts(tuple(_headings(page, kept & page.shown_text_nodes)), template)


def _headings(page: Page, kept: BoolArray) -> list[str]:
    """Return the texts of headings, of each only what is kept."""
    found = []
    for heading in page.find(*HEADINGS):
        first, last = np.searchsorted(page.text_nodes, (heading, page.end[heading])).tolist()
        text = " ".join("".join(compress(page.texts[first:last], kept[first:last].tolist())).split())
        if text:
            found.append(text)
    return found
