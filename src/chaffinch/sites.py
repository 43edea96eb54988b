"""From a URL to the site, the directory and the name of a page."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

_HOST: Final = re.compile(r"[^\s/?#\\]+")


class Place(NamedTuple):
    """Where a page belongs: pages of one site share templates, pages of one directory most of all."""

    site: str
    directory: str
    name: str


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList(accept_unknown=True)


def is_web_url(url: str) -> bool:
    """Tell whether `url` is absolute and names a host."""
    return host_of(url) != ""


def host_of(url: str) -> str:
    """Return the host of an http(s) URL in lower case, without port and user; "" for anything else."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:  # such as an open bracket of an IPv6 address
        return ""
    return host.rstrip(".") if parts.scheme in {"http", "https"} and _HOST.fullmatch(host) else ""


@lru_cache(maxsize=1 << 16)
def site_of_host(host: str) -> str:
    """Return the registrable domain of `host`, or the host itself where there is none (an address, `localhost`)."""
    if host.replace(".", "").isdigit() or ":" in host:
        return host
    return _suffixes().privatesuffix(host) or host


def place_of_url(url: str) -> Place:
    """Return site, directory and name of a page by its absolute http(s) URL.

    The name is all that follows the last slash of the path, the query included: pages of old sites differ in nothing
    else. A slash at the end belongs to the name, so that `/a/` and `/b/` are pages of one directory.
    """
    host = host_of(url)
    parts = urlsplit(url)
    path = parts.path or "/"
    cut = path.rstrip("/").rfind("/") + 1 if len(path) > 1 else 1
    name = f"{path[cut:]}?{parts.query}" if parts.query else path[cut:]
    return Place(site_of_host(host), f"{host}{path[:cut]}", name)
