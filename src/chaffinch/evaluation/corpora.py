"""Collections to search in, with queries and the pages that are relevant to them.

| collection | pages | queries |
|---|---|---|
| `swde` | 10 commercial sites, each with an index of its own | values of the gold, such as a model or a company |
| `sites` | the open sites with gold, likewise | nouns of their templates; entry pages |
| `django` | a whole documentation site | terms of its own index; entry pages |
| `sqlalchemy` | Debian's `python-sqlalchemy-doc` | terms of its own index; entry pages |

What is Debian's lies in the folder `debian` of the data, as `dpkg-deb -x PACKAGE.deb DATA/debian` puts it there.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, TypeAlias, get_args

from chaffinch.errors import InputError, UsageError
from chaffinch.evaluation.datasets import DataSet, GoldSite, Regions, Sites, Swde, Values, find_data
from chaffinch.evaluation.nouns import read_nouns
from chaffinch.evaluation.topics import Query, entry_queries, index_queries, noun_queries
from chaffinch.page.build import parse, parse_capture
from chaffinch.sources.capture import Capture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chaffinch.page.table import Page

CollectionName: TypeAlias = Literal["swde", "sites", "django", "sqlalchemy"]
COLLECTIONS: Final[tuple[CollectionName, ...]] = get_args(CollectionName)

Kind: TypeAlias = Literal["values", "index terms", "entry pages", "abstract nouns", "concrete nouns"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_VALUES: Final = frozenset({"model", "title", "company", "location"})
"""The attributes that people search for; prices, dates and engines are not among them."""
_MOST_PAGES: Final = 0.2
"""A value that more of the site's pages have is no query."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Pages of one index, and what is sought among them."""

    name: str
    pages: tuple[Page, ...]
    queries: Mapping[Kind, Sequence[Query]]


class Collection(Protocol):
    """A collection of corpora."""

    name: ClassVar[CollectionName]

    def corpus_names(self) -> list[str]:
        """Return the names of the corpora, in a fixed order."""
        ...

    def load(self, name: str) -> Corpus:
        """Read a corpus."""
        ...


def open_collection(name: str, root: Path | None = None) -> Collection:
    """Return a collection; `root` is the data folder if it is not the usual one."""
    found = next((kind for kind in (SwdeValues, SitesNouns, Django, SqlAlchemy) if kind.name == name), None)
    if found is None:
        raise UsageError(f"there is no collection {name!r}; there are: {', '.join(COLLECTIONS)}")
    return found(root or find_data())


@dataclass(frozen=True)
class _Labelled:
    """The sites of a labelled set, each with an index of its own."""

    root: Path

    @property
    def _set(self) -> DataSet:
        raise NotImplementedError

    def corpus_names(self) -> list[str]:
        """Return the names of the sites."""
        names = self._set.site_names() if self._set.folder.is_dir() else []
        if not names:
            raise InputError(str(self._set.folder), "the evaluation set is not in the data folder")
        return names

    def load(self, name: str) -> Corpus:
        """Read a site."""
        site = self._set.load(name)
        pages = tuple(parse_capture(page.capture) for page in site.pages)
        return Corpus(name, pages, self._queries(site, pages))

    def _queries(self, site: GoldSite, pages: Sequence[Page]) -> dict[Kind, Sequence[Query]]:
        raise NotImplementedError


class SwdeValues(_Labelled):
    """Cars and jobs; what is sought is what they are."""

    name: ClassVar[CollectionName] = "swde"

    @property
    def _set(self) -> DataSet:
        return Swde(self.root)

    def _queries(self, site: GoldSite, pages: Sequence[Page]) -> dict[Kind, Sequence[Query]]:
        with_value: dict[str, set[int]] = defaultdict(set)
        text_of: dict[str, str] = {}
        for number, page in enumerate(site.pages):
            pairs = page.gold.pairs if isinstance(page.gold, Values) else ()
            for attribute, value in pairs:
                key = " ".join(value.lower().split())
                if attribute in _VALUES and key:
                    with_value[key].add(number)
                    text_of.setdefault(key, value)
        most = _MOST_PAGES * len(pages)
        return {
            "values": [
                Query(text_of[key], frozenset(found)) for key, found in sorted(with_value.items()) if len(found) <= most
            ]
        }


