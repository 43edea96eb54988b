"""The text of a page that shows next to nothing: what its structured data holds for machines.

Pages that a script builds in the browser come as a shell without words; some carry their text as JSON-LD for search
engines. Where a page shows text of its own that text is the content, and nothing here applies: to add structured data
to it costs more than it brings.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from chaffinch.document.evidence import Evidence
from chaffinch.document.jsonld import read_body, unescaped
from chaffinch.page import parse

if TYPE_CHECKING:
    from chaffinch.page import Page

SHOWN_WORDS: Final = 10
"""A page that shows at least so many words, hidden ones included, is taken as it is."""
_LEAST_WORDS: Final = 20
_MARKUP: Final = re.compile(r"<(?:p|br|div|ul|ol|li|h[1-6]|table|b|strong|em|i|a|span)\b[^<>]{0,300}>", re.IGNORECASE)
_LINES: Final = re.compile(r"\s*\n\s*")


def structured_page(page: Page) -> Page | None:
    """Return the text of the structured data as a page, None if `page` shows text or has no such data."""
    if page.blocks.words.sum() >= SHOWN_WORDS or page.unrolled.blocks.words.sum() >= SHOWN_WORDS:
        return None
    evidence = Evidence(page)
    for texts in read_body(evidence.jsonld_scripts, evidence.own_urls):
        made = parse("".join(map(_as_html, texts)), url=page.url)
        if made.blocks.words.sum() >= _LEAST_WORDS:
            return made
    return None


def _as_html(text: str) -> str:
    """Return a text as HTML; some have markup, which may be escaped, others only lines."""
    text = unescaped(text)
    if _MARKUP.search(text):
        return f"<div>{text}</div>"
    return "".join(f"<p>{html.escape(line)}</p>" for line in _LINES.split(text))
