"""Labelled pages with their records broken up into runs of siblings.

Few sites of the labelled set have records of several siblings; these pages teach what such records look like.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import frozen, offsets
from chaffinch.page.tags import IDS, TEXT, tag_set

if TYPE_CHECKING:
    from chaffinch.page import Page
    from chaffinch.page.arrays import IntArray
    from chaffinch.records.finding import Spans
    from chaffinch.records.sheet import Sheet

_TABLES: Final = tag_set("table", "thead", "tbody", "tfoot", "tr", "td", "th")
_PARTS: Final = 2.0
"""How many children with text records have, on average, that can be made runs."""


def broken_up(sheet: Sheet, spans: Spans) -> list[list[Page]]:
    """Return the pages without the elements around their records: as they are, and with the parts as rows of a table.

    Nothing where most records have but one child, or are parts of tables already.
    """
    _, siblings = sheet.child_places
    nodes = spans.first[spans.stop == sheet.end[spans.first]]
    if len(nodes) < len(spans) or len(nodes) == 0 or _TABLES[sheet.tag[nodes]].any() or siblings[nodes].mean() < _PARTS:
        return []
    page_of = sheet.page_of[nodes]
    here = [nodes[page_of == number] - int(sheet.start[number]) for number in range(len(sheet.pages))]
    return [
        [_without(page, own) for page, own in zip(sheet.pages, here, strict=True)],
        [_without(_with_rows(page, own), own) for page, own in zip(sheet.pages, here, strict=True)],
    ]


def _with_rows(page: Page, nodes: IntArray) -> Page:
    """Return a page whose children of some elements are rows of a table, and their children cells."""
    rows = np.isin(page.parent, nodes) & (page.tag != TEXT)
    cells = rows[page.parent] & (page.parent >= 0) & (page.tag != TEXT)
    around = np.zeros(len(page), dtype=np.bool_)
    around[page.parent[nodes][page.parent[nodes] >= 0]] = True
    tag = page.tag.copy()
    for marked, name in ((around, "tbody"), (rows, "tr"), (cells, "td")):
        tag[marked] = IDS[name]
    return replace(page, tag=frozen(tag))


def _without(page: Page, nodes: IntArray) -> Page:
    """Return a page without some elements, whose children stand in their places."""
    kept = np.ones(len(page), dtype=np.bool_)
    kept[nodes] = False
    place = offsets(kept)
    parent = page.parent.copy()
    for node in nodes.tolist():
        parent[parent == node] = page.parent[node]
    elements = page.element_number[nodes].tolist()
    gone = set(elements)
    return replace(
        page,
        tag=frozen(page.tag[kept]),
        parent=frozen(np.where(parent < 0, -1, place[parent])[kept].astype(np.int32)),
        end=frozen(place[page.end[kept]]),
        text_offset=frozen(page.text_offset[np.append(kept, True)]),
        blank=frozen(page.blank[kept]),
        visibility=frozen(page.visibility[kept]),
        in_link=frozen(page.in_link[kept]),
        other_names={
            number - bisect_left(elements, number): name
            for number, name in page.other_names.items()
            if number not in gone
        },
        element_attributes=page.element_attributes.part(
            [number for number in range(len(page.element_attributes)) if number not in gone]
        ),
    )
