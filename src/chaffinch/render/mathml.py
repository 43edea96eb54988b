"""MathML without a TeX source, written as TeX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.tags import TEXT

if TYPE_CHECKING:
    from collections.abc import Callable

    from chaffinch.page.table import Page

_MOST_NODES: Final = 5_000
"""Formulas with more nodes are left as text."""
_MOST_LETTERS: Final = 50_000

_SPECIAL: Final = re.compile(r"[\\{}$&#^_%~]")
_FUNCTIONS: Final = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max min"
    " sec sin sinh sup tan tanh".split()
)
_BESIDE: Final = frozenset(map(chr, (0x2211, 0x220F, 0x2210, 0x22C3, 0x22C2, 0x22C1, 0x22C0, 0x2A01, 0x2A02)))
"""Signs that take what stands above and below them as indices."""
_ACCENTS: Final = {
    "^": "hat", "\u02c6": "hat", "\u00af": "overline", "\u203e": "overline", "\u2192": "vec", "\u20d7": "vec",
    "~": "tilde", "\u02dc": "tilde", "\u02d9": "dot", "\u00a8": "ddot",
}  # fmt: skip
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064"))
_SHAPED: Final = frozenset(
    "mfrac msup msub msubsup msqrt mroot mover munder munderover mtable".split()
)  # fmt: skip


def is_shaped(page: Page, element: int) -> bool:
    """Tell whether a formula says something by where its parts stand, which its bare letters would lose."""
    return any(page.name_of(node) in _SHAPED for node in _elements(page, element))


def as_tex(page: Page, element: int) -> str:
    """Return the TeX of a `<math>` element; "" if it is too large."""
    end = int(page.end[element])
    if end - element > _MOST_NODES or page.text_offset[end] - page.text_offset[element] > _MOST_LETTERS:
        return ""
    parts: dict[int, list[str]] = {}
    # From the last node to the first: the parts of an element are written before it is.
    for node in range(end - 1, element - 1, -1):
        if page.tag[node] == TEXT:
            text = " ".join(page.text_of(node).translate(_INVISIBLE).split())
            written = [text] if text else []
        else:
            inside = parts.pop(node, [])[::-1]
            written = [_write(page.name_of(node), inside)]
        parts.setdefault(int(page.parent[node]), []).extend(written)
    return " ".join(parts[int(page.parent[element])][0].split())


def _elements(page: Page, element: int) -> list[int]:
    span = page.tag[element : min(int(page.end[element]), element + _MOST_NODES)]
    found: list[int] = (np.flatnonzero(span != TEXT) + element).tolist()
    return found


def _write(name: str, parts: list[str]) -> str:
    if name in _TOKENS:
        return _TOKENS[name](_SPECIAL.sub(r"\\\g<0>", "".join(parts)))
    arity, layout = _LAYOUTS.get(name, (0, None))
    if layout is not None and len(parts) == arity:
        return layout(parts)
    return _JOINED.get(name, "".join)(parts)


def _identifier(text: str) -> str:
    if text in _FUNCTIONS:
        return f"\\{text} "
    return text if len(text) < 2 or not text.isascii() or not text.isalpha() else f"\\mathrm{{{text}}}"


def _script(base: str, under: str = "", over: str = "") -> str:
    base = base.strip()
    whole = base if len(base) == 1 or base.strip("\\").isalpha() or base in _BESIDE else f"{{{base}}}"
    return f"{whole}{f'_{{{under}}}' if under else ''}{f'^{{{over}}}' if over else ''}"


def _over(parts: list[str]) -> str:
    base, over = parts
    if base in _BESIDE:
        return _script(base, over=over)
    accent = _ACCENTS.get(over.removeprefix("\\"))
    return f"\\{accent}{{{base}}}" if accent else f"\\overset{{{over}}}{{{base}}}"


def _under(parts: list[str]) -> str:
    base, under = parts
    if base in _BESIDE or base.strip().removeprefix("\\") in _FUNCTIONS:
        return _script(base.strip(), under=under)
    return f"\\underset{{{under}}}{{{base}}}"


_TOKENS: Final[dict[str, Callable[[str], str]]] = {
    "mi": _identifier,
    "mn": str,
    "mo": str,
    "ms": str,
    "mtext": lambda text: f"\\text{{{text}}}" if text else "",
    "mspace": lambda _: " ",
    "annotation": lambda _: "",
    "annotation-xml": lambda _: "",
    "mphantom": lambda _: "",
}
_LAYOUTS: Final[dict[str, tuple[int, Callable[[list[str]], str]]]] = {
    "mfrac": (2, lambda parts: f"\\frac{{{parts[0]}}}{{{parts[1]}}}"),
    "msup": (2, lambda parts: _script(parts[0], over=parts[1])),
    "msub": (2, lambda parts: _script(parts[0], under=parts[1])),
    "msubsup": (3, lambda parts: _script(parts[0], parts[1], parts[2])),
    "munderover": (3, lambda parts: _script(parts[0], parts[1], parts[2])),
    "mroot": (2, lambda parts: f"\\sqrt[{parts[1]}]{{{parts[0]}}}"),
    "mover": (2, _over),
    "munder": (2, _under),
}
_JOINED: Final[dict[str, Callable[[list[str]], str]]] = {
    "msqrt": lambda parts: f"\\sqrt{{{''.join(parts)}}}",
    "mfenced": lambda parts: f"({', '.join(parts)})",
    "mtd": lambda parts: "".join(parts) or " ",
    "mtr": " & ".join,
    "mtable": lambda parts: "\\begin{matrix} " + " \\\\ ".join(parts) + " \\end{matrix}",
}
