"""Stage two of the method `offsets`, on arrays: postings, bit-wise similarity of offset sequences, clustering.

Nothing here knows of pages. Postings are what an index builder keeps in its hash table, word -> block -> offsets;
a builder can hand in its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from chaffinch.page.arrays import BoolArray, HashArray, IndexArray, IntArray

BITS: Final = 64
"""How many bits each integer of a signature has."""

Signatures: TypeAlias = NDArray[np.uint64]
"""A row of integers for each posting."""

Similar: TypeAlias = "Callable[[IndexArray, IndexArray], BoolArray]"
"""Tells of pairs, given as two arrays of numbers, which are similar."""

_SLACK: Final = 1e-9
"""So that a share is reached where it is met exactly."""


@dataclass(frozen=True, eq=False)
class Postings:
    """For each word of each block where in the block it stands: an index builder's hash table, written flat.

    Sorted by block, then by word.
    """

    block: IndexArray
    word: HashArray
    start: IndexArray
    """Where in `offsets` each posting's own begin, and at the end how many there are."""
    offsets: IndexArray
    """The numbers of the words within their block, ascending in each posting."""

    def __len__(self) -> int:
        return len(self.word)

    @property
    def counts(self) -> IndexArray:
        """How often each word stands in its block."""
        return np.diff(self.start)

    def without(self, gone: BoolArray) -> Postings:
        """Return the table without some blocks, given for each block whether it goes; the others keep their numbers."""
        stays = ~gone[self.block]
        counts = self.counts
        start = np.append(0, np.cumsum(counts[stays]))
        return Postings(self.block[stays], self.word[stays], start, self.offsets[np.repeat(stays, counts)])


def build_postings(words: HashArray, blocks: IntArray | IndexArray) -> Postings:
    """Build the table from the words of a text, in their order, and the block of each.

    The words of a block need not stand side by side: a block within another cuts it in two.
    """
    by_block = np.argsort(blocks, kind="stable")
    ordered = blocks[by_block]
    offset = np.empty(len(by_block), dtype=np.intp)
    offset[by_block] = np.arange(len(by_block)) - _run_starts(ordered)
    return _postings(words, blocks, offset, np.lexsort((words, blocks)))


def postings_from(words: HashArray, blocks: IntArray | IndexArray, offsets: IntArray | IndexArray) -> Postings:
    """Build the table from an index builder's triples of word, block and offset, in any order."""
    return _postings(words, blocks, offsets, np.lexsort((offsets, words, blocks)))


def _postings(
    words: HashArray, blocks: IntArray | IndexArray, offsets: IntArray | IndexArray, order: IndexArray
) -> Postings:
    words, blocks = words[order], blocks[order]
    start = np.flatnonzero(first_of_runs(blocks, words))
    return Postings(
        block=blocks[start].astype(np.intp),
        word=words[start],
        start=np.append(start, len(words)),
        offsets=offsets[order].astype(np.intp),
    )


def differences(postings: Postings, *, from_block_start: bool) -> IndexArray:
    """Return for every offset how far it is from the one before in its posting.

    The first of each posting is its distance from the start of the block, or 0.
    """
    result = np.diff(postings.offsets, prepend=0)
    first = postings.start[:-1]
    result[first] = postings.offsets[first] if from_block_start else 0
    return result


def signatures(postings: Postings, difference: IndexArray, segments: int) -> Signatures:
    """Cut each difference sequence into equal segments and set, in the integer of each, a bit for each difference.

    The bit is the difference modulo the number of bits.
    """
    counts = postings.counts
    bit = np.uint64(1) << (difference % BITS).astype(np.uint64)
    result = np.zeros((len(postings), segments), dtype=np.uint64)
    result[:, 0] = bit[postings.start[:-1]]  # and that is all, for the many words that stand once
    several = np.flatnonzero(counts > 1)
    if len(several):
        owner = np.repeat(several, counts[several])
        rank = np.arange(len(owner)) - np.repeat(np.cumsum(counts[several]) - counts[several], counts[several])
        cell = owner * segments + rank * segments // counts[owner]
        begins = np.flatnonzero(first_of_runs(cell))
        result.reshape(-1)[cell[begins]] = np.bitwise_or.reduceat(bit[postings.start[owner] + rank], begins)
    return result


def bits_set(rows: Signatures) -> NDArray[np.int64]:
    """Return how many bits of each row are set."""
    return np.asarray(np.bitwise_count(rows).sum(axis=1, dtype=np.int64))


def bitwise_similar(one: Signatures, other: Signatures, least: float) -> BoolArray:
    """Tell which rows share at least this part of their bits: of those that the row with more of them has."""
    shared = bits_set(one & other)
    return np.asarray(shared >= least * np.maximum(bits_set(one), bits_set(other)) - _SLACK)


def single_pass(keys: HashArray, similar: Similar, most_clusters: int) -> IndexArray:
    """Cluster the items of each key in a single pass, and return for each item the leader of its cluster.

    In the order given, each item joins the first leader of its key that it is similar to, or becomes a leader
    itself. Items with equal keys stand side by side. A key has at most `most_clusters` leaders; items beyond have -1.

    All keys go at once: in each round, the first item left of each key leads, and all that are similar to it join.
    This gives what the pass item by item gives, as only leaders before an item count for it.
    """
    leader = np.full(len(keys), -1, dtype=np.intp)
    left = np.arange(len(keys))
    for _ in range(most_clusters):
        if not len(left):
            break
        begins = first_of_runs(keys[left])
        lead = left[np.flatnonzero(begins)[np.cumsum(begins) - 1]]
        joins = similar(left, lead) | (left == lead)
        leader[left[joins]] = lead[joins]
        left = left[~joins]
    return leader


def first_match(leader_keys: HashArray, keys: HashArray, similar: Similar) -> IndexArray:
    """Return for each item the first leader of the same key that is similar (leader first, item second), or -1.

    `leader_keys` are in ascending order.
    """
    result = np.full(len(keys), -1, dtype=np.intp)
    at = np.searchsorted(leader_keys, keys)
    item = np.arange(len(keys))
    while True:
        inside = at < len(leader_keys)
        item, at = item[inside], at[inside]
        same = leader_keys[at] == keys[item]
        item, at = item[same], at[same]
        if not len(item):
            return result
        found = similar(at, item)
        result[item[found]] = at[found]
        item, at = item[~found], at[~found] + 1


def first_of_runs(*columns: NDArray[Any]) -> BoolArray:
    """Tell for each row whether it differs from the row before in any column."""
    result = np.ones(len(columns[0]), dtype=np.bool_)
    if len(result):
        result[1:] = False
        for column in columns:
            result[1:] |= column[1:] != column[:-1]
    return result


def _run_starts(values: IntArray | IndexArray) -> IndexArray:
    """Return for each entry where its run of equal values starts."""
    return np.maximum.accumulate(np.where(first_of_runs(values), np.arange(len(values)), 0))
