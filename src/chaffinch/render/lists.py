"""The numbers of list items."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from chaffinch.page.tags import IDS

if TYPE_CHECKING:
    from chaffinch.page.table import Page

ITEM: Final = IDS["li"]
ORDERED: Final = IDS["ol"]

MARGINS: Final = {"-": 2, "*": 2, ".": 4, ")": 4}
"""How far what stands inside an item is set off, by the mark of its list; for numbers of up to two digits."""

_INTEGER: Final = re.compile(r"\s*([+-]?[0-9]{1,9})(?![0-9])")

_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


class OpenList(NamedTuple):
    """A list whose items are being written."""

    node: int
    marker: str
    loose: bool
    """Whether blank lines separate its items."""
    joins: bool
    """Whether its first item may follow the text before it without a blank line."""
    start: int
    """How many lines there were before it."""


def integer(value: str | None) -> int | None:
    """Read an attribute's number; numbers of ten digits and more are as good as none."""
    match = _INTEGER.match(value) if value else None
    return int(match[1]) if match else None


def item_numbers(page: Page) -> dict[int, int]:
    """Return the number of every item of an ordered list, as browsers count: `start`, `reversed` and `value`."""
    items = np.flatnonzero(page.tag == ITEM)
    lists = page.parent[items]
    # The parser never makes an item the root, so every item has a parent.
    ordered = page.tag[lists] == ORDERED
    items, lists = items[ordered], lists[ordered]
    numbers: dict[int, int] = {}
    following: dict[int, int] = {}
    step: dict[int, int] = {}
    for parent, size in Counter(lists.tolist()).items():
        backwards = page.attribute(parent, "reversed") is not None
        start = integer(page.attribute(parent, "start"))
        step[parent] = -1 if backwards else 1
        following[parent] = start if start is not None else size if backwards else 1
    for item, parent in zip(items.tolist(), lists.tolist(), strict=True):
        value = integer(page.attribute(item, "value"))
        numbers[item] = number = following[parent] if value is None else value
        following[parent] = number + step[parent]
    return numbers


def loose_lists(page: Page) -> set[int]:
    """Return the lists with paragraphs directly in their items."""
    items = page.parent[np.flatnonzero(page.tag == IDS["p"])]
    items = items[items >= 0]
    items = items[page.tag[items] == ITEM]
    return set(page.parent[items].tolist())


def cell_mark(depth: int, number: int | None) -> str:
    """Return what stands before an item of a list in a cell of a table, which is on one line."""
    if number is not None:
        return f"{number}."
    return "-" if depth <= 1 else "◦"


def numeral(number: int, kind: str | None) -> str:
    """Write a number as the `type` of its list asks."""
    if kind in {"a", "A"} and number > 0:
        letters = ""
        while number > 0:
            number, rest = divmod(number - 1, 26)
            letters = chr(ord("a") + rest) + letters
        return letters if kind == "a" else letters.upper()
    if kind in {"i", "I"} and 0 < number < 4000:
        letters = ""
        for value, name in _ROMAN:
            repeat, number = divmod(number, value)
            letters += name * repeat
        return letters if kind == "i" else letters.upper()
    return str(number)
