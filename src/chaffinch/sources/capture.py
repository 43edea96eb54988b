"""One page as a crawl has it, before anything is understood of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LONGEST_PAGE: Final = 1 << 28
"""What is longer than 256 MB is no page, and is not held in memory to find out."""
TOO_LONG: Final = "it is longer than 256 MB, as no page is"


@dataclass(frozen=True, slots=True)
class Capture:
    """The bytes of a page, and what its container says of them."""

    source: str
    """The path of the input file as given, or `path#record-id` inside an archive or table."""
    body: bytes
    url: str | None = None
    """The URL that the container gives: the archive's record, a table's column, `urls.tsv` or `--base-url`."""
    http_charset: str | None = None
    folder: str = ""
    """The folder (or else the file) given by the user; pages without any URL form one site for each of these."""
    path: str = ""
    """The path below `folder`, with forward slashes. Stands for the URL of a page that has none."""
    captured: str | None = None
    """When it was fetched, as ISO 8601, if known."""
    on_disk: bool = False
    """Whether it is a file in a folder tree: then, unless `url` is given, its directory is the file's, whatever the
    page says of its own address."""
    offset: int | None = None
    """Where its record begins in the archive, in bytes: that of its gzip member, if it is packed."""
