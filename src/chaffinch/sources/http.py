"""What servers wrapped around a page: transfer and content codings."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from chaffinch.sources.kinds import looks_like_html
from chaffinch.sources.streams import salvage

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK_SIZE: Final = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_LARGEST: Final = 1 << 28
_STEP: Final = 1 << 16


class Body(NamedTuple):
    """A decoded body, and what was wrong with it."""

    data: bytes
    problem: str | None = None


def media_type(content_type: str | None) -> str:
    """Return the type of a Content-Type field in lower case, without its parameters."""
    return (content_type or "").partition(";")[0].partition(",")[0].strip().lower()


def charset_of(content_type: str | None) -> str | None:
    """Return the charset of a Content-Type field."""
    match = _CHARSET.search(content_type or "")
    return match[1] if match else None


def decode_body(data: bytes, transfer: str | None, content: str | None) -> Body:
    """Take off the codings that the header fields name.

    Crawlers often decode the body and leave the fields: a body that is not coded as the fields say stays as it is.
    """
    codings = [*_names(content), *_names(transfer)]
    problem = None
    for coding in reversed(codings):
        decode = _DECODERS.get(coding)
        if decode is None:
            continue
        decoded = decode(data)
        if decoded is None:
            continue
        data = decoded.data
        problem = problem or decoded.problem
    return Body(data, problem)


def _names(field: str | None) -> list[str]:
    return [name.strip().lower().removeprefix("x-") for name in (field or "").split(",")]


def _unchunk(data: bytes) -> Body | None:
    found = bytearray()
    at = 0
    while match := _CHUNK_SIZE.match(data, at):
        size = int(match[1], 16)
        if size == 0:
            return Body(bytes(found))
        end = match.end() + size
        found += data[match.end() : end]
        if end > len(data):
            return Body(bytes(found), "its last chunk is cut short")
        at = end + (2 if data[end : end + 2] == b"\r\n" else data[end : end + 1] == b"\n")
    if at == 0:
        return None
    found += data[at:]
    return Body(bytes(found), "its chunks do not end as they should")


def _inflate(data: bytes, wbits: int) -> Body | None:
    """Inflate in steps, so that all before any damage is had."""
    inflater = zlib.decompressobj(wbits=wbits)
    found = bytearray()
    at, given = 0, data[:_STEP]
    while given and not inflater.eof and len(found) < _LARGEST:
        before = inflater.copy()
        try:
            found += inflater.decompress(given, _STEP)
        except zlib.error:
            found += salvage(before, given)
            return Body(bytes(found), "its compressed body is damaged") if found else None
        if not (given := inflater.unconsumed_tail):
            at += _STEP
            given = data[at : at + _STEP]
    if inflater.eof:
        return Body(bytes(found))
    if len(found) >= _LARGEST:
        return Body(bytes(found), f"its body is larger than {_LARGEST} bytes")
    return Body(bytes(found), "its compressed body is cut short") if found or not data else None


def _gunzip(data: bytes) -> Body | None:
    return _inflate(data, 31) if data.startswith(b"\x1f\x8b") else None


def _deflate(data: bytes) -> Body | None:
    return None if looks_like_html(data) else _inflate(data, 15) or _inflate(data, -15)


def _arrow(codec: Literal["brotli", "zstd"]) -> Callable[[bytes], Body | None]:
    def decode(data: bytes) -> Body | None:
        import pyarrow as pa  # noqa: PLC0415  (Arrow is slow to import)

        found = bytearray()
        try:
            with pa.CompressedInputStream(pa.BufferReader(data), codec) as stream:
                while len(found) < _LARGEST and (more := stream.read(_STEP)):
                    found += more
        except (OSError, pa.ArrowException):
            return Body(bytes(found), "its compressed body is damaged or cut short") if found else None
        return Body(bytes(found))

    return decode


_DECODERS: Final[dict[str, Callable[[bytes], Body | None]]] = {
    "chunked": _unchunk,
    "gzip": _gunzip,
    "deflate": _deflate,
    "br": _arrow("brotli"),
    "zstd": _arrow("zstd"),
}
