"""Pruned HTML: the elements on the way to the kept text, and what they mean.

The result is a fragment without `<html>` and `<body>`. Elements keep the attributes that carry meaning: addresses,
texts, languages, spans and numbers of cells and items, and ids, which are the targets of links. Classes, styles,
scripts and event handlers are gone, so are addresses that run code. Elements of unknown names, and those that only
change the look, leave their content; other block-level elements become `<div>`. Preformatted text becomes `<pre>`.
Images stand as `chaffinch.render.images` says. White space is folded outside `<pre>`. Where a left-out block stood
between pieces of one line, a `<br>` stands. Addresses are absolute if the page's own is known, but links inside the
page stay as they are.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.tags import BLOCK_LEVEL, IDS, NAMES, TEXT, tag_set
from chaffinch.render.code import language, letters, preformatted
from chaffinch.render.images import kept_images
from chaffinch.render.links import clean_url
from chaffinch.render.tables import CELL

if TYPE_CHECKING:
    from chaffinch.page.arrays import BoolArray, IntArray
    from chaffinch.page.table import Page
    from chaffinch.render.images import Image
    from chaffinch.render.selection import Selection

_OWN: Final = (
    "a", "abbr", "address", "article", "aside", "b", "bdi", "bdo", "blockquote", "button", "caption", "cite", "code",
    "data", "dd", "del", "details", "dfn", "dialog", "div", "dl", "dt", "em", "fieldset", "figcaption", "figure",
    "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "i", "ins", "kbd", "legend", "li", "main", "mark",
    "menu", "nav", "ol", "optgroup", "option", "p", "pre", "q", "rb", "rt", "rtc", "ruby", "s", "samp", "search",
    "section", "select", "small", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead",
    "time", "tr", "u", "ul", "var",
    "math", "menclose", "merror", "mfenced", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded",
    "mphantom", "mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable",
    "mtd", "mtext", "mtr", "munder", "munderover", "semantics",
)  # fmt: skip
_RENAMED: Final = {"acronym": "abbr", "dir": "ul", "strike": "s", "tt": "code"}
_GONE: Final = tag_set("html", "body", "frameset", "head")
_EMPTY: Final = tag_set("br", "hr", "wbr")
_BREAK: Final = IDS["br"]

_EVERYWHERE: Final = {"dir", "id", "lang", "title"}
_ATTRIBUTES: Final = {
    "a": {"href"}, "blockquote": {"cite"}, "data": {"value"}, "del": {"cite", "datetime"}, "ins": {"cite", "datetime"},
    "li": {"value"}, "math": {"display"}, "ol": {"reversed", "start", "type"}, "optgroup": {"label"}, "q": {"cite"},
    "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan", "scope"}, "time": {"datetime"},
}  # fmt: skip
_ADDRESSES: Final = {"cite", "href"}


def _written_names() -> list[str]:
    """Return for each tag number the name it is written with; "" for elements that leave their content."""
    names = ["div" if is_block else "" for is_block in BLOCK_LEVEL.tolist()]
    for name in _OWN:
        names[IDS[name]] = name
    for name, other in _RENAMED.items():
        names[IDS[name]] = other
    for number in np.flatnonzero(_GONE).tolist():
        names[number] = ""
    return names


_WRITTEN: Final = _written_names()
_WRITES: Final = np.array([bool(name) for name in _WRITTEN]) | _EMPTY


def render_html(selection: Selection) -> str:
    """Render as an HTML fragment."""
    if not len(selection):
        return ""
    page = selection.page
    images = kept_images(selection)
    blocks = preformatted(selection)
    nodes = _nodes(selection, images, blocks)
    writer = _Writer(selection, images, set(blocks))
    ends, tags, runs = page.end[nodes].tolist(), page.tag[nodes].tolist(), selection.runs[nodes].tolist()
    open_ends = writer.open_ends
    for node, end, tag, run in zip(nodes.tolist(), ends, tags, runs, strict=True):
        while open_ends and open_ends[-1] <= node:
            writer.close()
        if tag == TEXT:
            writer.text(run)
        else:
            writer.element(node, end, tag, run)
    while open_ends:
        writer.close()
    return "".join(writer.parts).strip("\n")


def _nodes(selection: Selection, images: dict[int, Image], blocks: list[int]) -> IntArray:
    """Return the positions of everything that is written, without what stands in preformatted text."""
    page = selection.page
    content: BoolArray = np.zeros(len(page), dtype=np.bool_)
    content[selection.nodes] = True
    content[list(images)] = True
    before = np.zeros(len(page) + 1, dtype=np.int32)
    np.cumsum(content, out=before[1:])
    leads_to_content = before[page.end] > before[:-1]
    empty = _EMPTY[page.tag] & selection.visible
    empty[empty] = leads_to_content[page.parent[empty]]
    # Cells without text keep those behind them in their columns.
    cells = CELL[page.tag] & selection.visible
    cells[cells] = leads_to_content[page.parent[cells]]
    empty |= cells
    written = content | empty | (leads_to_content & selection.visible & _WRITES[page.tag])
    for block in blocks:
        written[block + 1 : page.end[block]] = False
    return np.flatnonzero(written).astype(np.int32)


class _Writer:
    """Puts tags and texts one behind the other."""

    def __init__(self, selection: Selection, images: dict[int, Image], blocks: set[int]) -> None:
        self.parts: list[str] = []
        self.open_ends: list[int] = []
        self._selection = selection
        self._page = selection.page
        self._images = images
        self._blocks = blocks
        self._closing: list[str] = []
        self._number = 0
        self._run = -1
        self._glued = False
        """Whether nothing but text and inline tags was written since the last text."""
        self._slot = 0
        """Where in `parts` white space before the next text goes: before the inline tags that open right before it."""

    def text(self, run: int) -> None:
        """Write the next of the kept texts."""
        selection, number = self._selection, self._number
        self._number += 1
        text = self._page.texts[int(selection.indexes[number])]
        folded = _folded(text)
        self._part(run, spaced=bool(selection.gap[number]) and folded[0] != " ")
        self.parts.append(escape(folded, quote=False).replace("\xa0", "&nbsp;"))

    def _part(self, run: int, *, spaced: bool) -> None:
        """Set off the next piece of a line from the one before it."""
        white = "" if not self._glued else "<br>" if run != self._run else " " if spaced else ""
        if white and self._slot:
            self.parts[self._slot] = white
        elif white:
            self.parts.append(white)
        self._run = run
        self._glued = True
        self._slot = 0

    def element(self, node: int, end: int, tag: int, run: int) -> None:
        """Write an element's start."""
        if node in self._blocks:
            self._preformatted(node)
        elif tag == IDS["img"]:
            self._part(run, spaced=True)
            image = self._images[node]
            pairs = (("src", image.url), ("alt", image.alt), ("title", image.title))
            self.parts.append("<img" + "".join(f' {key}="{escape(value)}"' for key, value in pairs if value) + ">")
        elif _EMPTY[tag]:
            self.parts.append(f"<{NAMES[tag]}>")
            self._glued = tag != _BREAK and tag != IDS["hr"] and self._glued
        else:
            name = _WRITTEN[tag]
            is_block = bool(BLOCK_LEVEL[tag])
            if self._slot == 0:
                self._slot = len(self.parts)
                self.parts.append("")
            self.parts.append(f"\n<{name}" if is_block else f"<{name}")
            self.parts += _attributes(self._page, node, name)
            self.parts.append(">")
            self.open_ends.append(end)
            self._closing.append(f"</{name}>")
            self._glued = self._glued and not is_block

    def close(self) -> None:
        """Write the end of the innermost open element."""
        self.open_ends.pop()
        tag = self._closing.pop()
        self._slot = 0
        self.parts.append(tag)
        if BLOCK_LEVEL[IDS[tag[2:-1]]]:
            self._glued = False

    def _preformatted(self, node: int) -> None:
        page, selection = self._page, self._selection
        named = language(page, node)
        attributes = _attributes(page, node, "pre")
        if named:
            attributes.append(f' class="language-{escape(named)}"')
        text = escape(letters(selection, node), quote=False).replace("\xa0", "&nbsp;").replace("\r", "&#13;")
        # A parser drops the first line break in `<pre>`.
        self.parts += ("\n<pre", *attributes, ">", "\n" if text.startswith("\n") else "", text, "</pre>")
        first, last = np.searchsorted(selection.nodes, (node, page.end[node])).tolist()
        self._number += last - first
        self._glued = False


def _attributes(page: Page, node: int, name: str) -> list[str]:
    """Return the attributes that carry meaning, each with a space before it."""
    result = []
    wanted = _ATTRIBUTES.get(name, set())
    for key, value in page.attributes_of(node):
        if key not in _EVERYWHERE and key not in wanted:
            continue
        written = clean_url(page.url, value, fragments_stay=True) if key in _ADDRESSES else value
        if written is None:
            continue
        result.append(f' {key}="{escape(written)}"' if written else f" {key}")
    return result


def _folded(text: str) -> str:
    """Fold white space, but leave one space at each end that has any."""
    core = b" ".join(text.encode().split()).decode()
    before = " " if text[0] in _WHITE else ""
    return before + core + (" " if text[-1] in _WHITE and core else "")


_WHITE: Final = " \t\n\r\f\v"
