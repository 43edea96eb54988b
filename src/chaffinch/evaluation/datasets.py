"""The labelled sets: where they are, what their sites and pages are, and the gold of each page.

A set is a list of sites; what belongs to a site is the set's word, not the URLs'. Nothing here is part of the package:
the data lies in a folder of its own, and the gold of `sites` is computed by the Python module that comes with the
data, which is run for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from chaffinch.errors import InputError, MissingExtraError, UsageError
from chaffinch.sources.capture import Capture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SetName: TypeAlias = Literal["wcxb", "wcxb-sample", "sites", "swde"]
SET_NAMES: Final[tuple[SetName, ...]] = get_args(SetName)

DATA_VARIABLE: Final = "CHAFFINCH_DATA"
_CACHE_FOLDER: Final = ".chaffinch"
_GOLD_VERSION: Final = 1
"""Raised when the form of the cached gold changes."""
_SAMPLE_STEP: Final = 10
"""`wcxb-sample` is every tenth page of `wcxb`, from the first on."""


@dataclass(frozen=True, slots=True)
class MainText:
    """Gold of `wcxb`: the main content as text, and what the page says of itself."""

    content: str
    required: tuple[str, ...]
    """Snippets that must appear."""
    forbidden: tuple[str, ...]
    """Snippets that must not appear."""
    title: str | None
    author: str | None
    date: str | None


@dataclass(frozen=True, slots=True)
class Regions:
    """Gold of `sites`: all visible text of the page in three parts."""

    content: str
    template: str
    ignored: str


@dataclass(frozen=True, slots=True)
class Values:
    """Gold of `swde`: pairs of an attribute and a value that must survive."""

    pairs: tuple[tuple[str, str], ...]


Gold: TypeAlias = MainText | Regions | Values


@dataclass(frozen=True, slots=True)
class GoldPage:
    """A page and what is known of it."""

    capture: Capture
    file: str
    """The page's name in its set."""
    gold: Gold


@dataclass(frozen=True, slots=True)
class GoldSite:
    """The pages that are learned from and scored together."""

    name: str
    kind: str
    """What sort of site (or, in `wcxb`, of page) it is."""
    pages: tuple[GoldPage, ...]


def find_data() -> Path:
    """Return the folder of the evaluation data: `$CHAFFINCH_DATA`, else `~/.cache/chaffinch/data`."""
    named = os.environ.get(DATA_VARIABLE)
    folder = Path(named) if named else Path.home() / ".cache" / "chaffinch" / "data"
    if not folder.is_dir():
        raise InputError(str(folder), f"no evaluation data here; unpack it and set {DATA_VARIABLE} to its folder")
    return folder


def open_set(name: str, root: Path | None = None) -> DataSet:
    """Return the set `name`; `root` is the data folder if it is not the usual one."""
    if name not in SET_NAMES:
        raise UsageError(f"there is no evaluation set {name!r}; there are: {', '.join(SET_NAMES)}")
    kind = {"wcxb": Wcxb, "wcxb-sample": WcxbSample, "sites": Sites, "swde": Swde}[name]
    data = kind(root or find_data())
    if not data.folder.is_dir():
        raise InputError(str(data.folder), f"the evaluation set {name!r} is not in the data folder")
    return data


def data_hash(name: str, root: Path | None = None) -> str:
    """Return the SHA-256 of a set: of the names and contents of its pages and its gold, sorted by name.

    It is kept in the data folder for the next time; what tells that it still holds is every file's size and time.
    """
    return open_set(name, root).hash()


