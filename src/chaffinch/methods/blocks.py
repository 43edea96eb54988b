"""Within-site block frequency (Gibson, Punera and Tomkins 2005, as used by Kolcz and Yih 2007, section 4.1).

A *candidate* is an element that shapes the layout and holds enough text. What stands as a candidate's whole text on a
tenth of a site's pages is template; what stands on one page only is that page's own. Nodes of other markup with the
same text are the same candidate, and a page counts once however often it repeats a text.

The paper takes an MD5 digest of each candidate's text. Candidates lie in each other, so that reads a page's text once
for every level of nesting: 100,000 nested elements would never end. Here every word is hashed once (xxHash, 64 bits),
and a text is the polynomial that has its words' hashes as coefficients, at a fixed point modulo the prime 2^61 - 1.
Prefix sums give the value of any run of words in constant time, for all candidates at once. Two different texts of n
words agree for a random point with a chance of at most n / 2^61. The modulus is a prime because modulo 2^64, which
would cost less, the Thue-Morse order of any two words and its complement agree at every point. The point is public,
since templates are kept and merged, so somebody who wants two texts to agree can find such texts, as with MD5. It
gains them nothing: all that a shared hash does is to make a text count as if it were the other, and whoever can put
texts on many pages can put the same text there and need not search.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.errors import ModelError
from chaffinch.methods.codec import pack, unpack
from chaffinch.methods.frequency import Frequencies
from chaffinch.methods.protocol import DEFAULT_THRESHOLD
from chaffinch.page.arrays import covered, frozen, nearest_marked, offsets
from chaffinch.page.tags import BLOCK_LEVEL, LINE_BREAK, TEXT, Visibility, tag_set

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
    min_characters: int = 1
    """A candidate's text, white space folded, has at least so many characters."""
    min_words: int = 1
    """And at least so many different words. What has too little text shares the fate of what it stands in."""
    share: float = 0.25
    """The share of the site's pages from which on a text is template."""
    min_pages: int = 2
    """And the number of pages: on small sites it takes the share's place."""
    menus: float = 0.5
    """An element is template as a whole if at least this share of its words is, and all the others stand in links: so
    are menus that show each page its own part. 1 leaves them alone, as the paper does."""
    most_entries: int = 1_000_000
    """How many texts of a site are counted exactly; beyond that, counts are bounded in memory and may be too high."""

    name: ClassVar[str] = "blocks"
    summary: ClassVar[str] = "drops blocks of text that many pages of the site have (Kolcz & Yih 2007)"
    version: ClassVar[int] = 1

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
        words = _Words.of(page, tags)
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


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of a page's visible text, and how to tell of any run of its text nodes what they are.

    Words end at white space, where a leaf text block ends, and where an element that may be a candidate does. Han and
    kana are written without spaces; each character is a word. A *boundary* is the place before a visible text node.
    """

    nodes_before: IntArray
    """For each position in the page, and behind the last, how many visible text nodes come before it."""
    words_before: IntArray
    """For each boundary, how many words."""
    characters_before: IntArray
    """For each boundary, how many characters of words."""
    spaces_before: IntArray
    """For each boundary, how many words that come after white space."""
    word: HashArray
    """Each word's hash."""

    @classmethod
    def of(cls, page: Page, tags: BoolArray) -> _Words:
        """Split the visible text of a page."""
        visible = page.visibility[page.text_nodes] == Visibility.VISIBLE
        nodes = page.text_nodes[visible]
        text, start = _join(page, visible, _first_of_runs(page, nodes, tags))
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
        kinds = _kinds()[np.minimum(codes, len(_kinds()) - 1)]
        inside = kinds != _SPACE
        alone = kinds == _SPACELESS_KIND
        after_space = inside.copy()
        after_space[1:] &= ~inside[:-1]
        begins = after_space | alone
        begins[1:] |= inside[1:] & alone[:-1]
        shown = np.zeros(len(page) + 1, dtype=np.int32)
        shown[nodes + 1] = 1
        split = _WORD.findall(text) if alone.any() else text.split()
        return cls(
            nodes_before=np.cumsum(shown, dtype=np.int32),
            words_before=offsets(begins)[start],
            characters_before=offsets(inside)[start],
            spaces_before=offsets(after_space)[start],
            word=_word_hashes(split),
        )

    def has(self, first: IntArray, last: IntArray, characters: int, different: int) -> BoolArray:
        """Tell which runs of text nodes have enough text."""
        spaces = self.spaces_before[last] - self.spaces_before[first]
        length = self.characters_before[last] - self.characters_before[first] + np.maximum(0, spaces - 1)
        enough: BoolArray = length >= max(1, characters)
        if different > 1:
            start, stop = self.words_before[first[enough]], self.words_before[last[enough]]
            enough[enough] = _count_different(self._before, start, stop) >= different
        return enough

    def hashes(self, first: IntArray, last: IntArray) -> HashArray:
        """Return a hash of the words of each run of text nodes."""
        start, stop = self.words_before[first], self.words_before[last]
        power, inverse = _powers(max(_LEAST_POWERS, len(self.word).bit_length()))
        terms = _product(_reduced(self.word), power[: len(self.word)])
        # Sums of halves do not overflow: a page has far fewer than 2^32 words.
        low, high = (sums[stop] - sums[start] for sums in (_sums(terms & _LOW), _sums(terms >> _HALF)))
        total = _reduced(_reduced(low) + _product(_reduced(high), np.uint64(1) << _HALF))
        return _product(total, inverse[start])

    @cached_property
    def _before(self) -> IntArray:
        """For each word, one more than the place where it stood last; 0 for those that did not."""
        order = np.argsort(self.word, kind="stable").astype(np.int32)
        same = self.word[order[1:]] == self.word[order[:-1]]
        result = np.zeros(len(order), dtype=np.int32)
        result[order[1:][same]] = order[:-1][same] + 1
        return result


