"""Where the text nodes of a page stand in the lines of its source.

The parser's fast interface gives no positions, so every text node is looked up in the source, each behind the one
before it. Text follows a tag directly, which makes the look-up precise; text that was written with character
references is found by a plain run of characters in it. What cannot be found takes the place of the text before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import frozen

if TYPE_CHECKING:
    from chaffinch.page.arrays import IntArray
    from chaffinch.page.table import Page

_PROBE: Final = 40
"""How many characters of a text node are looked up."""
_REACH: Final = 20_000
"""How far ahead a short or broken probe is looked for; a long one may stand anywhere."""
_SURE: Final = 12
_PLAIN_RUN: Final = re.compile(r"[^\W_][\w ,.;:!?()/-]*")


def source_lines(page: Page) -> list[str]:
    """Return the lines of the page's source, without their ends."""
    return unified_newlines(page.html).split("\n")


def unified_newlines(text: str) -> str:
    """Return `text` with all line ends written as a newline, as HTML's input stage does."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def first_lines(page: Page) -> IntArray:
    """Return, for each of the page's text nodes, the number (from 0) of the source line in which it starts.

    Blank text nodes take the line of the text before them.
    """
    html = unified_newlines(page.html)
    blank = page.blank[page.text_nodes].tolist()
    starts: list[int] = []
    cursor = 0
    for text, is_blank in zip(page.texts, blank, strict=True):
        if is_blank:
            starts.append(cursor)
            continue
        start = _find(html, text, cursor)
        if start < 0:
            starts.append(cursor)
            continue
        starts.append(start)
        cursor = start + 1
    newlines = np.flatnonzero(np.frombuffer(html.encode("utf-32-le"), dtype=np.uint32) == ord("\n"))
    return frozen(np.searchsorted(newlines, np.array(starts, dtype=np.int64)).astype(np.int32))


def _find(html: str, text: str, cursor: int) -> int:
    """Return where `text` stands in the source from `cursor` on, or -1."""
    probe = text[:_PROBE]
    limit = len(html) if len(probe) >= _SURE else cursor + _REACH
    start = html.find(">" + probe, max(0, cursor - 1), limit)
    if start >= 0:
        return start + 1
    run = _PLAIN_RUN.search(text)
    if run is None:
        return -1
    inside = run.group()[:_PROBE]
    start = html.find(inside, cursor, cursor + _REACH)
    if start < 0:
        return -1
    # Step back over the lines of the text that stand before the run.
    newlines_before = text.count("\n", 0, run.start())
    for _ in range(newlines_before):
        start = html.rfind("\n", 0, start)
    return max(start, cursor)