@dataclass(frozen=True)
class DataSet:
    """A set of labelled sites in the data folder `root`."""

    root: Path

    name: ClassVar[SetName]
    """What users call the set."""

    @property
    def folder(self) -> Path:
        """Where the set lies."""
        raise NotImplementedError

    def site_names(self) -> list[str]:
        """Return the names of all sites, in a fixed order."""
        raise NotImplementedError

    def load(self, site: str) -> GoldSite:
        """Read a site."""
        raise NotImplementedError

    def files(self) -> Iterable[Path]:
        """Return the files that decide what is measured."""
        raise NotImplementedError

    def hash(self) -> str:
        """Return the set's SHA-256; read from the cache as long as no file's size or time changes."""
        files = sorted((path.relative_to(self.folder).as_posix(), path) for path in self.files())
        stats = ((name, _stat(path)) for name, path in files)
        seen = _sha256(f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}".encode() for name, stat in stats)
        cached = self._cache(f"hash-{self.name}.json")
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(cached.read_text("utf-8"))
            if found["seen"] == seen:
                return str(found["hash"])
        result = _sha256(part for name, path in files for part in (name.encode(), _read(path)))
        _write(cached, json.dumps({"seen": seen, "hash": result}))
        return result

    @property
    def peer_cache(self) -> Path:
        """Where the answers of peers are kept."""
        return self._cache("peers")

    def _cache(self, name: str) -> Path:
        return self.root / _CACHE_FOLDER / name

    def _source(self, path: Path) -> str:
        """Name a page without saying where the data lies."""
        return path.relative_to(self.root).as_posix()


class Wcxb(DataSet):
    """The development split of WCXB: every page is a site of its own."""

    name: ClassVar[SetName] = "wcxb"

    @property
    def folder(self) -> Path:
        """Where the set lies."""
        return self.root / "wcxb"

    def site_names(self) -> list[str]:
        """Return the names of the pages."""
        return sorted(path.stem for path in (self.folder / "dev" / "ground-truth").glob("*.json"))

    def load(self, site: str) -> GoldSite:
        """Read a page."""
        page_path, gold_path = self._paths(site)
        whole = _read_json(gold_path)
        truth: dict[str, Any] = whole["ground_truth"]
        gold = MainText(
            content=truth.get("main_content") or "",
            required=tuple(truth.get("with") or ()),
            forbidden=tuple(truth.get("without") or ()),
            title=truth.get("title"),
            author=truth.get("author"),
            date=truth.get("publish_date"),
        )
        capture = Capture(source=self._source(page_path), body=_read(page_path), url=whole.get("url"))
        return GoldSite(site, _page_type(whole), (GoldPage(capture, site, gold),))

    def files(self) -> Iterator[Path]:
        """Return pages and gold."""
        for site in self.site_names():
            yield from self._paths(site)

    def _paths(self, site: str) -> tuple[Path, Path]:
        return self.folder / "dev" / "html" / f"{site}.html", self.folder / "dev" / "ground-truth" / f"{site}.json"


class WcxbSample(Wcxb):
    """Every tenth page of WCXB, for the gate."""

    name: ClassVar[SetName] = "wcxb-sample"

    def site_names(self) -> list[str]:
        """Return the names of the pages."""
        return super().site_names()[::_SAMPLE_STEP]


def _page_type(whole: dict[str, Any]) -> str:
    """Return the type of a WCXB page; the labels call one type by two names."""
    found = (whole.get("_internal") or {}).get("page_type", {})
    name = found.get("primary", "article") if isinstance(found, dict) else found
    return "collection" if name == "category" else name if isinstance(name, str) else "article"


