"""Where a page shows its author: lines that begin with "By", links to authors' pages, elements marked as such."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.document.authors_names import CREDIT_LINE, JOINING_LINE, VISIBLE_CREDIT, names_in
from chaffinch.document.evidence import Evidence, clean
from chaffinch.page.tags import IDS, TEXT, Visibility, tag_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaffinch.page.table import Page

_MOST_CANDIDATES: Final = 6
_BYLINE_LENGTH: Final = 120
_BYLINE_BLOCKS: Final = 12
"""How far behind the headline a byline may stand, in leaf blocks; half as far before it."""

_MAY_SHOW: Final = np.array([kind in {Visibility.VISIBLE, Visibility.INERT} for kind in Visibility])
"""Forums that build their pages in the browser keep a plain copy in `<noscript>`."""

_MARKED_BEHIND: Final = 350
_MARKED_BEFORE: Final = 60
"""How far from the headline marked elements are looked for, in short elements."""

_LINKS_BEHIND: Final = 100
_LINKS_BEFORE: Final = 50

_ELEMENTS_BEHIND: Final = 1200
_ELEMENTS_BEFORE: Final = 200
"""The same, in elements of any kind."""

_CARRIES_MARKS: Final = tag_set(
    "#unknown", "a", "address", "article", "aside", "b", "cite", "dd", "div", "dt", "em", "fieldset", "figcaption",
    "font", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "i", "p", "section", "small", "span", "strong",
    "td",
)  # fmt: skip

_CREDIT_LINE_LENGTH: Final = 80
_LONGEST_CLASS: Final = 500
_MARKS: Final = frozenset({"class", "data-testid", "itemprop", "rel"})

_BYLINE_PARTS: Final = frozenset(
    "author authors byline bylines writer writers username contributor contributors creator postedby writtenby".split()
)
_BYLINE_WORDS: Final = (
    "author",
    "byline",
    "by-line",
    "writer",
    "username",
    "user-name",
    "posted",
    "written",
    "contributor",
    "creator",
)
_NO_BYLINE_PARTS: Final = frozenset(
    (
        "bio avatar image images img photo picture pic thumb thumbnail icon social follow share comment comments "
        "related review reviews reviewer testimonial desc description date time about archive count footer sidebar job "
        "role position box email button tooltip widget more all"
    ).split()
)
_CLASS_PARTS: Final = re.compile(r"[A-Z]?[a-z]+")
_TWO_WORDS: Final = re.compile(r"(?<=by)-line|(?<=user)-name|(?<=posted)-by|(?<=written)-by", re.IGNORECASE)
_AUTHOR_PATH: Final = re.compile(r"/(?:authors?|autore?|auteurs?|contributors?|writers?)/[^/]")
_PERSON_PATH: Final = re.compile(
    r"/(?:authors?|autore?s?|auteurs?|people|profiles?|users?|members?|contributors?|by|staff|team|writers?|columnists?|u)/|author=",
    re.IGNORECASE,
)


def _mark_rank(key: str, value: str) -> int:
    """Return how surely an attribute marks an author's name: 1 most, 0 not at all."""
    if key in {"itemprop", "rel"}:
        return (1 if key == "itemprop" else 2) if "author" in value.lower().split() else 0
    best = 9
    for token in _TWO_WORDS.sub(lambda match: match[0][1:], value[:_LONGEST_CLASS]).split():
        parts = [part.lower() for part in _CLASS_PARTS.findall(token)]
        if not _BYLINE_PARTS.intersection(parts):
            continue
        is_name = parts[-1] == "name"
        if is_name or not _NO_BYLINE_PARTS.intersection(parts):
            best = min(best, 3 if is_name or parts[-1] in _BYLINE_PARTS else 4)
    return best % 9


def bylines(evidence: Evidence) -> Iterator[str]:
    """Yield what may name the author, all of it near the headline: what takes the least to find comes first."""
    yield from _credit_lines(evidence.page, evidence.headline)
    yield from _texts_of(evidence, _links_to_authors(evidence))
    yield from _texts_of(evidence, _marked(evidence))


def _texts_of(evidence: Evidence, nodes: list[int]) -> Iterator[str]:
    texts = (_byline_text(evidence, node) for node in nodes[:_MOST_CANDIDATES])
    return (text for text in texts if len(text) <= _BYLINE_LENGTH)


