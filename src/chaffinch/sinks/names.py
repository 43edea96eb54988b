"""File names for documents: safe on every file system, and never the same for two documents.

A name that says all of the URL stands as it is. One that had to change (a query, a capital letter, a character that
some system refuses, a length that none takes) gets a hash of the URL and source, always, so it does not depend on what
else is in the run.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from chaffinch.sinks.base import well_formed

if TYPE_CHECKING:
    from chaffinch.document.document import Document
    from chaffinch.render.formats import Format

EXTENSIONS: Final[dict[Format, str]] = {"text": ".txt", "markdown": ".md", "html": ".html", "json": ".json"}
_LONGEST_PART: Final = 200
_LONGEST_PATH: Final = 900
_HASH_ROOM: Final = 20  # for `~`, the hash, a number after it, and the longest extension
_REFUSED: Final = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\\/\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]')
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(?:\..*)?", re.IGNORECASE)


class Name(NamedTuple):
    """A path below the output folder, in parts; the last one without its extension."""

    folders: tuple[str, ...]
    stem: str
    extension: str
    exact: bool
    """Whether the name says all there is to say."""
    identity: str

    def path(self, tries: int) -> str:
        """Return the path to use after so many others were taken."""
        if self.exact and tries == 0:
            suffix = ""
        else:
            number = tries - 1 if self.exact else tries
            digest = hashlib.sha256(self.identity.encode()).hexdigest()[:8]
            suffix = f"~{digest}-{number + 1}" if number else f"~{digest}"
        return "/".join((*self.folders, self.stem + suffix + self.extension))


def name_of(document: Document, format: Format) -> Name:  # noqa: A002 - as the option is called
    """Return the name that a document has by its URL, or else by its place in the input."""
    extension = EXTENSIONS[format]
    site, url, source = well_formed(document.site), well_formed(document.url or ""), well_formed(document.source)
    exact = True
    if url:
        raw, exact = _path_of(url)
    else:
        raw = _below(source, site)
    folders = [_clean(part) for part in site.split("/") if part not in {"", ".", ".."}]
    folders = folders or ["_"]
    parts = raw.removeprefix("/").split("/")
    last = parts.pop() or "index"
    last = last.removesuffix(extension) or last
    for part in parts:
        cleaned = _clean(part) if part not in {"", ".", ".."} else "_"
        exact = exact and cleaned == part
        folders.append(cleaned)
    stem = _clean(last, room=_HASH_ROOM, folder=False)
    exact = exact and stem == last and _is_folded("/".join((*parts, last)))
    shortened = _shorten(folders, _LONGEST_PATH - len(stem.encode()) - _HASH_ROOM)
    exact = exact and len(shortened) == len(folders)
    return Name(tuple(shortened), stem, extension, exact, f"{url}\n{source}")


def _path_of(url: str) -> tuple[str, bool]:
    """Return the path of a URL, with its query, as text; and whether that is as good as the URL."""
    try:
        parts = urlsplit(url)
    except ValueError:  # such as an open bracket of an IPv6 address
        return url, False
    path = unquote(parts.path, errors="replace")
    exact = path == parts.path and not parts.query and not parts.fragment and "?" not in url and "#" not in url
    if parts.query:
        path = f"{path}index" if path.endswith("/") or not path else path
        path += "_" + unquote(parts.query, errors="replace").replace("/", "_")
    return path, exact


def _below(source: str, site: str) -> str:
    """Return the path of a file below the folder, or of a record in the archive, that is its site."""
    folder = site.rstrip("/")
    for mark in "/#":
        if source.startswith(folder + mark) and len(source) > len(folder) + 1:
            return source[len(folder) + 1 :]
    return source.rpartition("/")[2]


def _is_folded(text: str) -> bool:
    """Tell whether no other text is the same to a file system that minds neither case nor composition."""
    return unicodedata.normalize("NFKC", text.casefold()) == text


def _clean(part: str, *, room: int = 1, folder: bool = True) -> str:
    """Return one part of a path as any file system takes it."""
    cleaned = _REFUSED.sub("_", unicodedata.normalize("NFC", part))
    cleaned = cleaned.encode()[: _LONGEST_PART - room].decode("utf-8", "ignore").strip(" ").rstrip(". ")
    if cleaned.startswith(".") or _DEVICES.fullmatch(cleaned):
        cleaned = f"_{cleaned.lstrip('.')}"
    if folder and cleaned.lower().endswith(tuple(EXTENSIONS.values())):
        cleaned += "_"  # files have these endings, so no folder is in the way of a file
    return cleaned or "_"


def _shorten(folders: list[str], room: int) -> list[str]:
    """Return as many of the first folders as there is room for."""
    kept = []
    for folder in folders:
        room -= len(folder.encode()) + 1
        if room < 0:
            break
        kept.append(folder)
    return kept
