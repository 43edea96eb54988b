"""Joints: the places where one shown text of a record ends and the next begins, and whether a unit ends there too.

Joints of the same kind (the same tags and classes on both sides) are decided together, over all records of a site.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from chaffinch.page.arrays import frozen
from chaffinch.page.tags import BLOCK_LEVEL, IDS, TEXT, tag_set
from chaffinch.records.pieces import LOOKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from chaffinch.page.arrays import HashArray, IndexArray
    from chaffinch.records.pieces import Pieces
    from chaffinch.records.sheet import Sheet

    Numbers = NDArray[np.float64]
    Mean = Callable[[NDArray[Any]], Numbers]

FORMATTING: Final = tag_set(
    "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "dfn", "em", "font", "i", "kbd", "mark", "q", "s",
    "samp", "small", "strike", "strong", "sub", "sup", "tt", "u", "var", "wbr",
)  # fmt: skip
_CELLS: Final = tag_set("td", "th", "li", "dt", "dd", "tr")
_PARTS: Final = {
    "block": BLOCK_LEVEL, "formatting": FORMATTING, "cell": _CELLS, "link": tag_set("a"), "span": tag_set("span"),
    "strong": tag_set("b", "strong"), "emphasis": tag_set("em", "i"), "small": tag_set("small", "sup", "sub"),
    "heading": tag_set("h1", "h2", "h3", "h4", "h5", "h6"), "div": tag_set("div"), "p": tag_set("p"),
    "time": tag_set("time"), "label": tag_set("label"),
    "button": tag_set("button", "input", "select", "option"),
}  # fmt: skip
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX_2: Final = np.uint64(0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True, eq=False)
class Joints:
    """All joints, in document order; `left` and `left + 1` are the pieces."""

    left: IndexArray
    kind: IndexArray
    """Joints of one kind have one number, from 0 up."""
    keys: HashArray
    """The number of each kind that is the same on all pages."""
    common: IndexArray
    """The nearest node around both sides."""
    closed: IndexArray
    """The outermost element that ends here, or -1 if the left text stands in `common` itself."""
    opened: IndexArray
    """The outermost element that begins here, or -1."""
    levels_closed: IndexArray
    levels_opened: IndexArray
    blocks: IndexArray
    """How many block-level elements end or begin here."""

    def __len__(self) -> int:
        return len(self.left)

    @property
    def kinds(self) -> int:
        """How many kinds there are."""
        return len(self.keys)


def find_joints(sheet: Sheet, pieces: Pieces) -> Joints:
    """Return the joints of all records."""
    left = np.flatnonzero(pieces.record[1:] == pieces.record[:-1])
    one, other = sheet.leaf[pieces.leaf[left]].astype(np.intp), sheet.leaf[pieces.leaf[left + 1]].astype(np.intp)
    closed, levels_closed, blocks_closed, common = _climb(sheet, one, sheet.end, other, up_to=True)
    opened, levels_opened, blocks_opened, _ = _climb(sheet, other, sheet.end, one, up_to=False)
    before, behind = sheet.parent[one], sheet.parent[other]
    breaks = _between(sheet, one, other, tag_set("br"))
    with np.errstate(over="ignore"):
        key = sheet.path[before] * _MIX ^ sheet.classes[before]
        key = key * _MIX + (sheet.path[behind] * _MIX_2 ^ sheet.classes[behind])
        key = key * _MIX + levels_closed.astype(np.uint64) * _MIX_2 + (breaks > 0).astype(np.uint64)
    keys, kind = np.unique(key, return_inverse=True)
    return Joints(
        left, kind, keys, common, closed, opened, levels_closed, levels_opened,
        blocks_closed + blocks_opened,
    )  # fmt: skip


def _climb(
    sheet: Sheet, start: IndexArray, end: NDArray[np.int32], other: IndexArray, *, up_to: bool
) -> tuple[IndexArray, IndexArray, IndexArray, IndexArray]:
    """Climb from `start` until `other` lies inside.

    Return the last element without it, how many levels and blocks were left, and the first node around both.
    """
    outermost = np.full(len(start), -1, dtype=np.intp)
    levels = np.zeros(len(start), dtype=np.intp)
    blocks = np.zeros(len(start), dtype=np.intp)
    node = sheet.parent[start].astype(np.intp)
    active = np.arange(len(start))
    while len(active):
        here = node[active]
        outside = end[here] <= other[active] if up_to else here > other[active]
        active, here = active[outside], here[outside]
        outermost[active] = here
        levels[active] += 1
        blocks[active] += BLOCK_LEVEL[sheet.tag[here]]
        node[active] = sheet.parent[here]
    return outermost, levels, blocks, node


def _between(sheet: Sheet, one: IndexArray, other: IndexArray, table: NDArray[np.bool_]) -> NDArray[np.int64]:
    totals = sheet.node_totals(table[sheet.tag])
    return totals[other] - totals[one + 1]


def joint_evidence(
    sheet: Sheet, pieces: Pieces, joints: Joints, decorative: NDArray[np.floating]
) -> NDArray[np.float32]:
    """Return a row of numbers for each kind of joint; `decorative` has for each node how decorative its tag is."""
    left, right = joints.left, joints.left + 1
    uses = np.maximum(np.bincount(joints.kind, minlength=joints.kinds), 1)

    def mean(values: NDArray[np.generic]) -> Numbers:
        return np.bincount(joints.kind, weights=values.astype(np.float64), minlength=joints.kinds) / uses

    columns: dict[str, Numbers] = {}
    one, other = sheet.leaf[pieces.leaf[left]].astype(np.intp), sheet.leaf[pieces.leaf[right]].astype(np.intp)
    for side, outer in (("closed", joints.closed), ("opened", joints.opened)):
        for name, table in _PARTS.items():
            columns[f"{side} {name}"] = mean(table[sheet.tag[outer]] & (outer >= 0))
        columns[f"{side} nothing"] = mean(outer < 0)
        columns[f"{side} decorative"] = mean(np.where(outer >= 0, decorative[outer], 1.0))
    columns["levels closed"] = mean(np.minimum(joints.levels_closed, 8))
    columns["levels opened"] = mean(np.minimum(joints.levels_opened, 8))
    columns["blocks"] = mean(np.minimum(joints.blocks, 6))
    columns["no blocks"] = mean(joints.blocks == 0)
    for name in ("br", "img", "hr", "input", "svg"):
        columns[f"{name} between"] = mean(_between(sheet, one, other, tag_set(name)) > 0)
    for name in ("p", "div", "span", "td", "li", "a", "dd", "h3"):
        columns[f"within {name}"] = mean(sheet.tag[joints.common] == IDS[name])
    looks = pieces.looks
    for number, name in enumerate(LOOKS):
        columns[f"left {name}"] = mean(looks[left, number])
        columns[f"right {name}"] = mean(looks[right, number])
    words = sheet.leaf_words[pieces.leaf]
    columns["left words"] = mean(np.log1p(words[left]))
    columns["right words"] = mean(np.log1p(words[right]))
    linked = sheet.in_link[pieces.leaf]
    columns["left linked"], columns["right linked"] = mean(linked[left]), mean(linked[right])
    columns["both linked"] = mean(linked[left] & linked[right])
    _usage(columns, pieces, joints, sheet.leaf_hash[pieces.leaf], uses)
    _surroundings(columns, sheet, joints, mean)
    return frozen(np.stack(list(columns.values()), axis=1).astype(np.float32))


def _usage(
    columns: dict[str, Numbers], pieces: Pieces, joints: Joints, texts: NDArray[np.uint64], uses: NDArray[np.int64]
) -> None:
    """See how regularly a kind of joint comes, and whether the texts beside it are always the same."""
    records = int(pieces.record.max()) + 1 if len(pieces) else 1
    pairs = np.unique(np.stack((joints.kind, pieces.record[joints.left])), axis=1)[0] if len(joints) else joints.kind
    having = np.bincount(pairs, minlength=joints.kinds)
    columns["share of records"] = having / records
    columns["uses in a record"] = np.log(uses / np.maximum(having, 1))
    columns["seen"] = np.log1p(uses)
    for side, shift in (("left", 0), ("right", 1)):
        pairs, counts = np.unique(
            np.stack((joints.kind.astype(np.uint64), texts[joints.left + shift])), axis=1, return_counts=True
        )
        most = np.zeros(joints.kinds)
        np.maximum.at(most, pairs[0].astype(np.intp), counts.astype(np.float64))
        columns[f"{side} constant"] = most / uses * (uses > 1)
        columns[f"{side} varied"] = np.bincount(pairs[0].astype(np.intp), minlength=joints.kinds) / uses * (uses > 1)


def _surroundings(columns: dict[str, Numbers], sheet: Sheet, joints: Joints, mean: Mean) -> None:
    """See what the nearest node around both sides holds: how much text, and how much of it its own."""
    common = joints.common
    own = np.bincount(sheet.parent[sheet.leaf], weights=sheet.leaf_words, minlength=len(sheet))[common]
    inside = (
        sheet.words_before[sheet.leaves_before[sheet.end[common]]] - sheet.words_before[sheet.leaves_before[common]]
    )
    columns["own words"] = mean(own / np.maximum(inside, 1))
    columns["words around"] = mean(np.log1p(inside))
    texts = sheet.leaves_before[sheet.end[common]] - sheet.leaves_before[common]
    columns["texts around"] = mean(np.log1p(texts))
    block_totals = sheet.node_totals((BLOCK_LEVEL[sheet.tag]) & (sheet.tag != TEXT))
    columns["blocks around"] = mean((block_totals[sheet.end[common]] - block_totals[common + 1]) > 0)
