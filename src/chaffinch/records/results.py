"""What is found on pages: records of units, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of data of a record."""

    slot: str
    """What it is, the same in all records of a site: a label that the pages give, or a made-up name."""
    text: str
    type: str = "TEXT"
    """NUMBER, DATE, HYPERLINK, PRICE or TEXT."""
    constant: bool = False
    """Whether all records that have the slot have this text."""
    link: str | None = None
    """Where it leads to, if it is a link."""


@dataclass(frozen=True, slots=True)
class Record:
    """One result: its units in page order."""

    units: tuple[Unit, ...]
    link: str | None = None
    """Where the title, or else the first link, leads to."""
    image: str | None = None
    """The source of the first picture."""


@dataclass(frozen=True, slots=True)
class PageRecords:
    """The records of one page, in page order."""

    source: str
    url: str | None
    records: tuple[Record, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain values to be written as one line of JSON."""
        return {"source": self.source, "url": self.url, "records": [_record(record) for record in self.records]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> PageRecords:
        """Return the page that `as_json` made plain values of."""
        records = tuple(
            Record(tuple(Unit(**unit) for unit in record["units"]), record.get("link"), record.get("image"))
            for record in values["records"]
        )
        return cls(values["source"], values["url"], records)


def _record(record: Record) -> dict[str, Any]:
    row: dict[str, Any] = {"units": [_unit(unit) for unit in record.units]}
    if record.link is not None:
        row["link"] = record.link
    if record.image is not None:
        row["image"] = record.image
    return row


def _unit(unit: Unit) -> dict[str, Any]:
    row: dict[str, Any] = {"slot": unit.slot, "text": unit.text, "type": unit.type}
    if unit.constant:
        row["constant"] = True
    if unit.link is not None:
        row["link"] = unit.link
    return row


def slot_names(pages: Iterable[PageRecords]) -> list[str]:
    """Return the slots of pages in the order in which they first appear."""
    return list(dict.fromkeys(unit.slot for page in pages for record in page.records for unit in record.units))
