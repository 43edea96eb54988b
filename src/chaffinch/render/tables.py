"""Which tables are tables, and which only arrange the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import covered
from chaffinch.page.tags import IDS, tag_set
from chaffinch.render.selection import counts

if TYPE_CHECKING:
    from chaffinch.page.arrays import BoolArray, IntArray
    from chaffinch.render.selection import Selection

CELL: Final = tag_set("td", "th")
ROW: Final = IDS["tr"]
TABLE: Final = IDS["table"]

_STRUCTURE: Final = tag_set(
    "article", "aside", "blockquote", "details", "dir", "dl", "fieldset", "footer", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hr", "listing", "main", "menu", "nav", "ol", "plaintext", "pre", "section", "table", "textarea", "ul",
    "xmp",
)  # fmt: skip
"""What no line of a table can hold."""

_MOST_BREAKS: Final = 5
"""A cell with more line breaks, or more block-level elements, than that is running text."""


_LISTS: Final = tag_set("dir", "menu", "ol", "ul")
_ITEM: Final = IDS["li"]
_MOST_ITEMS: Final = 12
"""A cell with more items is no line, even where lists may stand in one."""


def _crowded_cells(selection: Selection, *, lists: bool = False) -> IntArray:
    """Return the cells that hold more than a line: several paragraphs, many line breaks or many blocks.

    With `lists`, a short list is no reason.
    """
    page = selection.page
    cells = np.flatnonzero(CELL[page.tag] & selection.visible)
    paragraphs = counts(page.tag == IDS["p"])
    breaks = counts(page.tag == IDS["br"])
    of_lists = _LISTS[page.tag] | (page.tag == _ITEM)
    blocks = counts(selection.block_level & ~of_lists if lists else selection.block_level)
    items = counts(page.tag == _ITEM)
    ends = page.end[cells]
    crowded = (
        (paragraphs[ends] - paragraphs[cells] > 1)
        | (breaks[ends] - breaks[cells] > _MOST_BREAKS)
        | (blocks[ends] - blocks[cells] - 1 > _MOST_BREAKS)
        | (items[ends] - items[cells] > _MOST_ITEMS)
    )
    return cells[crowded].astype(np.int32)


def _arranging(selection: Selection) -> BoolArray:
    """Return which nodes stand in tables that say of themselves that they are no tables."""
    page = selection.page
    tables = [
        table
        for table in page.find("table")
        if (page.attribute(table, "role") or "").lower() in {"presentation", "none"}
    ]
    start = np.array(tables, dtype=np.int32)
    return covered(start, page.end[start], len(page))


def _free_of(marked: BoolArray, elements: IntArray, end: IntArray) -> BoolArray:
    """Return which elements have nothing marked inside."""
    before = counts(marked)
    free: BoolArray = before[end[elements]] == before[elements + 1]
    return free


def tabular_rows(selection: Selection) -> IntArray:
    """Return the rows of several cells that can be written on one line. None stands inside another."""
    page = selection.page
    rows = np.flatnonzero((page.tag == ROW) & selection.visible).astype(np.int32)
    if not rows.size:
        return rows
    unfit = _STRUCTURE[page.tag] | (page.tag == ROW)
    unfit[_crowded_cells(selection)] = True
    cells = counts(CELL[page.tag])
    several = cells[page.end[rows]] - cells[rows] > 1
    return rows[several & _free_of(unfit, rows, page.end) & ~_arranging(selection)[rows]]


def data_tables(selection: Selection, *, lists: bool = False) -> list[int]:
    """Return the tables of at least two rows and two columns whose every row can be written on one line.

    With `lists`, tables with header cells may have short lists in their cells. None stands inside another.
    """
    page = selection.page
    tables = np.flatnonzero((page.tag == TABLE) & selection.visible).astype(np.int32)
    if not tables.size:
        return []
    strict = _STRUCTURE[page.tag].copy()
    strict[_crowded_cells(selection)] = True
    fit = _free_of(strict, tables, page.end)
    if lists:
        unfit = _STRUCTURE[page.tag] & ~_LISTS[page.tag]
        unfit[_crowded_cells(selection, lists=True)] = True
        fit |= _free_of(unfit, tables, page.end) & ~_free_of(page.tag == IDS["th"], tables, page.end)
    tables = tables[fit & ~_arranging(selection)[tables]]
    rows = np.flatnonzero(page.tag == ROW)
    cells = counts(CELL[page.tag])
    width = cells[page.end[rows]] - cells[rows]
    first, last = np.searchsorted(rows, tables), np.searchsorted(rows, page.end[tables])
    spans = zip(tables.tolist(), first.tolist(), last.tolist(), strict=True)
    return [table for table, start, stop in spans if stop - start > 1 and width[start:stop].max() > 1]
