"""`TemplateStore`: the learned templates of many sites in one SQLite file.

A database holds the templates of one method with one set of options, and says which. What is written is written in
transactions: a process that is killed loses its last one and nothing else. The journal is SQLite's plain one, not the
write-ahead log, so that a database is one file and can be read where nothing may be written.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from chaffinch.errors import ModelError
from chaffinch.methods import options_of
from chaffinch.sinks.files import PartFile
from chaffinch.sites import SITE_CHOICES
from chaffinch.store.samples import Sample
from chaffinch.store.site_template import SiteTemplate, load, method_as_kept
from chaffinch.store.sqlite import SCHEMA, check_exists, check_format, connect, format_of, is_marked, told
from chaffinch.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from chaffinch.methods import AnyMethod
    from chaffinch.sites import SiteBy
    from chaffinch.store.samples import Samples


@dataclass(frozen=True, slots=True)
class SiteSummary:
    """A line of the list of sites."""

    site: str
    pages: int
    """How many pages the template was learned from."""
    fit: float | None
    """The mean fit of the sample pages when it was learned; None if too few could tell."""


@dataclass(frozen=True, slots=True)
class KeptSite:
    """All that is kept of a site."""

    site: str
    pages: int
    fit: float | None
    template: bytes
    """As the method dumped it."""
    samples: Samples = ()

    @property
    def summary(self) -> SiteSummary:
        """Return the site without its template."""
        return SiteSummary(self.site, self.pages, self.fit)


class TemplateStore:
    """An open template database. Close it, or use it in a `with` statement."""

    def __init__(self, path: str, connection: sqlite3.Connection, method: AnyMethod, site_by: SiteBy) -> None:
        self.path = path
        self.method = method
        self.site_by: SiteBy = site_by
        """What its sites are."""
        self._connection = connection
        self._in_transaction = False

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], method: AnyMethod, site_by: SiteBy = "domain", *, scratch: bool = False
    ) -> Self:
        """Make an empty database in a file that does not exist, or is empty.

        A `scratch` database is faster and does not survive a kill.
        """
        name = os.fspath(path)
        connection = connect(name, "rwc")
        about = {
            "chaffinch": VERSION,
            "method": method.name,
            "method_version": str(method.version),
            "options": json.dumps(options_of(method)),
            "site_by": site_by,
        }
        try:
            _check_empty(name, connection)
            with told(name, writing=True):
                if scratch:
                    connection.execute("PRAGMA journal_mode = MEMORY")
                    connection.execute("PRAGMA synchronous = OFF")
                connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
                connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
                connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return cls(name, connection, method, site_by)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, readonly: bool = True, method: AnyMethod | None = None) -> Self:
        """Open a database, or raise `ModelError`.

        A method of your own, which Chaffinch does not know by name, has to be given; if the database is of another
        method than the given one, that is a `UsageError`.
        """
        name = os.fspath(path)
        check_exists(name)
        connection = connect(name, "ro" if readonly else "rw")
        try:
            check_format(name, connection)
            with told(name):
                about = dict(connection.execute("SELECT key, value FROM about").fetchall())
            made, site_by = _read_about(name, about, method)
        except BaseException:
            connection.close()
            raise
        return cls(name, connection, made, site_by)

    @classmethod
    @contextmanager
    def replacing(cls, path: str | os.PathLike[str], method: AnyMethod, site_by: SiteBy = "domain") -> Iterator[Self]:
        """Make a database that takes the name `path` when the `with` block is done without an error.

        What stood under the name is replaced if it was a template database, damaged or of another version even.
        """
        name = os.fspath(path)
        part = PartFile(name)
        try:
            with closing(cls.create(part.file.name, method, site_by, scratch=True)) as store:
                store.path = name  # for messages
                with store.transaction():
                    yield store
            check_replaceable(name)
            part.commit()
        except BaseException:
            part.abort()
            raise

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def version(self) -> str:
        """The version of Chaffinch that wrote last."""
        with told(self.path):
            (value,) = self._connection.execute("SELECT value FROM about WHERE key = 'chaffinch'").fetchone()
        return str(value)

    def sites(self) -> Iterator[SiteSummary]:
        """Yield the sites by name."""
        with told(self.path):
            for row in self._connection.execute("SELECT site, pages, fit FROM sites ORDER BY site"):
                yield SiteSummary(*row)

    def kept(self, site: str) -> KeptSite | None:
        """Return what is kept of a site, or None if nothing is."""
        row = self._row("SELECT site, pages, fit, template FROM sites WHERE site = ?", site)
        if row is None:
            return None
        with told(self.path):
            samples = self._connection.execute(
                "SELECT rank, digest, capture, body FROM samples WHERE site = ? ORDER BY rank", (key_of(site),)
            ).fetchall()
        name, pages, fit, template = row
        return KeptSite(name, pages, fit, template, tuple(Sample(*sample) for sample in samples))

    def template_of(self, site: str) -> SiteTemplate | None:
        """Return the template of a site, or None if there is none; a damaged one raises `ModelError`."""
        row = self.dumped(site)
        return None if row is None else SiteTemplate(self.method, self.load(site, row[1]))

    def dumped(self, site: str) -> tuple[float | None, bytes] | None:
        """Return the fit and the template of a site as it is written, or None if there is none."""
        row = self._row("SELECT fit, template FROM sites WHERE site = ?", site)
        return None if row is None else (row[0], row[1])

    def load(self, site: str, template: bytes) -> Any:  # noqa: ANN401  (the template of whichever method)
        """Read a kept template; errors name the file and the site."""
        try:
            return load(self.method, template)
        except ModelError as error:
            raise ModelError(self.path, f"site {site}: {error}") from error

    def summary_of(self, site: str) -> SiteSummary | None:
        """Return the line of one site, or None if it is not there."""
        row = self._row("SELECT site, pages, fit FROM sites WHERE site = ?", site)
        return None if row is None else SiteSummary(*row)

    def put(self, kept: KeptSite) -> None:
        """Write a site, in place of what was kept of it before: a transaction, or part of the one that is open."""
        site = key_of(kept.site)
        rows = [(site, sample.rank, sample.digest, sample.described, sample.body) for sample in kept.samples]
        with self._within_transaction(), told(self.path, writing=True):
            self._connection.execute(
                "INSERT OR REPLACE INTO sites VALUES (?, ?, ?, ?)", (site, kept.pages, kept.fit, kept.template)
            )
            self._connection.execute("DELETE FROM samples WHERE site = ?", (site,))
            self._connection.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?)", rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all that the `with` block puts, or, if it ends in an error, nothing of it."""
        with told(self.path, writing=True):
            self._connection.execute("BEGIN IMMEDIATE")
        self._in_transaction = True
        try:
            yield
            with told(self.path, writing=True):
                self._connection.execute("UPDATE about SET value = ? WHERE key = 'chaffinch'", (VERSION,))
                self._connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._in_transaction = False

    @contextmanager
    def _within_transaction(self) -> Iterator[None]:
        if self._in_transaction:
            yield
        else:
            with self.transaction():
                yield

    def _row(self, query: str, site: str) -> tuple[Any, ...] | None:
        with told(self.path):
            row: tuple[Any, ...] | None = self._connection.execute(query, (key_of(site),)).fetchone()
        return row