class SitesNouns(_Labelled):
    """Sites whose content and template are known; what is sought are nouns that both have, and entry pages."""

    name: ClassVar[CollectionName] = "sites"

    @property
    def _set(self) -> DataSet:
        return Sites(self.root)

    def _queries(self, site: GoldSite, pages: Sequence[Page]) -> dict[Kind, Sequence[Query]]:
        nouns = read_nouns(_debian(self.root) / "share" / "wordnet")
        gold = [page.gold for page in site.pages]
        contents = [one.content if isinstance(one, Regions) else "" for one in gold]
        templates = [one.template if isinstance(one, Regions) else "" for one in gold]
        return {
            "abstract nouns": noun_queries(nouns.abstract, contents, templates),
            "concrete nouns": noun_queries(nouns.concrete, contents, templates),
            "entry pages": entry_queries(pages),
        }


class Django(_Labelled):
    """A whole site, and 400 terms of its index."""

    name: ClassVar[CollectionName] = "django"

    @property
    def _folder(self) -> Path:
        return self.root / "sites" / "full" / "django"

    def corpus_names(self) -> list[str]:
        """Return the one name."""
        return ["django"]

    def load(self, name: str) -> Corpus:
        """Read the site."""
        listed: list[dict[str, str]] = json.loads(_read(self._folder / "site.json"))["pages"]
        captures = [
            Capture(str(self._folder / page["file"]), _read(self._folder / page["file"]), url=page["url"])
            for page in listed
        ]
        number_of = {capture.url: number for number, capture in enumerate(captures)}
        lines = _read(self.root / "sites" / "queries" / "django.jsonl").splitlines()
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
        terms = [
            Query(row["query"], frozenset(number_of[url] for url in row["relevant"] if url in number_of))
            for row in rows
        ]
        return _documentation(name, captures, [query for query in terms if query.relevant])


class SqlAlchemy(_Labelled):
    """A package of Debian, and a sample of the terms of its index."""

    name: ClassVar[CollectionName] = "sqlalchemy"

    _BASE: ClassVar[str] = "https://docs.sqlalchemy.org/en/14/"
    _NO_PAGES: ClassVar[frozenset[str]] = frozenset({"genindex.html", "search.html", "py-modindex.html"})

    @property
    def _folder(self) -> Path:
        return _debian(self.root) / "share" / "doc" / "python-sqlalchemy-doc" / "html"

    def corpus_names(self) -> list[str]:
        """Return the one name."""
        if not self._folder.is_dir():
            raise InputError(str(self._folder), "is not there; unpack Debian's python-sqlalchemy-doc")
        return ["sqlalchemy"]

    def load(self, name: str) -> Corpus:
        """Read the package; its index itself, and listings of source code, are no pages."""
        paths = sorted(path.relative_to(self._folder).as_posix() for path in self._folder.rglob("*.html"))
        captures = [
            Capture(str(self._folder / path), _read(self._folder / path), url=self._BASE + path)
            for path in paths
            if path not in self._NO_PAGES and not path.startswith("_")
        ]
        index = parse(_read(self._folder / "genindex.html"), url=f"{self._BASE}genindex.html")
        return _documentation(name, captures, index_queries(index, [str(capture.url) for capture in captures]))


def _documentation(name: str, captures: Sequence[Capture], terms: Sequence[Query]) -> Corpus:
    pages = tuple(parse_capture(replace(capture, folder=name)) for capture in captures)
    return Corpus(name, pages, {"index terms": terms, "entry pages": entry_queries(pages)})


def _debian(root: Path) -> Path:
    """Return the folder that takes the place of `/usr`."""
    return root / "debian" / "usr"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), f"is part of a collection but cannot be read: {error.strerror}") from error
