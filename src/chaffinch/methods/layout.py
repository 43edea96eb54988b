"""Stage one of the method `offsets`: a page is cut into layout blocks, and each gets a layout style.

Certain elements cut the page; every piece of visible text belongs to the innermost of them. The elements form a tree
of blocks. The style of a block is its *position*, the number of each block around it among its siblings, together
with its *family*: the names of these blocks and a few presentational attributes of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.page.arrays import ancestry, nearest_marked
from chaffinch.page.tags import BLOCK_LEVEL, tag_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, HashArray, IndexArray, IntArray
    from chaffinch.page.table import Page

LayoutName: TypeAlias = Literal["paper", "modern", "blocks"]
AttributeSet: TypeAlias = Literal["paper", "class", "none"]

_PAPER_NAMES: Final = ("html", "body", "table", "ul")
_MODERN_NAMES: Final = (
    "article", "aside", "blockquote", "details", "dialog", "div", "dl", "fieldset", "figure", "footer", "form",
    "header", "main", "menu", "nav", "ol", "search", "section",
)  # fmt: skip

LAYOUTS: Final[Mapping[LayoutName, BoolArray]] = {
    "paper": tag_set(*_PAPER_NAMES),
    "modern": tag_set(*_PAPER_NAMES, *_MODERN_NAMES),
    "blocks": BLOCK_LEVEL,
}
"""The elements that cut a page. All of them are block-level, so a leaf text block is never cut in two."""

_ATTRIBUTES: Final[Mapping[AttributeSet, frozenset[str]]] = {
    "paper": frozenset({"align", "bgcolor", "border", "cellpadding", "cellspacing", "height", "width"}),
    "class": frozenset({"align", "bgcolor", "border", "cellpadding", "cellspacing", "class", "height", "width"}),
    "none": frozenset(),
}

_LAYERS: Final = 8
"""How many layers of a position are kept apart, from the block outwards; a byte for each. Blocks with different
positions further out are of different families."""

_SHIFTS: Final = 8 * np.arange(_LAYERS, dtype=np.uint64).reshape(-1, 1)
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_POWERS: Final = np.cumprod(np.full(_LAYERS, _FACTOR)).reshape(-1, 1)

_MOST_SIBLINGS: Final = 255

_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_END: Final = "\0"
"""Stands between leaf blocks; the parser allows no such character in text."""
_WORD: Final = re.compile(rf"{_END}|[{_CJK}]|[^\W{_CJK}]+")
_SPACED: Final = bytes(
    code if code == ord(_END) or code >= 0x80 or _WORD.match(chr(code)) else ord(" ") for code in range(256)
)
"""Puts a space in place of every ASCII character that is in no word."""
_MARKS: Final = "\xa0\ufeff\xa9\xae\xab\xbb\xb7\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026\u2122"
"""Signs that often are the only characters of a text beyond ASCII, and that no word has: spaces, quotes, dashes, ©."""
_END_HASH: Final = np.uint64(xxh3_64_intdigest(_END.encode()))


@dataclass(frozen=True, eq=False)
class Layout:
    """The layout blocks of one page that have text of their own, one entry for each."""

    of_leaf: IndexArray
    """For each of the page's leaf text blocks, its layout block."""
    element: IndexArray
    """The position of the block's element on the page."""
    family: HashArray
    """What must be equal in blocks of one style."""
    position: HashArray
    """The block's number among its siblings, that of the block around it and so on, a byte each."""

    def __len__(self) -> int:
        return len(self.element)


def mixed(*columns: NDArray[np.uint64]) -> HashArray:
    """Return one hash for each row of several columns."""
    result = columns[0] * _FACTOR
    for column in columns[1:]:
        result += column
        result *= _FACTOR
    result ^= result >> np.uint64(32)
    result *= np.uint64(0xBF58476D1CE4E5B9)
    result ^= result >> np.uint64(29)
    return result


