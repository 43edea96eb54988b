"""`Page`: one web page as a flat table of nodes, built once and never changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.page import tags
from chaffinch.page.arrays import ancestry, covered, frozen, nearest_marked
from chaffinch.page.blocks import Blocks, find_blocks
from chaffinch.page.tags import BLOCK_LEVEL, TEXT, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chaffinch.page.arrays import BoolArray, HashArray, IntArray, SmallArray, TagArray
    from chaffinch.page.attributes import Attributes, AttributeTable
    from chaffinch.sites import Place


@dataclass(frozen=True, eq=False, repr=False)
class Page:
    """A page's nodes in document order, one array entry for each.

    A node is an element or a text node; comments are dropped. The node at position `i` has its descendants at
    `i + 1 … end[i] - 1`. All arrays are closed to writing.
    """

    source: str
    """Where the bytes came from, for messages."""
    url: str | None
    """The page's address, if anything tells it."""
    place: Place
    """Site, directory and name within the directory."""
    encoding: str
    """The name of the encoding that the bytes were read with."""
    html: str
    """The decoded source."""

    tag: TagArray
    """The number of the element's name in `chaffinch.page.tags.NAMES`; 0 for text."""
    parent: IntArray
    """The position of the parent element; -1 for the root."""
    end: IntArray
    """The position behind the node's last descendant."""
    texts: tuple[str, ...]
    """The text of each text node, in document order: scripts and hidden text too, nothing normalised."""
    text_offset: IntArray
    """Where in `text` the text of each node starts, and at the end the length of `text`."""
    blank: BoolArray
    """For text nodes, whether they hold white space only; False for elements."""
    visibility: SmallArray
    """A `Visibility` for each node."""
    in_link: BoolArray
    """Whether the node stands inside an `<a href>`."""
    other_names: Mapping[int, str]
    """The names, as written, of the elements that have no name of the standard's, by their place among the elements."""
    element_attributes: AttributeTable
    """The attributes of the elements alone, in document order: pairs of name and value (the empty one without a value).

    They become strings when they are asked for. To look for one name on the whole page, ask for its `holders` or
    `values`.
    """

    def __repr__(self) -> str:
        return f"<Page {self.url or self.source!r}: {len(self)} nodes, {len(self.text_nodes)} of them text>"

    def __len__(self) -> int:
        return len(self.tag)

    @cached_property
    def text(self) -> str:
        """The text of all text nodes, one after the other."""
        return "".join(self.texts)

    @cached_property
    def text_nodes(self) -> IntArray:
        """The positions of all text nodes. Scores of methods are in this order, one for each."""
        return frozen(np.flatnonzero(self.tag == TEXT).astype(np.int32))

    @cached_property
    def shown_text_nodes(self) -> BoolArray:
        """For each of `text_nodes`, whether a reader sees it: visible and not blank."""
        nodes = self.text_nodes
        return frozen((self.visibility[nodes] == tags.Visibility.VISIBLE) & ~self.blank[nodes])

    @cached_property
    def blocks(self) -> Blocks:
        """The leaf text blocks."""
        return find_blocks(self)

    @cached_property
    def text_hash(self) -> HashArray:
        """For each text node, a hash of its words; the same on every page and machine. Blank text nodes have 0."""
        written = ~self.blank[self.text_nodes]
        words = map(str.encode, map(" ".join, map(str.split, compress(self.texts, written.tolist()))))
        result = np.zeros(len(written), dtype=np.uint64)
        result[written] = np.fromiter(map(xxh3_64_intdigest, words), dtype=np.uint64, count=int(written.sum()))
        return frozen(result)

    @cached_property
    def element_number(self) -> IntArray:
        """Each node's place in `element_attributes` (for text, that of the element before)."""
        return frozen((np.cumsum(self.tag != TEXT) - 1).astype(np.int32))

    @property
    def name_hash(self) -> HashArray:
        """A number for each node's name that looks random and is the same on every page and machine."""
        return _NAME_HASH[self.tag]

    @cached_property
    def _ancestry(self) -> tuple[IntArray, HashArray]:
        depth, path = ancestry(self.parent, self.name_hash)
        return frozen(depth), frozen(path)

    @property
    def depth(self) -> IntArray:
        """How many ancestors each node has."""
        return self._ancestry[0]

    @property
    def tag_path(self) -> HashArray:
        """A hash of the tag names from each node up to the root; equal paths have equal numbers on all pages."""
        return self._ancestry[1]

    @cached_property
    def block_element(self) -> IntArray:
        """The nearest block-level element at or above each node; -1 if there is none."""
        return frozen(nearest_marked(self.parent, BLOCK_LEVEL[self.tag]))

    @cached_property
    def block_container(self) -> IntArray:
        """For each of the leaf text blocks, the nearest block-level element around it; -1 if there is none."""
        return frozen(self.block_element[self.parent[self.blocks.first]])

    @cached_property
    def unrolled(self) -> Page:
        """The page with the text that scripts or clicks would show, such as tabs, answers and pages that fade in.

        Whatever an attribute hides is seen there. What `noscript` holds is seen as well if it is more than all the
        rest, for then it is the page.
        """
        hidden = self.visibility == tags.Visibility.HIDDEN
        texts = self.text_nodes
        lengths = np.diff(self.text_offset)[texts] * ~self.blank[texts]
        kinds = self.visibility[texts]
        noscript = self.find("noscript")
        if noscript and lengths[kinds == tags.Visibility.INERT].sum() > lengths[kinds <= tags.Visibility.VISIBLE].sum():
            nodes = np.array(noscript, dtype=np.int32)
            inside = covered(nodes, self.end[nodes], len(self)) & (self.visibility == tags.Visibility.INERT)
            unfolded = lengths[inside[texts]].sum()
            if unfolded > lengths[(kinds == tags.Visibility.VISIBLE) | (kinds == tags.Visibility.HIDDEN)].sum():
                hidden = hidden | inside
        if not hidden.any():
            return self
        return replace(
            self, visibility=frozen(np.where(hidden, tags.Visibility.VISIBLE, self.visibility).astype(np.uint8))
        )

    def showing(self, kept: BoolArray) -> Page:
        """Return the page with those of the `kept` text nodes seen that are not; `kept` has an entry for each."""
        unseen = self.text_nodes[kept & ~self.blank[self.text_nodes]]
        unseen = unseen[self.visibility[unseen] != tags.Visibility.VISIBLE]
        if len(unseen) == 0:
            return self
        shown = np.zeros(len(self) + 1, dtype=np.int32)
        shown[unseen + 1] = 1
        before = np.cumsum(shown)
        around = before[self.end] > before[: len(self)]
        visibility = np.where(around, tags.Visibility.VISIBLE, self.visibility).astype(np.uint8)
        return replace(self, visibility=frozen(visibility))

    def upto(self, node: int) -> Page:
        """Return the page as if it ended before `node`."""
        texts = int(np.searchsorted(self.text_nodes, node))
        elements = node - texts
        return replace(
            self,
            tag=frozen(self.tag[:node]),
            parent=frozen(self.parent[:node]),
            end=frozen(np.minimum(self.end[:node], np.int32(node))),
            texts=self.texts[:texts],
            text_offset=frozen(self.text_offset[: node + 1]),
            blank=frozen(self.blank[:node]),
            visibility=frozen(self.visibility[:node]),
            in_link=frozen(self.in_link[:node]),
            element_attributes=self.element_attributes.part(range(elements)),
        )

    def text_of(self, node: int) -> str:
        """Return the text below `node`, as it stands in the source."""
        return self.text[self.text_offset[node] : self.text_offset[self.end[node]]]

    def name_of(self, node: int) -> str:
        """Return the element name of `node`, or `#text`."""
        tag = int(self.tag[node])
        return self.other_names[int(self.element_number[node])] if tag == UNKNOWN else tags.NAMES[tag]

    def attributes_of(self, node: int) -> Attributes:
        """Return the attributes of `node`; none for text."""
        return () if self.tag[node] == TEXT else self.element_attributes[self.element_number[node]]

    def attribute(self, node: int, name: str) -> str | None:
        """Return the value of an attribute of `node`: "" if it has no value, None if it is not there."""
        return None if self.tag[node] == TEXT else self.element_attributes.value(int(self.element_number[node]), name)

    def find(self, *names: str) -> list[int]:
        """Return the positions of all elements with one of these standard names."""
        wanted = tags.tag_set(*names)
        return np.flatnonzero(wanted[self.tag]).tolist()


def _name_hashes() -> HashArray:
    """Return a random-looking number for each tag; drawn from a fixed seed, so it is the same everywhere."""
    generator = np.random.Generator(np.random.PCG64(2026))
    return frozen(generator.integers(1, 2**63, size=len(tags.NAMES), dtype=np.uint64))


_NAME_HASH = _name_hashes()
