"""`Ledger`: all that a run over result pages has to remember, on disk, so that it holds a few pages at a time.

Groups of pages that share a template, the pages that each is learned from, its wrapper, and the records of every page.
Everything since the last `keep` is one transaction: a process that is killed loses that and nothing else.
"""

from __future__ import annotations

import json
import pickle
import zlib
from collections import OrderedDict
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from chaffinch.records.grouping import LATEST, SKETCH_WIDTH, Group
from chaffinch.records.results import PageRecords
from chaffinch.records.wrapper import Wrapper
from chaffinch.sources import Capture
from chaffinch.store.database import key_of
from chaffinch.store.sqlite import connect, told

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

# Readers, which look wrappers up, do not wait for the writer in this mode.
_SCHEMA: Final = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS groups (
    number INTEGER PRIMARY KEY, site TEXT, sketches BLOB NOT NULL, parent INTEGER, pages INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS groups_by_site ON groups (site, number);
CREATE INDEX IF NOT EXISTS groups_by_parent ON groups (parent, number);
CREATE TABLE IF NOT EXISTS folders (folder TEXT, number INTEGER, PRIMARY KEY (folder, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS samples (number INTEGER, page INTEGER, capture BLOB, PRIMARY KEY (number, page));
CREATE TABLE IF NOT EXISTS others (page INTEGER PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS wrappers (number INTEGER PRIMARY KEY, records INTEGER NOT NULL, line TEXT);
CREATE TABLE IF NOT EXISTS found (page INTEGER PRIMARY KEY, line TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS failures (source TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS progress (state TEXT NOT NULL);
"""
MOST_LEARNED: Final = 50
"""A template is learned from so many of its pages, those that come first, and applied to the others."""
MOST_BYTES: Final = 8 << 20
"""The pages that a template is learned from are not larger than this in all, unless it is one page."""
_MOST_GROUPS: Final = 4096
"""Groups that are kept at hand."""
_COMPRESSION: Final = 1


@dataclass(frozen=True, slots=True)
class Numbered(Capture):
    """A capture of a run."""

    number: int = 0
    """Which one of the run's captures it is."""
    group: int = 0
    """Which group it belongs to, if that is known already."""

    @classmethod
    def of(cls, capture: Capture, number: int, group: int = 0) -> Numbered:
        """Number a capture."""
        values: dict[str, Any] = {name: getattr(capture, name) for name in _CAPTURE}
        return cls(**{**values, "number": number, "group": group})


_CAPTURE: Final = tuple(field.name for field in fields(Capture))


class Ledger:
    """An open ledger. Close it, or use it in a `with` statement."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self._at_hand: OrderedDict[int, Group] = OrderedDict()
        self._connection = connect(self.path, "rwc")
        with told(self.path, writing=True):
            self._connection.executescript(_SCHEMA)
            self._connection.execute("BEGIN IMMEDIATE")
            (groups,) = self._one("SELECT coalesce(max(number) + 1, 0) FROM groups") or (0,)
            self._groups = int(groups)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    @property
    def state(self) -> dict[str, Any]:
        """How far the run has come; empty at the beginning."""
        row = self._one("SELECT state FROM progress")
        return json.loads(row[0]) if row else {}

    def keep(self, state: dict[str, Any]) -> None:
        """Make all that was done last, together with how far the run has come."""
        with told(self.path, writing=True):
            self._connection.execute("DELETE FROM progress")
            self._connection.execute("INSERT INTO progress VALUES (?)", (json.dumps(state),))
            self._connection.execute("COMMIT")
            self._connection.execute("BEGIN IMMEDIATE")

    # Groups, as `group_of` asks for them.

    def of_site(self, site: str) -> list[Group]:
        """Return the latest groups of a site."""
        return self._asked(
            "SELECT number FROM groups WHERE site = ? ORDER BY number DESC LIMIT ?", key_of(site), LATEST
        )

    def of_folder(self, folder: str) -> list[Group]:
        """Return the latest groups with pages in a folder."""
        query = "SELECT number FROM folders WHERE folder = ? ORDER BY number DESC LIMIT ?"
        return self._asked(query, key_of(folder), LATEST)

    def latest(self) -> list[Group]:
        """Return the latest groups of all."""
        return self._asked("SELECT number FROM groups ORDER BY number DESC LIMIT ?", LATEST)

    def add(self, site: str | None) -> Group:
        """Return a new group."""
        group = Group(self._next_group(), site, [])
        self._hold(group)
        return group

    def put(self, group: Group, folder: str | None) -> None:
        """Write what has changed of a group, and that it has a page in a folder."""
        site = None if group.site is None else key_of(group.site)
        sketches = np.array(group.sketches, dtype=np.uint64).tobytes()
        self._do(
            "INSERT INTO groups (number, site, sketches) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET site = excluded.site, sketches = excluded.sketches",
            group.number, site, sketches,
        )  # fmt: skip
        if folder is not None:
            self._do("INSERT OR IGNORE INTO folders VALUES (?, ?)", key_of(folder), group.number)

    def _next_group(self) -> int:
        self._groups += 1
        return self._groups - 1

    def _asked(self, query: str, *values: object) -> list[Group]:
        with told(self.path):
            numbers = [int(number) for (number,) in self._connection.execute(query, values)]
        return [self._group(number) for number in reversed(numbers)]

    def _group(self, number: int) -> Group:
        group = self._at_hand.get(number)
        if group is None:
            site, sketches = self._one("SELECT site, sketches FROM groups WHERE number = ?", number) or (None, b"")
            rows = np.frombuffer(sketches, dtype=np.uint64).reshape(-1, SKETCH_WIDTH)
            group = Group(number, site, list(rows))
            self._hold(group)
        self._at_hand.move_to_end(number)
        return group

    def _hold(self, group: Group) -> None:
        self._at_hand[group.number] = group
        if len(self._at_hand) > _MOST_GROUPS:
            self._at_hand.popitem(last=False)

    # Pages.

    def sort(self, capture: Numbered, group: int) -> None:
        """Take a page into a group: one to learn from, as long as there is room, or else one of the others."""
        if not self._sample(capture, group):
            self._do("INSERT INTO others VALUES (?, ?)", capture.number, group)

    def set_apart(self, capture: Numbered) -> None:
        """Take a page that its group's wrapper does not fit into a group of such pages, to learn from them anew."""
        row = self._one("SELECT max(number) FROM groups WHERE parent = ?", capture.group)
        if row is None or row[0] is None or not self._sample(capture, int(row[0])):
            group = self._next_group()
            self._do("INSERT INTO groups (number, sketches, parent) VALUES (?, x'', ?)", group, capture.group)
            self._sample(capture, group)

    def _sample(self, capture: Numbered, group: int) -> bool:
        pages, size = self._one("SELECT pages, bytes FROM groups WHERE number = ?", group) or (0, 0)
        if pages >= MOST_LEARNED or (pages and size + len(capture.body) > MOST_BYTES):
            return False
        packed = zlib.compress(pickle.dumps(capture), _COMPRESSION)
        self._do("INSERT INTO samples VALUES (?, ?, ?)", group, capture.number, packed)
        size += len(capture.body)
        self._do("UPDATE groups SET pages = ?, bytes = ? WHERE number = ?", pages + 1, size, group)
        return True

    def unlearned(self) -> Iterator[tuple[int, tuple[Numbered, ...]]]:
        """Yield each group that has no wrapper yet, with the pages to learn from."""
        last = -1
        query = (
            "SELECT min(number) FROM groups WHERE number > ? "
            "AND NOT EXISTS (SELECT 1 FROM wrappers WHERE wrappers.number = groups.number)"
        )
        while (row := self._one(query, last)) is not None and row[0] is not None:
            last = int(row[0])
            with told(self.path):
                found = self._connection.execute("SELECT capture FROM samples WHERE number = ? ORDER BY page", (last,))
                # What this run has written itself.
                yield last, tuple(pickle.loads(zlib.decompress(packed)) for (packed,) in found)  # noqa: S301

    def learned(self, group: int, wrapper: str | None, records: int) -> None:
        """Take the wrapper of a group, if one could be made; its pages are done with."""
        self._do("INSERT INTO wrappers VALUES (?, ?, ?)", group, records, wrapper)
        self._do("DELETE FROM samples WHERE number = ?", group)

    def other(self, page: int) -> int | None:
        """Return the group of a page that is not learned from; None if there is no more to be done with it."""
        row = self._one("SELECT number FROM others WHERE page = ?", page)
        return int(row[0]) if row else None

    @property
    def has_others(self) -> bool:
        """Whether any page is left that nothing was learned from."""
        return self._one("SELECT 1 FROM others LIMIT 1") is not None

    def found(self, page: int, line: str) -> None:
        """Take the records of a page, as JSON."""
        self._do("INSERT INTO found VALUES (?, ?)", page, line)

    def failed(self, source: str, reason: str) -> None:
        """Take a failure."""
        self._do("INSERT INTO failures VALUES (?, ?)", key_of(source), key_of(reason))

    # What came out.

    def failures(self) -> list[tuple[str, str]]:
        """Return all failures, in the order in which they were seen."""
        with told(self.path):
            return list(self._connection.execute("SELECT source, reason FROM failures ORDER BY rowid"))

    def pages(self) -> Iterator[PageRecords]:
        """Yield the records of all pages, in the order of the input."""
        with told(self.path):
            for (line,) in self._connection.execute("SELECT line FROM found ORDER BY page"):
                yield PageRecords.from_json(json.loads(line))

    def wrappers(self) -> Iterator[Wrapper]:
        """Yield all wrappers, in the order of the first pages of their groups."""
        with told(self.path):
            for (line,) in self._connection.execute(f"{_WRAPPERS} ORDER BY number"):
                yield Wrapper.from_json(json.loads(line))

    def largest_wrapper(self) -> Wrapper | None:
        """Return the wrapper of the template with most records."""
        row = self._one(f"{_WRAPPERS} ORDER BY records DESC, number LIMIT 1")
        return Wrapper.from_json(json.loads(row[0])) if row else None

    def counts(self) -> tuple[int, int]:
        """Return how many pages and wrappers there are."""
        (pages,) = self._one("SELECT count(*) FROM found") or (0,)
        (wrappers,) = self._one("SELECT count(*) FROM wrappers WHERE line IS NOT NULL") or (0,)
        return int(pages), int(wrappers)

    def _do(self, statement: str, *values: object) -> None:
        with told(self.path, writing=True):
            self._connection.execute(statement, values)

    def _one(self, query: str, *values: object) -> tuple[Any, ...] | None:
        with told(self.path):
            row: tuple[Any, ...] | None = self._connection.execute(query, values).fetchone()
        return row


_WRAPPERS: Final = "SELECT line FROM wrappers WHERE line IS NOT NULL"


class KeptWrappers:
    """The wrappers of a ledger, as the processes of a run look them up: each opens it for itself."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._at_hand: OrderedDict[int, tuple[Wrapper, ...]] = OrderedDict()

    def of(self, capture: Numbered) -> tuple[Wrapper, ...]:
        """Return the wrapper of a page's group, if one could be made."""
        if capture.group not in self._at_hand:
            with told(self._path):
                if self._connection is None:
                    self._connection = connect(self._path, "ro")
                query = f"{_WRAPPERS} AND number = ?"
                row = self._connection.execute(query, (capture.group,)).fetchone()
            self._at_hand[capture.group] = (Wrapper.from_json(json.loads(row[0])),) if row else ()
            if len(self._at_hand) > _MOST_WRAPPERS:
                self._at_hand.popitem(last=False)
        self._at_hand.move_to_end(capture.group)
        return self._at_hand[capture.group]

    def close(self) -> None:
        """Close the ledger."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


_MOST_WRAPPERS: Final = 64