def _first_of_runs(page: Page, nodes: IntArray, tags: BoolArray) -> BoolArray:
    """Tell which text nodes are parted from the one before by the border of a block or a candidate."""
    boundary = np.zeros(len(page) + 1, dtype=np.int32)
    elements = np.flatnonzero((BLOCK_LEVEL | tags)[page.tag])
    boundary[elements] = 1
    boundary[page.end[elements]] = 1
    boundary[:-1][LINE_BREAK[page.tag]] = 1
    run = np.cumsum(boundary)[nodes]
    result = np.ones(len(nodes), dtype=np.bool_)
    result[1:] = run[1:] != run[:-1]
    return result


def _join(page: Page, visible: BoolArray, fresh: BoolArray) -> tuple[str, IntArray]:
    """Return the visible texts as one with a line break before each run, and where each text and the end are in it."""
    numbers = np.flatnonzero(visible)
    lengths = page.text_offset[page.text_nodes[numbers] + 1] - page.text_offset[page.text_nodes[numbers]] + fresh
    pieces = [
        f"\n{page.texts[number]}" if is_fresh else page.texts[number]
        for number, is_fresh in zip(numbers.tolist(), fresh.tolist(), strict=True)
    ]
    return "".join(pieces), offsets(lengths)


_SPACELESS: Final = (
    (0x3040, 0x3100), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0xFF66, 0xFFA0), (0x20000, 0x30000),
)  # fmt: skip
_SPACELESS_CLASS: Final = "".join(f"{chr(start)}-{chr(stop - 1)}" for start, stop in _SPACELESS)
_WORD: Final = re.compile(rf"[{_SPACELESS_CLASS}]|[^\s{_SPACELESS_CLASS}]+")
_SPACE: Final = 0
_WORD_KIND: Final = 1
_SPACELESS_KIND: Final = 2


