"""From the pages of one site to their records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chaffinch.records.finding import find_records
from chaffinch.records.results import PageRecords, Record, Unit
from chaffinch.records.sheet import Sheet
from chaffinch.records.text_types import TextType
from chaffinch.records.units import UnitOptions, find_units
from chaffinch.records.weights import Weights, shipped_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.page import Page
    from chaffinch.records.finding import Spans
    from chaffinch.records.units import Units


def mine_records(
    pages: Sequence[Page], weights: Weights | None = None, options: UnitOptions | None = None
) -> list[PageRecords]:
    """Return the records of the pages of one site, for each page in turn."""
    used = weights or shipped_weights()
    sheet = Sheet.of(pages)
    spans = find_records(sheet, used.ranker).spans
    return results_of(sheet, spans, find_units(sheet, spans, used, options or UnitOptions()))


def results_of(sheet: Sheet, spans: Spans, units: Units) -> list[PageRecords]:
    """Return the units of data as records of their pages."""
    found: list[list[Unit]] = [[] for _ in range(len(spans))]
    strings = units.slotted.strings
    keep = units.data[units.slotted.slot].tolist() if len(strings) else []
    for record, slot, text, kind, kept in zip(
        strings.record.tolist(), units.slotted.slot.tolist(), strings.texts, strings.types.tolist(), keep, strict=True
    ):
        if kept:
            found[record].append(Unit(f"slot-{slot}", text, TextType(kind).name))
    records: list[list[Record]] = [[] for _ in sheet.pages]
    for page, here in zip(sheet.page_of[spans.first].tolist(), found, strict=True):
        if here:
            records[page].append(Record(tuple(here)))
    return [PageRecords(page.source, page.url, tuple(here)) for page, here in zip(sheet.pages, records, strict=True)]
