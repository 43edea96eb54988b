"""Walking folders in an order that is the same on every machine."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from chaffinch.errors import InputError
from chaffinch.sources.streams import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

URL_LIST = "urls.tsv"
_BOM = "\ufeff"


class Found(NamedTuple):
    """A regular file in a folder: its path, and its path below the folder with forward slashes."""

    path: str
    below: str


def walk(folder: str, leave_out: str | None = None) -> Iterator[Found | InputError]:
    """Yield the regular files below `folder`, by the parts of their paths.

    Hidden ones are passed over, and so is the file or folder at the path `leave_out`.

    A link to a folder is followed if it leads out of the tree, so nothing is read twice and no loop has no end.
    """
    try:
        top = os.stat(folder)  # noqa: PTH116 - paths stay as they were typed
    except OSError as error:
        yield InputError(folder, reason_of(error))
        return
    seen = {(top.st_dev, top.st_ino)}
    yield from _walk(folder, "", seen, os.path.realpath(folder), _identity_of(leave_out))


def _identity_of(path: str | None) -> tuple[int, int] | None:
    """Return what a file or folder is known by under any name, if it exists."""
    try:
        status = os.stat(path) if path is not None else None  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if status else None


def _walk(
    folder: str, below: str, seen: set[tuple[int, int]], top: str, leave_out: tuple[int, int] | None
) -> Iterator[Found | InputError]:
    try:
        with os.scandir(folder) as entries:
            names = sorted((entry.name for entry in entries if not entry.name.startswith(".")), key=os.fsencode)
    except OSError as error:
        yield InputError(folder, reason_of(error))
        return
    for name in names:
        path = os.path.join(folder, name)  # noqa: PTH118
        place = f"{below}{name}"
        try:
            status = os.stat(path)  # noqa: PTH116
        except OSError as error:
            yield InputError(path, reason_of(error))
            continue
        key = (status.st_dev, status.st_ino)
        if key == leave_out:
            continue
        if stat.S_ISREG(status.st_mode):
            yield Found(path, place)
        elif stat.S_ISDIR(status.st_mode) and key not in seen and not _leads_back(path, top):
            seen.add(key)
            yield from _walk(path, f"{place}/", seen, top, leave_out)


def _leads_back(path: str, top: str) -> bool:
    """Tell whether `path` is a link to somewhere in the tree, which is read under its own name."""
    if not os.path.islink(path):  # noqa: PTH114
        return False
    target = os.path.realpath(path)
    return target == top or target.startswith(os.path.join(top, ""))  # noqa: PTH118


def read_url_list(folder: str) -> tuple[dict[str, str], list[InputError]]:
    """Read the `urls.tsv` of a folder, if it has one: a path and a URL on each line, with a tab between."""
    path = os.path.join(folder, URL_LIST)  # noqa: PTH118
    try:
        with open(path, "rb") as lines:  # noqa: PTH123
            return read_url_lines(path, lines)
    except FileNotFoundError:
        return {}, []
    except OSError as error:
        return {}, [InputError(path, reason_of(error))]


def read_url_lines(path: str, lines: Iterable[bytes]) -> tuple[dict[str, str], list[InputError]]:
    """Read the lines of a `urls.tsv`."""
    urls: dict[str, str] = {}
    errors: list[InputError] = []
    for number, line in enumerate(lines, 1):
        text = line.decode("utf-8", "surrogateescape").removeprefix(_BOM if number == 1 else "").rstrip("\r\n")
        if not text.strip() or text.startswith("#"):
            continue
        place, tab, url = text.partition("\t")
        if tab and place and url.strip() and "\t" not in url:
            urls[place.removeprefix("./")] = url.strip().encode("utf-8", "replace").decode()
        else:
            errors.append(InputError(f"{path}:{number}", "not a path and a URL with a tab between"))
    return urls, errors
