"""From records to units in slots: the steps of Zhao, Meng and Yu (2007), and two detectors more."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import frozen
from chaffinch.records import clusters
from chaffinch.records.clusters import Bounds, bounds_of, cluster_strings
from chaffinch.records.decoration import NEUTRAL, decorative_nodes, tags_of
from chaffinch.records.joints import Joints, find_joints, joint_evidence
from chaffinch.records.keeping import Hints, Slots, slot_evidence
from chaffinch.records.pieces import Pieces, pieces_of
from chaffinch.records.strings import Strings, cut_strings
from chaffinch.records.template_texts import FrequentText, frequent_texts, occurrences, rows_of, split_text, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, IndexArray
    from chaffinch.records.finding import Spans
    from chaffinch.records.sheet import Sheet
    from chaffinch.records.weights import Weights

    Numbers = NDArray[np.float64]

_DECORATIVE: Final = 0.5
TEMPLATE: Final = 0.5
SPLITTING: Final = 0.9
"""How sure the template text detector must be to part a string: a wrong cut makes two errors of one unit."""
DATA: Final = 0.4
"""Slots that look less like data are left out: to keep one in doubt gains more than it costs, at F1 of about 0.8."""


@dataclass(frozen=True, slots=True)
class UnitOptions:
    """Which detectors take part, and how strings are clustered."""

    decorative: bool = True
    """Ask the decorative tag detector."""
    joints: bool = True
    """Look at each place between two texts; without, decorative tags alone decide what belongs together."""
    template_texts: bool = True
    """Ask the template text detector."""
    splitting: float = SPLITTING
    """How sure it must be that a text is template to part a string there; the paper's 0.5 cuts more."""
    keeping: bool = True
    """Leave out slots that do not look like data."""
    data: float = DATA
    """Slots that look less like data are left out."""
    weights: clusters.Weights = field(default_factory=clusters.Weights)


@dataclass(frozen=True, eq=False)
class Cut:
    """Records cut into data strings."""

    pieces: Pieces
    joints: Joints
    joined: BoolArray
    """Of each kind of joint, whether a string goes on there."""
    strings: Strings
    bounds: Bounds


@dataclass(frozen=True, eq=False)
class Slotted:
    """Data strings, each in its slot."""

    strings: Strings
    bounds: Bounds
    slot: IndexArray
    covered: Numbers
    """The share of each string's tokens that stand in template texts."""

    @property
    def count(self) -> int:
        """How many slots there are."""
        return int(self.slot.max()) + 1 if len(self.slot) else 0


@dataclass(frozen=True, eq=False)
class Units:
    """The units of all records."""

    cut: Cut
    slotted: Slotted
    data: BoolArray
    """Of each slot, whether it holds data rather than template."""
    template: tuple[tuple[str, ...], ...]
    """The template texts that part strings, as tokens."""


def find_units(sheet: Sheet, spans: Spans, weights: Weights, options: UnitOptions) -> Units:
    """Return the units of records, in slots."""
    pieces = pieces_of(sheet, spans)
    joints = find_joints(sheet, pieces)
    cut = cut_at(sheet, pieces, joints, joined_kinds(sheet, spans, pieces, joints, weights, options))
    slotted = slots_of(sheet, cut.strings, cut.bounds, options)
    template: tuple[tuple[str, ...], ...] = ()
    if options.template_texts and len(cut.strings):
        judged = judged_template(slotted, weights)
        slotted = part_strings(sheet, slotted, judged, options)
        template = tuple(sorted({text.tokens for text, score in judged if score > options.splitting}))
    slots = Slots(slotted.slot, slotted.count)
    data = np.ones(slots.count, dtype=np.bool_)
    if options.keeping and slots.count:
        hints = Hints(weights.name_prior, weights.word_prior, slotted.covered)
        data = weights.keeping(slot_evidence(sheet, pieces, slotted.strings, slots, hints)) > options.data
    return Units(cut, slotted, frozen(data), template)


def joined_kinds(
    sheet: Sheet, spans: Spans, pieces: Pieces, joints: Joints, weights: Weights, options: UnitOptions
) -> BoolArray:
    """Return for each kind of joint whether a string goes on there."""
    if joints.kinds == 0:
        return np.zeros(0, dtype=np.bool_)
    if options.decorative:
        decorative = decorative_nodes(sheet, tags_of(sheet, spans), weights.decorative, weights.tag_prior)
    else:
        decorative = np.full(len(sheet), NEUTRAL)
    if options.joints:
        found: BoolArray = weights.joint(joint_evidence(sheet, pieces, joints, decorative)) > _DECORATIVE
        return found
    return _all_decorative(joints, decorative)


def _all_decorative(joints: Joints, decorative: Numbers) -> BoolArray:
    """Return for each kind of joint whether all tags that end or begin there are decorative."""
    least = np.ones(joints.kinds)
    for outer in (joints.closed, joints.opened):
        np.minimum.at(least, joints.kind, np.where(outer >= 0, decorative[outer], 1.0))
    blocks = np.bincount(joints.kind, weights=joints.blocks, minlength=joints.kinds)
    result: BoolArray = (least > _DECORATIVE) & (blocks == 0)
    return result


