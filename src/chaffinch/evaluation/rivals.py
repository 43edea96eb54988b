"""The two rivals that Chen, Ye and Li (2006) compare their method with, for measuring only.

*Shingles*, after Bar-Yossef and Rajagopalan (2002): blocks with the same fingerprint on several pages are template.
The fingerprint is made of the smallest hashes of the block's word windows under a few permutations; blocks that are
nearly equal mostly have the same. The cut into blocks is the one of `offsets`, so that fingerprints are compared with
offsets and not one way of cutting with another.

*Site style tree*, after Yi, Liu and Li (2003): the trees of a sample of pages are laid over one another; elements with
little variety in how they look (children) and in what they say (text), weighed over everything below, are noise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from chaffinch.methods.bitset import first_of_runs
from chaffinch.methods.layout import LayoutName, find_layout, mixed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chaffinch.page.arrays import BoolArray, HashArray, IndexArray, IntArray
    from chaffinch.page.table import Page

_PERMUTATIONS: Final = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], dtype=np.uint64
)
_MOST_SIBLINGS: Final = 6


@dataclass(frozen=True, slots=True)
class Shingles:
    """Template blocks by their fingerprints."""

    layout: LayoutName = "blocks"
    window: int = 4
    """How many words are hashed together."""
    permutations: int = 4
    """How many smallest hashes make a fingerprint, four at most: with more, only nearer blocks have the same."""
    share: float = 0.15
    """Fingerprints on at least this share of the pages, and on two, are template."""

    def fingerprints(self, page: Page, words: HashArray, leaf: IntArray) -> tuple[HashArray, IndexArray]:
        """Return a fingerprint for each layout block of a page, and for each leaf text block its layout block.

        `words` are the hashes of the page's words, `leaf` the leaf text block of each.
        """
        layout = find_layout(page, self.layout, "none", _MOST_SIBLINGS)
        block = layout.of_leaf[leaf]
        order = np.argsort(block, kind="stable")
        words, block = words[order], block[order]
        hashes = self._windows(words, block)
        # Blocks without any word, such as a row of dashes, stay 0 and are left alone.
        result = np.zeros(len(layout), dtype=np.uint64)
        begins = np.flatnonzero(first_of_runs(block))
        if len(begins):
            with np.errstate(over="ignore"):
                permuted = hashes[:, None] * _PERMUTATIONS[None, : self.permutations]
                permuted ^= permuted >> np.uint64(31)
                smallest = np.minimum.reduceat(permuted * _PERMUTATIONS[0], begins, axis=0)
            result[block[begins]] = mixed(*smallest.T)
        return result, layout.of_leaf

    def template_blocks(self, pages: Sequence[HashArray]) -> list[BoolArray]:
        """Tell for each page, given by its fingerprints, which blocks are template."""
        count = Counter(print_ for page in pages for print_ in np.unique(page).tolist() if print_)
        needed = max(2, self.share * len(pages))
        frequent = np.array([print_ for print_, number in count.items() if number >= needed], dtype=np.uint64)
        return [np.isin(page, frequent) for page in pages]

    def _windows(self, words: HashArray, block: IndexArray) -> HashArray:
        """Hash the window that begins at each word; at the end of a block it is shorter."""
        result = words.copy()
        with np.errstate(over="ignore"):
            for step in range(1, self.window):
                inside = np.zeros(len(words), dtype=np.bool_)
                inside[:-step] = block[step:] == block[:-step]
                following = np.roll(words, -step)
                result = np.where(inside, mixed(result, following), result)
        return result


Label: TypeAlias = "tuple[str, str]"
"""An element's name and presentation, or the mark of a text."""
_TEXT: Final[Label] = ("#text", "")
_PRESENTATION: Final = frozenset({"align", "bgcolor", "border", "height", "width"})


@dataclass(slots=True)
class _StyleElement:
    """An element of the style tree: where it stands on the sampled pages, and in which ways it has children."""

    places: list[tuple[int, int]]
    """Number of the page and of the node, for each occurrence."""
    styles: dict[tuple[Label, ...], list[_StyleElement]] = field(default_factory=dict)
    importance: float = 1.0
    """What its looks and its texts vary, everything below weighed in."""
    peak: float = 1.0
    """The greatest importance of it and all below it."""


