"""Within-site block frequency (Gibson, Punera and Tomkins 2005, as used by Kolcz and Yih 2007, section 4.1).

A *candidate* is an element that shapes the layout and holds enough text. What stands as a candidate's whole text on a
tenth of a site's pages is template; what stands on one page only is that page's own. Nodes of other markup with the
same text are the same candidate, and a page counts once however often it repeats a text.

The paper takes an MD5 digest of each candidate's text; here it is the hash of its words that `words` gives for all
candidates at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from chaffinch.errors import ModelError
from chaffinch.methods.bounds import Amount, Count, Share, check_bounds
from chaffinch.methods.codec import pack, unpack
from chaffinch.methods.frequency import Frequencies
from chaffinch.methods.protocol import DEFAULT_THRESHOLD
from chaffinch.methods.words import Words
from chaffinch.page.arrays import covered, frozen, nearest_marked
from chaffinch.page.tags import TEXT, Visibility, tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, FloatArray, HashArray, IntArray
    from chaffinch.page.table import Page

PAPER_TAGS: Final = tag_set(
    "blockquote", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ol", "pre", "small", "table",
    "td", "th", "tr", "ul",
)  # fmt: skip
"""The elements that may be candidates in the paper."""

MODERN_TAGS: Final = frozen(
    PAPER_TAGS
    | tag_set(
        "address", "article", "aside", "button", "caption", "center", "details", "dialog", "fieldset", "figcaption",
        "figure", "footer", "form", "header", "hgroup", "label", "legend", "main", "menu", "nav", "p", "search",
        "section", "select", "summary", "tbody", "tfoot", "thead",
    )
)  # fmt: skip
"""Those of the paper and what has come into use since, with the paragraph."""


_LEAST_MENU_WORDS: Final = 5
"""An element with less template than this is no menu."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of one page: elements in document order, then leaf text blocks if they were asked for."""

    node: IntArray
    """The element; -1 for a leaf text block."""
    block: IntArray
    """The number of the leaf text block; -1 for an element."""
    text: HashArray
    """A hash of its words; the same on every page and machine."""

    @property
    def elements(self) -> int:
        """How many of the candidates are elements."""
        return int(np.count_nonzero(self.node >= 0))


@dataclass(frozen=True, eq=False)
class BlockCounts:
    """How many pages show each text."""

    pages: int
    counts: Frequencies


