"""How much there is to read, and whether it is still what it was."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from xxhash import xxh3_128

from chaffinch.errors import InputError
from chaffinch.sources.folders import URL_LIST, Found, walk
from chaffinch.sources.kinds import Kind, kind_by_name, may_be_read
from chaffinch.sources.options import SourceOptions
from chaffinch.sources.places import listed_places
from chaffinch.sources.remote import is_remote, is_remote_folder, list_remote, remote_state

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DEFAULTS: Final = SourceOptions()


@dataclass(frozen=True, slots=True)
class InputState:
    """What one input was made of at one time; two are equal if nothing in it seems to have changed."""

    path: str
    files: int
    bytes: int
    listing: str
    """A hash of the names, sizes and times of change of all files."""


def input_states(inputs: Sequence[str], options: SourceOptions = _DEFAULTS) -> tuple[InputState, ...]:
    """Look at all inputs; files are not opened, but for lists of paths.

    What is not read, such as `options.leave_out` in a folder, does not count.
    """
    return tuple(_state_of(path, options) for path in inputs)


def _state_of(path: str, options: SourceOptions) -> InputState:
    listing, files, size = xxh3_128(), 0, 0
    for name, bytes_of, mark in _files(path, options):
        listing.update(f"{name}\0{bytes_of}\0{mark}\n".encode("utf-8", "surrogatepass"))
        files += 1
        size += bytes_of
    return InputState(path, files, size, listing.hexdigest())


def _files(path: str, options: SourceOptions) -> Iterator[tuple[str, int, str]]:
    """Yield the name and size of each file, and a mark that changes when the file does."""
    if is_remote(path):
        yield from _remote_files(path)
    elif kind_by_name(path) is Kind.PATHS and not os.path.isdir(path):  # noqa: PTH112
        yield from _local_files(path, options)
        for place in listed_places(path, options):
            # To ask for each of many remote files would take as long as a good part of the run.
            if not isinstance(place, InputError) and not is_remote(place.path):
                yield from _local_files(place.path, options)
    else:
        yield from _local_files(path, options)


def _remote_files(path: str) -> Iterator[tuple[str, int, str]]:
    with suppress(OSError):
        if is_remote_folder(path):
            yield from ((file, int(mark.partition(" ")[0]), mark) for file, _, mark in list_remote(path))
        else:
            yield (path, *remote_state(path))


def _local_files(path: str, options: SourceOptions) -> Iterator[tuple[str, int, str]]:
    in_folder = os.path.isdir(path)  # noqa: PTH112 - paths stay as they were typed
    for found in walk(path, options.leave_out) if in_folder else [path]:
        if isinstance(found, InputError) or (isinstance(found, Found) and not _counts(found.below)):
            continue
        file = found.path if isinstance(found, Found) else found
        try:
            status = os.stat(file)  # noqa: PTH116
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode):
            yield file, status.st_size, str(status.st_mtime_ns)


def _counts(below: str) -> bool:
    return may_be_read(below) or below == URL_LIST
