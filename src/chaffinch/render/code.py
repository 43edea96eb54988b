"""Preformatted text: its letters, and the language it is written in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.tags import BLOCK_LEVEL, IDS, TEXT, tag_set

if TYPE_CHECKING:
    from chaffinch.page.table import Page
    from chaffinch.render.selection import Selection

PREFORMATTED: Final = tag_set("listing", "plaintext", "pre", "textarea", "xmp")
"""Elements whose white space is shown as it stands."""

_BREAK: Final = IDS["br"]
_LANGUAGE_CLASS: Final = re.compile(r"(?:language|lang|highlight-source|highlight)-([\w+#.-]+)")
_BRUSH: Final = re.compile(r"\bbrush\s*:\s*([\w+#.-]+)")
_PLAIN_CLASS: Final = re.compile(r"[a-z][\w+#]*")
_NAMING: Final = {"sourceCode", "hljs", "src"}
"""Classes of highlighters that write the language as a class of its own beside them."""
_NO_LANGUAGE: Final = {"none", "default", "nohighlight", "notranslate", "text", "plain", "plaintext", "ltr", "wrapper"}
_NO_NAME: Final = {"numberSource", "numberLines", "literate", "highlight", "code", "block", "prettyprint", "copyable"}


def preformatted(selection: Selection) -> list[int]:
    """Return the preformatted elements with chosen text; of nested ones, the outermost."""
    page = selection.page
    elements = np.flatnonzero(PREFORMATTED[page.tag] & selection.visible)
    if not elements.size:
        return []
    _, inside = selection.first_inside(elements)
    result: list[int] = []
    behind = 0
    for element, end in zip(elements[inside].tolist(), page.end[elements[inside]].tolist(), strict=True):
        if element >= behind:
            result.append(element)
            behind = end
    return result


def letters(selection: Selection, element: int) -> str:
    """Return the chosen text of a preformatted element to the letter, without the line break that ends it.

    White space between chosen text is kept; text that is not chosen leaves a space or a line break. `<br>` and the
    boundaries of block-level elements break lines.
    """
    page = selection.page
    end = int(page.end[element])
    first, last = np.searchsorted(selection.nodes, (element, end)).tolist()
    chosen = dict(zip(selection.nodes[first:last].tolist(), selection.texts[first:last], strict=True))
    tags = page.tag[element:end]
    inside = selection.visible[element:end] & ((tags == TEXT) | (tags == _BREAK) | BLOCK_LEVEL[tags])
    positions = (np.flatnonzero(inside[1:]) + element + 1).tolist()
    start, stop = np.searchsorted(page.text_nodes, (element, end)).tolist()
    index_of = dict(zip(page.text_nodes[start:stop].tolist(), range(start, stop), strict=True))
    parts: list[str] = []
    white = ""
    line_ends: list[int] = []
    for node in positions:
        while line_ends and line_ends[-1] <= node:
            line_ends.pop()
            white = white or "\n" * (bool(parts) and not parts[-1].endswith("\n"))
        if page.tag[node] == _BREAK:
            white += "\n"
        elif page.tag[node] != TEXT:
            line_ends.append(int(page.end[node]))
            if parts and not (white or parts[-1]).endswith("\n"):
                white += "\n"
        elif (text := chosen.get(node)) is not None:
            parts += (white, text)
            white = ""
        elif page.blank[node]:
            white += page.texts[index_of[node]]
        else:
            white += "\n" if "\n" in page.texts[index_of[node]] else " " * (not white)
    whole = "".join(parts)
    return whole.removesuffix("\n")


def language(page: Page, element: int) -> str:
    """Return the programming language that a preformatted element, its `<code>` or its wrapper names; or ""."""
    candidates = [element]
    inner = element + 1
    if inner < page.end[element] and page.tag[inner] == IDS["code"]:
        candidates.insert(0, inner)
    wrapper = int(page.parent[element])
    for _ in range(2):
        if wrapper < 0 or page.tag[wrapper] not in (IDS["div"], IDS["figure"]):
            break
        candidates.append(wrapper)
        wrapper = int(page.parent[wrapper])
    for candidate in candidates:
        attributes = dict(page.attributes_of(candidate))
        named = attributes.get("data-lang") or attributes.get("data-language")
        found = named or _of_classes(attributes.get("class") or "", own=candidate in candidates[:2])
        if found and _LANGUAGE_NAME.fullmatch(found) and found.lower() not in _NO_LANGUAGE:
            return found.lower()
    return ""


_LANGUAGE_NAME: Final = re.compile(r"[\w+#.-]{1,30}")


def _of_classes(value: str, *, own: bool) -> str:
    if brush := _BRUSH.search(value):
        return brush[1]
    classes = value.split()
    for name in classes:
        if match := _LANGUAGE_CLASS.fullmatch(name):
            return match[1].removeprefix("source-")
    if own and not _NAMING.isdisjoint(classes):
        for name in classes:
            if name not in _NAMING and name not in _NO_NAME and _PLAIN_CLASS.fullmatch(name):
                return name.removeprefix("src-")
    return ""
