"""`Spill`: what was learned of sites so far, on disk, in parts that are put together at the end.

A part is appended and never read again before the end, so that a crawl in any order, with any number of sites, costs
what its parts take, once. Everything since the last `keep` is written in one transaction: a process that is killed
loses that and nothing else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Self

from chaffinch.store.database import key_of
from chaffinch.store.samples import MOST_SAMPLES, Sample, merge_samples
from chaffinch.store.sqlite import connect, told

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

    from chaffinch.store.samples import Samples

_SCHEMA: Final = """
PRAGMA journal_mode = TRUNCATE;
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS parts (site TEXT NOT NULL, pages INTEGER NOT NULL, template BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS parts_by_site ON parts (site);
CREATE TABLE IF NOT EXISTS samples (
    site TEXT NOT NULL, rank INTEGER NOT NULL, digest INTEGER NOT NULL, capture TEXT NOT NULL, body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS samples_by_rank ON samples (site, rank);
CREATE TABLE IF NOT EXISTS progress (state TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class SpilledPart:
    """What some pages of a site tell."""

    pages: int
    template: bytes
    """As the method dumped it."""


class Spill:
    """An open file of parts. Close it, or use it in a `with` statement."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self._connection = connect(self.path, "rwc")
        with told(self.path, writing=True):
            self._connection.executescript(_SCHEMA)
            self._connection.execute("BEGIN IMMEDIATE")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was not kept is lost."""
        self._connection.close()

    def append(self, site: str, part: SpilledPart, samples: Samples) -> None:
        """Write a part of a site."""
        key = key_of(site)
        rows = [(key, sample.rank, sample.digest, sample.described, sample.body) for sample in samples]
        with told(self.path, writing=True):
            self._connection.execute("INSERT INTO parts VALUES (?, ?, ?)", (key, part.pages, part.template))
            self._connection.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?)", rows)

    def keep(self, state: dict[str, Any] | None = None) -> None:
        """Make all that was appended last, together with how far the run has come."""
        with told(self.path, writing=True):
            if state is not None:
                self._connection.execute("DELETE FROM progress")
                self._connection.execute("INSERT INTO progress VALUES (?)", (json.dumps(state),))
            self._connection.execute("COMMIT")
            self._connection.execute("BEGIN IMMEDIATE")

    def state(self) -> dict[str, Any] | None:
        """Return how far the run had come that kept something here, or None."""
        with told(self.path):
            row = self._connection.execute("SELECT state FROM progress").fetchone()
        state: dict[str, Any] | None = json.loads(row[0]) if row else None
        return state

    def sites(self) -> Iterator[tuple[str, Iterator[SpilledPart]]]:
        """Yield the sites by name, each with its parts, which are read one by one."""
        with told(self.path):
            rows = self._connection.execute("SELECT site, pages, template FROM parts ORDER BY site, rowid")
            for site, group in groupby(rows, key=itemgetter(0)):
                yield site, (SpilledPart(pages, template) for _, pages, template in group)

    def samples_of(self, site: str) -> Samples:
        """Return the sample pages of a site, from all of its parts."""
        samples: Samples = ()
        with told(self.path):
            query = "SELECT rank, digest, capture, body FROM samples WHERE site = ? ORDER BY rank"
            for row in self._connection.execute(query, (site,)):
                sample = Sample(*row)
                if len(samples) == MOST_SAMPLES and sample.rank > samples[-1].rank:
                    break
                samples = merge_samples(samples, (sample,))
        return samples