def find_layout(page: Page, layout: LayoutName, attributes: AttributeSet, most_siblings: int) -> Layout:
    """Cut a page into layout blocks. Numbers among siblings beyond `most_siblings` count as that."""
    cuts = LAYOUTS[layout][page.tag]
    around = page.block_element if layout == "blocks" else nearest_marked(page.parent, cuts)
    elements = np.flatnonzero(cuts)
    # One more entry at the end, so that -1 (no element around) stays -1.
    number = np.full(len(page) + 1, -1, dtype=np.int32)
    number[elements] = np.arange(len(elements), dtype=np.int32)
    above = page.parent[elements]
    parent = np.where(above >= 0, number[around[above]], -1).astype(np.int32)
    sibling = np.minimum(_sibling_number(parent), min(most_siblings, _MOST_SIBLINGS)).astype(np.uint64)

    owner = number[around[page.parent[page.blocks.first]]] + 1
    owns = np.zeros(len(elements) + 1, dtype=np.bool_)
    owns[owner] = True
    of_leaf = (np.cumsum(owns) - 1)[owner]
    used = (np.flatnonzero(owns) - 1).astype(np.int32)
    used_elements = np.append(elements, -1)[used]
    names = page.name_hash[elements]
    depth, place = ancestry(parent, mixed(names, sibling))
    layers = _layers(used, parent)
    position = np.bitwise_or.reduce(_above(sibling, layers[:-1]) << _SHIFTS)
    inner = (_above(names, layers[:-1]) * _POWERS).sum(axis=0)
    own = _attribute_hashes(page, used_elements, _ATTRIBUTES[attributes])
    family = mixed(inner, depth[used].astype(np.uint64), _above(place, layers[-1]), own)
    return Layout(of_leaf, used_elements, family, position)


def leaf_words(page: Page) -> tuple[HashArray, IntArray]:
    """Return the hash of every visible word of a page in document order, and the leaf text block that it stands in."""
    blocks, text = page.blocks, page.blocks.visible_text
    spans = zip(blocks.start.tolist(), blocks.stop.tolist(), strict=True)
    words = _split_words(f" {_END} ".join([text[start:stop] for start, stop in spans]))
    hashes = np.fromiter(map(xxh3_64_intdigest, words), dtype=np.uint64, count=len(words))
    ends = hashes == _END_HASH
    return hashes[~ends], np.cumsum(ends)[~ends].astype(np.int32)


def _split_words(text: str) -> list[bytes]:
    """Return what `_WORD` finds, in UTF-8. It is asked only of the few pieces that are not ASCII: that is faster."""
    if not text.isascii():
        for mark in _MARKS:
            text = text.replace(mark, " ")
    words = text.encode("utf-8", "surrogatepass").translate(_SPACED).split()
    if not text.isascii():
        for place in [*compress(range(len(words)), map(not_, map(bytes.isascii, words)))][::-1]:
            found = _WORD.findall(words[place].decode("utf-8", "surrogatepass"))
            words[place : place + 1] = [word.encode() for word in found]
    return words


def _sibling_number(parent: IntArray) -> IntArray:
    """Return each block's number among the blocks with the same parent, from 0."""
    order = np.argsort(parent, kind="stable")
    ordered = parent[order]
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = ordered[1:] != ordered[:-1]
    start = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    result = np.empty(len(order), dtype=np.int32)
    result[order] = np.arange(len(order)) - start
    return result


def _layers(used: IntArray, parent: IntArray) -> NDArray[np.int32]:
    """Return a row with the blocks `used`, one with the blocks around them, and so on; -1 is above the root."""
    up = np.append(parent, np.int32(-1))
    result = np.empty((_LAYERS + 1, len(used)), dtype=np.int32)
    result[0] = used
    for layer in range(_LAYERS):
        result[layer + 1] = up[result[layer]]
    return result


def _above(values: HashArray, layers: NDArray[np.int32]) -> HashArray:
    """Return the values of blocks by their numbers; 0 above the root."""
    return np.append(values, np.uint64(0))[layers]


def _attribute_hashes(page: Page, elements: IndexArray, names: frozenset[str]) -> HashArray:
    """Hash the wanted attributes of blocks; 0 for those that have none."""
    if not names:
        return np.zeros(len(elements), dtype=np.uint64)
    result = np.zeros(len(elements), dtype=np.uint64)
    numbers = page.element_number[elements]
    for place in np.flatnonzero(np.isin(numbers, page.element_attributes.holders(*sorted(names)))).tolist():
        result[place] = _attribute_hash(page.element_attributes[int(numbers[place])], names)
    return result


def _attribute_hash(attributes: tuple[tuple[str, str], ...], names: frozenset[str]) -> int:
    text = "\0".join(f"{key}={value}" for key, value in attributes if key in names)
    return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
