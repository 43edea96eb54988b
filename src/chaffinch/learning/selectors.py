"""Simple selectors over a page, by which gold is marked.

A selector is a chain of compounds such as `div.body`, `#main`, `[role=main]` or `a[href^=index]`: a name, an identity,
classes and attributes, each of which may be missing. Between two compounds stands a space (anywhere inside), ` > ` (a
child) or ` < ` (the parent of what came before). At the end, `@2` takes only the second match of the page and `@-1`
only the last, `<<` all that stands before the first match (the match too), `>>` all that stands behind the last one.
What a selector marks is the element with all that is inside: of matches inside each other the outermost counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.errors import UsageError

if TYPE_CHECKING:
    from chaffinch.page import BoolArray, Page

_SELECTOR: Final = re.compile(r"(?P<steps>.+?)(?:@(?P<which>-?[1-9][0-9]*))?(?P<side><<|>>)?")
_COMPOUND: Final = re.compile(r"(?P<name>[a-z][a-z0-9]*)?(?P<rest>(?:#[^\s#.\[\]]+|\.[^\s#.\[\]]+|\[[^\[\]]+\])*)")
_TEST: Final = re.compile(r"#([^#.\[\]]+)|\.([^#.\[\]]+)|\[([^\[\]=^]+)(\^?=)?([^\[\]]*)\]")


@dataclass(frozen=True, slots=True)
class _Compound:
    name: str
    tests: tuple[tuple[str, str, str], ...]
    """Attribute, how it is compared (empty: it is there), and with what."""

    def fits(self, name: str, attributes: dict[str, str]) -> bool:
        if self.name and name != self.name:
            return False
        return all(_holds(attributes.get(attribute), how, value) for attribute, how, value in self.tests)


@dataclass(frozen=True, slots=True)
class Selector:
    """A selector, ready to be matched."""

    steps: tuple[tuple[str, _Compound], ...]
    """Compounds, each with what leads to it from the one before."""
    which: int
    """Which of the matches counts, from 1 or, from the end, -1; 0 for all of them."""
    side: str

    def covered(self, page: Page) -> BoolArray:
        """Tell which nodes of the page the selector marks."""
        nodes = np.flatnonzero(self._matches(page))
        if self.which:
            place = self.which - (self.which > 0)
            nodes = nodes[[place]] if -len(nodes) <= place < len(nodes) else nodes[:0]
        result = np.zeros(len(page), dtype=np.bool_)
        if not len(nodes):
            return result
        if self.side == "<<":
            result[: page.end[nodes[0]]] = True
        elif self.side == ">>":
            result[nodes[-1] :] = True
        else:
            result = _inside(page, nodes) | np.isin(np.arange(len(page)), nodes)
        return result

    def _matches(self, page: Page) -> BoolArray:
        attributes = [{key: value or "" for key, value in pairs} for pairs in page.element_attributes]
        elements = np.flatnonzero(page.tag != 0)
        found = np.ones(len(page), dtype=np.bool_)
        for relation, compound in self.steps:
            fits = np.zeros(len(page), dtype=np.bool_)
            fits[elements] = [
                compound.fits(page.name_of(element), given)
                for element, given in zip(elements.tolist(), attributes, strict=True)
            ]
            if relation == ">":
                fits &= np.append(found, np.False_)[page.parent]
            elif relation == "<":
                parents = page.parent[found]
                fits &= np.isin(np.arange(len(page)), parents)
            elif relation == " ":
                fits &= _inside(page, np.flatnonzero(found))
            found = fits
        return found


def read_selectors(text: str) -> tuple[Selector, ...]:
    """Read selectors with a comma and a space between them."""
    return tuple(_read(part) for part in text.split(", ") if part)


def marked(page: Page, selectors: tuple[Selector, ...]) -> BoolArray:
    """Tell which nodes any of the selectors marks."""
    result = np.zeros(len(page), dtype=np.bool_)
    for selector in selectors:
        result |= selector.covered(page)
    return result


def _read(text: str) -> Selector:
    parts = _SELECTOR.fullmatch(text)
    if parts is None:
        raise UsageError(f"{text!r} is no selector")
    steps: list[tuple[str, _Compound]] = []
    relation = ""
    for word in parts["steps"].split():
        if word in {"<", ">"}:
            relation = word
            continue
        steps.append((relation, _compound(word)))
        relation = " "
    return Selector(tuple(steps), int(parts["which"] or 0), parts["side"] or "")


def _compound(word: str) -> _Compound:
    parts = _COMPOUND.fullmatch(word)
    if parts is None:
        raise UsageError(f"{word!r} is no part of a selector")
    tests: list[tuple[str, str, str]] = []
    for identity, of_class, attribute, how, value in _TEST.findall(parts["rest"]):
        if identity:
            tests.append(("id", "=", identity))
        elif of_class:
            tests.append(("class", "~", of_class))
        else:
            tests.append((attribute, how, value))
    return _Compound(parts["name"] or "", tuple(tests))


def _holds(given: str | None, how: str, value: str) -> bool:
    if given is None:
        return False
    match how:
        case "=":
            return given == value
        case "^=":
            return given.startswith(value)
        case "~":
            return value in given.split()
        case _:
            return True


def _inside(page: Page, nodes: np.ndarray[tuple[int], np.dtype[np.intp]]) -> BoolArray:
    """Tell which nodes are below any of these."""
    change = np.zeros(len(page) + 2, dtype=np.int32)
    np.add.at(change, nodes + 1, 1)
    np.subtract.at(change, np.maximum(page.end[nodes], nodes + 1), 1)
    below: BoolArray = np.cumsum(change)[: len(page)] > 0
    return below
