"""From bytes to `Page`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import covered, frozen, offsets
from chaffinch.page.collector import uncollected
from chaffinch.page.decoding import Decoded, decode, without_surrogates
from chaffinch.page.parser import SHADOW_ATTRIBUTE, parse_tree
from chaffinch.page.table import Page
from chaffinch.page.tags import IDS, TEXT, UNSEEN, VISIBILITY_OF, Visibility
from chaffinch.sites import Place, SiteBy, is_web_url, place_of_file, place_of_url
from chaffinch.sources.capture import Capture

if TYPE_CHECKING:
    from chaffinch.page.arrays import IntArray, SmallArray
    from chaffinch.page.parser import Tree

_HIDING_STYLE: Final = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)


def parse(html: bytes | str, *, url: str | None = None, charset: str | None = None) -> Page:
    """Parse one page.

    `url` helps to tell sites and directories apart; `charset` is what the HTTP header said. Any bytes give a page:
    HTML has no invalid input.
    """
    if isinstance(html, str):
        return _build(Capture(source=url or "<html>", body=b"", url=url), Decoded(without_surrogates(html), "unicode"))
    return parse_capture(Capture(source=url or "<html>", body=html, url=url, http_charset=charset))


def parse_capture(capture: Capture, site_by: SiteBy = "domain") -> Page:
    """Parse a page of a crawl; `site_by` says how its site follows from its URL."""
    return _build(capture, decode(capture.body, capture.http_charset), site_by)


def _build(capture: Capture, decoded: Decoded, site_by: SiteBy = "domain") -> Page:
    with uncollected():
        return _tabulate(capture, decoded, parse_tree(decoded.text), site_by)


def _tabulate(capture: Capture, decoded: Decoded, tree: Tree, site_by: SiteBy) -> Page:
    count = len(tree.tag)
    elements = np.flatnonzero(tree.tag != TEXT).astype(np.int32)
    is_text = tree.tag == TEXT
    lengths = np.zeros(count, dtype=np.int32)
    lengths[is_text] = np.fromiter(map(len, tree.texts), dtype=np.int32, count=len(tree.texts))
    blank = np.zeros(count, dtype=np.bool_)
    blank[is_text] = np.fromiter(map(str.isspace, tree.texts), dtype=np.bool_, count=len(tree.texts))

    links = elements[_holders(tree, elements, "a", "href")]
    url, place = _locate(capture, tree, elements, site_by)
    return Page(
        source=capture.source,
        url=url,
        place=place,
        encoding=decoded.encoding,
        html=decoded.text,
        tag=tree.tag,
        parent=tree.parent,
        end=tree.end,
        texts=tree.texts,
        text_offset=frozen(offsets(lengths)),
        blank=frozen(blank),
        visibility=frozen(_visibility(tree, elements)),
        in_link=frozen(covered(links, tree.end[links], count)),
        other_names=tree.other_names,
        element_attributes=tree.attributes,
    )


def _holders(tree: Tree, elements: IntArray, name: str, attribute: str) -> list[int]:
    """Return the numbers of the elements of one name that have an attribute."""
    numbers = np.flatnonzero(tree.tag[elements] == IDS[name]).tolist()
    return [number for number in numbers if tree.attributes.value(number, attribute) is not None]


def _hidden(tree: Tree) -> list[int]:
    """Return the numbers of the elements that an attribute hides."""
    value = tree.attributes.value
    return [
        number
        for number in tree.attributes.holders("style", "hidden")
        if value(number, "hidden") is not None or _HIDING_STYLE.search(value(number, "style") or "")
    ]


def _visibility(tree: Tree, elements: IntArray) -> SmallArray:
    result = np.zeros(len(tree.tag), dtype=np.uint8)
    _paint(result, elements[_hidden(tree)], tree.end, Visibility.HIDDEN)
    unseen = np.flatnonzero(UNSEEN[tree.tag]).astype(np.int32)
    shadow_roots = _holders(tree, elements, "template", SHADOW_ATTRIBUTE)
    if shadow_roots:
        unseen = np.setdiff1d(unseen, elements[shadow_roots])
    kinds = VISIBILITY_OF[tree.tag[unseen]]
    for kind in (Visibility.INERT, Visibility.GRAPHIC, Visibility.METADATA, Visibility.CODE):
        _paint(result, unseen[kinds == kind], tree.end, kind)
    return result


def _paint(result: SmallArray, nodes: IntArray, end: IntArray, kind: Visibility) -> None:
    """Mark what stands in `nodes`, each place once however they nest."""
    painted = 0
    for start, stop in zip(nodes.tolist(), end[nodes].tolist(), strict=True):
        if start >= painted:
            result[start:stop] = kind
            painted = stop


def _locate(capture: Capture, tree: Tree, elements: IntArray, site_by: SiteBy) -> tuple[str | None, Place]:
    """Decide the page's URL, and from it its site.

    The container's word comes first, then the page's own: `<base>`, then the canonical link.
    """
    if capture.url and is_web_url(capture.url):
        return capture.url, place_of_url(capture.url, site_by)
    url = _own_url(tree, elements)
    if url and not capture.on_disk:
        return url, place_of_url(url, site_by)
    directory, name = place_of_file(capture.folder, capture.path)
    site = place_of_url(url, site_by).site if url else capture.folder
    return url or capture.url, Place(site or capture.source, directory, name or capture.source)


def _own_url(tree: Tree, elements: IntArray) -> str | None:
    """Return what the page says of its own address."""
    tags = tree.tag[elements]
    for number in np.flatnonzero(tags == IDS["base"]).tolist():
        href = (tree.attributes.value(number, "href") or "").strip()
        if is_web_url(href):
            return href
    for number in np.flatnonzero(tags == IDS["link"]).tolist():
        if "canonical" in (tree.attributes.value(number, "rel") or "").lower().split():
            href = (tree.attributes.value(number, "href") or "").strip()
            if is_web_url(href):
                return href
    return None
