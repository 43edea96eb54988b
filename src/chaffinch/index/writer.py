"""Writing an index: pages are added, replaced where they changed, and deleted; what is committed stays."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import tantivy
from xxhash import xxh3_64_intdigest

from chaffinch.index.about import About, is_index, read_about, write_about
from chaffinch.index.engine import open_engine, told
from chaffinch.index.fields import HASH, KEY, STORED, STORED_CONTENT, STORED_TEMPLATE, check_stem, make_schema, prepared
from chaffinch.sinks.base import well_formed

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from chaffinch.document import Document, Parts

Change: TypeAlias = Literal["added", "replaced", "unchanged"]
CHANGES: Final[tuple[Change, ...]] = get_args(Change)

_HEAP: Final = 64_000_000
"""The bytes that the engine gathers before it writes a segment."""
_COMMIT_PAGES: Final = 2_000
_COMMIT_CHARACTERS: Final = 64_000_000
"""After this much, what was added is committed: it is found, and it survives whatever happens."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A page as the index holds it."""

    source: str
    url: str | None
    site: str
    title: str | None
    author: str | None
    date: str | None
    language: str | None
    description: str | None
    headings: tuple[str, ...]
    content: str
    template: str

    @property
    def key(self) -> str:
        """What names the page: its URL, or where it was read if it has none."""
        return self.url or self.source

    def stored(self) -> dict[str, bytes]:
        """Return what an index stores of the entry, by field."""
        rest = json.dumps({name: getattr(self, name) for name in _SMALL}, ensure_ascii=False)
        texts = {STORED: rest, STORED_CONTENT: self.content, STORED_TEMPLATE: self.template}
        return {name: text.encode() for name, text in texts.items()}

    @classmethod
    def from_stored(cls, stored: Callable[[str], Any]) -> Entry:
        """Read an entry back, given what is stored in each field."""
        content, template = (bytes(stored(name) or b"").decode() for name in (STORED_CONTENT, STORED_TEMPLATE))
        found: dict[str, Any] = json.loads(bytes(stored(STORED)))
        return cls(**{**found, "headings": tuple(found["headings"])}, content=content, template=template)


_SMALL: Final = tuple(field.name for field in fields(Entry) if field.name not in {"content", "template"})


def entry_of(document: Document, parts: Parts) -> Entry:
    """Return the entry of a cleaned page; what no encoding can carry is replaced."""

    def text(value: str | None) -> str | None:
        return None if value is None else well_formed(value)

    return Entry(
        source=well_formed(document.source),
        url=text(document.url),
        site=well_formed(document.site),
        title=text(document.title),
        author=text(document.author),
        date=document.date,
        language=document.language,
        description=text(document.description),
        headings=tuple(map(well_formed, parts.headings)),
        content=well_formed(document.content),
        template=well_formed(parts.template),
    )


class IndexWriter:
    """Takes pages into an index. Only one at a time can be open on an index, in any process.

    As a context manager it commits at the end. If the `with` block ends in an error, what was added since the last
    commit is dropped, and all that was committed before stays.
    """

    def __init__(self, path: str, about: About) -> None:
        """Open the index `path`, or begin it; one that is there must hold pages made alike."""
        check_stem(about.stem)
        self.path = path
        if is_index(path):
            read_about(path).check_same(path, about)
        else:
            write_about(path, about)
        self._index = open_engine(path, about.stem, create=True)
        self._schema = make_schema()
        with told(path):
            self._writer = self._index.writer(_HEAP, 1)
            self._searcher = self._index.searcher()
        self._empty = self._searcher.num_docs == 0
        self._pending: dict[str, int] = {}
        self._characters = 0

    def put(self, entry: Entry) -> Change:
        """Add a page, in place of the page of the same key if there is one and it was different."""
        stored = entry.stored()
        digest = xxh3_64_intdigest(b"\0".join(stored.values()))
        key = _short(entry.key)
        before = self._pending.get(key)
        if before is None and not self._empty:
            before = self._committed(key)
        if before == digest:
            return "unchanged"
        with told(self.path):
            if before is not None:
                self._writer.delete_documents_by_term(KEY, key)
            self._writer.add_document(_engine_document(entry, key, digest, stored))
        self._pending[key] = digest
        self._characters += len(entry.content) + len(entry.template)
        if len(self._pending) >= _COMMIT_PAGES or self._characters >= _COMMIT_CHARACTERS:
            self.commit()
        return "added" if before is None else "replaced"

    def delete(self, key: str) -> bool:
        """Delete the page of a URL (or source), and tell whether there was one."""
        self.commit()
        key = _short(key)
        found = self._committed(key) is not None
        if found:
            with told(self.path):
                self._writer.delete_documents_by_term(KEY, key)
            self.commit(forced=True)
        return found

    def delete_site(self, site: str) -> int:
        """Delete all pages of a site, and return how many there were."""
        self.commit()
        before = self._searcher.num_docs
        with told(self.path):
            self._writer.delete_documents_by_term("site", site)
        self.commit(forced=True)
        return before - self._searcher.num_docs

    def commit(self, *, forced: bool = False) -> None:
        """Make all that was added so far part of the index, for good."""
        if not self._pending and not forced:
            return
        with told(self.path):
            self._writer.commit()
            self._index.reload()
            self._searcher = self._index.searcher()
        self._empty = self._searcher.num_docs == 0
        self._pending.clear()
        self._characters = 0

    @property
    def pages(self) -> int:
        """How many pages are committed."""
        return self._searcher.num_docs

    def close(self) -> None:
        """Commit, and let the engine finish merging what it has written."""
        self.commit()
        with told(self.path):
            self._writer.wait_merging_threads()

    def abort(self) -> None:
        """Drop what was added since the last commit."""
        with suppress(Exception):
            self._writer.rollback()
        with suppress(Exception):
            self._writer.wait_merging_threads()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def _committed(self, key: str) -> int | None:
        """Return the hash of a committed page, or None if there is no such page."""
        with told(self.path):
            query = tantivy.Query.term_query(self._schema, KEY, key, "basic")
            hits = self._searcher.search(query, 1, count=False).hits
            if not hits:
                return None
            (digest,) = self._searcher.fast_field_values(HASH, [hits[0][1]])
            return None if digest is None else int(digest)


_LONGEST_KEY: Final = 8_000


def _short(key: str) -> str:
    """Return a key that the engine can hold; URLs beyond all measure (of embedded data, say) end in a hash."""
    return key if len(key) <= _LONGEST_KEY else f"{key[:_LONGEST_KEY]}#{xxh3_64_intdigest(key.encode()):016x}"


def _engine_document(entry: Entry, key: str, digest: int, stored: dict[str, bytes]) -> tantivy.Document:
    made = tantivy.Document()
    made.add_text(KEY, key)
    made.add_unsigned(HASH, digest)
    for name, data in stored.items():
        made.add_bytes(name, data)
    made.add_text("site", entry.site)
    if entry.language:
        made.add_text("language", entry.language)
    if entry.date:
        made.add_date("date", datetime.fromisoformat(entry.date).replace(tzinfo=UTC))
    for name in ("url", "title", "content", "template"):
        value = getattr(entry, name)
        if value:
            made.add_text(name, prepared(value))
    for heading in entry.headings:
        made.add_text("headings", prepared(heading))
    return made
