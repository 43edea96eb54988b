r"""Markdown: CommonMark with the tables, strikethroughs, task lists and footnotes of GFM.

- Every block-level element of plain text is a paragraph; `<br>` is a backslash at the end of the line. A heading is one
  line; elements that wrap more than `LONGEST_HEADING` block boundaries in a heading's tags are no headings.
- Emphasis stands directly around its words. Where CommonMark would not take a marker for one (`**a:**b`), it is left
  out. In headings nothing is strong; code spans hold nothing but text; a link around code stays a link.
- `<sup>` and `<sub>` stay as they are; `<q>` gets quotation marks, ruby text parentheses.
- Links and images are written inline, with absolute addresses if the page's own is known; images stand as
  `chaffinch.render.images` says. Links without an address that others can use leave their text, links of nothing but
  a sign to a place inside the page, such as the `¶` of a heading, are left out.
- Tables that hold data (`chaffinch.render.tables`) are GFM tables with the first row as header; other tables leave
  their cells as paragraphs.
- Preformatted text is a fenced block with the language that its classes name.
- Definition lists are written as `: ` lines, footnotes as `[^1]`, formulas that carry their TeX source as `$…$`.
- Items keep the numbers that browsers show. Lists are tight unless their items hold paragraphs.
- Containers are nested `markdown_lines.DEEPEST` deep at most.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import covered
from chaffinch.page.tags import IDS, TEXT
from chaffinch.render.code import language, letters, preformatted
from chaffinch.render.footnotes import find_footnotes
from chaffinch.render.images import kept_images
from chaffinch.render.links import clean_url
from chaffinch.render.lists import MARGINS, OpenList, cell_mark, item_numbers, loose_lists
from chaffinch.render.markdown_inline import BREAK, EMPHASES, LINK, SPACE, Kind, Token, assemble, escape, target
from chaffinch.render.markdown_lines import Lines
from chaffinch.render.markdown_tables import Table
from chaffinch.render.markdown_tags import CODE_NAMES, EMPHASIS_OF, EMPTY, LONGEST_HEADING, MEANT, WRAPPED
from chaffinch.render.math import formulas, is_typeset, typeset_parts
from chaffinch.render.selection import counts, fold
from chaffinch.render.tables import CELL, ROW, data_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chaffinch.page.arrays import BoolArray, IntArray
    from chaffinch.render.images import Image
    from chaffinch.render.selection import Selection

_LAST_HASHES: Final = re.compile(r"(?<!\S)#+$")


def render_markdown(selection: Selection) -> str:
    """Render as Markdown."""
    if not len(selection):
        return ""
    walk = _Walk(selection)
    page = selection.page
    nodes = walk.nodes
    ends, tags, runs = page.end[nodes].tolist(), page.tag[nodes].tolist(), selection.runs[nodes].tolist()
    open_ends = walk.open_ends
    openers = walk.openers
    for node, end, tag, run in zip(nodes.tolist(), ends, tags, runs, strict=True):
        while open_ends and open_ends[-1] <= node:
            walk.close()
        if node < walk.passed:
            continue
        if tag == TEXT:
            walk.text(node, run)
        elif node in walk.special:
            walk.special[node](node, end, run)
        else:
            openers[tag](node, end, run)
    while open_ends:
        walk.close()
    walk.flush()
    return "\n".join(walk.lines.lines).strip("\n")


class _Walk:
    """Goes through what is rendered, from start to end, and writes blocks when they are complete."""

    def __init__(self, selection: Selection) -> None:
        self.lines = Lines()
        self.open_ends: list[int] = []
        self.passed = 0
        """Nodes before this position are dealt with."""
        self._selection = selection
        self._page = selection.page
        self._closers: list[Callable[[], None] | None] = []
        self._tokens: list[Token] = []
        self._open_markers: list[Token] = []
        self._marker_levels: dict[str, int] = {}
        self._closing_marks: dict[str, str] = {}
        self._code = 0
        self._code_name = ""
        self._heading = 0
        self._run = -1
        self._number = 0
        self._lists: list[OpenList] = []
        self._ended_list: tuple[int, str] = (-1, "")
        self._rule_pending = False
        self._after_term = False
        self._table: Table | None = None
        self._cell = -1
        self._cell_lists = 0
        self._cells: IntArray = counts(CELL[self._page.tag] & selection.visible)
        self._numbers = item_numbers(self._page)
        self._loose = loose_lists(self._page)
        self._images: dict[int, Image] = kept_images(selection)
        self._notes = find_footnotes(selection)
        self._formulas, skipped = formulas(selection)
        self._typeset = is_typeset(self._page)
        tables = data_tables(selection, lists=True)
        self.openers = self._openers()
        self.special: dict[int, Callable[[int, int, int], None]] = dict.fromkeys(tables, self._open_table)
        self.special.update(dict.fromkeys(preformatted(selection), self._open_preformatted))
        self.special.update(dict.fromkeys(self._formulas, self._open_formula))
        self.special.update(dict.fromkeys(self._notes.targets, self._open_note))
        self.special.update(dict.fromkeys(self._notes.references, self._open_reference))
        self.special.update(dict.fromkeys((*self._notes.back_links, *skipped), self._pass))
        self.nodes = self._events(tables)

    def _events(self, tables: list[int]) -> IntArray:
        """Return the positions of everything that has a say."""
        page, selection = self._page, self._selection
        content: BoolArray = np.zeros(len(page), dtype=np.bool_)
        content[selection.nodes] = True
        content[list(self._images)] = True
        before = counts(content)
        leads_to_content = before[page.end] > before[:-1]
        meant = MEANT[page.tag]
        meant[list(self.special)] = True
        said = content | (meant & leads_to_content & selection.visible)
        empty = EMPTY[page.tag] & selection.visible
        empty[empty] = leads_to_content[page.parent[empty]]
        said |= empty
        if tables:
            start = np.array(tables, dtype=np.int32)
            in_table = covered(start, page.end[start], len(page))
            rows = in_table & (page.tag == ROW) & leads_to_content
            cells = in_table & CELL[page.tag]
            cells[cells] = rows[page.parent[cells]]
            said |= rows | cells
        return np.flatnonzero(said).astype(np.int32)

    def _openers(self) -> list[Callable[[int, int, int], None]]:
        """Return what to do at the start of each kind of element."""
        result: list[Callable[[int, int, int], None]] = [self._ignore] * len(MEANT)
        groups: tuple[tuple[Callable[[int, int, int], None], Iterable[str]], ...] = (
            (self._open_list, ("dir", "menu", "ol", "ul")),
            (self._open_emphasis, EMPHASIS_OF),
            (self._open_wrapped, WRAPPED),
            (self._open_code, CODE_NAMES),
            (self._open_heading, ("h1", "h2", "h3", "h4", "h5", "h6")),
            (self._open_cell, ("td", "th")),
            (self._open_link, ("a",)),
            (self._open_quotation, ("blockquote",)),
            (self._break, ("br",)),
            (self._open_definition, ("dd",)),
            (self._open_term, ("dt",)),
            (self._rule, ("hr",)),
            (self._image, ("img",)),
            (self._input, ("input",)),
            (self._open_item, ("li",)),
            (self._open_row, ("tr",)),
        )
        for opener, names in groups:
            for name in names:
                result[IDS[name]] = opener
        return result

    def _push(self, end: int, closer: Callable[[], None]) -> None:
        self.open_ends.append(end)
        self._closers.append(closer)

    def close(self) -> None:
        """Close the innermost open element."""
        self.open_ends.pop()
        closer = self._closers.pop()
        if closer:
            closer()

    def _closing(self) -> list[Token]:
        """Return the ends of all open markers."""
        names = [marker.name for marker in reversed(self._open_markers)]
        return [Token(Kind.CLOSE, self._closing_marks[name], name) for name in names]

    def flush(self) -> None:
        """Write the paragraph that was collected; markers that are open go on in the next."""
        tokens = self._tokens
        if not tokens:
            return
        tokens += self._closing()
        self._tokens = list(self._open_markers)
        in_line = self._heading or self._cell >= 0
        text = assemble(tokens, " " if in_line else "\\\n")
        if text:
            if self._heading:
                text = "#" * self._heading + " " + _LAST_HASHES.sub(r"\\\g<0>", text)
                self._heading = 0
            self._block(text)

    def _write_rule(self) -> None:
        """Write the rule that waits until it separates something."""
        if self._rule_pending:
            self._rule_pending = False
            if self.lines.lines:
                self.lines.tight = False
                self.lines.block("---")

    def _push_container(self, first: str, rest: str) -> bool:
        self.flush()
        self._write_rule()
        return self.lines.push(first, rest)

    def _block(self, text: str) -> None:
        self._write_rule()
        self._after_term = False
        self.lines.block(text)

    def _ignore(self, _node: int, _end: int, _run: int) -> None:
        pass

    def _pass(self, _node: int, end: int, _run: int) -> None:
        self.passed = end
        first = int(np.searchsorted(self._selection.nodes, end))
        self._number = max(self._number, first)

    def _meet(self, run: int) -> None:
        """Look whether a block-level element started or ended since the last text."""
        if run == self._run:
            return
        self._run = run
        if not self._tokens:
            return
        if self._cell >= 0:
            self._tokens.append(BREAK)
        elif self._heading:
            self._tokens.append(SPACE)
        else:
            self.flush()

    def text(self, _node: int, run: int) -> None:
        """Take up the next of the kept texts."""
        self._meet(run)
        number = self._number
        self._number += 1
        if self._selection.gap[number]:
            self._tokens.append(SPACE)
        text = self._selection.texts[number]
        if self._code:
            self._tokens.append(Token(Kind.CODE, text, self._code_name))
        elif self._typeset and "\\" in text:
            self._tokens += (Token(Kind.RAW if is_tex else Kind.TEXT, part) for part, is_tex in typeset_parts(text))
        else:
            self._tokens.append(Token(Kind.TEXT, text))

    def _open_marker(self, name: str, opening: str, closing: str, end: int) -> None:
        level = self._marker_levels.get(name, 0)
        if level == 0:
            token = Token(Kind.OPEN, opening, name)
            self._tokens.append(token)
            self._open_markers.append(token)
            self._closing_marks[name] = closing
        self._marker_levels[name] = level + 1
        self._push(end, self._close_marker_of(name))

    def _close_marker_of(self, name: str) -> Callable[[], None]:
        def close() -> None:
            self._marker_levels[name] -= 1
            if self._marker_levels[name] == 0:
                marker = self._open_markers.pop()
                self._tokens.append(Token(Kind.CLOSE, self._closing_marks[name], marker.name))

        return close

    def _open_emphasis(self, node: int, end: int, _run: int) -> None:
        name = EMPHASIS_OF[self._page.name_of(node)]
        if self._code or (name == "strong" and self._heading):
            return
        self._open_marker(name, EMPHASES[name], EMPHASES[name], end)

    def _open_wrapped(self, node: int, end: int, _run: int) -> None:
        if self._code:
            return
        name = self._page.name_of(node)
        self._open_marker(name, *WRAPPED[name], end)

    def _open_code(self, node: int, end: int, _run: int) -> None:
        self._code += 1
        if self._code == 1:
            self._code_name = str(node)
        self._push(end, self._close_code)

    def _close_code(self) -> None:
        self._code -= 1

    def _open_link(self, node: int, end: int, _run: int) -> None:
        page = self._page
        href = page.attribute(node, "href")
        if href is None:
            return
        if href.startswith("#") and not any(map(str.isalnum, self._beginning(node, end))):
            self._pass(node, end, 0)
            return
        url = clean_url(page.url, href)
        if url:
            self._open_marker(LINK, "[", target(url, page.attribute(node, "title") or ""), end)

    def _beginning(self, node: int, end: int) -> str:
        """Return the beginning of the text of a link; images count as letters."""
        first, last = np.searchsorted(self._selection.nodes, (node, end)).tolist()
        if last - first > 1 or (last == first):
            return "a"
        text: str = self._selection.texts[first]
        return text

    def _image(self, node: int, _end: int, run: int) -> None:
        self._meet(run)
        image = self._images[node]
        self._tokens.append(SPACE)
        self._tokens.append(Token(Kind.RAW, f"![{escape(image.alt, linked=True)}{target(image.url, image.title)}"))

    def _break(self, _node: int, _end: int, _run: int) -> None:
        tokens = self._tokens
        if tokens and tokens[-1] is BREAK and not self._heading and self._cell < 0:
            self.flush()
        elif tokens:
            tokens.append(BREAK)

    def _rule(self, _node: int, _end: int, _run: int) -> None:
        self.flush()
        self._rule_pending = True

    def _input(self, node: int, _end: int, run: int) -> None:
        page = self._page
        starts_item = self.lines.fresh and not self._tokens and self._lists
        if starts_item and (page.attribute(node, "type") or "").lower() == "checkbox":
            self._meet(run)
            self._tokens += (Token(Kind.RAW, "[ ]" if page.attribute(node, "checked") is None else "[x]"), SPACE)

    def _open_heading(self, node: int, end: int, _run: int) -> None:
        self.flush()
        runs = self._selection.runs
        if runs[end - 1] - runs[node] > LONGEST_HEADING:
            return
        outer, self._heading = self._heading, int(self._page.name_of(node)[1])

        def close() -> None:
            self.flush()
            self._heading = outer

        self._push(end, close)

    def _open_quotation(self, _node: int, end: int, _run: int) -> None:
        self._push_container("> ", "> ")
        self._push(end, self._close_container)

    def _close_container(self) -> None:
        self.flush()
        self.lines.pop()

    def _open_list(self, node: int, end: int, _run: int) -> None:
        if self._cell >= 0:
            self._cell_lists += 1
            self._push(end, self._close_cell_list)
            return
        self.flush()
        ordered = self._page.tag[node] == IDS["ol"]
        markers = ".)" if ordered else "-*"
        at, marker = self._ended_list
        other = at == len(self.lines.lines) and marker == markers[0]
        outer = self._lists[-1] if self._lists else None
        in_list = outer is not None and outer.node == self._page.parent[node] and len(self.lines.lines) > outer.start
        nested = (
            outer is not None
            and not self.lines.fresh
            and not outer.loose
            and (in_list or self._closers[-1] == self._close_item)
        )
        self._lists.append(
            OpenList(node, markers[other], loose=node in self._loose, joins=nested, start=len(self.lines.lines))
        )
        if outer is not None and in_list:  # browsers show it inside the item before it
            margin = " " * MARGINS[outer.marker]
            self.lines.push(margin, margin)
            self._push(end, self.lines.pop)
        self._push(end, self._close_list)

    def _close_cell_list(self) -> None:
        self._cell_lists -= 1

    def _close_list(self) -> None:
        self.flush()
        self._ended_list = (len(self.lines.lines), self._lists.pop().marker)

    def _open_item(self, node: int, end: int, run: int) -> None:
        if self._cell >= 0:
            self._meet(run)
            self._tokens += (Token(Kind.RAW, cell_mark(self._cell_lists, self._numbers.get(node))), SPACE)
            return
        self.flush()
        parent = int(self._page.parent[node])
        within = self._lists[-1] if self._lists and self._lists[-1].node == parent else None
        marker = within.marker if within else "-"
        first = f"{marker} "
        number = 1
        if node in self._numbers:
            number = max(0, self._numbers[node])
            first = f"{number}{marker} "
        shown = self._push_container(first, " " * len(first))
        if within:
            # Only a list that starts with 1 can interrupt a paragraph.
            begun = len(self.lines.lines) > within.start
            self.lines.tight = shown and (not within.loose if begun else within.joins and number == 1)
        self._push(end, self._close_item)

    def _close_item(self) -> None:
        # A method of its own, so that lists can tell whether they stand directly in an item.
        self._close_container()

    def _open_note(self, node: int, end: int, _run: int) -> None:
        self._push_container(f"[^{self._notes.targets[node]}]: ", "    ")
        self._push(end, self._close_container)

    def _open_reference(self, node: int, end: int, run: int) -> None:
        self._meet(run)
        self._tokens.append(Token(Kind.RAW, f"[^{self._notes.references[node]}]"))
        self._pass(node, end, run)

    def _open_term(self, _node: int, end: int, _run: int) -> None:
        self.flush()
        self.lines.tight = self._after_term
        self._push(end, self._close_term)

    def _close_term(self) -> None:
        self.flush()
        self._after_term = True

    def _open_definition(self, _node: int, end: int, _run: int) -> None:
        shown = self._push_container(": ", "  ")
        self.lines.tight = shown and self._after_term
        self._push(end, self._close_container)

    def _open_preformatted(self, node: int, end: int, _run: int) -> None:
        self.flush()
        text = letters(self._selection, node).replace("\r\n", "\n").replace("\r", "\n")
        longest = max(map(len, re.findall(r"`{3,}", text)), default=2)
        fence = "`" * (longest + 1)
        self._block(f"{fence}{language(self._page, node)}\n{text}\n{fence}")
        self._pass(node, end, 0)

    def _open_formula(self, node: int, end: int, run: int) -> None:
        tex, own_line = self._formulas[node]
        if own_line and self._cell < 0 and not self._heading:
            self.flush()
            self._block(f"$$\n{tex}\n$$")
        else:
            self._meet(run)
            self._tokens.append(Token(Kind.RAW, f"${fold(tex)}$"))
        self._pass(node, end, run)

    def _open_table(self, node: int, end: int, _run: int) -> None:
        self.flush()
        page = self._page
        rows = np.flatnonzero(page.tag[node:end] == ROW) + node
        widths = self._cells[page.end[rows]] - self._cells[rows]
        self._table = Table(int(widths.max()), int(widths.sum()))
        self._push(end, self._close_table)

    def _close_table(self) -> None:
        self.flush()
        text = self._table.write() if self._table else ""
        self._table = None
        if text:
            self._block(text)

    def _open_row(self, node: int, end: int, _run: int) -> None:
        self.flush()
        if self._table:
            self._table.start_row(int(self._cells[end] - self._cells[node]))
            self._push(end, self._table.end_row)

    def _open_cell(self, node: int, end: int, _run: int) -> None:
        self.flush()
        self._cell = node
        self._push(end, self._close_cell)

    def _close_cell(self) -> None:
        node, self._cell = self._cell, -1
        tokens, self._tokens = self._tokens, list(self._open_markers)
        text = assemble([*tokens, *self._closing()], "<br>")
        if self._table:
            self._table.add_cell(self._page, node, text.replace("|", "\\|"))