@lru_cache(maxsize=1)
def _kinds() -> NDArray[np.uint8]:
    """Return a table over characters: white space, parts of words, words by themselves."""
    kinds = np.full(0x30001, _WORD_KIND, dtype=np.uint8)
    kinds[[code for code in range(0x3001) if chr(code).isspace()]] = _SPACE
    for start, stop in _SPACELESS:
        kinds[start:stop] = _SPACELESS_KIND
    return frozen(kinds)


def _word_hashes(words: list[str]) -> HashArray:
    hashes = {word: xxh3_64_intdigest(word.encode()) for word in set(words)}
    return np.fromiter(map(hashes.__getitem__, words), dtype=np.uint64, count=len(words))


def _count_different(before: IntArray, start: IntArray, stop: IntArray) -> IntArray:
    """Return how many different words stand from `start` up to `stop`, by where each word stood last.

    A word is the first of its kind in a run if it stood last before the run. Words before the run all did, so it is
    enough to count the words before `stop` that stood last before `start`, and take off the first `start`. The words
    are sorted by one bit of `before` after the other, the highest first, while each run's part of them is kept track
    of (a wavelet matrix): log n rounds over whole arrays.
    """
    smaller = np.zeros(len(start), dtype=np.int32)
    limit = start.astype(np.int32) + 1
    left, right = np.zeros(len(stop), dtype=np.int32), stop.astype(np.int32)
    for bit in range(len(before).bit_length(), -1, -1):
        is_zero = (before >> bit) & 1 == 0
        zeros_before = offsets(is_zero)
        zeros_left, zeros_right = zeros_before[left], zeros_before[right]
        goes_on_in_ones = (limit >> bit) & 1 == 1
        smaller += np.where(goes_on_in_ones, zeros_right - zeros_left, 0)
        left = np.where(goes_on_in_ones, zeros_before[-1] + left - zeros_left, zeros_left)
        right = np.where(goes_on_in_ones, zeros_before[-1] + right - zeros_right, zeros_right)
        before = np.concatenate((before[is_zero], before[~is_zero]))
    return smaller - start


_PRIME: Final = np.uint64((1 << 61) - 1)
_PRIME_BITS: Final = np.uint64(61)
_POINT: Final = 0x0F2A4C9D61B3E875
"""Where the polynomials are taken: any number below the prime without pattern."""
_HALF: Final = np.uint64(31)
_LOW: Final = np.uint64((1 << 31) - 1)
_LOW_30: Final = np.uint64((1 << 30) - 1)
_LEAST_POWERS: Final = 14
"""Most pages have fewer than 2^14 words, and share one table of powers."""


def _reduced(numbers: HashArray) -> HashArray:
    """Return numbers modulo the prime."""
    folded: HashArray = (numbers & _PRIME) + (numbers >> _PRIME_BITS)
    return np.where(folded >= _PRIME, folded - _PRIME, folded)


def _product(one: HashArray, other: HashArray | np.uint64) -> HashArray:
    """Return products modulo the prime, of factors below it, by halves that fit in 64 bits."""
    one_high, one_low = one >> _HALF, one & _LOW
    other_high, other_low = other >> _HALF, other & _LOW
    middle = one_high * other_low + one_low * other_high
    # 2^61 is 1 modulo the prime, so 2^62 is 2.
    return _reduced(
        np.uint64(2) * one_high * other_high
        + (middle >> np.uint64(30))
        + ((middle & _LOW_30) << _HALF)
        + one_low * other_low
    )


def _sums(numbers: HashArray) -> HashArray:
    result = np.zeros(len(numbers) + 1, dtype=np.uint64)
    np.cumsum(numbers, out=result[1:])
    return result


@lru_cache(maxsize=4)
def _powers(bits: int) -> tuple[HashArray, HashArray]:
    """Return the first 2^bits powers of the point, and of its inverse."""
    prime = int(_PRIME)
    tables = []
    for base in (_POINT, pow(_POINT, -1, prime)):
        table = np.ones(1, dtype=np.uint64)
        for bit in range(bits):
            table = np.concatenate((table, _product(table, np.uint64(pow(base, 1 << bit, prime)))))
        tables.append(frozen(table))
    return tables[0], tables[1]
