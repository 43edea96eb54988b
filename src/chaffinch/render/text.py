"""Plain text, as a person would copy it from a browser's window.

- Paragraphs, headings, quotations, tables, preformatted text and rules are set off by a blank line, other blocks by a
  line break; two `<br>` in a row make a blank line.
- List items start with `- ` or their number, as `start`, `reversed`, `value` and `type` say. They are indented by two
  spaces for each list item around them, `DEEPEST` times at most; so are the further lines of an item.
- The cells of a row are joined by tabs, one for each cell boundary, so empty cells are kept; what breaks lines inside
  a cell becomes a space. Rows that hold lists, headings, tables or several paragraphs arrange the page rather than
  data: their cells are blocks.
- Preformatted text is kept to the letter, never indented.
- Ruby text follows its base in parentheses, `q` gets quotation marks, images leave nothing.
- White space folds to one space, no-break spaces included; text that is left out leaves a space.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.tags import IDS, tag_set
from chaffinch.render.code import letters, preformatted
from chaffinch.render.lists import ITEM, item_numbers, numeral
from chaffinch.render.selection import boundary_counts, counts, fold, select
from chaffinch.render.tables import CELL, TABLE, tabular_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, IntArray
    from chaffinch.page.table import Page
    from chaffinch.render.selection import Selection

DEEPEST: Final = 20
"""Deeper lists are indented no further."""

_PARAGRAPH: Final = tag_set(
    "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "listing", "p", "plaintext", "pre", "table", "xmp"
)
_BREAK: Final = IDS["br"]
_QUOTE: Final = IDS["q"]
_RUBY_TEXT: Final = IDS["rt"]

_LINE, _BLANK_LINE, _TAB, _LETTERS, _INDENT, _PIECE = "\x01", "\x02", "\x03", "\x04", "\x05", "\x06"
"""Marks that stand for white space while the white space around them is folded, for preformatted text, and for the
start of a leaf text block."""

_GLUED, _SPACED, _NEXT_LINE, _NEXT_PARAGRAPH, _NEXT_CELL = range(5)
_SEPARATORS: Final = ("", " ", f" {_LINE} ", f" {_BLANK_LINE} ")


def render_text(selection: Selection) -> str:
    """Render as plain text."""
    return _rendered(selection, ()) if len(selection) else ""


def render_pieces(page: Page) -> tuple[str, ...]:
    """Render all of a page as plain text, and cut it: a piece for each of `page.blocks`.

    A piece begins with what sets it off from the one before it, so all of them together are the whole text. Pieces can
    be kept after the page has gone; see `join_pieces`.
    """
    selection = select(page, np.ones(len(page.texts), dtype=np.bool_))
    block = page.blocks.of_text[selection.indexes]
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    pieces = [""] * len(page.blocks)
    if len(starts):
        found = _rendered(selection, starts.tolist()).removeprefix(_PIECE).removeprefix(" ").split(_PIECE)
        for number, piece, behind in zip(block[starts].tolist(), found, [*found[1:], ""], strict=True):
            # A space at the end goes where a line ends, and stays where only it parts the piece from the next.
            pieces[number] = piece if behind and not behind[0].isspace() else piece.removesuffix(" ")
    return tuple(pieces)


def join_pieces(pieces: Sequence[str], kept: BoolArray) -> str:
    """Put the pieces that are kept together again. Where some between them are not, a line break stands at least."""
    borders = (np.flatnonzero(np.diff(kept, prepend=False, append=False))).tolist()
    runs = ["".join(pieces[first:after]) for first, after in zip(borders[::2], borders[1::2], strict=True)]
    broken = [run if run[:1] == "\n" else "\n" + run.lstrip() for run in runs[1:] if run and not run.isspace()]
    return "".join([*runs[:1], *broken]).strip("\n")


def _rendered(selection: Selection, starts: Sequence[int]) -> str:
    """Render a selection that is not empty, with a mark before the nodes numbered `starts`."""
    rows = tabular_rows(selection)
    separation = _separation(selection, rows)
    texts = list(selection.texts)
    blocks: list[str] = []
    for element in preformatted(selection):
        first, last = np.searchsorted(selection.nodes, (element, selection.page.end[element])).tolist()
        blocks.append(letters(selection, element))
        texts[first:last] = [_LETTERS] + [""] * (last - first - 1)
        separation[first + 1 : last] = _GLUED
    unindented = np.array([text == _LETTERS for text in texts]) if blocks else None
    before = _lead(selection, separation, rows, unindented)
    for start in starts:
        before[start] = _PIECE + before[start]
    _mark_inline(selection, texts)
    folded = fold("".join(chain.from_iterable(zip(before, texts, strict=True))))
    folded = (
        folded.replace(f" {_LINE} ", "\n")
        .replace(f" {_BLANK_LINE} ", "\n\n")
        .replace(f" {_TAB}", _TAB)
        .replace(f"{_TAB} ", _TAB)
        .replace(_TAB, "\t")
        .replace(_INDENT, "  ")
    )
    if blocks:
        pieces = folded.split(_LETTERS)
        folded = "".join(chain.from_iterable(zip(pieces, [*blocks, ""], strict=True)))
    return folded.strip("\n")


def _separation(selection: Selection, rows: IntArray) -> IntArray:
    """Return for each node how it is set off from the one before it; from `_NEXT_CELL` up, by how many tabs."""
    page, nodes = selection.page, selection.nodes
    tag = page.tag
    left, right = nodes[:-1], nodes[1:]

    def crossed(elements: NDArray[np.integer]) -> IntArray:
        before = boundary_counts(page, elements)
        return before[right] - before[left]

    result = np.zeros(len(nodes), dtype=np.int32)
    between = result[1:]
    between[selection.gap[1:]] = _SPACED
    between[selection.runs[right] != selection.runs[left]] = _NEXT_LINE
    breaks = counts((tag == _BREAK) & selection.visible)
    broken = breaks[right] - breaks[left]
    between[broken > 0] = _NEXT_LINE
    between[(broken > 1) | (crossed(np.flatnonzero(_PARAGRAPH[tag] & selection.visible)) > 0)] = _NEXT_PARAGRAPH

    if rows.size:
        row = np.searchsorted(rows, nodes, side="right") - 1
        row[(row >= 0) & (nodes >= page.end[rows[row]])] = -1
        one, other = row[:-1], row[1:]
        inside = (one >= 0) & (one == other)
        cells = counts(CELL[tag])
        cells_crossed = cells[right] - cells[left]
        between[inside & (between > _GLUED)] = _SPACED
        across = inside & (cells_crossed > 0)
        between[across] = _NEXT_CELL - 1 + cells_crossed[across]
        same_table = crossed(np.flatnonzero(tag == TABLE)) == 0
        between[(one >= 0) & (other >= 0) & (one != other) & same_table] = _NEXT_LINE
    return result


def _lead(selection: Selection, separation: IntArray, rows: IntArray, unindented: BoolArray | None) -> list[str]:
    """Return what stands before each node: separator, indentation, item marker and the tabs of empty cells."""
    page, nodes, tag = selection.page, selection.nodes, selection.page.tag
    separation[0] = _NEXT_LINE
    codes = separation.tolist()
    before = [_SEPARATORS[code] if code < _NEXT_CELL else " " + _TAB * (code - _NEXT_CELL + 1) + " " for code in codes]
    before[0] = ""
    items = np.flatnonzero((tag == ITEM) & selection.visible)
    number, inside = selection.first_inside(items)
    items = items[inside]
    if items.size:
        change = np.bincount(items, minlength=len(page) + 1) - np.bincount(page.end[items], minlength=len(page) + 1)
        level = np.minimum(np.cumsum(change)[nodes], DEEPEST)
        level[(separation != _NEXT_LINE) & (separation != _NEXT_PARAGRAPH)] = 0
        starts = number[inside]
        level[starts] -= 1
        if unindented is not None:
            unindented[starts] = False
            level[unindented] = 0
        for position in np.flatnonzero(level > 0).tolist():
            before[position] += _INDENT * int(level[position])
        # Of items that start at the same place the innermost comes last, and its marker stands.
        markers = dict(zip(starts.tolist(), _markers(selection, items.tolist()), strict=True))
        for position, marker in markers.items():
            before[position] += marker
    for position, tabs in _empty_cells(selection, separation, rows):
        before[position] += _TAB * tabs
    return before


def _markers(selection: Selection, items: list[int]) -> Iterable[str]:
    page = selection.page
    numbers = item_numbers(page)
    kinds: dict[int, str | None] = {}
    for item in items:
        if item not in numbers:
            yield "- "
            continue
        parent = int(page.parent[item])
        if parent not in kinds:
            kinds[parent] = page.attribute(parent, "type")
        yield numeral(numbers[item], kinds[parent]) + ". "


def _empty_cells(selection: Selection, separation: IntArray, rows: IntArray) -> Iterable[tuple[int, int]]:
    """Return the nodes that start a row though cells of it come before them, and how many."""
    page = selection.page
    number, inside = selection.first_inside(rows)
    starts = number[inside]
    cells = counts(CELL[page.tag])
    skipped = cells[selection.nodes[starts]] - cells[rows[inside]] - 1
    # Text in a caption or a header that was foster-parented is in no cell.
    wanted = (skipped > 0) & (separation[starts] < _NEXT_CELL)
    return zip(starts[wanted].tolist(), skipped[wanted].tolist(), strict=True)


def _mark_inline(selection: Selection, texts: list[str]) -> None:
    """Put quotations in quotation marks and ruby text in parentheses."""
    page = selection.page
    elements = np.flatnonzero(((page.tag == _QUOTE) | (page.tag == _RUBY_TEXT)) & selection.visible)
    if not elements.size:
        return
    number, inside = selection.first_inside(elements)
    elements, first = elements[inside], number[inside].tolist()
    last = (np.searchsorted(selection.nodes, page.end[elements]) - 1).tolist()
    opening: dict[int, list[str]] = {}
    closing: dict[int, list[str]] = {}
    for element, start, stop in zip(elements.tolist(), first, last, strict=True):
        marks = "“”" if page.tag[element] == _QUOTE else "()"
        opening.setdefault(start, []).append(marks[0])
        closing.setdefault(stop, []).append(marks[1])
    for position, marks_before in opening.items():
        text = texts[position]
        core = text.lstrip()
        texts[position] = text[: len(text) - len(core)] + "".join(marks_before) + core
    for position, marks_behind in closing.items():
        text = texts[position]
        core = text.rstrip()
        texts[position] = core + "".join(reversed(marks_behind)) + text[len(core) :]
