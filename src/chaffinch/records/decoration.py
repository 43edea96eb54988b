"""The decorative tag detector: tags that stand inside a unit and cut nothing, such as the marks on searched words.

A tag is a name and a place: the names from the record down to it. Its nine numbers say how regularly it occurs; a
network of three layers (9-4-1) tells decorative tags from the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import frozen
from chaffinch.page.tags import NAMES, TEXT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import IndexArray
    from chaffinch.records.finding import Spans
    from chaffinch.records.network import Network
    from chaffinch.records.sheet import Sheet

    Numbers = NDArray[np.float64]

FEATURES: Final = (
    "distance to leaves", "its deviation", "occurrences", "their deviation", "first position from the left",
    "its deviation from the left", "first position from the right", "its deviation from the right",
    "prior probability",
)  # fmt: skip
NEUTRAL: Final = 0.5
"""The prior probability of what was never seen."""


@dataclass(frozen=True, eq=False)
class Tags:
    """The elements of all records, grouped by name and place."""

    node: IndexArray
    of: IndexArray
    """The tag that each element is an occurrence of."""
    count: int
    tag: IndexArray
    """The name's number of each tag."""

    def __len__(self) -> int:
        return self.count


def tags_of(sheet: Sheet, spans: Spans) -> Tags:
    """Return the tags of the records; elements without shown text are none."""
    lengths = spans.stop - spans.first
    record = np.repeat(np.arange(len(lengths)), lengths)
    node = np.arange(len(record)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(spans.first, lengths)
    shown = (sheet.tag[node] != TEXT) & (sheet.leaves_before[sheet.end[node]] > sheet.leaves_before[node])
    node, record = node[shown], record[shown]
    _, of = np.unique(sheet.path_below(node, spans.first[record]), return_inverse=True)
    count = int(of.max()) + 1 if len(of) else 0
    tag = np.zeros(count, dtype=np.intp)
    tag[of] = sheet.tag[node]
    return Tags(node, of, count, tag)


def tag_evidence(sheet: Sheet, tags: Tags, prior: Numbers) -> NDArray[np.float32]:
    """Return the nine numbers of each tag; `prior` has the probability of each name."""
    node, of, count = tags.node, tags.of, tags.count
    below = sheet.leaf_totals(sheet.depth[sheet.leaf])
    low, high = sheet.leaves_before[node], sheet.leaves_before[sheet.end[node]]
    distance = (below[high] - below[low]) / np.maximum(high - low, 1) - sheet.depth[node]
    columns = [*_mean_and_deviation(distance, of, count)]
    parent = sheet.parent[node]
    # One pattern: all occurrences of a tag below one parent.
    order = np.lexsort((node, parent, of))
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = (parent[order][1:] != parent[order][:-1]) | (of[order][1:] != of[order][:-1])
    starts = np.flatnonzero(fresh)
    stops = np.append(starts[1:], len(order))[: len(starts)]
    first, last = node[order[starts]], node[order[stops - 1]]
    pattern_of = of[order[starts]]
    place, siblings = sheet.child_places
    size = np.maximum(siblings[np.maximum(parent[order[starts]], 0)], 1)
    for values in (stops - starts, place[first] / size, (size - 1 - place[last]) / size):
        columns += _mean_and_deviation(values.astype(np.float64), pattern_of, count)
    columns.append(prior[tags.tag])
    return frozen(np.stack(columns, axis=1).astype(np.float32))


def _mean_and_deviation(values: Numbers, of: IndexArray, count: int) -> tuple[Numbers, Numbers]:
    size = np.maximum(np.bincount(of, minlength=count), 1)
    mean = np.bincount(of, weights=values, minlength=count) / size
    square = np.bincount(of, weights=values**2, minlength=count) / size
    return mean, np.sqrt(np.maximum(square - mean**2, 0))


def decorative_nodes(sheet: Sheet, tags: Tags, detector: Network, prior: Numbers) -> Numbers:
    """Return for each node of the sheet how surely its tag is decorative: from 0 to 1, 0 outside records."""
    result = np.zeros(len(sheet))
    if len(tags):
        result[tags.node] = detector(tag_evidence(sheet, tags, prior))[tags.of]
    return frozen(result)


def neutral_prior() -> Numbers:
    """Return the prior probabilities that know nothing."""
    return np.full(len(NAMES), NEUTRAL)