def _marked(evidence: Evidence) -> list[int]:
    """Return the elements that are marked as the author's, the surest first.

    Among equals those behind the headline come first, in their order.
    """
    page, headline = evidence.page, evidence.headline
    at = int(np.searchsorted(evidence.elements, headline))
    low = max(0, at - _ELEMENTS_BEFORE)
    elements = evidence.elements[low : at + _ELEMENTS_BEHIND]
    length = page.text_offset[page.end[elements]] - page.text_offset[elements]
    kept = np.flatnonzero(
        _CARRIES_MARKS[page.tag[elements]]
        & _MAY_SHOW[page.visibility[elements]]
        & (length > 1)
        & (length < 2 * _BYLINE_LENGTH)
    )
    at = int(np.searchsorted(elements[kept], headline))
    kept = kept[max(0, at - _MARKED_BEFORE) : at + _MARKED_BEHIND]
    attributes_of = [page.element_attributes[number] for number in (kept + low).tolist()]
    # Pages repeat a few marks over and over. All of them are searched at once; the parser leaves no NUL in them.
    marks = {value for attributes in attributes_of for key, value in attributes if key in _MARKS and value}
    joined = "\0".join(marks).lower()
    words = [word for word in _BYLINE_WORDS if word in joined]
    if not words:
        return []
    telling = {mark for mark, lower in zip(marks, joined.split("\0"), strict=True) if any(map(lower.count, words))}
    found = [
        (rank, node < headline, node)
        for node, attributes in zip(elements[kept].tolist(), attributes_of, strict=True)
        for key, value in attributes
        if key in _MARKS and value in telling and (rank := _mark_rank(key, value))
    ]
    return [node for _, _, node in sorted(found)]


def _links_to_authors(evidence: Evidence) -> list[int]:
    """Return the links that lead to the page of an author, those behind the headline first."""
    page = evidence.page
    links = np.flatnonzero(page.tag[evidence.elements] == IDS["a"])
    at = int(np.searchsorted(evidence.elements[links], evidence.headline))
    links = links[max(0, at - _LINKS_BEFORE) : at + _LINKS_BEHIND]
    numbers = [
        number
        for number in links.tolist()
        for key, value in page.element_attributes[number]
        if key == "href"
        and value
        and ("/aut" in value or "/contrib" in value or "/writ" in value)
        and _AUTHOR_PATH.search(value)
    ]
    nodes = evidence.elements[numbers].tolist() if numbers else []
    return sorted(nodes, key=lambda node: node < evidence.headline)


def _credit_lines(page: Page, headline: int) -> Iterator[str]:
    """Yield the lines near the headline that begin with "By" or the like, those behind it first."""
    blocks = page.blocks
    at = int(np.searchsorted(blocks.first, headline))
    low, high = max(0, at - _BYLINE_BLOCKS // 2), at + _BYLINE_BLOCKS
    starts, stops = blocks.start[low:high].tolist(), blocks.stop[low:high].tolist()
    for number in (*range(at - low, len(starts)), *range(at - low)):
        start, stop = starts[number], stops[number]
        if stop - start > 2 * _BYLINE_LENGTH:
            continue
        line = " ".join(blocks.visible_text[start : min(stop, start + _BYLINE_LENGTH)].split())
        if len(line) <= _CREDIT_LINE_LENGTH and CREDIT_LINE.match(line):
            yield line


def _byline_text(evidence: Evidence, node: int) -> str:
    """Return the name in a marked element: what is marked as a name in it, else its links to authors, else a line."""
    page = evidence.page
    links: list[str] = []
    lines: list[str] = []
    for child in range(node + 1, min(int(page.end[node]), node + 60)):
        if page.tag[child] == TEXT:
            if not page.blank[child]:
                lines.append(evidence.text(child))
            continue
        attributes = dict(page.attributes_of(child))
        if "name" in (attributes.get("itemprop") or "").split():
            return evidence.text(child) or clean(attributes.get("content"))
        if _PERSON_PATH.search(attributes.get("href") or "") and (text := evidence.text(child)) and text not in links:
            links.append(text)
    return "; ".join(links) or _first_names(lines)


def _first_names(lines: list[str]) -> str:
    """Return the first line that holds names, and those that follow it behind a comma or an "and"."""
    found: list[str] = []
    joined = True
    for line in lines:
        if JOINING_LINE.fullmatch(line):
            joined = True
        elif found and not joined:
            break
        elif names := names_in(line, VISIBLE_CREDIT):
            found += names
            joined = line.endswith((",", "&", " and"))
    return "; ".join(found)
