"""Which of several captures of one URL a run takes.

Captures are the same page if the container gives them the same URL, to the letter but for the fragment; pages that no
container gives a URL are never the same. Dates are compared as they stand: a crawler with a wrong clock is believed, as
nothing tells whose clock is wrong. A capture without a date that can be read is older than any with one, and of equal
dates the later one in the input counts as later.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Self

from xxhash import xxh3_128_digest

from chaffinch.sources import Capture
from chaffinch.store.sqlite import connect, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from types import TracebackType

    from chaffinch.errors import InputError
    from chaffinch.runs.options import CapturesTaken

_SCHEMA: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE urls (url BLOB PRIMARY KEY, date TEXT NOT NULL, position INTEGER NOT NULL) WITHOUT ROWID;
BEGIN;
"""
_TAKE: Final[dict[CapturesTaken, str]] = {
    "first": "INSERT INTO urls VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    "latest": "INSERT INTO urls VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET date = excluded.date, "
    "position = excluded.position WHERE excluded.date >= date",
}


class UrlChoice:
    """Remembers on disk, for each URL, which of its captures is taken."""

    def __init__(self, choice: CapturesTaken, path: Path) -> None:
        self._take = _TAKE[choice]
        self._path = str(path)
        self._connection: sqlite3.Connection = connect(self._path, "rwc")
        with told(self._path, writing=True):
            self._connection.executescript(_SCHEMA)
        self.superseded = 0
        """How many captures are left out for another one of the same URL."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def make(self, items: Iterable[Capture | InputError]) -> None:
        """Choose among all captures of a reading."""
        captures = 0
        with told(self._path, writing=True):
            for position, item in enumerate(items):
                if isinstance(item, Capture) and item.url:
                    captures += 1
                    self._connection.execute(self._take, (_key(item.url), _date(item.captured), position))
            (urls,) = self._connection.execute("SELECT count(*) FROM urls").fetchone()
        self.superseded = captures - int(urls)

    def chosen(self, items: Iterable[Capture | InputError]) -> Iterator[Capture | InputError]:
        """Yield the captures that were chosen, and all that is no page of a URL."""
        for position, item in enumerate(items):
            if not isinstance(item, Capture) or not item.url or self._position(item.url) == position:
                yield item

    def _position(self, url: str) -> int | None:
        with told(self._path):
            row = self._connection.execute("SELECT position FROM urls WHERE url = ?", (_key(url),)).fetchone()
        return int(row[0]) if row else None


def _key(url: str) -> bytes:
    return xxh3_128_digest(url.partition("#")[0].encode("utf-8", "surrogatepass"))


def _date(text: str | None) -> str:
    """Return a date so that later ones are greater; "" if there is none that can be read."""
    try:
        moment = datetime.fromisoformat((text or "").strip())
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):
        return ""
