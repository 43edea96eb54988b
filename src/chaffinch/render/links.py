"""Addresses in links and images."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import urljoin

_UNSEEN: Final = re.compile(r"[\x00-\x20\x7f-\x9f\u200b\ufeff]+")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:")
_REFUSED: Final = {"javascript:", "vbscript:", "data:", "blob:", "about:", "file:"}
"""Schemes that run code, or mean nothing on another machine."""
_WEB: Final = {"http:", "https:"}
_PLAIN: Final = re.compile(r"https?://[!-~]+\Z")
"""Most addresses on most pages: there is nothing to do."""
_ROOTED: Final = re.compile(r"/(?![/.\\])(?!.*/\.)", re.DOTALL)
"""Addresses on the same host without steps up and down."""
_LINE_BREAKS: Final = str.maketrans("", "", "\t\n\r\f\x00")


def clean_url(base: str | None, value: str | None, *, fragments_stay: bool = False) -> str | None:
    """Return an address as others can use it, absolute if the page's own is known; None if there is nothing to use.

    With `fragments_stay`, addresses inside the page are left as they are.
    """
    if not value or _PLAIN.match(value):
        return value or None
    url = value.translate(_LINE_BREAKS).strip()
    bare = _UNSEEN.sub("", url[:200]).lower()
    scheme = _SCHEME.match(bare)
    if not bare or bare == "#" or (scheme and scheme[0] in _REFUSED):
        return None
    if base is None or (scheme and scheme[0] in _WEB) or (fragments_stay and url.startswith("#")):
        return url
    try:
        return _origin(base) + url if _ROOTED.match(url) else urljoin(base, url)
    except ValueError:
        return url


@lru_cache(maxsize=64)
def _origin(base: str) -> str:
    """Return the start of an address, up to its path."""
    return urljoin(base, "/").removesuffix("/")