@dataclass(frozen=True, slots=True)
class StyleTree:
    """Site style trees, built from a sample."""

    sample: int = 30
    """How many pages the tree is built from, spread over the site."""
    damping: float = 0.9
    """What the importance of an element takes from its children, for each way of having them (gamma)."""
    threshold: float = 0.3
    """An element is noise when it and all below it are of less importance."""

    def build(self, pages: Sequence[Page]) -> _StyleElement:
        """Lay a sample of pages over one another, and weigh every element."""
        step = max(1, len(pages) // self.sample)
        sampled = list(pages[::step][: self.sample])
        children = [_children(page) for page in sampled]
        root = _StyleElement([(number, 0) for number in range(len(sampled)) if len(sampled[number])])
        order = [root]
        for element in order:
            groups: dict[tuple[Label, ...], list[tuple[int, int]]] = defaultdict(list)
            for number, node in element.places:
                below = children[number].get(node, [])
                if below:
                    groups[_style(sampled[number], below)].append((number, node))
            for style, places in groups.items():
                made = [
                    _StyleElement([(number, children[number][node][position]) for number, node in places])
                    for position in range(len(style))
                ]
                element.styles[style] = made
                order.extend(made)
        for element in reversed(order):
            element.importance = self._importance(element, sampled)
            peaks = (child.peak for made in element.styles.values() for child in made)
            element.peak = max(element.importance, *peaks, 0.0)
        return root

    def template_nodes(self, page: Page, root: _StyleElement) -> BoolArray:
        """Tell for each node of a page whether it lies in noise; what the tree does not know is kept."""
        result = np.zeros(len(page), dtype=np.bool_)
        children = _children(page)
        stack = [(0, root)] if len(page) else []
        while stack:
            node, element = stack.pop()
            if element.peak < self.threshold:
                result[node : page.end[node]] = True
                continue
            below = children.get(node, [])
            stack.extend(zip(below, element.styles.get(_style(page, below), []), strict=False))
        return result

    def _importance(self, element: _StyleElement, pages: Sequence[Page]) -> float:
        """Weigh an element whose children have been weighed."""
        count = len({number for number, _ in element.places})
        if count <= 1:
            return 1.0
        if not element.styles:
            return _variety_of_text(element.places, pages, count)
        numbers = [len(made[0].places) for made in element.styles.values()]
        total = sum(numbers)
        own = -sum(number / total * log(number / total) for number in numbers) / log(max(total, 2))
        below = sum(
            number / total * sum(child.importance for child in made) / len(made)
            for number, made in zip(numbers, element.styles.values(), strict=True)
        )
        kept = self.damping ** len(element.styles)
        return (1 - kept) * own + kept * below


def _variety_of_text(places: Sequence[tuple[int, int]], pages: Sequence[Page], count: int) -> float:
    """Return 1 minus the mean entropy of the words over the pages: 0 where all pages say the same."""
    words: dict[str, Counter[int]] = defaultdict(Counter)
    for number, node in places:
        for word in pages[number].text_of(node).split():
            words[word][number] += 1
    if not words:
        return 0.0
    entropies = 0.0
    for on_pages in words.values():
        total = on_pages.total()
        entropies -= sum(number / total * log(number / total) for number in on_pages.values()) / log(count)
    return 1 - entropies / len(words)


def _children(page: Page) -> dict[int, list[int]]:
    """Return the children of each node, without blank and unseen text."""
    result: dict[int, list[int]] = defaultdict(list)
    for node, parent in _kept_nodes(page, page.parent):
        result[parent].append(node)
    return result


def _kept_nodes(page: Page, parent: IntArray) -> Iterator[tuple[int, int]]:
    kept = np.flatnonzero(~page.blank & (page.visibility == 0))
    return zip(kept.tolist(), parent[kept].tolist(), strict=True)


def _style(page: Page, nodes: Sequence[int]) -> tuple[Label, ...]:
    """Return how the children of an element look."""
    return tuple(_label(page, node) for node in nodes)


def _label(page: Page, node: int) -> Label:
    if page.tag[node] == 0:
        return _TEXT
    shown = [f"{key}={value}" for key, value in page.attributes_of(node) if key in _PRESENTATION]
    return page.name_of(node), " ".join(sorted(shown))
