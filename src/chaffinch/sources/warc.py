"""Pages in WARC files, plain or gzipped, and in WACZ packages."""

from __future__ import annotations

import re
import zipfile
import zlib
from io import BytesIO
from typing import IO, TYPE_CHECKING, Final

from fastwarc.warc import ArchiveIterator

from chaffinch.errors import InputError
from chaffinch.sources.capture import Capture
from chaffinch.sources.frames import Frame, frames
from chaffinch.sources.http import charset_of, decode_body, media_type
from chaffinch.sources.kinds import is_gzip, looks_like_html
from chaffinch.sources.options import well_formed
from chaffinch.sources.streams import Gunzip, Plain, reason_of
from chaffinch.sources.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastwarc.warc import WarcRecord

    from chaffinch.sources.options import SourceOptions
    from chaffinch.sources.streams import Stream

HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_STATUS: Final = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})(?![0-9])")
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n|\Z")
_FOLD: Final = re.compile(rb"\r?\n[ \t]+")
_HTTP_FIELDS: Final = (b"http/", b"content-type", b"content-encoding", b"transfer-encoding")
_LONGEST_FIELD: Final = 1 << 13  # FastWARC refuses records whose heads are long
_PAGES: Final = re.compile(rb"(?im)^warc-type[ \t]*:[ \t]*(?:response|resource)[ \t]*\r?$")
_RECORD_ID: Final = re.compile(rb"(?im)^warc-record-id[ \t]*:[ \t]*<?([^>\s]+)")


def read_warc(stream: Stream, path: str, options: SourceOptions) -> Iterator[Capture | InputError]:
    """Yield the pages of an archive, and an error for each damage."""
    while True:
        tape = Tape(stream)
        told = False
        for frame in frames(tape):
            name = f"{path}#{_name_of(frame)}"
            told = told or (frame.problem is not None and frame.problem == tape.damage)
            if not frame.head:
                yield InputError(name, frame.problem or "damaged")
                continue
            yield from _read_frame(frame, path, name, options)
        if tape.damage is not None and not told:
            yield InputError(path, tape.damage)
        if not stream.resume():
            return


def read_wacz(file: IO[bytes], path: str, options: SourceOptions) -> Iterator[Capture | InputError]:
    """Yield the pages of the archives in a package."""
    try:
        with zipfile.ZipFile(file) as package:
            names = sorted(
                name
                for name in package.namelist()
                if name.startswith("archive/") and name.lower().endswith((".warc", ".warc.gz"))
            )
            if not names:
                yield InputError(path, "this package holds no archive/*.warc.gz")
            for name in names:
                yield from _read_member(package, name, f"{path}/{name}", options)
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
        yield InputError(path, f"cannot be read as a WACZ package: {reason_of(error)}")


def _read_member(
    package: zipfile.ZipFile, name: str, path: str, options: SourceOptions
) -> Iterator[Capture | InputError]:
    try:
        member = package.open(name)
    except (OSError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        yield InputError(path, reason_of(error))
        return
    with member:
        stream: Stream = Plain(member)
        head = stream.read(2048)
        stream = Plain(member, head) if stream.damage is None else stream
        yield from read_warc(Gunzip(stream) if is_gzip(head) else stream, path, options)


def _name_of(frame: Frame) -> str:
    match = _RECORD_ID.search(frame.head)
    return match[1].decode("utf-8", "replace") if match else f"byte-{frame.offset}"


def _read_frame(frame: Frame, path: str, name: str, options: SourceOptions) -> Iterator[Capture | InputError]:
    """Yield the page of a record, if it is one, and what is wrong with the record."""
    problem = frame.problem
    status = _STATUS.match(frame.block)
    if _PAGES.search(frame.head) and (status is None or status[1].startswith(b"2")):
        try:
            page, trouble = _page_of(frame, path, name, options)
        except (OSError, ValueError, StopIteration) as error:
            page, trouble = None, f"the record cannot be parsed: {reason_of(error)}"
        problem = problem or trouble
        if page is not None:
            yield page
    if problem is not None:
        yield InputError(name, problem)


def _page_of(frame: Frame, path: str, name: str, options: SourceOptions) -> tuple[Capture | None, str | None]:
    """Return the page of a record, and what is wrong with its body.

    FastWARC reads the heads. Bodies do not pass through it, nor do lengths, which may be wrong.
    """
    is_http = _STATUS.match(frame.block) is not None
    block = frame.block
    http_head = b""
    if is_http and (end := _HEAD_END.search(block)):
        http_head, block = block[: end.start()], block[end.end() :]
    record = _parse(frame.head, http_head)
    fields = record.http_headers if is_http else record.headers
    content_type = fields.get("Content-Type")
    body, trouble = block, None
    if is_http:
        body, trouble = decode_body(block, fields.get("Transfer-Encoding"), fields.get("Content-Encoding"))
    if record.headers.get("WARC-Truncated") is not None:
        trouble = None  # the crawler itself says that it is not whole
    media = media_type(content_type)
    if media not in HTML_TYPES and not (media in {"", "application/http"} and looks_like_html(body)):
        return None, None
    if not body and frame.problem is not None:
        return None, None  # nothing of it is left
    record_id = name[len(path) + 1 :]
    url = well_formed((record.headers.get("WARC-Target-URI") or "").strip().removeprefix("<").removesuffix(">"))
    capture = Capture(
        source=name,
        body=body,
        url=url or options.url_of(record_id),
        http_charset=charset_of(content_type),
        folder=path,
        path=record_id,
        captured=record.headers.get("WARC-Date"),
        offset=frame.offset,
    )
    return capture, trouble


def _parse(head: bytes, http_head: bytes) -> WarcRecord:
    """Return the record of these two heads."""
    http = b"".join(line for line in _fields(http_head) if line.lower().startswith(_HTTP_FIELDS))
    replaced: tuple[bytes, ...] = (b"content-length",)
    added = b"Content-Length: %d\r\n" % (len(http) + 2 if http else 0)
    if http:
        http += b"\r\n"
        replaced += (b"content-type",)
        added += b"Content-Type: application/http; msgtype=response\r\n"
    kept = b"".join(line for line in _fields(head) if not line.lower().startswith(replaced))
    block = BytesIO(kept + added + b"\r\n" + http + b"\r\n\r\n")
    record = next(iter(ArchiveIterator(block, parse_http=False)))
    if http:
        record.parse_http()
    return record


def _fields(head: bytes) -> list[bytes]:
    """Return the lines of a head, each with its folded parts and CRLF, without those that are very long."""
    lines = _FOLD.sub(b" ", head.strip()).splitlines()
    return [line.strip() + b"\r\n" for line in lines if len(line) < _LONGEST_FIELD]
