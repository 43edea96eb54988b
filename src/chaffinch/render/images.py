"""Which images are rendered, and from where.

An image belongs to the text around it. Its surroundings are the smallest block-level element around it that shows any
text; in there, the nearest visible text before it and the nearest behind it decide: the image is rendered if there is
such text and all of it (one or two text nodes) is kept. So an image in a paragraph goes with its neighbours, one in a
figure with its caption, and one between two paragraphs with both. Images of one pixel, which only count visits, and
images without an address are never rendered.

Pages that load images late keep the real address in an attribute of their own, which comes first; then come `src`,
`srcset`, the sources of a `<picture>`, and at last the image in a `<noscript>` beside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import nearest_marked
from chaffinch.page.tags import IDS, Visibility
from chaffinch.render.links import clean_url
from chaffinch.render.selection import counts, fold

if TYPE_CHECKING:
    from chaffinch.page.table import Page
    from chaffinch.render.selection import Selection

_IMAGE: Final = IDS["img"]
_PICTURE: Final = IDS["picture"]
_SOURCE: Final = IDS["source"]
_NOSCRIPT: Final = IDS["noscript"]
_LATE: Final = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-original-src", "data-hi-res-src")
_LATE_SETS: Final = ("data-srcset", "data-lazy-srcset", "srcset")


@dataclass(frozen=True)
class Image:
    """An image to render."""

    url: str
    alt: str
    title: str


def kept_images(selection: Selection) -> dict[int, Image]:
    """Return the images that belong to kept text, by position."""
    page = selection.page
    images = np.flatnonzero((page.tag == _IMAGE) & np.isin(page.visibility, (Visibility.VISIBLE, Visibility.INERT)))
    if not len(selection) or not images.size:
        return {}
    shown = page.text_nodes[page.shown_text_nodes]
    shown_before = np.zeros(len(page) + 1, dtype=np.int32)
    np.cumsum(np.bincount(shown, minlength=len(page)), out=shown_before[1:])
    has_text = shown_before[page.end] > shown_before[:-1]
    scope = nearest_marked(page.parent, selection.block_level & has_text)[images]
    images, scope = images[scope >= 0], scope[scope >= 0]
    is_kept = np.isin(shown, selection.nodes)
    behind = np.searchsorted(shown, images)
    before = behind - 1
    has_before = (before >= 0) & (shown[before] > scope)
    has_behind = behind < len(shown)
    behind = np.minimum(behind, len(shown) - 1)
    has_behind &= shown[behind] < page.end[scope]
    belongs = (has_before | has_behind) & (~has_before | is_kept[before]) & (~has_behind | is_kept[behind])
    return _resolve(page, images[belongs].tolist())


def _resolve(page: Page, images: list[int]) -> dict[int, Image]:
    """Find the images' addresses; images in a `noscript` stand in for those beside them that have none."""
    result: dict[int, Image] = {}
    noscripts = counts(page.tag == _NOSCRIPT)
    with_address: set[int] = set()
    for image in images:
        parent = int(page.parent[image])
        if page.visibility[image] != Visibility.VISIBLE:
            # Only directly inside a noscript: other images that browsers do not show are fallbacks of something else.
            if page.tag[parent] != _NOSCRIPT or noscripts[image] == 0 or int(page.parent[parent]) in with_address:
                continue
            found = _image(page, image, parent)
        else:
            found = _image(page, image, parent)
            if found:
                with_address.add(parent)
        if found:
            result[image] = found
    return result


def _image(page: Page, image: int, parent: int) -> Image | None:
    attributes = {key: value for key, value in page.attributes_of(image) if value}
    if attributes.get("width") in {"0", "1"} or attributes.get("height") in {"0", "1"}:
        return None
    addresses = [attributes.get(name) for name in _LATE]
    addresses.append(attributes.get("src"))
    addresses += [_largest(attributes.get(name)) for name in _LATE_SETS]
    if page.tag[parent] == _PICTURE and not any(clean_url(page.url, address) for address in addresses):
        addresses += [_of_source(page, node) for node in range(parent + 1, image) if page.tag[node] == _SOURCE]
    for address in addresses:
        url = clean_url(page.url, address)
        if url:
            return Image(url, fold(attributes.get("alt", "")), fold(attributes.get("title", "")))
    return None


def _of_source(page: Page, source: int) -> str | None:
    return _largest(page.attribute(source, "srcset") or page.attribute(source, "data-srcset"))


def _largest(srcset: str | None) -> str | None:
    """Return the address in a `srcset` that has the largest width or density."""
    best, best_size = None, -1.0
    url: str | None = None
    for token in (srcset or "").split():
        if url is None:
            candidate = token.rstrip(",")
            if candidate == token:
                url = candidate or None
            elif candidate and best is None:
                best = candidate
            continue
        try:
            size = float(token.rstrip(",")[:-1])
        except ValueError:
            size = 0.0
        if size > best_size:
            best, best_size = url, size
        url = None
    return url if best is None else best
