"""The only module that knows which HTML parser is used.

The parser runs the standard's tree construction. Of the finished tree it gives all nodes at once, and loops in C ask
them for kind, number of children, name and text; from the numbers of children, arrays tell parents and ends. Nothing
in Python is called for each node. Comments and the doctype are dropped.
"""

from __future__ import annotations

import re
from itertools import compress
from operator import attrgetter
from typing import Final, NamedTuple, cast

import numpy as np
import turbohtml
from turbohtml import CData, Comment, Doctype, Document, DocumentFragment, Element, Node, ProcessingInstruction, Text

from chaffinch.page.arrays import IntArray, TagArray, frozen, nest
from chaffinch.page.attributes import AttributeTable
from chaffinch.page.tags import IDS, TEXT, UNKNOWN

_DROPPED, _ELEMENT, _TEXT = range(3)

_KIND: Final[dict[type[Node], int]] = {
    Comment: _DROPPED, Doctype: _DROPPED, DocumentFragment: _DROPPED, ProcessingInstruction: _DROPPED,
    Element: _ELEMENT, CData: _TEXT, Text: _TEXT,
}  # fmt: skip
"""What becomes of each kind of node. A fragment holds a template's content, which goes to the template itself."""

_NAME: Final = attrgetter("tag")
_DATA: Final = attrgetter("data")

SHADOW_ATTRIBUTE: Final = "data-chaffinch-shadowrootmode"
"""What the attribute that declares a shadow root is called in a tree.

The parser passes over what is in shadow roots. Browsers show it, so the attribute is renamed before parsing: the
element then arrives as a plain `template` that the page knows to be visible.
"""

_SHADOW_ROOT: Final = re.compile(r"(<template\b[^<>]*?\s)shadowrootmode\b", re.IGNORECASE)


class Tree(NamedTuple):
    """A tree as arrays and tuples; most fields are those of `Page`."""

    tag: TagArray
    parent: IntArray
    end: IntArray
    texts: tuple[str, ...]
    other_names: dict[int, str]
    attributes: AttributeTable


def parse_tree(html: str) -> Tree:
    """Parse `html`."""
    document = parse_document(html)
    nodes = list(document.descendants)
    kind = np.frombuffer(bytes(map(_KIND.__getitem__, map(type, nodes))), dtype=np.uint8)
    elements = cast("tuple[Element, ...]", tuple(compress(nodes, (kind == _ELEMENT).tobytes())))
    tags = np.fromiter(map(IDS.__getitem__, map(_NAME, elements)), dtype=np.int16, count=len(elements))
    tag = np.full(len(nodes), TEXT, dtype=np.int16)
    tag[kind == _ELEMENT] = tags
    parent, end = nest(np.fromiter(map(len, nodes), dtype=np.int32, count=len(nodes)))
    kept = kind != _DROPPED
    if not kept.all():
        before = np.zeros(len(nodes) + 1, dtype=np.int32)
        np.cumsum(kept, out=before[1:])
        # What has a dropped parent, a fragment, goes to what stands before that; the root has no parent.
        parent = before[parent[kept] + 1] - np.int32(1)
        tag, end = tag[kept], before[end[kept]]
    return Tree(
        tag=frozen(tag),
        parent=frozen(parent),
        end=frozen(end),
        texts=tuple(map(_DATA, compress(nodes, (kind == _TEXT).tobytes()))),
        other_names={number: elements[number].tag for number in np.flatnonzero(tags == UNKNOWN).tolist()},
        attributes=AttributeTable(html, parse_document, document, elements),
    )


def parse_document(html: str) -> Document:
    """Parse `html` as the parser does."""
    if "shadowrootmode" in html:
        html = _SHADOW_ROOT.sub(rf"\1{SHADOW_ATTRIBUTE}", html)
    return turbohtml.parse(html)
