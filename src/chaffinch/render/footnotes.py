"""Which links are references to footnotes, and where the footnotes stand.

A reference is a link inside the page that stands in a `<sup>`, has one inside, or says by its role or class that it is
a reference. Its target is a list item, aside, paragraph, cell content or `<div>` with that id and with kept text. If a
target has other targets inside, it is a wrapper and no footnote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

import numpy as np

from chaffinch.page.tags import IDS, TEXT, tag_set

if TYPE_CHECKING:
    from chaffinch.page.table import Page
    from chaffinch.render.selection import Selection

_LINK: Final = IDS["a"]
_SUP: Final = IDS["sup"]
_TARGET: Final = tag_set("aside", "dd", "div", "li", "p")
_REFERENCE_CLASS: Final = re.compile(r"(?:^|\s)(?:footnote-ref\w*|footnoteref|noteref|fn-ref)(?:\s|$)", re.IGNORECASE)
_BACK_CLASS: Final = re.compile(
    r"(?:^|\s)(?:label|fn-bracket|fn-backref|mw-cite-backlink|backlink|footnote-back\w*|reversefootnote|data-footnote-backref)"
    r"(?:\s|$)",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(r"[\w.-]{1,20}")
_LONGEST_REFERENCE: Final = 12


@dataclass(frozen=True)
class Footnotes:
    """The footnotes of a page, by position."""

    references: dict[int, str] = field(default_factory=dict)
    """The labels of the references; where a `<sup>` holds nothing else, it stands for the link."""
    targets: dict[int, str] = field(default_factory=dict)
    """The labels of the footnotes."""
    back_links: frozenset[int] = frozenset()
    """Elements in footnotes that only lead back to the text."""


def find_footnotes(selection: Selection) -> Footnotes:
    """Find references and footnotes."""
    page = selection.page
    links = np.flatnonzero((page.tag == _LINK) & selection.visible)
    _, inside = selection.first_inside(links)
    candidates = []
    for link in links[inside].tolist():
        fragment = (page.attribute(link, "href") or "").rpartition("#")
        if fragment[2] and (not fragment[0] or fragment[0] == page.url) and _refers(page, link):
            candidates.append((link, unquote(fragment[2])))
    if not candidates:
        return Footnotes()
    found = _targets(selection, {name for _, name in candidates})
    references: dict[int, str] = {}
    labels: dict[int, str] = {}
    taken: set[str] = set()
    numbers = map(str, count(1))
    for link, name in candidates:
        target = found.get(name)
        if target is None or target <= link < page.end[target]:
            continue
        if target not in labels:
            label = _shown(selection, link, int(page.end[link])).strip("[](){}^* \n\t")
            if not _LABEL.fullmatch(label) or label in taken:
                label = next(number for number in numbers if number not in taken)
            taken.add(label)
            labels[target] = label
        references[_outer(page, link)] = labels[target]
    return Footnotes(references, labels, frozenset(_back_links(selection, labels)))


def _refers(page: Page, link: int) -> bool:
    """Whether a link looks like the reference to a footnote."""
    if page.tag[page.parent[link]] == _SUP or (link + 1 < page.end[link] and page.tag[link + 1] == _SUP):
        return True
    return page.attribute(link, "role") == "doc-noteref" or bool(
        _REFERENCE_CLASS.search((page.attribute(link, "class") or "")[:1000])
    )


def _outer(page: Page, link: int) -> int:
    """Return the `<sup>` around a link if nothing else stands in it, else the link."""
    parent = int(page.parent[link])
    return parent if page.tag[parent] == _SUP and parent == link - 1 and page.end[parent] == page.end[link] else link


def _targets(selection: Selection, names: set[str]) -> dict[str, int]:
    """Return the elements with one of these ids that can be footnotes."""
    page = selection.page
    elements = np.flatnonzero(_TARGET[page.tag] & selection.visible)
    _, inside = selection.first_inside(elements)
    found: dict[str, int] = {}
    for element in elements[inside].tolist():
        name = page.attribute(element, "id")
        if name in names and name not in found:
            found[name] = element
    places = sorted(found.values())
    wrappers = {one for one, other in pairwise(places) if other < page.end[one]}
    return {name: element for name, element in found.items() if element not in wrappers}


def _back_links(selection: Selection, labels: dict[int, str]) -> list[int]:
    """Return what in the footnotes only leads back."""
    page = selection.page
    result = []
    for target, label in labels.items():
        end = int(page.end[target])
        for offset in np.flatnonzero(page.tag[target + 1 : end] != TEXT).tolist():
            node = target + 1 + offset
            attributes = dict(page.attributes_of(node))
            if _BACK_CLASS.search((attributes.get("class") or "")[:1000]) or attributes.get("role") == "doc-backlink":
                result.append(node)
            elif page.tag[node] == _LINK and "#" in (attributes.get("href") or ""):
                shown = _shown(selection, node, int(page.end[node])).strip("[](){}^ \n\t")
                if shown == label or not any(map(str.isalnum, shown)):
                    result.append(node)
    return result


def _shown(selection: Selection, start: int, end: int) -> str:
    """Return the beginning of the kept text between two positions."""
    first, last = np.searchsorted(selection.nodes, (start, end)).tolist()
    return "".join(selection.texts[first : min(last, first + _LONGEST_REFERENCE)])
