"""Formulas that carry their TeX source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.tags import IDS, TEXT

if TYPE_CHECKING:
    from chaffinch.render.selection import Selection

_MATH: Final = IDS["math"]
_ANNOTATION: Final = IDS["annotation"]
_TEX: Final = {"application/x-tex", "application/x-latex", "tex", "latex", "text/x-tex", "text/latex"}
_DRAWN: Final = "katex-html"
"""The class of KaTeX's drawing of a formula, which says the same once more."""
_NEAR: Final = 3
"""How many elements up the drawing's parent may be."""


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
        tex = _source(selection, element, end) or (page.attribute(element, "alttext") or "").strip()
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
