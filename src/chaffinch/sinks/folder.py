"""A folder with a file for each document."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chaffinch.errors import OutputError
from chaffinch.sinks.base import Ending, well_formed, writing
from chaffinch.sinks.files import is_alive
from chaffinch.sinks.names import name_of

if TYPE_CHECKING:
    from chaffinch.document.document import Document
    from chaffinch.render.formats import Format

_PART: Final = re.compile(r"\.chaffinch\.([0-9]+)\.part")


class FolderSink(Ending):
    """Each document has its own file at once, and keeps it whatever comes after."""

    def __init__(self, output: str, format: Format) -> None:  # noqa: A002 - as the option is called
        self._output = output
        self._format = format
        self._root = Path(output)
        self._taken: set[int] = set()
        with writing(output):
            if self._root.exists() and not self._root.is_dir():
                raise OutputError(output, "is a file; give a folder, or a name that ends in .jsonl or .parquet")
            self._root.mkdir(parents=True, exist_ok=True)
            for name in os.listdir(self._root):  # noqa: PTH208 - names are all that is needed
                match = _PART.fullmatch(name)
                if match and not is_alive(int(match[1])):
                    with suppress(OSError):
                        (self._root / name).unlink()
            self._part = self._root / f".chaffinch.{os.getpid()}.part"
            if not os.access(self._root, os.W_OK | os.X_OK):
                raise OutputError(output, "cannot be written: permission denied")

    def write(self, document: Document) -> None:
        """Write a document's content."""
        target = self._root / self._free_path(document)
        data = well_formed(document.content).encode()
        with writing(str(target)):
            self._part.write_bytes(data)
            try:
                self._part.replace(target)
            except FileNotFoundError:
                target.parent.mkdir(parents=True, exist_ok=True)
                self._part.replace(target)

    def commit(self) -> None:
        """Nothing is left to do."""

    def abort(self) -> None:
        """Remove what was not finished."""
        with suppress(OSError):
            self._part.unlink(missing_ok=True)

    def _free_path(self, document: Document) -> str:
        """Return a path that no document of this run has, however a file system compares names."""
        name = name_of(document, self._format)
        tries = 0
        while True:
            path = name.path(tries)
            key = int.from_bytes(hashlib.blake2b(path.casefold().encode(), digest_size=8).digest())
            if key not in self._taken:
                self._taken.add(key)
                return path
            tries += 1