@dataclass(frozen=True)
class FrequentBlocks:
    """Drops what stands on a quarter of the site's pages."""

    modern: bool = False
    """Whether elements of today's layouts, and paragraphs, may be candidates too; without, the list of the paper."""
    leaves: bool = True
    """Whether leaf text blocks may be candidates: text that shares its element with others is then seen too."""
    min_characters: Amount = 1
    """A candidate's text, white space folded, has at least so many characters."""
    min_words: Amount = 1
    """And at least so many different words. What has too little text shares the fate of what it stands in."""
    share: Share = 0.25
    """The share of the site's pages from which on a text is template."""
    min_pages: Count = 2
    """And the number of pages: on small sites it takes the share's place."""
    menus: Share = 0.5
    """An element is template as a whole if at least this share of its words is, and all the others stand in links: so
    are menus that show each page its own part. 1 leaves them alone, as the paper does."""
    most_entries: Count = 1_000_000
    """How many texts of a site are counted exactly; beyond that, counts are bounded in memory and may be too high."""

    name: ClassVar[str] = "blocks"
    summary: ClassVar[str] = "drops blocks of text that many pages of the site have (Kolcz & Yih 2007)"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Refuse options that mean nothing."""
        check_bounds(self)

    @property
    def streams(self) -> bool:
        """A text is known to be frequent only when all pages are counted."""
        return False

    def summarise(self, page: Page) -> BlockCounts:
        """Count every text of the page once."""
        return BlockCounts(1, Frequencies.of_page(self.candidates(page).text, self.most_entries))

    def merge(self, one: BlockCounts, other: BlockCounts) -> BlockCounts:
        """Add up."""
        return BlockCounts(one.pages + other.pages, one.counts.merge(other.counts))

    def finish(self, summary: BlockCounts) -> BlockCounts:
        """Return the counts: labels and more pages need them all."""
        return summary

    def reopen(self, template: BlockCounts) -> BlockCounts:
        """Return the template: it is its own summary."""
        return template

    def fit(self, page: Page, template: BlockCounts) -> float:
        """Return which share of the template the page shows, each text weighed by its pages.

        Counts that are bounded in memory do not tell which texts they hold; there it is the share of the page's
        candidates that are template.
        """
        texts = np.unique(self.candidates(page).text)
        least = self.least_pages(template.pages)
        if not template.counts.exact:
            return float((template.counts.of(texts) >= least).mean()) if len(texts) else 0.0
        counts = template.counts.counts
        frequent = counts >= least
        total = int(counts[frequent].sum())
        shown = frequent & np.isin(template.counts.hashes, texts)
        return int(counts[shown].sum()) / total if total else 0.0

    def knows(self, page: Page, template: BlockCounts | None) -> bool:  # noqa: ARG002  (every page of the site is known)
        """Tell whether there were pages enough to find anything frequent."""
        return template is not None and template.pages >= self.least_pages(template.pages)

    def score(self, page: Page, template: BlockCounts | None) -> FloatArray:
        """Score each text by the most frequent candidate that it stands in."""
        scores = np.zeros(len(page.text_nodes), dtype=np.float32)
        if template is None or not len(scores):
            return scores
        found = self.candidates(page)
        grades = self._grades(template.counts.of(found.text), template.pages)
        of_element = np.zeros(len(page) + 1, dtype=np.float32)  # the last entry is for texts in no candidate
        elements = found.node[: found.elements]
        of_element[elements] = _highest_above(page, elements, grades[: len(elements)])
        marked = np.zeros(len(page), dtype=np.bool_)
        marked[elements] = True
        scores = of_element[nearest_marked(page.parent, marked)[page.text_nodes]]
        if self.leaves:
            of_block = np.zeros(len(page.blocks) + 1, dtype=np.float32)
            of_block[found.block[len(elements) :]] = grades[len(elements) :]
            scores = np.maximum(scores, of_block[page.blocks.of_text])
        scores[page.visibility[page.text_nodes] != Visibility.VISIBLE] = 0
        if self.menus < 1:
            in_menu = _in_menus(page, scores >= DEFAULT_THRESHOLD, self.menus)
            scores[in_menu] = np.maximum(scores[in_menu], np.float32(DEFAULT_THRESHOLD))
        return scores

    def dump(self, template: BlockCounts) -> bytes:
        """Write the counts."""
        counts = template.counts
        numbers = np.array([template.pages, counts.most_entries], dtype=np.int64)
        arrays: dict[str, NDArray[Any]] = {
            "numbers": numbers,
            "hashes": counts.hashes,
            "counts": counts.counts,
            "sketch": counts.sketch,
        }
        return pack(self.name, self.version, arrays)

    def load(self, data: bytes) -> BlockCounts:
        """Read the counts back."""
        numbers, hashes, counts, sketch = unpack(
            data, self.name, self.version, ("numbers", "hashes", "counts", "sketch")
        )
        if len(numbers) != 2 or len(hashes) != len(counts) or sketch.ndim != 2:
            raise ModelError(f"template of method {self.name}", "is damaged (its parts do not belong together)")
        kept = Frequencies(
            int(numbers[1]),
            frozen(hashes.astype(np.uint64)),
            frozen(counts.astype(np.int64)),
            frozen(sketch.astype(np.int64)),
        )
        return BlockCounts(int(numbers[0]), kept)

    def candidates(self, page: Page) -> Candidates:
        """Return the page's candidates. A node inside one that has too little text has too little text itself."""
        tags = MODERN_TAGS if self.modern else PAPER_TAGS
        words = Words.of(page, tags)
        elements = np.flatnonzero(tags[page.tag]).astype(np.int32)
        first, last = words.nodes_before[elements], words.nodes_before[page.end[elements]]
        block = np.full(len(elements), -1, dtype=np.int32)
        if self.leaves:
            blocks = page.blocks
            first = np.concatenate((first, words.nodes_before[blocks.first]))
            last = np.concatenate((last, words.nodes_before[blocks.last + 1]))
            block = np.concatenate((block, np.arange(len(blocks), dtype=np.int32)))
            elements = np.concatenate((elements, np.full(len(blocks), -1, dtype=np.int32)))
        enough = words.has(first, last, self.min_characters, self.min_words)
        return Candidates(
            frozen(elements[enough]), frozen(block[enough]), frozen(words.hashes(first[enough], last[enough]))
        )

    def least_pages(self, pages: int) -> int:
        """Return on how many of `pages` pages a text must stand to be template."""
        return max(1, self.min_pages, ceil(self.share * pages - 1e-9))  # 0.1 * 30 is a little more than 3

    def _grades(self, counts: NDArray[np.int64], pages: int) -> FloatArray:
        """Return 0 for texts on one page, 0.5 for those just frequent enough, 1 for those on all pages."""
        least = self.least_pages(pages)
        below = 0.5 * (counts - 1) / max(1, least - 1)
        above = 0.5 + 0.5 * (counts - least) / max(1, pages - least)
        return np.clip(np.where(counts < least, below, above), 0, 1).astype(np.float32)


def _highest_above(page: Page, nodes: IntArray, grades: FloatArray) -> FloatArray:
    """Return for each of `nodes` the highest grade among it and those of the others that it lies in."""
    number = np.full(len(page) + 1, len(nodes), dtype=np.int32)
    number[nodes] = np.arange(len(nodes), dtype=np.int32)
    marked = np.zeros(len(page), dtype=np.bool_)
    marked[nodes] = True
    around = nearest_marked(page.parent, marked)[page.parent[nodes]]
    up = np.append(np.where(page.parent[nodes] < 0, len(nodes), number[around]), len(nodes))
    result = np.append(grades, np.float32(0))
    # Each round doubles the distance that is looked up: log n rounds, however deep the page.
    while (up != len(nodes)).any():
        result = np.maximum(result, result[up])
        up = up[up]
    return result[:-1]


def _in_menus(page: Page, template: BoolArray, share: float) -> BoolArray:
    """Tell which texts stand in an element of at least so much template, all its other words being in links."""
    words = page.blocks.text_words
    linked = page.in_link[page.text_nodes]

    def before(counted: BoolArray) -> IntArray:
        result = np.zeros(len(page) + 1, dtype=np.int32)
        result[page.text_nodes + 1] = words * counted
        return np.cumsum(result, dtype=np.int32)

    all_before, template_before = before(np.ones(len(words), dtype=np.bool_)), before(template)
    other_before = before(~template & ~linked)
    elements = np.flatnonzero(page.tag != TEXT).astype(np.int32)
    ends = page.end[elements]
    found = template_before[ends] - template_before[elements]
    is_menu = (found >= _LEAST_MENU_WORDS) & (found >= share * (all_before[ends] - all_before[elements]))
    is_menu &= other_before[ends] == other_before[elements]
    return covered(elements[is_menu], ends[is_menu], len(page))[page.text_nodes] & (words > 0)
