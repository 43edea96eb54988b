"""The pages of one site joined to one table of nodes, with the counts that finding records needs.

Every count is kept as a running total over nodes in document order, so that the sum over any span of nodes is one
subtraction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.page.arrays import PATH_FACTOR, covered, frozen, offsets
from chaffinch.page.tags import TEXT, tag_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.page import Page
    from chaffinch.page.arrays import BoolArray, HashArray, IndexArray, IntArray, TagArray

    Totals = NDArray[np.int64]

MENUS: Final = tag_set("nav", "header", "footer", "aside")
FORMS: Final = tag_set("form", "select", "button", "label")
PICTURES: Final = tag_set("img", "picture", "video")
HEADINGS: Final = tag_set("h1", "h2", "h3", "h4", "h5", "h6")
LINKS: Final = tag_set("a")

_DIGITS: Final = re.compile(r"\d+")
_RESULT_WORDS: Final = re.compile(
    r"result|item|product|search|hit|entry|post|card|story|article|listing|record|\brow|tile|offer|teaser|summary",
    re.IGNORECASE,
)
_MENU_WORDS: Final = re.compile(
    r"nav|menu|foot|header|side|filter|facet|refine|related|recommend|advert|\bads?\b|sponsor|pag(?:er|inat)|\btab|crumb"
    r"|social|share|promo|popular|trend|widget|categor|suggest|cart|login|cookie|modal|dropdown",
    re.IGNORECASE,
)
_UNSEEN: Final = re.compile(
    r"(?:^|\s)(?:(?:js-|is-|u-|ng-)?(?:hidden|hide)|invisible|d-none|sr-only|show-for-sr|(?:u-|is-)?visually-?hidden"
    r"|(?:u-)?screen-?reader(?:-text|-only)?|element-(?:invisible|hidden)|access-?hide|a11y-hidden|(?:u-|is-)?off-?screen"
    r"|print-?only)(?=\s|$)",
    re.IGNORECASE,
)
_TIP: Final = re.compile(r"(?:^|\s)(?:q|tool)-?tip-?(?:text|contents?)(?=\s|$)", re.IGNORECASE)
"""Shown while the mouse is over something, however much it is."""
_AT_SOME_WIDTH: Final = re.compile(r"(?:^|\s)(?:d-\w\w-|\w\w:|(?:show|visible)-\w\w)")
_MOSTLY_SEEN: Final = 0.5


@dataclass(frozen=True, eq=False)
class Sheet:
    """The nodes of several pages, one page after the other; positions count over all of them."""

    pages: tuple[Page, ...]
    seen: tuple[BoolArray, ...]
    """For each text node of each page, whether a reader sees it."""
    start: IntArray
    """Where each page's nodes begin, and at the end the number of nodes."""
    tag: TagArray
    parent: IntArray
    """-1 for the roots."""
    end: IntArray
    path: HashArray
    """The tag names from the node up to its root."""
    classes: HashArray
    """The node's classes, numbers in them masked; 0 for none."""
    leaf: IntArray
    """The nodes that are shown text, in order."""
    leaf_hash: HashArray
    leaf_words: IntArray

    @classmethod
    def of(cls, pages: Sequence[Page]) -> Sheet:
        """Join pages."""
        start = offsets(np.array([len(page) for page in pages], dtype=np.int32))
        bases = start[:-1].tolist()
        seen = tuple(map(_seen, pages))
        nodes = [page.text_nodes[here] + base for page, here, base in zip(pages, seen, bases, strict=True)]
        return cls(
            pages=tuple(pages),
            seen=seen,
            start=frozen(start),
            tag=_joined([page.tag for page in pages], np.int16),
            parent=_joined(
                [np.where(page.parent < 0, -1, page.parent + base) for page, base in zip(pages, bases, strict=True)],
                np.int32,
            ),
            end=_joined([page.end + base for page, base in zip(pages, bases, strict=True)], np.int32),
            path=_joined([page.tag_path for page in pages], np.uint64),
            classes=_joined([_class_hashes(page) for page in pages], np.uint64),
            leaf=_joined(nodes, np.int32),
            leaf_hash=_joined([page.text_hash[here] for page, here in zip(pages, seen, strict=True)], np.uint64),
            leaf_words=_joined(
                [page.blocks.text_words[here] for page, here in zip(pages, seen, strict=True)], np.int32
            ),
        )

    def __len__(self) -> int:
        return len(self.tag)

    @cached_property
    def depth(self) -> IntArray:
        """How many ancestors each node has."""
        return _joined([page.depth for page in self.pages], np.int32)

    def path_below(self, nodes: IndexArray, tops: IndexArray | IntArray) -> HashArray:
        """Return a hash of the tag names from each node up to one of its ancestors-or-self, which is left out."""
        levels = (self.depth[nodes] - self.depth[tops]).astype(np.int64)
        with np.errstate(over="ignore"):
            powers = np.cumprod(np.full(int(levels.max(initial=0)) + 1, PATH_FACTOR, dtype=np.uint64))
            powers = np.concatenate((np.ones(1, dtype=np.uint64), powers))
            result: HashArray = self.path[nodes] - powers[levels] * self.path[tops]
        return result

    @cached_property
    def child_places(self) -> tuple[IntArray, IntArray]:
        """The how many-th shown child of its parent each node is, and how many such children each node has."""
        children, place, behind = self.shown_children
        counts = np.diff(behind, prepend=np.int32(0)).astype(np.int32)
        result = np.zeros(len(self), dtype=np.int32)
        result[children] = place[children] - (behind - counts)[self.parent[children]]
        return frozen(result), frozen(counts)

    @cached_property
    def shown_children(self) -> tuple[IntArray, IntArray, IntArray]:
        """All nodes that show text and have a parent, those of one parent together, in order.

        Then the place of each node of the sheet among them, and behind which the children of each node end.
        """
        shown = (self.leaves_before[self.end] > self.leaves_before[:-1]) & (self.parent >= 0)
        nodes = np.flatnonzero(shown)
        children = nodes[np.argsort(self.parent[nodes], kind="stable")].astype(np.int32)
        place = np.zeros(len(self), dtype=np.int32)
        place[children] = np.arange(len(children))
        counts = np.bincount(self.parent[nodes], minlength=len(self)).astype(np.int32)
        return frozen(children), frozen(place), offsets(counts)[1:]

    @cached_property
    def sibling_kind(self) -> HashArray:
        """The name and the classes of each node as one number."""
        with np.errstate(over="ignore"):
            result: HashArray = self.classes * np.uint64(PATH_FACTOR) + self.tag.astype(np.uint64)
        return frozen(result)

    @cached_property
    def page_of(self) -> IndexArray:
        """Which page each node is of."""
        return frozen(np.repeat(np.arange(len(self.pages)), np.diff(self.start)))

    @cached_property
    def leaf_page(self) -> IndexArray:
        """Which page each shown text is of."""
        return frozen(self.page_of[self.leaf])

    @cached_property
    def leaves_before(self) -> IntArray:
        """How many shown texts stand before each node, and at the end all."""
        marks = np.zeros(len(self), dtype=np.int32)
        marks[self.leaf] = 1
        return frozen(offsets(marks))

    @cached_property
    def words_before(self) -> Totals:
        """How many shown words stand before each of the shown texts."""
        return self.leaf_totals(self.leaf_words)

    def leaf_totals(self, values: NDArray[np.integer]) -> Totals:
        """Return running totals over shown texts."""
        return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(values, dtype=np.int64)))

    def node_totals(self, marks: BoolArray) -> Totals:
        """Return running totals over nodes."""
        return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(marks, dtype=np.int64)))

    @cached_property
    def text_before(self) -> HashArray:
        """Running totals of the texts' hashes: equal differences mean equal texts, in whatever order."""
        result = np.zeros(len(self.leaf) + 1, dtype=np.uint64)
        np.cumsum(self.leaf_hash, out=result[1:])
        return frozen(result)

    @cached_property
    def shape_before(self) -> HashArray:
        """Running totals of the tag paths of all elements: equal differences mean equal trees, below one path."""
        values = np.where(self.tag == TEXT, np.uint64(0), self.path)
        result = np.zeros(len(self) + 1, dtype=np.uint64)
        np.cumsum(values, out=result[1:])
        return frozen(result)

    @cached_property
    def on_other_pages(self) -> BoolArray:
        """For each shown text, whether another page shows it too."""
        pairs = np.unique(np.stack((self.leaf_hash, self.leaf_page.astype(np.uint64))), axis=1)
        texts, counts = np.unique(pairs[0], return_counts=True)
        return frozen(counts[np.searchsorted(texts, self.leaf_hash)] > 1)

    @cached_property
    def repeated(self) -> BoolArray:
        """For each shown text, whether its page shows it again."""
        pairs = self.leaf_hash ^ (self.leaf_page.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        _, where, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        return frozen(counts[where] > 1)

    @cached_property
    def in_link(self) -> BoolArray:
        """For each shown text, whether it stands in a link."""
        found = [page.in_link[page.text_nodes[here]] for page, here in zip(self.pages, self.seen, strict=True)]
        return _joined(found, np.bool_)

    @cached_property
    def has_digit(self) -> BoolArray:
        """For each shown text, whether a digit stands in it."""
        found = [[_DIGITS.search(text) is not None for text in texts] for texts in self.leaf_texts]
        return _joined([np.array(flags, dtype=np.bool_) for flags in found], np.bool_)

    @cached_property
    def leaf_texts(self) -> tuple[tuple[str, ...], ...]:
        """The shown texts of each page."""
        return tuple(
            tuple(compress(page.texts, here.tolist())) for page, here in zip(self.pages, self.seen, strict=True)
        )

    @cached_property
    def class_values(self) -> tuple[tuple[int, str], ...]:
        """The nodes with a class or an id, and its value."""
        found = []
        for page, base in zip(self.pages, self.start.tolist(), strict=False):
            elements = np.flatnonzero(page.tag != TEXT).tolist()
            for number in page.element_attributes.holders("class", "id"):
                node = base + elements[number]
                attributes = page.element_attributes[number]
                found += [(node, value) for key, value in attributes if value and key in {"class", "id"}]
        return tuple(found)

    @cached_property
    def hints(self) -> tuple[BoolArray, BoolArray, BoolArray]:
        """For each node: whether its class or id sounds like a result; like a menu; whether it lies in a menu."""
        results, menus = np.zeros(len(self), dtype=np.bool_), np.zeros(len(self), dtype=np.bool_)
        known: dict[str, tuple[bool, bool]] = {}
        for node, value in self.class_values:
            found = known.get(value)
            if found is None:
                found = (_RESULT_WORDS.search(value) is not None, _MENU_WORDS.search(value) is not None)
                known[value] = found
            results[node] |= found[0]
            menus[node] |= found[1]
        roots = np.flatnonzero(menus | MENUS[self.tag])
        return frozen(results), frozen(menus), frozen(covered(roots.astype(np.int32), self.end[roots], len(self)))


def _joined(arrays: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    return frozen(np.concatenate([np.zeros(0, dtype=kind), *arrays]).astype(kind))


def class_tokens(value: str) -> list[str]:
    """Return the classes of an attribute, numbers masked, sorted."""
    return sorted(set(_DIGITS.sub("0", value).split()))


@lru_cache(maxsize=1 << 14)
def _class_hash(value: str) -> int:
    tokens = class_tokens(value)
    return xxh3_64_intdigest(" ".join(tokens).encode()) if tokens else 0


@lru_cache(maxsize=1 << 14)
def _hides(value: str) -> bool:
    """Tell whether classes say that nothing is seen of an element, on screens of any width."""
    return _UNSEEN.search(value) is not None and _AT_SOME_WIDTH.search(value) is None


@lru_cache(maxsize=1 << 14)
def _is_tip(value: str) -> bool:
    return _TIP.search(value) is not None


def _seen(page: Page) -> BoolArray:
    """Tell for each text node whether a reader sees it: shown, and not in an element whose classes say it is not.

    No style sheet is read; the classes are those that authors and their frameworks have agreed on. A page that would
    lose most of its text is shown by a script, and keeps it.
    """
    shown = page.shown_text_nodes
    classed, values = page.element_attributes.values("class")
    numbers = [number for number, value in zip(classed, values, strict=True) if _hides(value)]
    tips = [number for number, value in zip(classed, values, strict=True) if _is_tip(value)]
    if not numbers and not tips:
        return shown
    elements = np.flatnonzero(page.tag != TEXT).astype(np.int32)

    def without(seen: BoolArray, roots: IntArray) -> BoolArray:
        result: BoolArray = seen & ~covered(roots, page.end[roots], len(page))[page.text_nodes]
        return result

    seen = without(shown, elements[tips])
    lengths = np.diff(page.text_offset)[page.text_nodes]
    result = without(seen, elements[numbers])
    return frozen(result if lengths[result].sum() >= _MOSTLY_SEEN * lengths[seen].sum() else seen)


def _class_hashes(page: Page) -> HashArray:
    result = np.zeros(len(page), dtype=np.uint64)
    nodes: list[int] = []
    hashes: list[int] = []
    for number, value in zip(*page.element_attributes.values("class"), strict=True):
        if value:
            nodes.append(number)
            hashes.append(_class_hash(value))
    elements = np.flatnonzero(page.tag != TEXT)
    result[elements[nodes]] = np.array(hashes, dtype=np.uint64)
    return result
