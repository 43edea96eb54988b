"""Outputs that are one file, which has its name only when it is whole."""

from __future__ import annotations

import gzip
import os
import re
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from chaffinch.errors import OutputError
from chaffinch.sinks.base import Ending, json_line, writing
from chaffinch.sources.remote import file_system, is_remote, upload

if TYPE_CHECKING:
    from chaffinch.document.document import Document


class PartFile:
    """A file that is written beside its target, and takes its place when it is done.

    One whose target is remote is written to this machine's folder for temporary files, and copied when it is done.
    """

    def __init__(self, output: str) -> None:
        self.output = output
        self._remote = is_remote(output)
        with writing(output):
            if self._remote:
                file_system(output)  # what is missing is told of before the work, not after
                descriptor, name = tempfile.mkstemp(prefix="chaffinch-")
                self._part = self._target = Path(name)
                self.file: IO[bytes] = os.fdopen(descriptor, "wb")
                return
            self._target = Path(os.path.realpath(output))
            _check(self._target, output)
            _sweep(self._target)
            self._part = self._target.with_name(f".{self._target.name}.{os.getpid()}.part")
            self.file = self._part.open("wb")

    def commit(self) -> None:
        """Put the file in its target's place."""
        with writing(self.output):
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            if self._remote:
                upload(str(self._part), self.output)
                self._part.unlink()
            else:
                self._part.replace(self._target)

    def abort(self) -> None:
        """Remove the file."""
        with suppress(OSError, ValueError):
            self.file.close()  # may fail to write what it holds, but closes
        with suppress(OSError):
            self._part.unlink(missing_ok=True)


def _check(target: Path, output: str) -> None:
    """Refuse a target that cannot be replaced by a file."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise OutputError(output, f"the folder {target.parent} does not exist") from None
        return
    if stat.S_ISDIR(mode):
        raise OutputError(output, "is a folder, where a file is to be written")
    if not stat.S_ISREG(mode):
        raise OutputError(output, "is not a regular file, and would be replaced by one")


def _sweep(target: Path) -> None:
    """Remove what runs that died have left beside the target."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.([0-9]+)\.part")
    for name in os.listdir(target.parent):  # noqa: PTH208 - names are all that is needed
        match = pattern.fullmatch(name)
        if match and not is_alive(int(match[1])):
            with suppress(OSError):
                target.with_name(name).unlink()


def is_alive(process: int) -> bool:
    """Tell whether a process of this number runs."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


class JsonLinesSink(Ending):
    """One JSON object on each line, gzipped if the name ends in `.gz`."""

    def __init__(self, output: str) -> None:
        self._part = PartFile(output)
        self._gzip = (
            gzip.GzipFile(filename="", mode="wb", fileobj=self._part.file, compresslevel=6, mtime=0)
            if output.lower().endswith(".gz")
            else None
        )

    def write(self, document: Document) -> None:
        """Write a document."""
        line = json_line(document)
        with writing(self._part.output):
            (self._gzip or self._part.file).write(line)

    def commit(self) -> None:
        """Put the file under its name."""
        try:
            with writing(self._part.output):
                if self._gzip is not None:
                    self._gzip.close()
            self._part.commit()
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        """Remove the file."""
        with suppress(OSError, ValueError):
            if self._gzip is not None:
                self._gzip.close()
        self._part.abort()
