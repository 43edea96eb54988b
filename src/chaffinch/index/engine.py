"""The engine's faults, told as ours."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import tantivy

from chaffinch.errors import SearchIndexError
from chaffinch.index.about import ENGINE_NAME
from chaffinch.index.fields import WORDS, make_analyzer, make_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

_PANIC: Final = "PanicException"
"""What the engine raises when it runs into what it holds to be impossible, such as damaged files. It derives from
`BaseException`, and its class cannot be imported."""


@contextmanager
def told(path: str) -> Iterator[None]:
    """Turn whatever the engine raises about the index `path` into a `SearchIndexError`."""
    try:
        yield
    except SearchIndexError:
        raise
    except (ValueError, OSError, RuntimeError) as error:
        raise SearchIndexError(path, _reason(str(error))) from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise SearchIndexError(path, f"is damaged ({_first_line(str(error))})") from error


def _reason(message: str) -> str:
    if "LockBusy" in message:
        return "is being written to by another process; wait until that is done"
    for sign, words in _SYSTEM:
        if sign in message:
            return f"cannot be written: {words}"
    return f"is damaged, or cannot be used: {_first_line(message)}"


_SYSTEM: Final = (
    ("No space left", "no space left on the disk"),
    ("File too large", "the file would be too large"),
    ("Disk quota", "the disk quota is used up"),
    ("Read-only file system", "the file system is read-only"),
    ("PermissionDenied", "permission denied"),
    ("Permission denied", "permission denied"),
    ("worker thread", "the engine's worker died, most likely for want of space"),
)


def _first_line(message: str) -> str:
    return message.splitlines()[0][:200] if message else "no reason given"


def open_engine(path: str, stem: str | None, *, create: bool = False) -> tantivy.Index:
    """Open the engine's index in the folder `path`."""
    with told(path):
        if not create and not Path(path, ENGINE_NAME).is_file():
            raise SearchIndexError(path, "holds nothing yet: its building was stopped before the first page")
        index = tantivy.Index(make_schema(), path)
        index.register_tokenizer(WORDS, make_analyzer(stem))
        return index
