"""What the networks of `fused` learn from: labelled pages, block by block.

A page's gold is a text. The longest common subsequence of its words with those of the page says which words of each
block are content; a block's label is their share. Everything hidden that a click would show takes part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from rapidfuzz.distance import LCSseq

from chaffinch.methods.page_evidence import find_evidence
from chaffinch.page import parse_capture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.methods.page_evidence import PageEvidence
    from chaffinch.page.arrays import BoolArray, FloatArray
    from chaffinch.sources.capture import Capture

_WORD: Final = re.compile(r"\w+")
_MOST_CELLS: Final = 3_000_000_000
"""Words of the page times words of the gold, up to which they are compared."""


@dataclass(frozen=True, eq=False)
class Example:
    """A labelled page."""

    set: str
    source: str
    site: str
    kind: str
    evidence: PageEvidence
    words: FloatArray
    """How many words each block has that count."""
    content: FloatArray
    """How many of them are content."""
    gold: int
    """How many words the content has."""

    @property
    def best(self) -> float:
        """The word F1 of the best choice of blocks."""
        return self.f1(self.content >= 0.5 * np.maximum(self.words, 1))

    def f1(self, kept: BoolArray) -> float:
        """Return the word F1 of a choice of blocks."""
        chosen = float(self.words[kept].sum())
        if not self.gold:
            return float(not chosen)
        return 2 * float(self.content[kept].sum()) / max(1.0, chosen + self.gold)


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page and its gold."""

    capture: Capture
    site: str
    set: str
    kind: str
    content: str
    ignored: str = ""
    """Text that counts neither way."""


def make_example(labelled: LabelledPage) -> Example | None:
    """Label the blocks of a page; None if it is too long to be compared with its gold."""
    page = parse_capture(labelled.capture)
    evidence = find_evidence(page)
    lists = [_WORD.findall(text.lower()) for text in page.unrolled.blocks.texts]
    block = np.repeat(np.arange(len(lists)), [len(words) for words in lists])
    found = [word for words in lists for word in words]
    wanted = _WORD.findall(labelled.content.lower())
    if len(found) * len(wanted) > _MOST_CELLS:
        return None
    matched = common_words(found, wanted)
    counted = np.ones(len(found), dtype=np.bool_)
    if labelled.ignored:
        rest = np.flatnonzero(~matched)
        ignored = common_words([found[place] for place in rest.tolist()], _WORD.findall(labelled.ignored.lower()))
        counted[rest[ignored]] = False
    return Example(
        set=labelled.set,
        source=labelled.capture.source,
        site=labelled.site,
        kind=labelled.kind,
        evidence=evidence,
        words=np.bincount(block[counted], minlength=len(evidence)).astype(np.float32),
        content=np.bincount(block[matched], minlength=len(evidence)).astype(np.float32),
        gold=len(wanted),
    )


def common_words(words: Sequence[str], others: Sequence[str]) -> BoolArray:
    """Tell which of `words` are in a longest common subsequence with `others`."""
    numbers: dict[str, int] = {}
    one = [numbers.setdefault(word, len(numbers)) for word in words]
    other = [numbers.setdefault(word, len(numbers)) for word in others]
    result = np.ones(len(one), dtype=np.bool_)
    gone = [edit.src_pos for edit in LCSseq.editops(one, other) if edit.tag == "delete"]
    result[np.array(gone, dtype=np.int64)] = False
    return result


def numbered(numbers: dict[str, int], word: str) -> int:
    """Return a number for `word`, a new one if it has none."""
    return numbers.setdefault(word, len(numbers))
