"""From the pages of one site to their records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chaffinch.records.finding import find_records
from chaffinch.records.results import PageRecords, Record, Unit
from chaffinch.records.sheet import Sheet
from chaffinch.records.strings import FORMATTING, cut_strings, path_slots
from chaffinch.records.weights import Weights, shipped_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.page import Page
    from chaffinch.records.finding import Spans
    from chaffinch.records.strings import Strings


def mine_records(pages: Sequence[Page], weights: Weights | None = None) -> list[PageRecords]:
    """Return the records of the pages of one site, for each page in turn."""
    used = weights or shipped_weights()
    sheet = Sheet.of(pages)
    spans = find_records(sheet, used.ranker).spans
    strings = cut_strings(sheet, spans, FORMATTING[sheet.tag])
    names: dict[int, str] = {}
    slots = [names.setdefault(key, f"text-{len(names) + 1}") for key in path_slots(sheet, strings).tolist()]
    return _results(sheet, spans, strings, slots)


def _results(sheet: Sheet, spans: Spans, strings: Strings, slots: Sequence[str]) -> list[PageRecords]:
    units: list[list[Unit]] = [[] for _ in range(len(spans))]
    for record, slot, text in zip(strings.record.tolist(), slots, strings.texts, strict=True):
        units[record].append(Unit(slot, text))
    records: list[list[Record]] = [[] for _ in sheet.pages]
    for page, found in zip(sheet.page_of[spans.first].tolist(), units, strict=True):
        if found:
            records[page].append(Record(tuple(found)))
    return [PageRecords(page.source, page.url, tuple(found)) for page, found in zip(sheet.pages, records, strict=True)]
