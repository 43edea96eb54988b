"""Formulas: those that carry their TeX source, and those that it can be read from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.tags import IDS, TEXT
from chaffinch.render.mathml import as_tex, is_shaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaffinch.page.table import Page
    from chaffinch.render.selection import Selection

_MATH: Final = IDS["math"]
_ANNOTATION: Final = IDS["annotation"]
_TEX: Final = {"application/x-tex", "application/x-latex", "tex", "latex", "text/x-tex", "text/latex"}
_DRAWN: Final = "katex-html"
"""The class of KaTeX's drawing of a formula, which says the same once more."""
_NEAR: Final = 3
"""How many elements up the drawing's parent may be."""


_DELIMITED: Final = re.compile(r"\\\((?P<line>[^$]{1,2000}?)\\\)|\\\[(?P<block>[^$]{1,2000}?)\\\]")
_TYPESETTERS: Final = re.compile(r"mathjax|katex", re.IGNORECASE)


def is_typeset(page: Page) -> bool:
    """Tell whether a script of the page makes formulas of what stands between TeX's delimiters."""
    return any(
        value and key in {"src", "href", "id"} and _TYPESETTERS.search(value[-500:])
        for node in page.find("script", "link")
        for key, value in page.attributes_of(node)
    )


def typeset_parts(text: str) -> Iterator[tuple[str, bool]]:
    """Split a text at TeX's delimiters; formulas come as Markdown writes them, and are told by True."""
    position = 0
    for match in _DELIMITED.finditer(text):
        if match.start() > position:
            yield text[position : match.start()], False
        tex = " ".join((match["line"] or match["block"]).split())
        if tex:
            yield (f"${tex}$" if match["line"] else f"$${tex}$$"), True
        position = match.end()
    if position < len(text):
        yield text[position:], False


def formulas(selection: Selection) -> tuple[dict[int, tuple[str, bool]], list[int]]:
    """Return the kept formulas that have a TeX source, with it and whether they stand on a line of their own.

    The second value are elements that draw one of these formulas a second time.
    """
    page = selection.page
    elements = np.flatnonzero((page.tag == _MATH) & selection.visible)
    found: dict[int, tuple[str, bool]] = {}
    drawn: list[int] = []
    if not elements.size:
        return found, drawn
    _, inside = selection.first_inside(elements)
    behind = 0
    for element in elements[inside].tolist():
        end = int(page.end[element])
        if element < behind:
            continue
        behind = end
        tex = _tex(selection, element, end)
        if not tex:
            continue
        found[element] = (tex, page.attribute(element, "display") == "block")
        following = end
        parent = int(page.parent[element])
        for _ in range(_NEAR):
            if parent < 0 or page.end[parent] != following:
                break
            parent = int(page.parent[parent])
        if following < len(page) and page.tag[following] != TEXT:
            classes = (page.attribute(following, "class") or "").split()
            if _DRAWN in classes:
                drawn.append(following)
                if "katex-display" in (page.attribute(int(page.parent[page.parent[following]]), "class") or ""):
                    found[element] = (tex, True)
    return found, drawn


def _tex(selection: Selection, element: int, end: int) -> str:
    """Return the TeX of a formula, "" if its letters say all there is to it."""
    page = selection.page
    given = _source(selection, element, end) or (page.attribute(element, "alttext") or "").strip()
    return given or (as_tex(page, element) if is_shaped(page, element) else "")


def _source(selection: Selection, element: int, end: int) -> str:
    """Return the TeX source of a formula, "" if it has none."""
    page = selection.page
    for offset in np.flatnonzero(page.tag[element:end] == _ANNOTATION).tolist():
        node = element + offset
        if (page.attribute(node, "encoding") or "").lower() not in _TEX:
            continue
        first, last = np.searchsorted(page.text_nodes, (node, page.end[node])).tolist()
        text = "".join(page.texts[first:last]).strip()
        # A dollar sign would end the formula early, a blank line its block.
        return "" if "$" in text else "\n".join(line for line in text.splitlines() if line.strip())
    return ""