def cut_at(sheet: Sheet, pieces: Pieces, joints: Joints, joined: BoolArray) -> Cut:
    """Cut records into data strings; `joined` tells of each kind of joint whether a string goes on there."""
    strings = cut_strings(sheet, pieces, joints, joined)
    return Cut(pieces, joints, frozen(joined), strings, bounds_of(sheet, pieces, joints, strings))


def slots_of(sheet: Sheet, strings: Strings, bounds: Bounds, options: UnitOptions) -> Slotted:
    """Cluster strings into slots."""
    slot = _all_in_slots(strings, cluster_strings(sheet, strings, bounds, options.weights))
    return Slotted(strings, bounds, slot, np.zeros(len(strings)))


def judged_template(slotted: Slotted, weights: Weights) -> list[tuple[FrequentText, float]]:
    """Return the frequent texts that are template, and how surely."""
    found = list(frequent_texts(texts_of(slotted), weights.template_prior.table))
    scores = weights.template(rows_of(found)) if found else np.zeros(0)
    return [(text, score) for text, score in zip(found, scores.tolist(), strict=True) if score > TEMPLATE]


def part_strings(
    sheet: Sheet, slotted: Slotted, judged: list[tuple[FrequentText, float]], options: UnitOptions
) -> Slotted:
    """Part strings at template texts, and cluster them again."""
    texts = [text for text, _ in judged]
    strings, bounds = _split(slotted, [text for text, score in judged if score > options.splitting])
    if strings is slotted.strings:
        return replace(slotted, covered=_coverage(strings, texts))
    again = slots_of(sheet, strings, bounds, options)
    return replace(again, covered=_coverage(strings, texts))


def _all_in_slots(strings: Strings, cluster: IndexArray) -> IndexArray:
    """Give the strings of too rare kinds a slot for each type."""
    if len(cluster) == 0 or (cluster >= 0).all():
        return cluster
    count = int(cluster.max()) + 1
    result: IndexArray = np.where(cluster >= 0, cluster, count + strings.types)
    _, renumbered = np.unique(result, return_inverse=True)
    return renumbered


def texts_of(slotted: Slotted) -> dict[int, list[str]]:
    """Return the texts of each slot."""
    texts: dict[int, list[str]] = defaultdict(list)
    for number, text in zip(slotted.slot.tolist(), slotted.strings.texts, strict=True):
        texts[number].append(text)
    return texts


def _split(slotted: Slotted, judged: list[FrequentText]) -> tuple[Strings, Bounds]:
    """Part the strings of slots at their template texts."""
    of_slot: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for frequent in judged:
        of_slot[frequent.cluster].append(frequent.tokens)
    slots = slotted.slot.tolist()
    return _part(slotted.strings, slotted.bounds, [of_slot.get(slot, ()) for slot in slots] if of_slot else None)


def part_at(strings: Strings, bounds: Bounds, template: Sequence[tuple[str, ...]]) -> tuple[Strings, Bounds]:
    """Part all strings at template texts."""
    return _part(strings, bounds, [template] * len(strings) if template else None)


def _part(
    strings: Strings, bounds: Bounds, template: Sequence[Sequence[tuple[str, ...]]] | None
) -> tuple[Strings, Bounds]:
    """Part strings at template texts; what is template from end to end stays as it is, for its slot to be judged."""
    if template is None:
        return strings, bounds
    parts = [
        (split_text(text, here) if here else []) or [text] for text, here in zip(strings.texts, template, strict=True)
    ]
    texts = tuple(part for found in parts for part in found)
    if texts == strings.texts:
        return strings, bounds
    counts = np.array([len(found) for found in parts])
    where = np.repeat(np.arange(len(parts)), counts)
    part = np.arange(len(where)) - np.repeat(np.cumsum(counts) - counts, counts)
    distinct = (*bounds.distinct, *((-1, number) for number in range(int(part.max()) + 1)))
    left = np.where(part == 0, bounds.left[where], len(bounds.distinct) + part)
    parted = replace(
        strings, record=strings.record[where], first=strings.first[where], stop=strings.stop[where],
        anchor=strings.anchor[where], linked=strings.linked[where], texts=texts,
    )  # fmt: skip
    return parted, Bounds(left, bounds.right[where], distinct)


def _coverage(strings: Strings, judged: list[FrequentText]) -> Numbers:
    """Return for each string the share of its tokens that stand in texts judged template."""
    result = np.zeros(len(strings))
    parts = sorted({text.tokens for text in judged}, key=len, reverse=True)
    if not parts:
        return result
    starts = {part[0] for part in parts}
    known: dict[str, float] = {}
    for number, text in enumerate(strings.texts):
        share = known.get(text)
        if share is None:
            tokens = tokens_of(text)
            if not tokens or not starts.intersection(tokens):
                share = 0.0
            else:
                hit = [False] * len(tokens)
                for part in parts:
                    for place in occurrences(part, tokens):
                        hit[place : place + len(part)] = [True] * len(part)
                share = sum(hit) / len(tokens)
            known[text] = share
        result[number] = share
    return result
