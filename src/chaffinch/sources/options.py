"""What a user may say about how inputs are read, and the URL that follows from it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from chaffinch.errors import UsageError
from chaffinch.sites import is_web_url

_SAFE: Final = "/~!$&'()*+,;=:@"


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The names of columns in tables, and what paths are relative to."""

    url_column: str = "url"
    html_column: str = "html"
    base_url: str | None = None
    leave_out: str | None = None
    """A file or folder that is not read where it lies in a folder that is: what the run itself writes."""
    paths_base: str | None = None
    """What the files of a list of paths stand below; by default a folder above the list."""

    def __post_init__(self) -> None:
        """Refuse a base that would give no page a URL."""
        if self.base_url is not None and not is_web_url(self.base_url):
            raise UsageError(f"the base URL is one that starts with http:// or https://, not {self.base_url!r}")

    def url_of(self, path: str) -> str | None:
        """Return the URL that `base_url` gives to the page at `path`, if there is a base."""
        if self.base_url is None:
            return None
        base = self.base_url if self.base_url.endswith("/") else f"{self.base_url}/"
        return base + quote(os.fsencode(well_formed(path, keep_bytes=True)), safe=_SAFE)


def well_formed(text: str, *, keep_bytes: bool = False) -> str:
    """Return `text` with lone surrogates replaced; `keep_bytes` spares those that stand for a file name's bytes."""
    try:
        text.encode("utf-8", "surrogateescape" if keep_bytes else "strict")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
