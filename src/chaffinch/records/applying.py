"""A wrapper applied to a page: the page's records in one pass, each string led through the template graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import frozen
from chaffinch.records.candidates import CLASSES, RUN, TOKEN, node_keys, outer
from chaffinch.records.clusters import anchors_of, atom_keys
from chaffinch.records.finding import Spans, without_headers
from chaffinch.records.graph import Slot
from chaffinch.records.grouping import likeness, sketch_of
from chaffinch.records.joints import find_joints
from chaffinch.records.mining import results_of
from chaffinch.records.pieces import pieces_of
from chaffinch.records.results import PageRecords
from chaffinch.records.runs import find_runs, single
from chaffinch.records.sheet import Sheet
from chaffinch.records.units import UnitOptions, cut_at, joined_kinds, part_at
from chaffinch.records.weights import shipped_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.page import Page
    from chaffinch.page.arrays import BoolArray, IndexArray
    from chaffinch.records.joints import Joints
    from chaffinch.records.pieces import Pieces
    from chaffinch.records.units import Cut
    from chaffinch.records.wrapper import Wrapper

OTHER: Final = Slot("other", "TEXT", 0, data=True)
"""Where strings go that have no place in the graph: nothing is lost."""
LEAST_FIT: Final = 0.4
"""Below, a page is taken for one of another template."""
_ALIKE: Final = 0.5
_ANCHOR, _TYPE, _LEFT, _RIGHT = 2.0, 1.0, 1.0, 0.5
_LEAST: Final = 2.0
"""What a string must have in common with one of a slot to be led there: the elements around it, or all the rest."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What a wrapper finds on a page."""

    page: PageRecords
    fit: float
    """From 0 to 1: which share of the texts in records the wrapper knows; without records, how alike the page is to
    those it was learned from."""

    @property
    def fits(self) -> bool:
        """Whether the page is of the wrapper's template."""
        return self.fit >= LEAST_FIT


def apply_wrapper(wrapper: Wrapper, page: Page) -> Applied:
    """Return the records of a page; none if it does not fit."""
    sheet = Sheet.of([page])
    spans = _find(wrapper, sheet)
    nothing = PageRecords(page.source, page.url, ())
    if len(spans) == 0:
        sketch = sketch_of(page)
        alike = max((likeness(sketch, row) for row in wrapper.sketch_rows), default=0.0)
        return Applied(nothing, alike if alike >= _ALIKE else min(alike, LEAST_FIT / 2))
    pieces = pieces_of(sheet, spans)
    joints = find_joints(sheet, pieces)
    cut = cut_at(sheet, pieces, joints, _joined(wrapper, sheet, spans, pieces, joints))
    strings, bounds = part_at(cut.strings, cut.bounds, wrapper.template)
    cut = type(cut)(cut.pieces, cut.joints, cut.joined, strings, bounds)
    slots, known = _walk(wrapper, sheet, cut)
    fit = float(np.mean(known)) if len(known) else 0.0
    if fit < LEAST_FIT:
        return Applied(nothing, fit)
    return Applied(results_of(sheet, spans, strings, slots, (*wrapper.graph.slots, OTHER))[0], fit)


def _find(wrapper: Wrapper, sheet: Sheet) -> Spans:
    """Return the records of the wrapper's kinds; of those inside others only the outer."""
    nothing = np.zeros(0, dtype=np.int32)
    firsts, stops = [nothing], [nothing]
    wanted_kinds = {kind % RUN for kind, _, _ in wrapper.kinds}
    for kind, nodes, keys in node_keys(sheet, tokens=TOKEN in wanted_kinds):
        for wanted, key, tail in wrapper.kinds:
            if wanted % RUN != kind or not (own := keys == np.uint64(key)).any():
                continue
            members: IndexArray = np.sort(nodes[own])
            runs = single(sheet, members[outer(members, sheet.end[members])] if kind == CLASSES else members)
            if tail is not None:
                runs = find_runs(sheet, members, tail) or runs
            firsts.append(runs.first)
            stops.append(runs.stop)
    first, stop = np.concatenate(firsts), np.concatenate(stops)
    order = np.lexsort((-stop, first))
    kept = order[outer(first[order], stop[order])]
    return without_headers(sheet, Spans(first[kept], stop[kept]))


