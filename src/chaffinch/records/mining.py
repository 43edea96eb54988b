"""From the pages of one site to their records, and to the wrapper that finds them again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.records.attributes import record_images, record_links, unit_links
from chaffinch.records.clusters import anchors_of, atom_keys
from chaffinch.records.emptiness import says_nothing_found
from chaffinch.records.finding import Spans, find_records
from chaffinch.records.graph import TemplateGraph, vote
from chaffinch.records.grouping import group_pages, sketch_of
from chaffinch.records.naming import name_slots, paths_of
from chaffinch.records.results import PageRecords, Record, Unit
from chaffinch.records.sheet import Sheet
from chaffinch.records.text_types import TextType
from chaffinch.records.units import UnitOptions, find_units
from chaffinch.records.weights import Weights, shipped_weights
from chaffinch.records.wrapper import Signature, Wrapper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.page import Page
    from chaffinch.records.finding import Found
    from chaffinch.records.graph import Slot
    from chaffinch.records.strings import Strings
    from chaffinch.records.units import Units

_SKETCHES: Final = 3
_SMALL: Final = 0.35
_HARDLY_ANY: Final = 0.02
_HARDLY_NEW: Final = 0.1


@dataclass(frozen=True, eq=False)
class Mined:
    """What the pages of one template hold."""

    pages: tuple[PageRecords, ...]
    wrapper: Wrapper


def mine_records(
    pages: Sequence[Page], weights: Weights | None = None, options: UnitOptions | None = None
) -> list[PageRecords]:
    """Return the records of the pages of one template, for each page in turn."""
    return list(mine(pages, weights, options).pages)


def mine(pages: Sequence[Page], weights: Weights | None = None, options: UnitOptions | None = None) -> Mined:
    """Return the records of the pages of one template, and the wrapper."""
    used = weights or shipped_weights()
    sheet = Sheet.of(pages)
    return mine_found(sheet, _without_empty_pages(sheet, find_records(sheet, used.ranker)), used, options)


def mine_found(sheet: Sheet, found: Found, weights: Weights, options: UnitOptions | None = None) -> Mined:
    """Return the units of records that are found already, and the wrapper."""
    units = find_units(sheet, found.spans, weights, options or UnitOptions())
    graph = vote(paths_of(units), name_slots(sheet, units))
    strings = units.slotted.strings
    results = results_of(sheet, found.spans, strings, units.slotted.slot.tolist(), graph.slots)
    return Mined(tuple(results), _wrapper(sheet, found, units, graph))


def _without_empty_pages(sheet: Sheet, found: Found) -> Found:
    """Leave out what was found on pages that say that there is nothing, if it is but a small part of them or a menu.

    Such words may also wait, unseen, on every page of a site: what all pages say is template, unless what was found is
    on all pages as well.
    """
    spans = found.spans
    if len(spans) == 0:
        return found
    ends = sheet.leaves_before[sheet.start]
    whole = sheet.words_before[ends[1:]] - sheet.words_before[ends[:-1]]
    page_of = sheet.page_of[spans.first]
    words = sheet.words_before[sheet.leaves_before[spans.stop]] - sheet.words_before[sheet.leaves_before[spans.first]]
    share = np.bincount(page_of, weights=words, minlength=len(sheet.pages)) / np.maximum(whole, 1)
    linked = sheet.leaf_totals(sheet.leaf_words * sheet.in_link)
    in_links = linked[sheet.leaves_before[spans.stop]] - linked[sheet.leaves_before[spans.first]]
    text = np.bincount(page_of, weights=words - in_links, minlength=len(sheet.pages)) / np.maximum(whole, 1)
    suspects = np.flatnonzero((share > 0) & ((share < _SMALL) | (text < _HARDLY_ANY))).tolist()
    if not suspects:
        return found
    says = np.array([says_nothing_found(page) for page in sheet.pages])
    if len(says) > 1 and says.all():
        own = sheet.leaf_totals(np.where(sheet.on_other_pages, 0, sheet.leaf_words))
        fresh = own[sheet.leaves_before[spans.stop]] - own[sheet.leaves_before[spans.first]]
        says = np.bincount(page_of, weights=fresh, minlength=len(says)) < _HARDLY_NEW * np.maximum(share * whole, 1)
    empty = np.zeros(len(sheet.pages), dtype=np.bool_)
    empty[suspects] = says[suspects]
    kept = ~empty[page_of]
    return replace(found, spans=Spans(spans.first[kept], spans.stop[kept]))


def mine_all(
    pages: Sequence[Page], weights: Weights | None = None, options: UnitOptions | None = None
) -> tuple[list[PageRecords], list[Wrapper]]:
    """Return the records of pages of any sites, in their order; pages that share a template are learned together."""
    results: dict[int, PageRecords] = {}
    wrappers = []
    for numbers in group_pages(pages):
        mined = mine([pages[number] for number in numbers], weights, options)
        results.update(zip(numbers, mined.pages, strict=True))
        wrappers.append(mined.wrapper)
    return [results[number] for number in range(len(pages))], wrappers


def results_of(
    sheet: Sheet, spans: Spans, strings: Strings, slots: Sequence[int], vertices: Sequence[Slot]
) -> list[PageRecords]:
    """Return the units of data as records of their pages. A record of nothing but template keeps all it has."""
    links = unit_links(sheet, strings)
    units: list[list[tuple[bool, Unit]]] = [[] for _ in range(len(spans))]
    for record, slot, text, kind, link in zip(
        strings.record.tolist(), slots, strings.texts, strings.types.tolist(), links, strict=True
    ):
        vertex = vertices[slot]
        units[record].append((vertex.data, Unit(vertex.name, text, TextType(kind).name, vertex.constant, link)))
    records: list[list[Record]] = [[] for _ in sheet.pages]
    titles, images = record_links(sheet, spans, strings, links), record_images(sheet, spans)
    for page, here, link, image in zip(sheet.page_of[spans.first].tolist(), units, titles, images, strict=True):
        kept = tuple(unit for data, unit in here if data) or tuple(unit for _, unit in here)
        if kept:
            records[page].append(Record(kept, link, image))
    return [PageRecords(page.source, page.url, tuple(here)) for page, here in zip(sheet.pages, records, strict=True)]


def _wrapper(sheet: Sheet, found: Found, units: Units, graph: TemplateGraph) -> Wrapper:
    slotted = units.slotted
    anchors = anchors_of(sheet, slotted.strings)
    hashes = slotted.bounds.hashes
    atoms: dict[int, Signature] = {}
    keys, examples = np.unique(atom_keys(anchors, slotted.strings, slotted.bounds), return_index=True)
    for key, example in zip(keys.tolist(), examples.tolist(), strict=True):
        atoms[key] = Signature(
            int(slotted.slot[example]), int(anchors[example]), int(slotted.strings.types[example]),
            int(hashes[slotted.bounds.left[example]]), int(hashes[slotted.bounds.right[example]]),
        )  # fmt: skip
    joints = units.cut.joints
    return Wrapper(
        site=sheet.pages[0].place.site if sheet.pages else "",
        pages=len(sheet.pages),
        kinds=tuple(map(found.candidates.what, found.chosen)),
        joints=dict(zip(joints.keys.tolist(), units.cut.joined.tolist(), strict=True)),
        atoms=atoms,
        graph=graph,
        template=units.template,
        sketches=tuple(tuple(sketch_of(page).tolist()) for page in islice(sheet.pages, _SKETCHES)),
    )
