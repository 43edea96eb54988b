"""From bytes to `Page`."""

from __future__ import annotations

import gc
import re
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import covered, frozen, offsets, subtree_ends
from chaffinch.page.decoding import Decoded, decode, without_surrogates
from chaffinch.page.parser import SHADOW_ATTRIBUTE, parse_flat
from chaffinch.page.table import Page
from chaffinch.page.tags import IDS, UNSEEN, VISIBILITY_OF, Visibility
from chaffinch.sites import Place, SiteBy, is_web_url, place_of_file, place_of_url
from chaffinch.sources.capture import Capture

if TYPE_CHECKING:
    from chaffinch.page.arrays import IntArray, SmallArray, TagArray
    from chaffinch.page.parser import FlatTree

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
    # The collector would scan thousands of tuples that only grow in number: 5 to 10 % of the time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _tabulate(capture, decoded, parse_flat(decoded.text), site_by)
    finally:
        if collecting:
            gc.enable()


def _tabulate(capture: Capture, decoded: Decoded, tree: FlatTree, site_by: SiteBy) -> Page:
    signed_parents = np.frombuffer(tree.parents, dtype=np.int32)
    is_text = signed_parents < 0
    element_nodes = np.flatnonzero(~is_text).astype(np.int32)
    # Parents are numbered among the elements, from 1; the document itself is 0.
    position = np.concatenate((np.array([-1], dtype=np.int32), element_nodes))
    parent = position[np.abs(signed_parents)]
    count = len(parent)

    element_tags = np.frombuffer(tree.tags, dtype=np.int16)
    tag = np.zeros(count, dtype=np.int16)
    tag[element_nodes] = element_tags
    end = subtree_ends(parent)

    lengths = np.zeros(count, dtype=np.int32)
    lengths[is_text] = np.fromiter(map(len, tree.texts), dtype=np.int32, count=len(tree.texts))
    blank = np.zeros(count, dtype=np.bool_)
    blank[is_text] = np.fromiter(map(str.isspace, tree.texts), dtype=np.bool_, count=len(tree.texts))

    links = element_nodes[_links(tree, element_tags)]
    url, place = _locate(capture, tree, element_tags, site_by)
    return Page(
        source=capture.source,
        url=url,
        place=place,
        encoding=decoded.encoding,
        html=decoded.text,
        tag=frozen(tag),
        parent=frozen(parent),
        end=frozen(end),
        texts=tuple(tree.texts),
        text_offset=frozen(offsets(lengths)),
        blank=frozen(blank),
        visibility=frozen(_visibility(tree, element_nodes, tag, end)),
        in_link=frozen(covered(links, end[links], count)),
        other_names=tree.other_names,
        element_attributes=tuple(tree.attributes),
    )


def _hidden(tree: FlatTree) -> list[int]:
    """Return the numbers of the elements that an attribute hides.

    Pages have twice as many attributes as elements: this loop is the one that looks at all of them.
    """
    telling = [
        (number, key, value)
        for number, attributes in enumerate(tree.attributes)
        for key, value in attributes
        if key == "style" or key == "hidden"  # noqa: PLR1714  (a set would hash every name, which takes longer)
    ]
    return [number for number, key, value in telling if key == "hidden" or (value and _HIDING_STYLE.search(value))]


def _links(tree: FlatTree, element_tags: TagArray) -> list[int]:
    """Return the numbers of the elements that are links."""
    anchors = np.flatnonzero(element_tags == IDS["a"]).tolist()
    return [number for number in anchors for key, _ in tree.attributes[number] if key == "href"]


def _visibility(tree: FlatTree, element_nodes: IntArray, tag: TagArray, end: IntArray) -> SmallArray:
    result = np.zeros(len(tag), dtype=np.uint8)
    _paint(result, element_nodes[_hidden(tree)], end, Visibility.HIDDEN)
    shadow_roots = [
        number
        for number in np.flatnonzero(tag[element_nodes] == IDS["template"]).tolist()
        if any(key == SHADOW_ATTRIBUTE for key, _ in tree.attributes[number])
    ]
    unseen = np.flatnonzero(UNSEEN[tag])
    if shadow_roots:
        unseen = np.setdiff1d(unseen, element_nodes[shadow_roots])
    kinds = VISIBILITY_OF[tag[unseen]]
    for kind in (Visibility.INERT, Visibility.GRAPHIC, Visibility.METADATA, Visibility.CODE):
        _paint(result, unseen[kinds == kind], end, kind)
    return result


def _paint(result: SmallArray, nodes: IntArray, end: IntArray, kind: Visibility) -> None:
    """Mark what stands in `nodes`, each place once however they nest."""
    painted = 0
    for start, stop in zip(nodes.tolist(), end[nodes].tolist(), strict=True):
        if start >= painted:
            result[start:stop] = kind
            painted = stop


def _locate(capture: Capture, tree: FlatTree, element_tags: TagArray, site_by: SiteBy) -> tuple[str | None, Place]:
    """Decide the page's URL, and from it its site.

    The container's word comes first, then the page's own: `<base>`, then the canonical link.
    """
    if capture.url and is_web_url(capture.url):
        return capture.url, place_of_url(capture.url, site_by)
    url = _own_url(tree, element_tags)
    if url and not capture.on_disk:
        return url, place_of_url(url, site_by)
    directory, name = place_of_file(capture.folder, capture.path)
    site = place_of_url(url, site_by).site if url else capture.folder
    return url or capture.url, Place(site or capture.source, directory, name or capture.source)


def _own_url(tree: FlatTree, element_tags: TagArray) -> str | None:
    """Return what the page says of its own address."""
    for number in np.flatnonzero(element_tags == IDS["base"]).tolist():
        href = (dict(tree.attributes[number]).get("href") or "").strip()
        if is_web_url(href):
            return href
    for number in np.flatnonzero(element_tags == IDS["link"]).tolist():
        values = dict(tree.attributes[number])
        href = (values.get("href") or "").strip()
        if "canonical" in (values.get("rel") or "").lower().split() and is_web_url(href):
            return href
    return None
