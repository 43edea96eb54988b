"""How well titles, authors and days of publication are read, on the gold of WCXB, beside trafilatura."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from statistics import fmean
from typing import TYPE_CHECKING, Final, TypeAlias

from chaffinch.document.metadata import read_metadata
from chaffinch.evaluation.datasets import MainText, open_set
from chaffinch.evaluation.measures import plain_words, word_score
from chaffinch.evaluation.peers import optional_module
from chaffinch.page.build import parse_capture

if TYPE_CHECKING:
    from pathlib import Path

    from chaffinch.page.table import Page


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody read from a page."""

    title: str | None = None
    author: str | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class FieldScore:
    """How well one reader tells one field."""

    reader: str
    field: str
    pages: int
    """How many pages have gold for the field."""
    exact: float
    """On which share of them it is right, but for case and punctuation."""
    words: float
    """The mean word F1 over them; 0 where nothing is told."""
    told: float
    """On which share of them anything is told."""
    unasked: int
    """On how many pages without gold something is told; most often the gold just does not say."""


Reader: TypeAlias = Callable[["Page"], Told]

FIELDS: Final = ("title", "author", "date")
OURS: Final = "chaffinch"
_TRAFILATURA: Final = "trafilatura"
_WORD: Final = re.compile(r"\w+")


def measure_about(*, peer: bool = True, limit: int | None = None, root: Path | None = None) -> list[FieldScore]:
    """Measure every field, Chaffinch's first; with `peer`, trafilatura's as well."""
    readers: dict[str, Reader] = {OURS: _chaffinch}
    if peer:
        readers[f"{_TRAFILATURA} {version(_TRAFILATURA)}"] = _trafilatura()
    data = open_set("wcxb", root)
    golds: list[Told] = []
    found: dict[str, list[Told]] = {name: [] for name in readers}
    for name in data.site_names()[:limit]:
        (gold_page,) = data.load(name).pages
        gold = gold_page.gold
        assert isinstance(gold, MainText)  # noqa: S101  (wcxb has no other)
        golds.append(Told(gold.title, gold.author, gold.date))
        page = parse_capture(gold_page.capture)
        for reader, read in readers.items():
            found[reader].append(read(page))
    return [field_score(reader, field, golds, told) for field in FIELDS for reader, told in found.items()]


def field_score(reader: str, field: str, golds: list[Told], told: list[Told]) -> FieldScore:
    """Compare what a reader tells of one field with the gold."""
    pairs = [(getattr(gold, field), getattr(one, field)) for gold, one in zip(golds, told, strict=True)]
    asked = [(gold, one) for gold, one in pairs if gold]
    return FieldScore(
        reader,
        field,
        pages=len(asked),
        exact=fmean(_key(gold) == _key(one) for gold, one in asked) if asked else 0.0,
        words=fmean(_word_f1(gold, one) for gold, one in asked) if asked else 0.0,
        told=fmean(bool(one) for _, one in asked) if asked else 0.0,
        unasked=sum(1 for gold, one in pairs if one and not gold),
    )


def _key(text: str | None) -> Counter[str]:
    """Return what two spellings of a value have in common; the order of several authors does not matter."""
    return Counter(_WORD.findall((text or "").casefold()))


def _word_f1(gold: str, told: str | None) -> float:
    return word_score(plain_words(told or ""), plain_words(gold)).f1


def _chaffinch(page: Page) -> Told:
    found = read_metadata(page)
    return Told(found.title, found.author, found.date)


def _trafilatura() -> Reader:
    extract = optional_module("trafilatura.metadata", package=_TRAFILATURA).extract_metadata
    logging.getLogger(_TRAFILATURA).setLevel(logging.CRITICAL)

    def read(page: Page) -> Told:
        try:
            found = extract(page.html, default_url=page.url)
        except Exception:  # noqa: BLE001  (whatever another library raises is its empty answer)
            return Told()
        return Told(found.title, found.author, found.date) if found else Told()

    return read
