"""What kind of input a file is: by its name, or by its first bytes where the name says nothing."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

HEAD: Final = 1024
"""How many bytes at the start of a file are looked at."""


class Kind(Enum):
    """The kinds of input. A gzip layer is no kind of its own; it is seen in the bytes."""

    HTML = "HTML"
    WARC = "WARC"
    WACZ = "WACZ"
    JSONL = "JSON Lines"
    PARQUET = "Parquet"
    PATHS = "a list of paths"


_BY_NAME: Final = (
    # Mirroring tools append the query, or a number, to the extension: `view.php?id=3`, `index.html.1`.
    (re.compile(r"\.(?:[xs]?html?|php[3-8]?|aspx?|jspx?|cfm)(?:\.\d+|[?@].*)?(?:\.gz)?", re.DOTALL), Kind.HTML),
    (re.compile(r"\.warc(?:\.gz)?"), Kind.WARC),
    (re.compile(r"\.wacz"), Kind.WACZ),
    (re.compile(r"\.(?:jsonl|ndjson)(?:\.gz)?"), Kind.JSONL),
    (re.compile(r"\.parquet"), Kind.PARQUET),
    (re.compile(r"\.paths(?:\.gz)?"), Kind.PATHS),
)
_EXTENSION: Final = re.compile(r"\.[a-z][a-z0-9]{0,7}")
_GZIP: Final = b"\x1f\x8b\x08"
_TAG: Final = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|div|p|table|h[1-6]|a|ul|br|span|center|font)"
    rb"[\s>/]",
    re.IGNORECASE,
)
_BINARY: Final = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "a ZIP archive"),
    (_GZIP, "gzip data"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data"),
    (b"BZh91AY", "bzip2 data"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file"),
    (b"\x7fELF", "a program"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"OggS", "an Ogg file"),
    (b"ID3", "an MP3 file"),
)
_WIDE_MARKS: Final = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


def kind_by_name(name: str) -> Kind | None:
    """Return the kind that a file's name tells, or None if it tells no kind that is read."""
    name = name.lower()
    for pattern, kind in _BY_NAME:
        for match in pattern.finditer(name):
            if match.end() == len(name):
                return kind
    return None


def may_be_read(path: str) -> bool:
    """Tell whether a file in a folder is read or at least looked into: unless it has an extension such as `.css`."""
    stem, dot, extension = path.rpartition("/")[2].lower().rpartition(".")
    return kind_by_name(path) is not None or stem == "" or _EXTENSION.fullmatch(dot + extension) is None


def is_gzip(head: bytes) -> bool:
    """Tell whether the bytes start as gzip does."""
    return head.startswith(_GZIP)


def kind_by_content(head: bytes) -> Kind | None:
    """Return the kind that a file's first bytes tell, after any gzip layer; HTML only if it has a tag of it."""
    if head.startswith(b"WARC/"):
        return Kind.WARC
    if head.startswith(b"PAR1"):
        return Kind.PARQUET
    if head.startswith(b"PK\x03\x04"):
        return Kind.WACZ
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return Kind.JSONL
    return Kind.HTML if looks_like_html(head) else None


def looks_like_html(body: bytes) -> bool:
    """Tell whether there is an HTML tag near the start."""
    head = body[:HEAD]
    if _is_wide(head):
        head = head.replace(b"\x00", b"")
    return not_html(body) is None and _TAG.search(head) is not None


def not_html(body: bytes) -> str | None:
    """Return what the bytes look like if they cannot be HTML in any encoding, or None."""
    head = body[:HEAD]
    for magic, name in _BINARY:
        if head.startswith(magic):
            return name
    # A page may have a NUL by accident, which HTML's rules provide for; what has no tag either is no page.
    if b"\x00" in head and not _is_wide(head) and _TAG.search(head) is None:
        return "binary data"
    return None


def _is_wide(head: bytes) -> bool:
    """Tell whether the bytes look like UTF-16 or UTF-32: by a mark, or by NUL at every other place."""
    if head.startswith(_WIDE_MARKS):
        return True
    half = len(head) // 2
    evens, odds = head[0::2].count(0), head[1::2].count(0)
    return half > 1 and (evens > 0.8 * half or odds > 0.8 * half)  # Latin text; other scripts carry a mark
