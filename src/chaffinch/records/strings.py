"""Records cut into data strings: runs of text that no tag interrupts but a decorative one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chaffinch.page.arrays import frozen
from chaffinch.page.tags import TEXT, tag_set

if TYPE_CHECKING:
    from chaffinch.page.arrays import BoolArray, HashArray, IntArray
    from chaffinch.records.finding import Spans
    from chaffinch.records.sheet import Sheet

FORMATTING = tag_set(
    "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "dfn", "em", "font", "i", "kbd", "mark", "q", "s",
    "samp", "small", "strike", "strong", "sub", "sup", "tt", "u", "var", "wbr",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Strings:
    """The data strings of all records, in document order."""

    record: IntArray
    """Which record each is of."""
    first: IntArray
    """Its first shown text, counted among those of the sheet."""
    stop: IntArray
    """The shown text behind its last."""
    anchor: IntArray
    """The element that holds all of it: the nearest that is not decorative."""
    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.record)


def cut_strings(sheet: Sheet, spans: Spans, decorative: BoolArray) -> Strings:
    """Cut records into data strings; `decorative` tells of each node whether it is a tag that does not cut."""
    boundary = np.zeros(len(sheet) + 1, dtype=np.int32)
    cutting = np.flatnonzero((sheet.tag != TEXT) & ~decorative)
    boundary[cutting] = 1
    boundary[sheet.end[cutting]] = 1
    run = np.cumsum(boundary)
    low, high = sheet.leaves_before[spans.first], sheet.leaves_before[spans.stop]
    counts = high - low
    record = np.repeat(np.arange(len(counts)), counts)
    leaf = np.arange(len(record)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(low, counts)
    begins = np.ones(len(leaf), dtype=np.bool_)
    begins[1:] = (run[sheet.leaf[leaf[1:]]] != run[sheet.leaf[leaf[:-1]]]) | (record[1:] != record[:-1])
    starts = np.flatnonzero(begins)
    stops = np.append(starts[1:], len(leaf))[: len(starts)]
    first = leaf[starts].astype(np.int32)
    stop = (leaf[stops - 1] + 1).astype(np.int32)
    anchor = sheet.parent[sheet.leaf[first]]
    while True:
        inside = decorative[anchor] & (anchor >= 0)
        if not inside.any():
            break
        anchor = np.where(inside, sheet.parent[anchor], anchor)
    return Strings(
        frozen(record[starts].astype(np.int32)), frozen(first), frozen(stop), frozen(anchor), _texts(sheet, first, stop)
    )


def _texts(sheet: Sheet, first: IntArray, stop: IntArray) -> tuple[str, ...]:
    """Return the strings' texts, white space folded."""
    result = []
    page_of = sheet.leaf_page[first]
    starts = sheet.leaf[first] - sheet.start[page_of]
    stops = sheet.leaf[stop - 1] - sheet.start[page_of]
    for number, start, last in zip(page_of.tolist(), starts.tolist(), stops.tolist(), strict=True):
        page = sheet.pages[number]
        text = page.text[page.text_offset[start] : page.text_offset[last + 1]]
        result.append(" ".join(text.split()))
    return tuple(result)


def path_slots(sheet: Sheet, strings: Strings) -> HashArray:
    """Return the plainest slots: the tag path and classes of what holds a string, and which of such it is."""
    key = sheet.path[strings.anchor] ^ (sheet.classes[strings.anchor] * np.uint64(0x9E3779B97F4A7C15))
    order = np.lexsort((strings.first, key, strings.record))
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = (key[order][1:] != key[order][:-1]) | (strings.record[order][1:] != strings.record[order][:-1])
    run = np.cumsum(fresh) - 1
    place = np.arange(len(order)) - np.flatnonzero(fresh)[run] if len(order) else run
    ordinal = np.zeros(len(order), dtype=np.uint64)
    ordinal[order] = place.astype(np.uint64)
    result: HashArray = key + ordinal * np.uint64(0xC2B2AE3D27D4EB4F)
    return result
