"""What the header row of a table says of the cells below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import nearest_marked
from chaffinch.page.tags import IDS, tag_set

if TYPE_CHECKING:
    from chaffinch.page.arrays import IndexArray, IntArray
    from chaffinch.records.sheet import Sheet

_LEAST_CELLS: Final = 2


def column_heads(sheet: Sheet, nodes: IndexArray) -> list[str]:
    """Return for each node the header of the table column it stands in; "" where there is none."""
    nothing = [""] * len(nodes)
    cells = np.flatnonzero(tag_set("td", "th")[sheet.tag])
    heads = sheet.tag[cells] == IDS["th"]
    if not heads.any() or len(nodes) == 0:
        return nothing
    row = sheet.parent[cells]
    order = np.lexsort((cells, row))
    begins = np.append(True, row[order][1:] != row[order][:-1])
    number = np.cumsum(begins) - 1
    place = np.zeros(len(sheet), dtype=np.intp)
    place[cells[order]] = np.arange(len(order)) - np.flatnonzero(begins)[number]
    sizes, headers = np.bincount(number), np.bincount(number, weights=heads[order])
    rows = row[order][begins]
    tables = nearest_marked(sheet.parent, sheet.tag == IDS["table"])
    names = _names(sheet, rows[(sizes == headers) & (sizes >= _LEAST_CELLS)].tolist(), tables)
    if not names:
        return nothing
    cell = nearest_marked(sheet.parent, tag_set("td")[sheet.tag])[nodes]
    places = zip(tables[np.maximum(cell, 0)].tolist(), place[np.maximum(cell, 0)].tolist(), cell.tolist(), strict=True)
    return [names.get((table, at), "") if node >= 0 else "" for table, at, node in places]


def _names(sheet: Sheet, rows: list[int], tables: IntArray) -> dict[tuple[int, int], str]:
    """Return the texts of the first header row of each table, by table and place, unless a cell spans columns."""
    found: dict[tuple[int, int], str] = {}
    seen: set[int] = set()
    for row in rows:
        table = int(tables[row])
        if table in seen:
            continue
        seen.add(table)
        number = int(sheet.page_of[row])
        page, base = sheet.pages[number], int(sheet.start[number])
        cells = [node for node in range(row + 1, int(sheet.end[row])) if sheet.parent[node] == row]
        cells = [node for node in cells if sheet.tag[node] == IDS["th"]]
        if any(page.attribute(node - base, "colspan") not in {None, "", "1"} for node in cells):
            continue
        for place, node in enumerate(cells):
            found[table, place] = " ".join(page.text_of(node - base).split())
    return found
