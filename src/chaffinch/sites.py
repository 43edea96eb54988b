"""From a URL to the site, the directory and the name of a page."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias, get_args
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

SiteBy: TypeAlias = Literal["domain", "host", "prefix"]
"""What makes a site: a registrable domain, a host, or a host and the first folder of the path."""

SITE_CHOICES: Final[tuple[SiteBy, ...]] = get_args(SiteBy)

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


def place_of_url(url: str, site_by: SiteBy = "domain") -> Place:
    """Return site, directory and name of a page by its absolute http(s) URL.

    The name is all that follows the last slash of the path, the query included: pages of old sites differ in nothing
    else. A slash at the end belongs to the name, so that `/a/` and `/b/` are pages of one directory.
    """
    host = host_of(url)
    parts = urlsplit(url)
    path = parts.path or "/"
    cut = path.rstrip("/").rfind("/") + 1 if len(path) > 1 else 1
    name = f"{path[cut:]}?{parts.query}" if parts.query else path[cut:]
    site = site_of_host(host) if site_by == "domain" else host if site_by == "host" else _prefix(host, path)
    return Place(site, f"{host}{path[:cut]}", name)


def place_of_file(folder: str, path: str) -> tuple[str, str]:
    """Return directory and name of a page that no container gives a URL: those of the file below a given folder."""
    below, _, name = path.rpartition("/")
    return (f"{folder}/{below}/" if below else f"{folder}/"), name


def _prefix(host: str, path: str) -> str:
    """Return the host and the first folder of the path; what no slash follows is a page, not a folder."""
    folder, slash, _ = path.removeprefix("/").partition("/")
    return f"{host}/{folder}" if folder and slash else host
