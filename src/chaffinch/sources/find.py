"""From what a user names to a single page: a file, or a record of an archive or table."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Final

from chaffinch.errors import InputError, UsageError
from chaffinch.sources.capture import Capture
from chaffinch.sources.inputs import open_inputs
from chaffinch.sources.options import SourceOptions
from chaffinch.sources.places import STDIN
from chaffinch.sources.remote import is_remote

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEFAULTS: Final = SourceOptions()
_SEVERAL: Final = 2


def find_capture(name: str, options: SourceOptions = _DEFAULTS) -> Capture:
    """Return the page that a user names: `FILE`, `-`, or `ARCHIVE#RECORD` with the record's id or its URL.

    Whatever is reported as the source of a page names it here.
    """
    path, record = _split(name)
    if record is None:
        return _only(path, options)
    for item in open_inputs([path], options):
        if isinstance(item, Capture) and (item.source == name or item.url == record):
            return item
    raise InputError(path, f"has no record {record!r}")


def _split(name: str) -> tuple[str, str | None]:
    """Part a file from a record; both may hold the sign that stands between them."""
    if name == STDIN or os.path.exists(name):  # noqa: PTH110 - paths stay as they were typed
        return name, None
    cut = name.find("#")
    if is_remote(name):
        return (name, None) if cut < 0 else (name[:cut], name[cut + 1 :])
    while cut > 0:
        if os.path.isfile(name[:cut]):  # noqa: PTH113
            return name[:cut], name[cut + 1 :]
        cut = name.find("#", cut + 1)
    return name, None


def _only(path: str, options: SourceOptions) -> Capture:
    """Return the one page of an input."""
    found = list(islice(_captures(path, options), _SEVERAL))
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(path, "holds no page")
    raise UsageError(f"{path} holds several pages; name one, such as {found[0].source}")


def _captures(path: str, options: SourceOptions) -> Iterator[Capture]:
    for item in open_inputs([path], options):
        if isinstance(item, InputError):
            raise item
        yield item
