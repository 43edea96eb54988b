"""GFM tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from chaffinch.render.lists import integer

if TYPE_CHECKING:
    from chaffinch.page.table import Page

_WIDEST: Final = 1000
"""The most columns, and the most rows, that one cell can span."""
_ALIGN_STYLE: Final = re.compile(r"text-align\s*:\s*(left|right|center)", re.IGNORECASE)
_RULES: Final = {"left": ":---", "right": "---:", "center": ":---:"}


class Table:
    """Collects the cells of one table.

    A cell that spans several columns or rows stands in the first; the others are empty. No row gets wider than the
    most cells that a row has in the source, and the empty cells are limited in all, so no number in an attribute makes
    a table large.
    """

    def __init__(self, columns: int, cells: int) -> None:
        self._columns = columns
        self._spare = 4 * cells + 1000
        self._rows: list[list[str]] = []
        self._row: list[str] = []
        self._left = 0
        """How many cells of the row are still to come."""
        self._below: dict[int, int] = {}
        """For columns that cells from above reach into: for how many more rows."""
        self._rules: list[str] = []

    def start_row(self, cells: int) -> None:
        """Begin a row of so many cells."""
        self._row = []
        self._left = cells

    def add_cell(self, page: Page, node: int, text: str) -> None:
        """Add the next cell."""
        self._fill_reached()
        column = len(self._row)
        self._left -= 1
        across = min(_span(page, node, "colspan"), _WIDEST)
        across = max(1, min(across, self._columns - column - self._left))
        down = min(_span(page, node, "rowspan"), _WIDEST)
        if across - 1 > self._spare:
            across = 1
        self._spare -= across - 1
        if not self._rows:
            self._rules.append(_rule(page, node))
            self._rules += ["---"] * (across - 1)
        self._row.append(text)
        self._row += [""] * (across - 1)
        if down > 1 and self._spare > 0:
            self._below.update(dict.fromkeys(range(column, column + across), down))

    def end_row(self) -> None:
        """Finish the row; rows without any text are dropped."""
        self._fill_reached()
        self._below = {column: rows - 1 for column, rows in self._below.items() if rows > 1 and self._spare > 0}
        if any(self._row):
            self._rows.append(self._row)
        elif not self._rows:
            self._rules.clear()

    def _fill_reached(self) -> None:
        """Leave the columns empty that cells from rows above reach into."""
        while self._below.get(len(self._row), 0) > 0 and len(self._row) + self._left < self._columns:
            if self._below[len(self._row)] <= 0 or self._spare <= 0:
                return
            self._spare -= 1
            self._row.append("")

    def write(self) -> str:
        """Return the table; "" if it has no text."""
        if not self._rows:
            return ""
        width = max(map(len, self._rows))
        head = self._rows[0] + [""] * (width - len(self._rows[0]))
        rules = self._rules[:width] + ["---"] * (width - len(self._rules))
        return "\n".join("| " + " | ".join(row) + " |" for row in (head, rules, *self._rows[1:]))


def _span(page: Page, node: int, name: str) -> int:
    """Return how many columns or rows a cell spans; numbers that are too large are cut to large ones."""
    return integer((page.attribute(node, name) or "").strip()[:9]) or 1


def _rule(page: Page, node: int) -> str:
    """Return the part of the line below the header that says how the column is aligned."""
    value = (page.attribute(node, "align") or "").lower()
    if not value and (match := _ALIGN_STYLE.search((page.attribute(node, "style") or "")[:1000])):
        value = match[1].lower()
    return _RULES.get(value, "---")
