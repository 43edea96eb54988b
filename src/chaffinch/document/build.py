"""From a scored page to a document."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chaffinch.document.document import Document
from chaffinch.document.metadata import read_metadata
from chaffinch.document.structured import structured_page
from chaffinch.methods import decide
from chaffinch.render import render
from chaffinch.version import VERSION

if TYPE_CHECKING:
    from chaffinch.methods import AnyMethod
    from chaffinch.page import FloatArray, Page
    from chaffinch.render.formats import Format


def make_document(page: Page, scores: FloatArray, *, method: AnyMethod, threshold: float, format: Format) -> Document:  # noqa: A002
    """Return the document of a page whose text nodes scored `scores`; those below `threshold` are content."""
    described = describe(page, method=method, format=format)
    if (structured := structured_page(page)) is not None:
        return with_structured(described, structured)
    page, kept = decide(method, page, scores, threshold)
    content = render(page, kept, format, scores)
    words_kept = int(np.sum(page.blocks.text_words, where=kept))
    made = with_content(described, content, words_kept)
    # What was hidden and is shown now counts as read.
    return replace(made, words_in=int(page.blocks.words.sum()))


def with_structured(described: Document, structured: Page) -> Document:
    """Return a document whose content is what the page's structured data holds."""
    kept = structured.shown_text_nodes
    scores = np.where(kept, np.float32(0.0), np.float32(1.0))
    words = int(structured.blocks.words.sum())
    made = with_content(described, render(structured, kept, described.format, scores), words)
    return replace(made, words_in=described.words_in + words, content_of="structured data")


def with_content(described: Document, content: str, words_kept: int) -> Document:
    """Return a document with its content."""
    digest = hashlib.sha256(content.encode()).hexdigest()
    return replace(described, content=content, content_hash=digest, words_kept=words_kept)


def describe(page: Page, *, method: AnyMethod, format: Format) -> Document:  # noqa: A002
    """Return the document of a page but for its content."""
    metadata = read_metadata(page)
    return Document(
        source=page.source,
        url=page.url,
        site=page.place.site,
        title=metadata.title,
        author=metadata.author,
        date=metadata.date,
        language=metadata.language,
        canonical_url=metadata.canonical_url,
        description=metadata.description,
        content="",
        content_hash="",
        format=format,
        method=method.name,
        version=VERSION,
        words_in=int(page.blocks.text_words.sum()),
        words_kept=0,
    )
