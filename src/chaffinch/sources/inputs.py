"""From what a user names to captures."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from io import BytesIO
from typing import IO, TYPE_CHECKING, Final, Literal

from chaffinch.errors import InputError
from chaffinch.sources.capture import Capture
from chaffinch.sources.folders import URL_LIST, read_url_list, walk
from chaffinch.sources.jsonl import read_jsonl
from chaffinch.sources.kinds import HEAD, Kind, is_gzip, kind_by_content, kind_by_name, may_be_read, not_html
from chaffinch.sources.options import SourceOptions
from chaffinch.sources.streams import CHUNK, Gunzip, Plain, reason_of
from chaffinch.sources.warc import read_wacz, read_warc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chaffinch.sources.streams import Stream

STDIN: Final = "-"
_DEFAULTS: Final = SourceOptions()
_RAW_HEAD: Final = 1 << 14  # enough compressed bytes to see the head of what is in them


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is to read, for a line of progress."""

    unit: Literal["pages", "bytes"]
    total: int


@dataclass(frozen=True, slots=True)
class _Place:
    """A file that is read: the path as given, and what a page in it (as against an archive) is called."""

    path: str
    folder: str
    below: str
    url: str | None = None
    named: bool = True
    """Whether the user named it, rather than a folder with it."""


def open_inputs(inputs: Sequence[str], options: SourceOptions = _DEFAULTS) -> Iterator[Capture | InputError]:
    """Yield the pages of all inputs, and an error for each thing that cannot be read.

    Inputs are folders, files, or `-` for standard input. One page at a time is held.
    """
    for path in inputs:
        if path == STDIN:
            yield from _read_open(sys.stdin.buffer, _Place(path, path, path), options)
        elif os.path.isdir(path):  # noqa: PTH112 - paths stay as they were typed
            yield from _read_folder(path, options)
        else:
            folder, name = os.path.split(path)
            yield from _read_path(_Place(path, folder or ".", name), options)


def estimate_total(inputs: Sequence[str], leave_out: str | None = None) -> Extent:
    """Return the number of pages if all inputs are HTML files, or else of bytes; files are not opened."""
    pages = total = 0
    only_pages = True
    for path in inputs:
        in_folder = os.path.isdir(path)  # noqa: PTH112
        for found in walk(path, leave_out) if in_folder else [path]:
            if isinstance(found, InputError):
                continue
            file = found if isinstance(found, str) else found.path
            kind = kind_by_name(file)
            if in_folder and kind is None:
                continue
            pages += 1
            only_pages = only_pages and kind in {Kind.HTML, None} and path != STDIN
            total += _size_of(file)
    return Extent("pages", pages) if only_pages else Extent("bytes", total)


def _size_of(path: str) -> int:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _read_folder(folder: str, options: SourceOptions) -> Iterator[Capture | InputError]:
    name = folder.rstrip("/") or folder
    urls, errors = read_url_list(folder)
    yield from errors
    for found in walk(folder, options.leave_out):
        if isinstance(found, InputError):
            yield found
        elif found.below != URL_LIST and may_be_read(found.below):
            yield from _read_path(_Place(found.path, name, found.below, urls.get(found.below), named=False), options)


def _read_path(place: _Place, options: SourceOptions) -> Iterator[Capture | InputError]:
    try:
        file = open(place.path, "rb")  # noqa: PTH123, SIM115 - closed below; a generator's own faults are not caught
    except (OSError, ValueError) as error:
        yield InputError(place.path, reason_of(error))
        return
    with file:
        yield from _read_open(file, place, options)


def _read_open(file: IO[bytes], place: _Place, options: SourceOptions) -> Iterator[Capture | InputError]:
    raw = Plain(file)
    head = _read_up_to(raw, _RAW_HEAD)
    if raw.damage is not None and not head:
        yield InputError(place.path, raw.damage)
        return
    zipped = is_gzip(head)
    stream: Stream = Plain(file, head)
    if zipped:
        shown = _read_up_to(Gunzip(Plain(BytesIO(head))), HEAD)
        stream = Gunzip(stream)
    else:
        shown = head
    kind = _kind_of(place, shown)
    if kind is Kind.HTML:
        yield from _read_page(stream, place, options)
    elif kind is Kind.WARC:
        yield from read_warc(stream, place.path, options)
    elif kind is Kind.JSONL:
        yield from read_jsonl(stream, place.path, options)
    elif kind is not None and (place.path == STDIN or zipped or not file.seekable()):
        yield InputError(place.path, f"{kind.value} cannot be read from a pipe or out of gzip; give the file itself")
    elif kind is Kind.WACZ:
        yield from read_wacz(place.path, options)
    elif kind is Kind.PARQUET:
        from chaffinch.sources.parquet import read_parquet  # noqa: PLC0415  (Arrow is slow to import)

        yield from read_parquet(place.path, options)


def _kind_of(place: _Place, shown: bytes) -> Kind | None:
    """Return what a file is read as; None if a folder has it by the way."""
    kind = None if place.path == STDIN else kind_by_name(place.below)
    if kind is not None:
        return kind
    kind = kind_by_content(shown)
    if place.named:
        return kind or Kind.HTML
    return kind if kind in {Kind.HTML, Kind.WARC, Kind.PARQUET} else None


def _read_page(stream: Stream, place: _Place, options: SourceOptions) -> Iterator[Capture | InputError]:
    parts = []
    while data := stream.read(CHUNK):
        parts.append(data)
    body = b"".join(parts)
    if what := not_html(body):
        yield InputError(place.path, f"not HTML: looks like {what}")
        return
    if body or stream.damage is None:
        yield Capture(
            source=place.path,
            body=body,
            url=place.url or (options.base_url if place.path == STDIN else options.url_of(place.below)),
            folder=place.folder,
            path=place.below,
            on_disk=place.path != STDIN,
        )
    if stream.damage is not None:
        yield InputError(place.path, stream.damage)


def _read_up_to(stream: Stream, size: int) -> bytes:
    found = b""
    while len(found) < size and (more := stream.read(size - len(found))):
        found += more
    return found
