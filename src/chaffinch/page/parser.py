"""The only module that knows which HTML parser is used.

The parser runs the standard's tree construction and hands every node of the finished tree, in document order, to a
few functions that append to lists. Comments and the doctype are dropped.
"""

from __future__ import annotations

import re
from array import array
from typing import Final, NamedTuple, TypeAlias, cast

from turbohtml.treebuild import TreeBuilder, parse_into

from chaffinch.page.tags import IDS, UNKNOWN

Attributes: TypeAlias = tuple[tuple[str, str | None], ...]

_DROPPED: Final = 0
"""The handle of nodes that are not kept. Elements are numbered from 1, text nodes have None."""

SHADOW_ATTRIBUTE: Final = "data-chaffinch-shadowrootmode"
"""What the attribute that declares a shadow root is called in a flat tree.

The parser's event interface passes over declarative shadow roots. Browsers show what is in them, so the attribute is
renamed before parsing: the element then arrives as a plain `template` that the page knows to be visible.
"""

_SHADOW_ROOT: Final = re.compile(r"(<template\b[^<>]*?\s)shadowrootmode\b", re.IGNORECASE)


class FlatTree(NamedTuple):
    """The tree as the parser gives it.

    `parents` has an entry for each node in document order: the number of its parent element (from 1, the document is
    0), negative if the node is text. `tags` are the elements' names as numbers; those that have none of their own are
    in `other_names`, by the numbers of the elements.
    """

    parents: array[int]
    tags: array[int]
    other_names: dict[int, str]
    attributes: list[Attributes]
    texts: list[str]


class _Sink:
    """Receives the parser's nodes. Its functions are closures over lists: nothing in Python is faster.

    Names become numbers at once: the parser makes a new string for each, and to keep them all would take memory that
    is not in the processor's cache.
    """

    def __init__(self) -> None:
        parents = array("i")
        tags = array("h")
        other_names: dict[int, str] = {}
        attributes: list[Attributes] = []
        texts: list[str] = []
        add_parent, add_tag, add_attributes, tag_of = parents.append, tags.append, attributes.append, IDS.__getitem__

        def create_element(name: str, _namespace: str, element_attributes: Attributes) -> int:
            add_attributes(element_attributes)
            tag = tag_of(name)
            add_tag(tag)
            number = len(tags)
            if tag == UNKNOWN:
                other_names[number - 1] = name
            return number

        def append(parent: int, child: int | None) -> None:
            if child is None:
                add_parent(-parent)
            elif child:
                add_parent(parent)

        self.tree = FlatTree(parents, tags, other_names, attributes, texts)
        self.create_element = create_element
        self.create_text = texts.append
        self.append = append

    @staticmethod
    def create_document() -> int:
        return _DROPPED

    @staticmethod
    def create_doctype(_name: str, _public_id: str | None, _system_id: str | None) -> int:
        return _DROPPED

    @staticmethod
    def create_comment(_data: str) -> int:
        return _DROPPED

    @staticmethod
    def create_pi(_target: str, _data: str) -> int:
        return _DROPPED


def parse_flat(html: str) -> FlatTree:
    """Parse `html` into lists."""
    if "shadowrootmode" in html:
        html = _SHADOW_ROOT.sub(rf"\1{SHADOW_ATTRIBUTE}", html)
    sink = _Sink()
    parse_into(html, cast("TreeBuilder[int | None]", sink))
    return sink.tree
