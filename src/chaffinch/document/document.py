"""`Document`: what a run gives out for each page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from chaffinch.render.formats import Format

ContentOf: TypeAlias = Literal["page", "structured data"]


@dataclass(frozen=True, slots=True)
class Document:
    """A page's own content, what the page says of itself, and how it was made.

    The order of the fields is the order of columns and keys in every output.
    """

    source: str
    """The path of the input file as given, or `path#record-id` inside an archive or table."""
    url: str | None
    site: str
    title: str | None
    author: str | None
    date: str | None
    """The day of publication, `YYYY-MM-DD`."""
    language: str | None
    """A BCP 47 tag such as `en` or `pt-BR`."""
    canonical_url: str | None
    description: str | None
    content: str
    """The content in `format`."""
    content_hash: str
    """The SHA-256 of `content` in UTF-8, in hexadecimal."""
    format: Format
    method: str
    version: str
    """The version of Chaffinch."""
    words_in: int
    """How many words the page shows; with those of its structured data if they are the content."""
    words_kept: int
    """How many of them are content."""
    captured: str | None = None
    """When the page was fetched, as ISO 8601, if the archive tells."""
    offset: int | None = None
    """Where its record begins in the archive, in bytes: that of its gzip member, if it is packed."""
    content_of: ContentOf = "page"
    """Where the content was found: on the page, or, as the page shows next to nothing, in its structured data."""
