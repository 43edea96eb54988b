"""From a page and a choice of its text nodes to one string in one of four formats.

Only text that a reader of the page sees is ever rendered, whatever the choice says. White space between words follows
from the page, not from the choice: text nodes of nothing but white space need not be chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chaffinch.errors import UsageError
from chaffinch.render.blocks_json import render_json
from chaffinch.render.formats import FORMATS, Format
from chaffinch.render.html import render_html
from chaffinch.render.markdown import render_markdown
from chaffinch.render.selection import select
from chaffinch.render.text import join_pieces, render_pieces, render_text

if TYPE_CHECKING:
    from chaffinch.page.arrays import BoolArray, FloatArray
    from chaffinch.page.table import Page

__all__ = ["FORMATS", "Format", "join_pieces", "render", "render_pieces"]


def render(page: Page, kept: BoolArray, format: Format, scores: FloatArray | None = None) -> str:  # noqa: A002
    """Render the text nodes of `page` that `kept` chooses; both it and `scores` have one entry for each text node.

    Scores are given out by the format `json` only.
    """
    for name, array in (("kept", kept), ("scores", scores)):
        if array is not None and len(array) != len(page.texts):
            raise UsageError(f"{name}: {len(array)} entries for {len(page.texts)} text nodes")
    if format == "json":
        return render_json(page, kept, scores)
    selection = select(page, kept)
    if format == "text":
        return render_text(selection)
    if format == "markdown":
        return render_markdown(selection)
    if format == "html":
        return render_html(selection)
    raise UsageError(f"format: {format!r} is none of {', '.join(FORMATS)}")
