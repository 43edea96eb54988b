"""From what a user names to captures."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO
from typing import IO, TYPE_CHECKING, Final, Literal

from chaffinch.errors import InputError
from chaffinch.sources.capture import LONGEST_PAGE, TOO_LONG, Capture
from chaffinch.sources.folders import walk
from chaffinch.sources.jsonl import read_jsonl
from chaffinch.sources.kinds import HEAD, Kind, is_gzip, kind_by_content, kind_by_name, not_html
from chaffinch.sources.options import SourceOptions
from chaffinch.sources.places import STDIN, Place, list_places, open_place, size_of
from chaffinch.sources.remote import is_remote
from chaffinch.sources.streams import CHUNK, Gunzip, Plain, reason_of
from chaffinch.sources.warc import read_wacz, read_warc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chaffinch.sources.streams import Stream

_DEFAULTS: Final = SourceOptions()
_RAW_HEAD: Final = 1 << 14  # enough compressed bytes to see the head of what is in them


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is to read, for a line of progress."""

    unit: Literal["pages", "bytes"]
    total: int


def open_inputs(inputs: Sequence[str], options: SourceOptions = _DEFAULTS) -> Iterator[Capture | InputError]:
    """Yield the pages of all inputs, and an error for each thing that cannot be read.

    Inputs are folders, files, or `-` for standard input. One page at a time is held.
    """
    for place in list_places(inputs, options):
        if isinstance(place, InputError):
            yield place
        else:
            yield from read_place(place, options)


def read_place(place: Place, options: SourceOptions) -> Iterator[Capture | InputError]:
    """Yield the pages of one file."""
    try:
        file = open_place(place)  # closed below; a generator's own faults are not caught
    except (OSError, ValueError) as error:
        yield InputError(place.path, reason_of(error))
        return
    if place.path == STDIN:
        yield from _read_open(file, place, options)
        return
    with file:
        yield from _read_open(file, place, options)


def estimate_total(inputs: Sequence[str], leave_out: str | None = None) -> Extent:
    """Return the number of pages if all inputs are HTML files, or else of bytes; nothing is opened, here or remote."""
    pages = total = 0
    only_pages = True
    for path in inputs:
        if is_remote(path) or kind_by_name(path) is Kind.PATHS:
            only_pages = False
            continue
        in_folder = os.path.isdir(path)  # noqa: PTH112
        for found in walk(path, leave_out) if in_folder else [path]:
            if isinstance(found, InputError):
                continue
            file = found if isinstance(found, str) else found.path
            kind = kind_by_name(file)
            if in_folder and kind in {None, Kind.PATHS}:
                continue
            pages += 1
            only_pages = only_pages and kind in {Kind.HTML, None} and path != STDIN
            total += size_of(file)
    return Extent("pages", pages) if only_pages else Extent("bytes", total)


def _read_open(file: IO[bytes], place: Place, options: SourceOptions) -> Iterator[Capture | InputError]:
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
        yield from read_wacz(file, place.path, options)
    elif kind is Kind.PARQUET:
        from chaffinch.sources.parquet import read_parquet  # noqa: PLC0415  (Arrow is slow to import)

        yield from read_parquet(file, place.path, options)


def _kind_of(place: Place, shown: bytes) -> Kind | None:
    """Return what a file is read as; None if a folder has it by the way."""
    kind = None if place.path == STDIN else kind_by_name(place.below)
    if kind is not None:
        return kind
    kind = kind_by_content(shown)
    if place.named:
        return kind or Kind.HTML
    return kind if kind in {Kind.HTML, Kind.WARC, Kind.PARQUET} else None


def _read_page(stream: Stream, place: Place, options: SourceOptions) -> Iterator[Capture | InputError]:
    parts = []
    size = 0
    while data := stream.read(CHUNK):
        parts.append(data)
        size += len(data)
        if size > LONGEST_PAGE:
            yield InputError(place.path, TOO_LONG)
            return
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