def _joined(wrapper: Wrapper, sheet: Sheet, spans: Spans, pieces: Pieces, joints: Joints) -> BoolArray:
    """Return for each kind of joint whether a unit goes on there; kinds never seen are judged anew."""
    keys = joints.keys.tolist()
    if all(key in wrapper.joints for key in keys):
        return frozen(np.array([wrapper.joints[key] for key in keys], dtype=np.bool_))
    fresh = joined_kinds(sheet, spans, pieces, joints, shipped_weights(), UnitOptions())
    judged = zip(keys, fresh.tolist(), strict=True)
    return frozen(np.array([wrapper.joints.get(key, joined) for key, joined in judged], dtype=np.bool_))


def _walk(wrapper: Wrapper, sheet: Sheet, cut: Cut) -> tuple[list[int], list[bool]]:
    """Lead the strings of each record through the graph; return each one's slot, and whether the wrapper knows it."""
    strings, bounds = cut.strings, cut.bounds
    anchors = anchors_of(sheet, strings)
    hashes = bounds.hashes
    rows = list(
        zip(
            atom_keys(anchors, strings, bounds).tolist(), anchors.tolist(), strings.types.tolist(),
            hashes[bounds.left].tolist(), hashes[bounds.right].tolist(), strict=True,
        )
    )  # fmt: skip
    starts = np.flatnonzero(np.diff(strings.record, prepend=-1)).tolist()
    slots: list[int] = []
    known: list[bool] = []
    paths: dict[tuple[tuple[int, ...], ...], tuple[list[int], list[bool]]] = {}
    for begin, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        record = tuple(rows[begin:end])
        path = paths.get(record)
        if path is None:
            path = paths[record] = _path(wrapper, record)
        slots += path[0]
        known += path[1]
    return slots, known


def _path(wrapper: Wrapper, record: Sequence[tuple[int, ...]]) -> tuple[list[int], list[bool]]:
    """Return a path through the graph: strings that are known exactly are its fixed points, the others lie between."""
    fixed = [wrapper.atoms[row[0]].slot if row[0] in wrapper.atoms else -1 for row in record]
    rank = wrapper.graph.rank
    used = set(fixed)
    slots = list(fixed)
    known = [slot >= 0 for slot in fixed]
    reached = -1
    for number, slot in enumerate(fixed):
        if slot >= 0:
            reached = max(reached, rank[slot])
            continue
        ahead = min(
            (rank[later] for later in fixed[number + 1 :] if later >= 0 and rank[later] > reached), default=None
        )
        scores = [
            (_alikeness(wrapper, other, record[number]), other) for other in range(len(rank)) if other not in used
        ]
        between = [
            (score, -rank[other], other)
            for score, other in scores
            if rank[other] > reached and (ahead is None or rank[other] < ahead)
        ]
        best = max(between, default=None)
        if best is None or best[0] < _LEAST:
            best = max(((score, -rank[other], other) for score, other in scores), default=None)
        if best is None or best[0] < _LEAST:
            slots[number] = len(rank)
            continue
        slots[number] = best[2]
        known[number] = True
        used.add(best[2])
        reached = max(reached, rank[best[2]])
    return slots, known


def _alikeness(wrapper: Wrapper, slot: int, row: tuple[int, ...]) -> float:
    """Return how much a string has in common with the likest kind of string of a slot."""
    _, anchor, kind, left, right = row
    return max(
        (
            _ANCHOR * (atom.anchor == anchor) + _TYPE * (atom.type == kind) + _LEFT * (atom.left == left)
            + _RIGHT * (atom.right == right)
            for atom in wrapper.by_slot[slot]
        ),
        default=0.0,
    )  # fmt: skip
