"""The leaf text blocks of a page: runs of visible text with no block boundary inside."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import frozen, offsets
from chaffinch.page.tags import BLOCK_LEVEL, LINE_BREAK, Visibility

if TYPE_CHECKING:
    from chaffinch.page.arrays import BoolArray, IntArray, SmallArray
    from chaffinch.page.table import Page

_TABLE_SIZE: Final = 0x30000
"""Characters up to here are looked up; those above count as words, as almost all of them are ideographs."""

SPACELESS: Final = (
    (0x3040, 0x3100), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0xFF66, 0xFFA0), (0x20000, 0x30000),
)  # fmt: skip
"""Han and kana are written without spaces: every character counts as a word."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """The leaf text blocks of one page in document order, one array entry for each.

    A block is a run of visible text nodes; its boundaries are the starts and ends of block-level elements, `<br>` and
    `<hr>`. Runs of nothing but white space are no blocks.
    """

    of_text: IntArray
    """For each of the page's text nodes, its block; -1 for text outside all blocks."""
    text_words: IntArray
    """How many words start in each of the page's text nodes; 0 for text outside all blocks."""
    first: IntArray
    """The position of the block's first text node."""
    last: IntArray
    """The position of the block's last text node."""
    words: IntArray
    """How many words the block has."""
    link_words: IntArray
    """How many of them stand in links."""
    visible_text: str
    """All visible text of the page, the blank text between blocks included."""
    start: IntArray
    """Where in `visible_text` the block starts."""
    stop: IntArray
    """Where in `visible_text` the block ends."""

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The blocks' texts, runs of white space folded to one space, none at the ends."""
        text = self.visible_text
        spans = zip(self.start.tolist(), self.stop.tolist(), strict=True)
        return tuple(" ".join(text[start:stop].split()) for start, stop in spans)


def find_blocks(page: Page) -> Blocks:
    """Split a page's visible text into leaf blocks."""
    boundary = np.zeros(len(page) + 1, dtype=np.int32)
    block_level = np.flatnonzero(BLOCK_LEVEL[page.tag])
    boundary[block_level] = 1
    boundary[page.end[block_level]] = 1
    boundary[:-1][LINE_BREAK[page.tag]] = 1
    run = np.cumsum(boundary)

    is_visible = page.visibility[page.text_nodes] == Visibility.VISIBLE
    nodes = page.text_nodes[is_visible]
    # Where the run changes, a new piece of text begins; pieces that are all blank are passed over.
    begins = np.ones(len(nodes), dtype=np.bool_)
    begins[1:] = run[nodes[1:]] != run[nodes[:-1]]
    piece = np.cumsum(begins) - 1
    piece_count = int(begins.sum())
    kept = np.bincount(piece, weights=~page.blank[nodes], minlength=piece_count) > 0
    block_of_piece = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)

    visible_text = "".join(compress(page.texts, is_visible.tolist()))
    node_start = offsets(page.text_offset[nodes + 1] - page.text_offset[nodes])
    piece_first = np.flatnonzero(begins)
    piece_last = np.append(piece_first[1:], len(nodes)) - 1 if piece_count else piece_first
    start, stop = node_start[piece_first[kept]], node_start[piece_last[kept] + 1]

    word_starts = np.flatnonzero(_word_starts(visible_text, start))
    words_before = np.searchsorted(word_starts, node_start).astype(np.int32)
    node_words = np.diff(words_before)
    block = block_of_piece[piece]
    in_link = page.in_link[nodes] & (block >= 0)
    first, last = nodes[piece_first[kept]], nodes[piece_last[kept]]
    return Blocks(
        of_text=frozen(_spread(block, is_visible, -1)),
        text_words=frozen(_spread(node_words, is_visible, 0)),
        first=frozen(first),
        last=frozen(last),
        words=frozen(words_before[piece_last[kept] + 1] - words_before[piece_first[kept]]),
        link_words=frozen(
            np.bincount(block[in_link], weights=node_words[in_link], minlength=len(first)).astype(np.int32)
        ),
        visible_text=visible_text,
        start=frozen(start),
        stop=frozen(stop),
    )


def _spread(values: IntArray, where: BoolArray, other: int) -> IntArray:
    """Return `values` at the places of `where`, and `other` at the rest."""
    result = np.full(len(where), other, dtype=np.int32)
    result[where] = values
    return result


def count_words(text: str) -> int:
    """Count the words of `text` as blocks count them."""
    return int(_word_starts(text, np.zeros(min(1, len(text)), dtype=np.int32)).sum())


def _word_starts(text: str, block_start: IntArray) -> BoolArray:
    """Return for each character whether a word starts there; a block's start ends the word before it."""
    kinds = _kinds_in(text)
    fresh = np.ones(len(kinds), dtype=np.bool_)
    fresh[1:] = kinds[1:] > kinds[:-1]
    fresh[block_start] = True
    starts: BoolArray = (kinds != 0) & fresh
    spaceless = kinds == _SPACELESS_KIND
    if spaceless.any():
        starts |= spaceless
        # A word right behind an ideograph starts anew too.
        starts[1:] |= spaceless[:-1] & (kinds[1:] == _WORD_KIND)
    return starts


def _kinds_in(text: str) -> SmallArray:
    """Return the kind of each character."""
    if text.isascii():  # as many pages are; a table of bytes is then looked up ten times as fast
        return np.frombuffer(text.encode("ascii").translate(_ascii_kinds()), dtype=np.uint8)
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    return _character_kinds().take(codes, mode="clip")


@cache
def _ascii_kinds() -> bytes:
    return _character_kinds()[:256].tobytes()


_WORD_KIND: Final = 1
_SPACELESS_KIND: Final = 2


@cache
def _character_kinds() -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Return a table over characters: 0 between words, 1 in words, 2 a word by itself."""
    kinds = np.zeros(_TABLE_SIZE, dtype=np.uint8)
    alphabet = "".join(map(chr, range(_TABLE_SIZE)))
    for word in re.finditer(r"\w+", alphabet):
        kinds[word.start() : word.end()] = _WORD_KIND
    for start, stop in SPACELESS:
        inside = kinds[start:stop]
        inside[inside > 0] = _SPACELESS_KIND
    return frozen(kinds)
