"""Pages in JSON Lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from chaffinch.errors import InputError
from chaffinch.sources.capture import Capture
from chaffinch.sources.options import well_formed
from chaffinch.sources.streams import CHUNK, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaffinch.sources.options import SourceOptions
    from chaffinch.sources.streams import Stream

_BOM = "\ufeff"


def read_jsonl(stream: Stream, path: str, options: SourceOptions) -> Iterator[Capture | InputError]:
    """Yield the page of each line, and an error for each line that has none."""
    number = 0
    while True:
        told = False
        for line, whole in _lines(stream):
            number += 1
            if not line.strip():
                continue
            page = _page_of(line, number, path, options)
            if isinstance(page, InputError) and not whole and stream.damage is not None:
                page = InputError(page.subject, f"the line is cut short: {stream.damage}")
                told = True
            yield page
        if stream.damage is not None and not told:
            yield InputError(path, f"{stream.damage} (after line {number})")
        if not stream.resume():
            return


def _lines(stream: Stream) -> Iterator[tuple[bytes, bool]]:
    """Yield each line, and whether its line break is there."""
    begun: list[bytes] = []
    while data := stream.read(CHUNK):
        first, *others = data.split(b"\n")
        begun.append(first)
        if others:
            yield b"".join(begun), True
            for line in others[:-1]:
                yield line, True
            begun = [others[-1]]
    if last := b"".join(begun):
        yield last, False


def _page_of(line: bytes, number: int, path: str, options: SourceOptions) -> Capture | InputError:
    name = f"{path}#{number}"
    try:
        row = json.loads(line.decode("utf-8", "replace").removeprefix(_BOM))
    except (ValueError, RecursionError) as error:
        return InputError(name, f"not JSON: {reason_of(error)}")
    if not isinstance(row, dict):
        return InputError(name, "not a JSON object")
    html = row.get(options.html_column)
    if not isinstance(html, str):
        fault = "is not a string" if options.html_column in row else "is missing"
        return InputError(name, f"{options.html_column!r} {fault}")
    url = row.get(options.url_column)
    url = well_formed(url).strip() if isinstance(url, str) else ""
    return Capture(
        source=name,
        body=well_formed(html).encode(),
        url=url or options.url_of(str(number)),
        http_charset="utf-8",
        folder=path,
        path=str(number),
    )