def _check_empty(path: str, connection: sqlite3.Connection) -> None:
    with told(path, writing=True):
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    if pages:
        raise ModelError(path, "exists already")


def key_of(site: str) -> str:
    """Return a site's name as it is written: folders may be named by bytes that are no text."""
    return site.encode("utf-8", "backslashreplace").decode()


def _read_about(path: str, about: dict[str, str], given: AnyMethod | None) -> tuple[AnyMethod, SiteBy]:
    """Return the method and the kind of sites that a database says it is of."""
    try:
        name, version, options = about["method"], int(about["method_version"]), json.loads(about["options"])
        site_by = next(choice for choice in SITE_CHOICES if choice == about["site_by"])
    except (KeyError, ValueError, TypeError, StopIteration) as error:
        raise ModelError(path, "is damaged (what it says of itself is unreadable)") from error
    method = method_as_kept(path, name, options, given)
    if method.version != version:
        raise ModelError(
            path,
            f"was learned by version {version} of method {name}; this Chaffinch has version {method.version}: "
            "learn it again",
        )
    return method, site_by


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Raise an error unless the file may be replaced: it is ours, or is not there, and nobody writes to it.

    No journal of it stays: one left by a killed process would be taken for one of the new file.
    """
    name = os.fspath(path)
    if not Path(name).exists() or not Path(name).stat().st_size:
        return
    try:
        with closing(connect(name, "rw")) as connection:
            format_of(name, connection)
            with told(name, writing=True):
                connection.executescript("BEGIN EXCLUSIVE; ROLLBACK")
    except ModelError:
        if not is_marked(name):
            raise
        Path(f"{os.path.realpath(name)}-journal").unlink(missing_ok=True)