class Sites(DataSet):
    """The open multi-page sites."""

    name: ClassVar[SetName] = "sites"

    @property
    def folder(self) -> Path:
        """Where the set lies."""
        return self.root / "sites"

    @cached_property
    def _split(self) -> dict[str, Any]:
        return _read_json(self.folder / "split.json")

    def site_names(self) -> list[str]:
        """Return the names of the open sites."""
        return sorted(self._split["open"])

    def load(self, site: str) -> GoldSite:
        """Read a site, and compute its gold unless that has been done before."""
        folder = self.folder / "sites" / site
        captures = {
            page["file"]: Capture(
                source=self._source(folder / page["file"]),
                body=_read(folder / page["file"]),
                url=page["url"],
                folder=site,
                path=page["file"],
            )
            for page in _read_site(folder)["pages"]
        }
        gold = self._gold(folder, captures.values())
        pages = tuple(GoldPage(capture, file, gold[file]) for file, capture in captures.items())
        return GoldSite(site, self._kind(site), pages)

    def files(self) -> Iterator[Path]:
        """Return pages, their selectors, and what computes the gold of them."""
        yield from (self.folder / "split.json", self.folder / "gold.py")
        for site in self.site_names():
            folder = self.folder / "sites" / site
            yield folder / "site.json"
            yield from (folder / page["file"] for page in _read_site(folder)["pages"])

    def _kind(self, site: str) -> str:
        return next((kind for kind, names in self._split["stratified_by"].items() if site in names), "other")

    def _gold(self, folder: Path, captures: Iterable[Capture]) -> dict[str, Regions]:
        module = self.folder / "gold.py"
        parts = [_read(module), _read(folder / "site.json"), *(capture.body for capture in captures)]
        cached = self._cache(f"gold-{_GOLD_VERSION}-{folder.name}-{_sha256(parts)[:16]}.jsonl")
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            rows = [json.loads(line) for line in cached.read_text("utf-8").splitlines()]
            return {row.pop("file"): Regions(**row) for row in rows}
        try:
            pages = load_module(module).site_gold(str(folder))
        except ImportError as error:
            raise MissingExtraError("the gold of the evaluation set 'sites'", "bench") from error
        gold = {page["file"]: Regions(page["content"], page["template"], page["ignored"]) for page in pages}
        _write(cached, "".join(json.dumps({"file": file, **asdict(found)}) + "\n" for file, found in gold.items()))
        return gold


class Swde(DataSet):
    """Commercial sites of about 2010 with tables for layout."""

    name: ClassVar[SetName] = "swde"

    @property
    def folder(self) -> Path:
        """Where the set lies."""
        return self.root / "swde"

    def site_names(self) -> list[str]:
        """Return the names of the sites' folders."""
        return sorted(path.parent.name for path in self.folder.glob("*/gold.json"))

    def load(self, site: str) -> GoldSite:
        """Read a site. Its pages have no URL but the one in their `<base>`."""
        folder = self.folder / site
        labels: dict[str, dict[str, list[str]]] = _read_json(folder / "gold.json")
        pages: list[GoldPage] = []
        for key in sorted(labels):
            path = folder / f"{key}.htm"
            capture = Capture(source=self._source(path), body=_read(path), folder=site, path=path.name, on_disk=True)
            pairs = tuple((attribute, value) for attribute, values in labels[key].items() for value in values)
            pages.append(GoldPage(capture, path.name, Values(pairs)))
        return GoldSite(site, site.partition("-")[0], tuple(pages))

    def files(self) -> Iterator[Path]:
        """Return pages and gold."""
        for site in self.site_names():
            yield self.folder / site / "gold.json"
            yield from (self.folder / site).glob("*.htm")


def load_module(path: Path) -> Any:  # noqa: ANN401 - a module of the data, whose functions nobody declares
    """Run a Python module of the data and return it."""
    spec = importlib.util.spec_from_file_location(f"chaffinch_data_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError(str(path), "is not a Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _read_site(folder: Path) -> dict[str, Any]:
    return _read_json(folder / "site.json")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(str(path), f"is part of an evaluation set but cannot be read: {error.strerror}")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(_read(path))
    except ValueError as error:
        raise InputError(str(path), f"is part of an evaluation set but is no JSON: {error}") from error
    return found


def _sha256(parts: Iterable[bytes]) -> str:
    """Hash byte strings so that moving a byte from one to the next changes the hash."""
    result = hashlib.sha256()
    for part in parts:
        result.update(f"{len(part)}:".encode())
        result.update(part)
    return result.hexdigest()


def _write(path: Path, text: str) -> None:
    """Keep `text` for the next time; a folder that is closed to writing just means computing it again."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        unfinished.write_text(text, "utf-8")
        unfinished.replace(path)
