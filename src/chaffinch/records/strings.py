"""Records cut into data strings, each with the template strings that bound it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from chaffinch.page.arrays import frozen
from chaffinch.page.tags import BLOCK_LEVEL, LINE_BREAK, TEXT
from chaffinch.records.text_types import TextType, type_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, IndexArray
    from chaffinch.records.joints import Joints
    from chaffinch.records.pieces import Pieces
    from chaffinch.records.sheet import Sheet


@dataclass(frozen=True, eq=False)
class Strings:
    """The data strings of all records, in document order."""

    record: IndexArray
    """Which record each is of."""
    first: IndexArray
    """Its first piece."""
    stop: IndexArray
    """The piece behind its last."""
    anchor: IndexArray
    """The nearest element around all of it."""
    linked: BoolArray
    """Whether all of it stands in a link."""
    texts: tuple[str, ...]
    """White space folded."""

    def __len__(self) -> int:
        return len(self.record)

    @cached_property
    def types(self) -> NDArray[np.int8]:
        """The type of each."""
        found = np.fromiter(map(type_of, self.texts), dtype=np.int8, count=len(self.texts))
        return frozen(np.where((found == TextType.TEXT) & self.linked, np.int8(TextType.HYPERLINK), found))

    @cached_property
    def position(self) -> NDArray[np.float64]:
        """How far into its record each is, from 0 to 1, template strings counted."""
        place, count = self._places
        result: NDArray[np.float64] = (2 * place + 1) / (2 * count + 1)
        return frozen(result)

    @cached_property
    def _places(self) -> tuple[IndexArray, IndexArray]:
        begins = np.ones(len(self), dtype=np.bool_)
        begins[1:] = self.record[1:] != self.record[:-1]
        starts = np.flatnonzero(begins)
        run = np.cumsum(begins) - 1
        counts = np.diff(np.append(starts, len(self)))
        return np.arange(len(self)) - starts[run], counts[run]

    @property
    def place(self) -> IndexArray:
        """The how many-th of its record each is."""
        return self._places[0]


def cut_strings(sheet: Sheet, pieces: Pieces, joints: Joints, joined: BoolArray) -> Strings:
    """Cut records into data strings; `joined` tells of each kind of joint whether a string goes on there."""
    begins = np.ones(len(pieces), dtype=np.bool_)
    goes_on = joints.left[joined[joints.kind]]
    begins[goes_on + 1] = False
    first = np.flatnonzero(begins)
    stop = np.append(first[1:], len(pieces))[: len(first)]
    anchor_of = sheet.parent[sheet.leaf[pieces.leaf]].astype(np.intp) if len(pieces) else np.zeros(0, dtype=np.intp)
    # The node around a whole run is the first, in document order, of those around two neighbours.
    around = anchor_of.copy()
    around[goes_on] = np.minimum(around[goes_on], joints.common[joined[joints.kind]])
    anchor = np.minimum.reduceat(around, first) if len(first) else first
    linked = sheet.in_link[pieces.leaf] if len(pieces) else np.zeros(0, dtype=np.bool_)
    all_linked = np.logical_and.reduceat(linked, first) if len(first) else np.zeros(0, dtype=np.bool_)
    texts = _texts(pieces, _spaced(sheet, pieces), first, stop)
    return Strings(
        frozen(pieces.record[first].astype(np.intp)),
        frozen(first),
        frozen(stop),
        frozen(anchor),
        frozen(all_linked),
        texts,
    )


def _spaced(sheet: Sheet, pieces: Pieces) -> list[bool]:
    """Tell of each piece whether a reader sees a space or a new line before it."""
    nodes = sheet.leaf[pieces.leaf]
    breaks = BLOCK_LEVEL[sheet.tag] | LINE_BREAK[sheet.tag] | (sheet.tag == TEXT)
    totals = sheet.node_totals(breaks)
    ends = np.bincount(sheet.end[BLOCK_LEVEL[sheet.tag]], minlength=len(sheet) + 1)
    end_totals = np.concatenate(([0], np.cumsum(ends)))
    result = np.zeros(len(pieces), dtype=np.bool_)
    one, other = nodes[:-1], nodes[1:]
    result[1:] = (totals[other] > totals[one + 1]) | (end_totals[other + 1] > end_totals[one + 1])
    return [bool(value) for value in result]


def _texts(pieces: Pieces, spaced: list[bool], first: IndexArray, stop: IndexArray) -> tuple[str, ...]:
    result = []
    for begin, end in zip(first.tolist(), stop.tolist(), strict=True):
        text = pieces.texts[begin]
        for number in range(begin + 1, end):
            text += (" " if spaced[number] else "") + pieces.texts[number]
        result.append(" ".join(text.split()))
    return tuple(result)
