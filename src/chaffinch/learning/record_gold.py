"""Labelled result pages: records of data units, and when two texts count as the same.

A folder holds one folder a site; a page is `<n>.html`, its labels `<n>.json` with `records` (lists of texts, one for
each column, empty where a record has none) and `unit_status` (1, 2 and 4 count; 0 and 3 may be found but need not be).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from chaffinch.errors import InputError
from chaffinch.page import Page, parse_capture
from chaffinch.sources import Capture

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNSEEN: Final = re.compile("[\u200b-\u200f\u202a-\u202e\u2060\ufeff\u00ad]")
_WORD: Final = re.compile(r"\w+")
_COUNTED: Final = frozenset({1, 2, 4})
_OPTIONAL: Final = frozenset({0, 3})
_ALIKE: Final = 0.9
_ROUNDING: Final = 1e-9


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are compared: letters, digits and underscores, case folded."""
    return _WORD.findall(unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold())


def overlap(one: Counter[str], other: Counter[str], sizes: tuple[int, int]) -> float:
    """Return the F1 of two multisets of words of these sizes."""
    if not sizes[0] or not sizes[1]:
        return 0.0
    shorter, longer = (one, other) if len(one) <= len(other) else (other, one)
    return 2 * sum(min(count, longer.get(word, 0)) for word, count in shorter.items()) / sum(sizes)


@dataclass(frozen=True, eq=False)
class GoldUnit:
    """A text of a record, and its column or slot."""

    text: str
    slot: str

    @cached_property
    def words(self) -> list[str]:
        """Its words."""
        return words_of(self.text)

    @cached_property
    def key(self) -> str:
        """Its words, joined."""
        return "".join(self.words)

    @cached_property
    def bag(self) -> Counter[str]:
        """Its words, counted."""
        return Counter(self.words)


def alike(one: GoldUnit, other: GoldUnit) -> float:
    """Return how alike two units are: 1 for the same text, the words' F1 if it is at least 0.9, else 0."""
    if one.key == other.key:
        return 1.0
    found = overlap(one.bag, other.bag, (len(one.words), len(other.words)))
    return found if found >= _ALIKE - _ROUNDING else 0.0


@dataclass(frozen=True, eq=False)
class GoldRecord:
    """A record: the units that count, and those that may be found but need not be."""

    units: tuple[GoldUnit, ...]
    optional: tuple[GoldUnit, ...] = ()

    @cached_property
    def bag(self) -> Counter[str]:
        """The words of all units that count."""
        return Counter(word for unit in self.units for word in unit.words)

    @cached_property
    def size(self) -> int:
        """How many words they have."""
        return self.bag.total()


@dataclass(frozen=True, eq=False)
class GoldResultPage:
    """A labelled page."""

    name: str
    page: Page
    records: tuple[GoldRecord, ...]


@dataclass(frozen=True, eq=False)
class GoldResultSite:
    """The labelled pages of one site."""

    name: str
    category: str
    pages: tuple[GoldResultPage, ...]


def site_folders(folder: Path) -> list[Path]:
    """Return the folders of the sites that are not excluded."""
    try:
        excluded = json.loads((folder / "excluded.json").read_text("utf-8")).get("excluded", {})
    except FileNotFoundError:
        excluded = {}
    except (OSError, ValueError) as error:
        raise InputError(str(folder / "excluded.json"), f"cannot be read: {error}") from error
    found = sorted({path.parent for path in folder.glob("*/*.json") if path.parent.name not in excluded})
    if not found:
        raise InputError(str(folder), "holds no labelled result pages")
    return found


def read_site(folder: Path) -> GoldResultSite:
    """Read and parse the pages of one site."""
    pages = []
    category = ""
    for path in sorted(folder.glob("*.json"), key=lambda path: (len(path.name), path.name)):
        try:
            labels: dict[str, Any] = json.loads(path.read_text("utf-8"))
            body = path.with_suffix(".html").read_bytes()
        except (OSError, ValueError) as error:
            raise InputError(str(path), f"is no labelled page: {error}") from error
        if not labels.get("usable", True) or not labels.get("usable_strict", True):
            continue
        category = str(labels.get("category", ""))
        capture = Capture(source=str(path.with_suffix(".html")), body=body)
        records = gold_records(labels["records"], labels["unit_status"])
        pages.append(GoldResultPage(f"{folder.name}/{path.stem}", parse_capture(capture), records))
    return GoldResultSite(folder.name, category, tuple(pages))


def gold_records(texts: Sequence[Sequence[str]], status: Sequence[Sequence[int]]) -> tuple[GoldRecord, ...]:
    """Return the records of a page that have a unit that counts."""
    records = []
    for row, marks in zip(texts, status, strict=True):
        units = [
            (GoldUnit(text, str(column)), mark) for column, (text, mark) in enumerate(zip(row, marks, strict=True))
        ]
        counted = tuple(unit for unit, mark in units if mark in _COUNTED and unit.words)
        if counted:
            records.append(GoldRecord(counted, tuple(unit for unit, mark in units if mark in _OPTIONAL and unit.words)))
    return tuple(records)
