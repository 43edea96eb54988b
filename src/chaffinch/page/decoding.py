"""From bytes to text, as browsers decide it."""

from __future__ import annotations

import codecs
from typing import Final, NamedTuple

from turbohtml.detect import detect  # importing it also registers the `whatwg-*` codecs

_FALLBACK: Final = "whatwg-utf-8"


class Decoded(NamedTuple):
    """Text, and the name of the encoding that it was read with."""

    text: str
    encoding: str


def decode(body: bytes, http_charset: str | None = None) -> Decoded:
    """Decode a page: by byte-order mark, HTTP charset, `<meta>`, or the bytes' statistics, in this order.

    Malformed bytes become U+FFFD; no input raises. A charset that nobody knows is passed over.
    """
    found = detect(body)
    codec = found.codec or _FALLBACK
    if not found.bom and http_charset and (named := _codec_of(http_charset)):
        codec = named
    # Python's own decoder gives the same in half of the time.
    text = body.decode("utf-8", "replace") if codec == _FALLBACK else body.decode(codec)
    return Decoded(text.removeprefix("\ufeff"), codec.removeprefix("whatwg-"))


def _codec_of(label: str) -> str | None:
    """Return the codec of a charset's label, or None if the standard does not know the label."""
    name = label.strip().strip("\"'").lower()
    if not name.isascii() or not name.isprintable() or name == "replacement":
        return None
    try:
        codecs.lookup(f"whatwg-{name}")
    except (LookupError, ValueError):
        return None
    return f"whatwg-{name}"


def without_surrogates(text: str) -> str:
    """Return `text` with lone surrogates, which no encoding can carry, replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
