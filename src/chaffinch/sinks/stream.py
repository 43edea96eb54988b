"""Standard output."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final

from chaffinch.errors import OutputError
from chaffinch.sinks.base import Ending, json_line, well_formed, writing

if TYPE_CHECKING:
    from chaffinch.document.document import Document
    from chaffinch.render.formats import Format

_NAME: Final = "standard output"


class StreamSink(Ending):
    """The contents with a blank line between, or a line of JSON for each document."""

    def __init__(self, format: Format, *, lines: bool) -> None:  # noqa: A002 - as the option is called
        if sys.stdout is None:
            raise OutputError(_NAME, "is closed")
        self._file: IO[bytes] = sys.stdout.buffer
        self._format = format
        self._lines = lines
        self._between = b""

    def write(self, document: Document) -> None:
        """Write a document."""
        if self._lines:
            data = json_line(document)
        elif self._format == "json":
            data = well_formed(document.content).encode() + b"\n"
        else:
            content = well_formed(document.content).encode()
            data = self._between + content + (b"" if content.endswith(b"\n") else b"\n")
            self._between = b"\n"
        with writing(_NAME):
            self._file.write(data)

    def commit(self) -> None:
        """Hand over all that was written."""
        with writing(_NAME):
            self._file.flush()

    def abort(self) -> None:
        """Hand over what was written: a stream cannot be taken back."""
        with suppress(OSError, ValueError):
            self._file.flush()
