"""Links and pictures of records, and what their units link to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

import numpy as np

from chaffinch.page.arrays import nearest_marked
from chaffinch.page.tags import IDS, tag_set
from chaffinch.records.sheet import HEADINGS

if TYPE_CHECKING:
    from chaffinch.page.arrays import IndexArray
    from chaffinch.records.finding import Spans
    from chaffinch.records.sheet import Sheet
    from chaffinch.records.strings import Strings

_SOURCES: Final = ("data-src", "data-original", "data-lazy-src", "src")
_NO_PLACE: Final = ("javascript:", "#", "data:", "about:")


def unit_links(sheet: Sheet, strings: Strings) -> list[str | None]:
    """Return where each string leads to: the link it stands in."""
    link = nearest_marked(sheet.parent, sheet.tag == IDS["a"])
    found = link[strings.anchor].tolist()
    target: dict[int, str | None] = {-1: None}
    for node in found:
        if node not in target:
            target[node] = _attribute(sheet, node, ("href",))
    return [target[node] for node in found]


def record_links(sheet: Sheet, spans: Spans, strings: Strings, links: list[str | None]) -> list[str | None]:
    """Return where each record leads to: the link of its heading, else of its first linked string."""
    heading = nearest_marked(sheet.parent, HEADINGS[sheet.tag])[strings.anchor] >= 0
    inside = _first_inside(sheet, spans, HEADINGS[sheet.tag])
    result: list[str | None] = [None] * len(spans)
    sure = [False] * len(spans)
    for record, anchor, in_heading, link in zip(
        strings.record.tolist(), strings.anchor.tolist(), heading.tolist(), links, strict=True
    ):
        titled = in_heading or anchor == inside[record]
        if link is not None and (result[record] is None or (titled and not sure[record])):
            result[record] = link
            sure[record] = titled
    return result


def record_images(sheet: Sheet, spans: Spans) -> list[str | None]:
    """Return the source of each record's first picture."""
    pictures = np.flatnonzero(tag_set("img")[sheet.tag])
    result: list[str | None] = []
    for first, stop in zip(spans.first.tolist(), spans.stop.tolist(), strict=True):
        low, high = np.searchsorted(pictures, (first, stop))
        found = (_attribute(sheet, node, _SOURCES) for node in pictures[low:high].tolist())
        result.append(next((source for source in found if source), None))
    return result


def _first_inside(sheet: Sheet, spans: Spans, marked: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[int]:
    nodes: IndexArray = np.flatnonzero(marked[: len(sheet)])
    at = np.searchsorted(nodes, spans.first)
    known = np.append(nodes, -1)
    return [int(node) if node < stop else -1 for node, stop in zip(known[at], spans.stop.tolist(), strict=True)]


def _attribute(sheet: Sheet, node: int, names: tuple[str, ...]) -> str | None:
    """Return the first of several attributes that names a place, as an absolute URL if the page's is known."""
    number = int(sheet.page_of[node])
    page = sheet.pages[number]
    values = dict(page.attributes_of(node - int(sheet.start[number])))
    for name in names:
        value = (values.get(name) or "").strip()
        if value and not value.lower().startswith(_NO_PLACE):
            try:
                return urljoin(page.url, value) if page.url else value
            except ValueError:  # such as an open bracket of an IPv6 address
                return value
    return None
