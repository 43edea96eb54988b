"""The shown texts of records, and what can be read off each alone."""

# ruff: noqa: RUF001  (marks and letters of many scripts are what this is about)

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import IntArray
    from chaffinch.records.finding import Spans
    from chaffinch.records.sheet import Sheet

_WORD: Final = re.compile(r"\w")
_CLOSERS: Final = tuple(",.;:!?)]}|/-–—·•»›%…&")
_OPENERS: Final = tuple("([{«‹$€£¥#@~")
_LABEL_ENDS: Final = tuple(":：")

LOOKS: Final = (
    "no letters or digits", "begins like an end", "begins like a start", "begins small", "begins with a digit",
    "begins with space", "ends like an end", "ends like a label", "ends like a start", "ends a sentence",
    "ends with space", "ends with a digit",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Pieces:
    """The shown texts of all records, in document order."""

    record: IntArray
    """Which record each is of."""
    leaf: IntArray
    """Its number among the shown texts of the sheet."""
    texts: tuple[str, ...]
    """As they stand in the source."""

    def __len__(self) -> int:
        return len(self.record)

    @cached_property
    def looks(self) -> NDArray[np.float64]:
        """A row of 0 and 1 for each text, in the order of `LOOKS`."""
        known: dict[str, tuple[bool, ...]] = {}
        rows = []
        for text in self.texts:
            row = known.get(text)
            if row is None:
                row = known[text] = _looks(text)
            rows.append(row)
        return frozen(np.array(rows, dtype=np.float64).reshape(-1, len(LOOKS)))


def pieces_of(sheet: Sheet, spans: Spans) -> Pieces:
    """Return the shown texts of the records."""
    low, high = sheet.leaves_before[spans.first], sheet.leaves_before[spans.stop]
    counts = high - low
    record = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    leaf = (np.arange(len(record)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(low, counts)).astype(
        np.int32
    )
    texts = list(chain.from_iterable(sheet.leaf_texts))
    return Pieces(frozen(record), frozen(leaf), tuple(texts[number] for number in leaf.tolist()))


def _looks(text: str) -> tuple[bool, ...]:
    bare = text.strip()
    return (
        _WORD.search(bare) is None, bare.startswith(_CLOSERS), bare.startswith(_OPENERS), bare[:1].islower(),
        bare[:1].isdigit(), text[:1].isspace(), bare.endswith(_CLOSERS), bare.endswith(_LABEL_ENDS),
        bare.endswith(_OPENERS), bare.endswith((".", "!", "?", "…")), text[-1:].isspace(), bare[-1:].isdigit(),
    )  # fmt: skip
