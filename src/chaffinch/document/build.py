"""From a scored page to a document."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from chaffinch.document.document import Document
from chaffinch.document.metadata import read_metadata
from chaffinch.render import render
from chaffinch.version import VERSION

if TYPE_CHECKING:
    from chaffinch.page import FloatArray, Page
    from chaffinch.render.formats import Format


def make_document(page: Page, scores: FloatArray, *, method: str, threshold: float, format: Format) -> Document:  # noqa: A002
    """Return the document of a page whose text nodes scored `scores`; those below `threshold` are content."""
    kept = scores < threshold
    content = render(page, kept, format, scores)
    metadata = read_metadata(page)
    words = page.blocks.text_words
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
        content=content,
        content_hash=hashlib.sha256(content.encode()).hexdigest(),
        format=format,
        method=method,
        version=VERSION,
        words_in=int(words.sum()),
        words_kept=int(np.sum(words, where=kept)),
    )
