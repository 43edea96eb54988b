"""What the template database needs of SQLite: its tables, opening it, and its errors told in our words."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote

from chaffinch.errors import ModelError, OutputError, RunError

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT: Final = 1
"""The version of the tables; raised whenever they change."""
APPLICATION: Final = int.from_bytes(b"Chaf", "big")
"""Marks an SQLite file as ours."""
PATIENCE: Final = 5.0
"""Seconds to wait for another process that writes."""

_LOCKED: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR})
_PRIMARY: Final = 0xFF
"""The part of an extended error code that tells the kind of error."""

SCHEMA: Final = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE sites (site TEXT PRIMARY KEY, pages INTEGER NOT NULL, fit REAL, template BLOB NOT NULL);
CREATE TABLE samples (
    site TEXT NOT NULL, rank INTEGER NOT NULL, digest INTEGER NOT NULL, capture TEXT NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (site, rank)
);
"""


def connect(path: str, mode: Literal["ro", "rw", "rwc"]) -> sqlite3.Connection:
    """Open a file; nothing of it is read yet. Every transaction is begun and ended by us."""
    with told(path, writing=mode != "ro"):
        address = f"file:{quote(os.fsencode(os.path.abspath(path)))}?mode={mode}"  # noqa: PTH100 (links stay links)
        return sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def check_exists(path: str) -> None:
    """Raise `ModelError` if there is no such file."""
    if not Path(path).exists():
        raise ModelError(path, "does not exist; `chaffinch learn` makes a template database")
    if not Path(path).is_file():
        raise ModelError(path, "is no file, so no template database")


def check_format(path: str, connection: sqlite3.Connection) -> None:
    """Raise `ModelError` unless the database holds templates of the format of this version."""
    version = format_of(path, connection)
    if version < FORMAT:
        raise ModelError(
            path, f"was written by an older Chaffinch, as format {version}; this one reads {FORMAT}: learn it again"
        )
    if version > FORMAT:
        raise ModelError(
            path, f"was written by a newer Chaffinch, as format {version}; this one reads {FORMAT}: update Chaffinch"
        )


def format_of(path: str, connection: sqlite3.Connection) -> int:
    """Return the format of a template database of any version, or raise `ModelError` if it is none."""
    with told(path):
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    if not pages:
        raise ModelError(path, "is empty, not a template database")
    if application != APPLICATION:
        raise ModelError(path, "is an SQLite database, but holds no templates of Chaffinch")
    return int(version)


def is_marked(path: str) -> bool:
    """Tell whether a file that is open nowhere begins as a template database does, damaged or not."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(100)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:72] == APPLICATION.to_bytes(4, "big")


@contextmanager
def told(path: str, *, writing: bool = False) -> Iterator[None]:
    """Turn SQLite's errors into ours, which name the file."""
    try:
        yield
    except sqlite3.Error as error:
        # Errors of the module itself, such as a text that is no UTF-8, have no code.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY
        failed = OutputError if writing else RunError
        if code == sqlite3.SQLITE_NOTADB:
            raise ModelError(path, "is not a template database, or its head is damaged") from error
        if code in _DAMAGED:
            raise ModelError(path, f"is damaged ({error})") from error
        if code in _LOCKED:
            raise failed(path, "is locked: another process writes to it; try again when that is done") from error
        if code == sqlite3.SQLITE_READONLY:
            raise failed(path, "cannot be written to: it is read-only") from error
        if code == sqlite3.SQLITE_FULL:
            raise failed(path, "cannot be written to: the disk is full") from error
        raise failed(path, f"cannot be {'written to' if writing else 'read'} ({error})") from error
