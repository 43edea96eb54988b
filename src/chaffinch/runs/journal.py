"""`Journal`: the folder beside an output in which a run keeps what it has done, so that it can be gone on with.

    .OUT.chaffinch/
        run.json                    which run it is
        learning.db, templates.db   what was learned so far; what was learned from all pages
        part-00000-000000042.jsonl.gz
                                    what became of the pages, up to the 42nd batch

A file has its name when it is whole: that is the mark of its completion. The output is made from the parts as if they
had just been worked on, so that it is the same to the last byte however often the run was killed. A run that is shorter
than the time between two parts writes nothing here.
"""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import re
import shutil
import time
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self

from chaffinch.document import Document, Parts
from chaffinch.errors import RunError, UsageError
from chaffinch.runs.options import Outcome
from chaffinch.sinks.base import writing
from chaffinch.sources.remote import is_remote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

EVERY: Final = 10.0
"""Seconds between two parts."""
_PART: Final = re.compile(r"part-([0-9]{5})-([0-9]{9})\.jsonl\.gz")
_MOST_HELD: Final = 8 << 20
_COMPRESSION: Final = 1


class Journal:
    """What a run has done so far. As a context manager it is gone after a clean exit, and stays after any other."""

    def __init__(self, output: str, identity: dict[str, Any], *, resume: bool, every: float = EVERY) -> None:
        """Go on with a run that was interrupted, if asked to, or else forget it.

        `identity` is all that decides what the run gives out. A run of another identity cannot be gone on with.
        """
        # `-o out/` and `-o out` are one output; what belongs to a remote one is kept in the current folder.
        target = Path(os.path.abspath(output.rpartition("/")[2] if is_remote(output) else output))  # noqa: PTH100
        self.folder = target.with_name(f".{target.name}.chaffinch")
        self.output = output
        self._identity = json.loads(json.dumps(identity))
        self._every = every
        self._last = time.monotonic()
        self._lines: list[str] = []
        self._held = 0
        self._lock: IO[bytes] | None = None
        self._parts: list[Path] = []
        self.items = 0
        """How many batches are done."""
        self.discarded = False
        """Whether an interrupted run was forgotten."""
        self.resumed = False
        """Whether an interrupted run is gone on with."""
        if self.folder.is_dir():
            self._take_lock()
            if resume and (self.folder / "run.json").exists():
                self._check_same()
                self._find_parts()
                self.resumed = True
            else:
                self.discarded = True
                self._forget()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._forget()
        self._drop_lock()

    @property
    def templates(self) -> Path | None:
        """The database of templates that was learned from all pages, if the run has come so far."""
        path = self.folder / "templates.db"
        return path if path.exists() else None

    def is_time(self) -> bool:
        """Tell whether what was done since the last time should be kept now."""
        if time.monotonic() - self._last < self._every:
            return False
        self.begin()
        return True

    def kept(self) -> None:
        """Say that all was kept."""
        self._last = time.monotonic()

    def write(self, outcomes: Iterable[Outcome]) -> None:
        """Take what became of one batch."""
        for outcome in outcomes:
            line = json.dumps(outcome, default=_fields_of)
            self._lines.append(line)
            self._held += len(line)
        self.items += 1
        if self._held > _MOST_HELD or time.monotonic() - self._last >= self._every:
            self.begin()
            self._write_part()
            self.kept()

    def replayed(self) -> Iterator[Outcome]:
        """Yield what became of the batches that are done, in order."""
        for path in self._parts:
            try:
                with gzip.open(path, "rt", encoding="utf-8") as lines:
                    for line in lines:
                        yield _outcome(json.loads(line))
            except (OSError, EOFError, ValueError, TypeError) as error:
                raise RunError(str(path), f"is damaged ({error}); run again without --resume") from error

    def begin(self) -> Path:
        """Make the folder, when there is something to keep for the first time, and return it."""
        if self._lock is None:
            with writing(self.output):
                self.folder.mkdir(exist_ok=True)
                self._take_lock()
                _write_whole(self.folder / "run.json", json.dumps(self._identity, indent=1).encode())
        return self.folder

    def _write_part(self) -> None:
        data = gzip.compress("".join(f"{line}\n" for line in self._lines).encode(), _COMPRESSION, mtime=0)
        path = self.folder / f"part-{len(self._parts):05}-{self.items:09}.jsonl.gz"
        with writing(str(path)):
            _write_whole(path, data)
        self._parts.append(path)
        self._lines.clear()
        self._held = 0

    def _find_parts(self) -> None:
        found = sorted(
            (path for path in self.folder.iterdir() if _PART.fullmatch(path.name)), key=lambda path: path.name
        )
        for path in found:
            match = _PART.fullmatch(path.name)
            if match is None or int(match[1]) != len(self._parts):
                raise RunError(str(self.folder), "a part is missing; run again without --resume")
            self._parts.append(path)
            self.items = int(match[2])

    def _check_same(self) -> None:
        path = self.folder / "run.json"
        try:
            begun = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise RunError(str(path), "cannot be read; run again without --resume") from error
        for name, value in self._identity.items():
            if begun.get(name) != value:
                what = "the inputs have" if name == "inputs" else f"its {name} has"
                raise UsageError(
                    f"{self.output}: the interrupted run is another one ({what} changed since); run without --resume"
                )

    def _take_lock(self) -> None:
        lock = (self.folder / "lock").open("wb")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise RunError(self.output, "another run is writing it") from error
        self._lock = lock

    def _drop_lock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _forget(self) -> None:
        with suppress(FileNotFoundError):
            # First of all the mark of the run, so that nothing is gone on with whose parts are half gone.
            (self.folder / "run.json").unlink()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._drop_lock()


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file that has its name only when it is whole."""
    beside = path.with_name(f"{path.name}.part")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def _fields_of(record: Any) -> dict[str, Any]:  # noqa: ANN401 - as JSON has it
    """Return the fields of a dataclass, without the copies that `asdict` makes of all that is in them."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _outcome(values: dict[str, Any]) -> Outcome:
    document, parts = values.pop("document"), values.pop("parts")
    return Outcome(
        document=Document(**document) if document is not None else None,
        parts=Parts(tuple(parts["headings"]), parts["template"]) if parts is not None else None,
        **values,
    )
