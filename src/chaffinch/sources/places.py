"""From what a user names to the files that are read: those of folders, and those that a list of paths names."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

from chaffinch.errors import InputError
from chaffinch.sources.folders import URL_LIST, read_url_lines, read_url_list, walk
from chaffinch.sources.kinds import Kind, is_gzip, kind_by_name, may_be_read
from chaffinch.sources.options import SourceOptions
from chaffinch.sources.remote import is_remote, is_remote_folder, list_remote, open_remote
from chaffinch.sources.streams import CHUNK, Gunzip, Plain, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chaffinch.sources.streams import Stream

STDIN: Final = "-"
_DEFAULTS: Final = SourceOptions()


@dataclass(frozen=True, slots=True)
class Place:
    """A file that is read: the path as given, and what a page in it (as against an archive) is called."""

    path: str
    folder: str
    below: str
    url: str | None = None
    named: bool = True
    """Whether the user named it, rather than a folder with it."""
    at: str | None = None
    """Where it is found, if the path as given is relative to another working folder than that of the process."""


def list_places(inputs: Sequence[str], options: SourceOptions = _DEFAULTS) -> Iterator[Place | InputError]:
    """Yield the files of all inputs in the order in which they are read; no file is opened but lists of others."""
    for path in inputs:
        if path == STDIN:
            yield Place(path, path, path)
        elif is_remote(path):
            yield from _remote_places(path, options)
        elif os.path.isdir(path):  # noqa: PTH112 - paths stay as they were typed
            yield from _folder_places(path, options)
        elif kind_by_name(path) is Kind.PATHS:
            yield from listed_places(path, options)
        else:
            yield _named(path)


def open_place(place: Place) -> IO[bytes]:
    """Open a file for reading, or raise `OSError` or `ValueError`."""
    if place.path == STDIN:
        return sys.stdin.buffer
    path = place.at or place.path
    return open_remote(path) if is_remote(path) else open(path, "rb")  # noqa: PTH123


def listed_places(path: str, options: SourceOptions = _DEFAULTS) -> Iterator[Place | InputError]:
    """Yield the files that a list names, one on each line, as Common Crawl lays them out.

    They are relative to `options.paths_base`, or else to the nearest folder above the list that holds the first.
    """
    base = options.paths_base
    try:
        with open_place(_named(path)) as file:
            for line in _lines(file):
                name = line.decode("utf-8", "surrogateescape").strip()
                if not name or name.startswith("#"):
                    continue
                if base is None:
                    base = _base_of(path, name)
                whole = name if is_remote(name) or os.path.isabs(name) else f"{base.rstrip('/')}/{name}"  # noqa: PTH117
                yield _named(whole)
    except (OSError, ValueError) as error:
        yield InputError(path, reason_of(error))


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a list, packed or not; damage raises `ValueError`."""
    head = file.read(CHUNK)
    stream: Stream = Plain(file, head)
    stream = Gunzip(stream) if is_gzip(head) else stream
    begun = b""
    while data := stream.read(CHUNK):
        *lines, begun = (begun + data).split(b"\n")
        yield from lines
    yield begun
    if stream.damage is not None:
        raise ValueError(stream.damage)


def _base_of(path: str, name: str) -> str:
    above = os.path.dirname(path) or "."  # noqa: PTH120
    if is_remote(path):
        return above
    folder = os.path.abspath(above)  # noqa: PTH100
    while not os.path.exists(os.path.join(folder, name)):  # noqa: PTH110, PTH118
        parent = os.path.dirname(folder)  # noqa: PTH120
        if parent == folder:
            return above
        folder = parent
    return os.path.relpath(folder)


def _named(path: str) -> Place:
    folder, name = os.path.split(path)
    return Place(path, folder or ".", name)


def _folder_places(folder: str, options: SourceOptions) -> Iterator[Place | InputError]:
    name = folder.rstrip("/") or folder
    urls, errors = read_url_list(folder)
    yield from errors
    for found in walk(folder, options.leave_out):
        if isinstance(found, InputError):
            yield found
        elif _is_read(found.below):
            yield Place(found.path, name, found.below, urls.get(found.below), named=False)


def _remote_places(path: str, options: SourceOptions) -> Iterator[Place | InputError]:
    if kind_by_name(path) is Kind.PATHS:
        yield from listed_places(path, options)
        return
    urls: dict[str, str] = {}
    try:
        if not is_remote_folder(path):
            yield _named(path)
            return
        files = list_remote(path)
        for file, below, _ in files:
            if below == URL_LIST:
                with open_remote(file) as lines:
                    urls, errors = read_url_lines(file, lines)
                yield from errors
    except OSError as error:
        yield InputError(path, reason_of(error))
        return
    for file, below, _ in files:
        if _is_read(below):
            yield Place(file, path.rstrip("/"), below, urls.get(below), named=False)


def _is_read(below: str) -> bool:
    """Tell whether a file in a folder may hold pages. A list of paths is read only if it is named itself."""
    return below != URL_LIST and may_be_read(below) and kind_by_name(below) is not Kind.PATHS


def size_of(path: str) -> int:
    """Return the size of a file of this machine, 0 if it is none."""
    with suppress(OSError, ValueError):
        if os.path.isfile(path):  # noqa: PTH113
            return os.path.getsize(path)  # noqa: PTH202
    return 0
