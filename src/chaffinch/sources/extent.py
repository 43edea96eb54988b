"""How much there is to read, and whether it is still what it was."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from xxhash import xxh3_128

from chaffinch.errors import InputError
from chaffinch.sources.folders import URL_LIST, Found, walk
from chaffinch.sources.kinds import may_be_read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STDIN: Final = "-"


@dataclass(frozen=True, slots=True)
class InputState:
    """What one input was made of at one time; two are equal if nothing in it seems to have changed."""

    path: str
    files: int
    bytes: int
    listing: str
    """A hash of the names, sizes and times of change of all files."""


def input_states(inputs: Sequence[str], leave_out: str | None = None) -> tuple[InputState, ...]:
    """Look at all inputs; files are not opened. What is not read, such as `leave_out` in a folder, does not count."""
    return tuple(_state_of(path, leave_out) for path in inputs)


def _state_of(path: str, leave_out: str | None) -> InputState:
    listing, files, size = xxh3_128(), 0, 0
    for name, status in _files(path, leave_out):
        listing.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogatepass"))
        files += 1
        size += status.st_size
    return InputState(path, files, size, listing.hexdigest())


def _files(path: str, leave_out: str | None) -> Iterator[tuple[str, os.stat_result]]:
    in_folder = os.path.isdir(path)  # noqa: PTH112 - paths stay as they were typed
    for found in walk(path, leave_out) if in_folder else [path]:
        if isinstance(found, InputError) or (isinstance(found, Found) and not _counts(found.below)):
            continue
        file = found.path if isinstance(found, Found) else found
        try:
            status = os.stat(file)  # noqa: PTH116
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode):
            yield file, status


def _counts(below: str) -> bool:
    return may_be_read(below) or below == URL_LIST
