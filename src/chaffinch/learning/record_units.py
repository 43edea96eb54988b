"""What labelled pages teach about units: decorative tags, joints, template texts, and slots of data.

The steps are learned in their order, each from records that the steps before it, as learned so far, have cut.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from chaffinch.learning.networks import Training, train_classifier
from chaffinch.learning.record_gold import GoldUnit, alike, words_of
from chaffinch.learning.record_marks import Marks, mark_units, places_of
from chaffinch.page.tags import NAMES
from chaffinch.records.decoration import decorative_nodes, tag_evidence, tags_of
from chaffinch.records.joints import Joints, find_joints, joint_evidence
from chaffinch.records.keeping import Hints, Slots, normal, slot_evidence, slot_names, slot_words
from chaffinch.records.pieces import Pieces, pieces_of
from chaffinch.records.priors import Observation, Priors, learn_priors
from chaffinch.records.sheet import Sheet
from chaffinch.records.template_texts import frequent_texts, occurrences, rows_of, tokens_of
from chaffinch.records.units import Slotted, cut_at, judged_template, part_strings, slots_of, texts_of
from chaffinch.records.weights import Weights, prior_by_tag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from chaffinch.learning.record_gold import GoldResultSite
    from chaffinch.page.arrays import BoolArray
    from chaffinch.records.finding import Spans
    from chaffinch.records.network import Network
    from chaffinch.records.units import UnitOptions

    Numbers = NDArray[np.float64]

_Site = TypeVar("_Site")

DECORATIVE: Final = Training(hidden=4, epochs=400, rate=0.02, decay=0.001, networks=1)
TEMPLATE: Final = Training(hidden=3, epochs=400, rate=0.02, decay=0.001, networks=1)
JOINT: Final = Training(hidden=16, epochs=300, rate=0.02, decay=0.02, networks=3)
KEEPING: Final = Training(hidden=16, epochs=300, rate=0.02, decay=0.02, networks=3)
_JOINED: Final = 0.5
_MOST_STRINGS: Final = 60
_MOST_TOKENS: Final = 200
_FLOOR: Final = 0.02
"""What each example weighs at least, beside its share of its site."""


@dataclass(frozen=True, eq=False)
class UnitExamples:
    """The records of one labelled site, and where their units are."""

    name: str
    sheet: Sheet
    spans: Spans
    marks: Marks
    pieces: Pieces
    joints: Joints

    @property
    def joint_votes(self) -> tuple[BoolArray, BoolArray]:
        """For each joint, whether a unit goes on there, and whether the labels say anything."""
        unit = self.marks.unit[self.pieces.leaf]
        left, right = unit[self.joints.left], unit[self.joints.left + 1]
        return (left == right) & (left >= 0), (left >= 0) | (right >= 0)


@dataclass(frozen=True, eq=False)
class Lesson:
    """Examples of one site for one detector: rows, the share of each that is of the class, how often it was seen."""

    rows: NDArray[np.float32]
    share: Numbers
    seen: Numbers

    @property
    def weights(self) -> Numbers:
        """Sites weigh the same, whatever their number of records."""
        roots = np.sqrt(self.seen)
        total: Numbers = roots / max(float(roots.sum()), 1.0) + _FLOOR
        return total


def unit_examples(site: GoldResultSite, spans: Spans) -> UnitExamples:
    """Return what a site teaches, of the records at `spans`."""
    sheet = Sheet.of([page.page for page in site.pages])
    pieces = pieces_of(sheet, spans)
    marks = mark_units(sheet, spans, site.pages)
    return UnitExamples(site.name, sheet, spans, marks, pieces, find_joints(sheet, pieces))


def train_lessons(lessons: Sequence[Lesson], how: Training) -> Network:
    """Train a network that tells the class."""
    used = [(lesson, lesson.seen > 0) for lesson in lessons if (lesson.seen > 0).any()]
    return train_classifier(
        np.concatenate([lesson.rows[seen] for lesson, seen in used]),
        np.concatenate([lesson.share[seen] for lesson, seen in used]),
        np.concatenate([lesson.weights[seen] for lesson, seen in used]),
        how,
    )


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned, and the lessons it was learned from."""

    weights: Weights
    decorative: tuple[Lesson, ...]
    template: tuple[Lesson, ...]


def train_units(sites: Sequence[UnitExamples], ranker: Network, options: UnitOptions) -> Learned:
    """Train all detectors."""
    decorative_lessons, tags = _with_priors(sites, tag_observations, tag_lesson)
    decorative = train_lessons(decorative_lessons, DECORATIVE)
    nodes = [
        decorative_nodes(site.sheet, tags_of(site.sheet, site.spans), decorative, prior_by_tag(tags)) for site in sites
    ]
    joint_lessons = [_joint_lesson(site, found) for site, found in zip(sites, nodes, strict=True)]
    joint = train_lessons(joint_lessons, JOINT)
    stages = [
        _slotted(site, joint(lesson.rows) > _JOINED if len(lesson.rows) else lesson.rows, options)
        for site, lesson in zip(sites, joint_lessons, strict=True)
    ]
    template_lessons, template_prior = _with_priors(stages, _template_observations, _template_lesson)
    template = train_lessons(template_lessons, TEMPLATE)
    half = Weights(ranker, decorative, joint, template, joint, tags, template_prior, Priors({}), Priors({}))
    parted = [
        replace(
            stage, slotted=part_strings(stage.site.sheet, stage.slotted, judged_template(stage.slotted, half), options)
        )
        for stage in stages
    ]
    names, words = [_name_observations(stage) for stage in parted], [_word_observations(stage) for stage in parted]
    keeping_lessons = [
        _keeping_lesson(stage, learn_priors(_without(names, place)), learn_priors(_without(words, place)))
        for place, stage in enumerate(parted)
    ]
    weights = replace(
        half,
        keeping=train_lessons(keeping_lessons, KEEPING),
        name_prior=learn_priors(names),
        word_prior=learn_priors(words),
    )
    return Learned(weights, tuple(decorative_lessons), tuple(template_lessons))


def _with_priors(
    sites: Sequence[_Site], observe: Callable[[_Site], list[Observation]], lesson: Callable[[_Site, Priors], Lesson]
) -> tuple[list[Lesson], Priors]:
    """Return each site's lesson with what the other sites say beforehand, and what all say."""
    observed = [observe(site) for site in sites]
    lessons = [lesson(site, learn_priors(_without(observed, place))) for place, site in enumerate(sites)]
    return lessons, learn_priors(observed)


def _without(values: Sequence[_Site], place: int) -> list[_Site]:
    return [value for number, value in enumerate(values) if number != place]


# Decorative tags: a tag is decorative where it cuts a labelled unit.


def _tag_votes(site: UnitExamples) -> tuple[Numbers, Numbers]:
    """Return for each node how often it begins or ends inside a unit, and how often between units."""
    joints = site.joints
    inside, known = site.joint_votes
    cuts, parts = np.zeros(len(site.sheet)), np.zeros(len(site.sheet))
    for start, outer in ((joints.left, joints.closed), (joints.left + 1, joints.opened)):
        node = site.sheet.parent[site.sheet.leaf[site.pieces.leaf[start]]].astype(np.intp)
        active = np.flatnonzero((outer >= 0) & known)
        while len(active):
            here = node[active]
            np.add.at(cuts, here, inside[active])
            np.add.at(parts, here, ~inside[active])
            active = active[here != outer[active]]
            node[active] = site.sheet.parent[node[active]]
    return cuts, parts


def tag_lesson(site: UnitExamples, priors: Priors) -> Lesson:
    """Return the tags of a site."""
    tags = tags_of(site.sheet, site.spans)
    cuts, parts = _tag_votes(site)
    of_cuts = np.bincount(tags.of, weights=cuts[tags.node], minlength=len(tags))
    of_parts = np.bincount(tags.of, weights=parts[tags.node], minlength=len(tags))
    seen: Numbers = np.bincount(tags.of, minlength=len(tags)).astype(np.float64)
    return Lesson(tag_evidence(site.sheet, tags, prior_by_tag(priors)), (of_cuts > of_parts).astype(np.float64), seen)


def tag_observations(site: UnitExamples) -> list[Observation]:
    """Return for each tag its name, and whether it is decorative."""
    shares = tag_lesson(site, Priors({})).share
    names = tags_of(site.sheet, site.spans).tag.tolist()
    return [Observation((NAMES[name],), float(share)) for name, share in zip(names, shares, strict=True)]


# Joints: a unit goes on where both sides are of one labelled unit.


def _joint_lesson(site: UnitExamples, decorative: Numbers) -> Lesson:
    joints = site.joints
    if joints.kinds == 0:
        return Lesson(np.zeros((0, 0), dtype=np.float32), np.zeros(0), np.zeros(0))
    rows = joint_evidence(site.sheet, site.pieces, joints, decorative)
    inside, known = site.joint_votes
    seen: Numbers = np.bincount(joints.kind, weights=known.astype(np.float64), minlength=joints.kinds).astype(
        np.float64
    )
    goes_on = np.bincount(joints.kind, weights=inside.astype(np.float64), minlength=joints.kinds)
    return Lesson(rows, goes_on / np.maximum(seen, 1), seen)


# Template texts: a frequent text is template where the labelled units leave it out.


@dataclass(frozen=True, eq=False)
class _Stage:
    """A site's records, cut and in slots as learned so far."""

    site: UnitExamples
    slotted: Slotted


def _slotted(site: UnitExamples, joined: NDArray[Any], options: UnitOptions) -> _Stage:
    cut = cut_at(site.sheet, site.pieces, site.joints, joined.astype(np.bool_).reshape(-1))
    return _Stage(site, slots_of(site.sheet, cut.strings, cut.bounds, options))


def _template_lesson(stage: _Stage, priors: Priors) -> Lesson:
    found = list(frequent_texts(texts_of(stage.slotted), priors.table))
    owners = _token_owners(stage)
    share, seen = np.zeros(len(found)), np.zeros(len(found))
    for number, text in enumerate(found):
        for tokens, owner in owners.get(text.cluster, ()):
            for place in occurrences(text.tokens, tokens):
                here = owner[place : place + len(text.tokens)]
                seen[number] += 1
                share[number] += all(unit < 0 for unit in here)
    return Lesson(rows_of(found), share / np.maximum(seen, 1), seen)


def _template_observations(stage: _Stage) -> list[Observation]:
    lesson = _template_lesson(stage, Priors({}))
    found = frequent_texts(texts_of(stage.slotted), {})
    return [
        Observation(text.tokens, float(share))
        for text, share, seen in zip(found, lesson.share.tolist(), lesson.seen.tolist(), strict=True)
        if seen
    ]


def _token_owners(stage: _Stage) -> dict[int, list[tuple[tuple[str, ...], list[int]]]]:
    """Return for each slot the tokens of some of its strings, and the labelled unit that each token is part of."""
    result: dict[int, list[tuple[tuple[str, ...], list[int]]]] = defaultdict(list)
    strings = stage.slotted.strings
    for record, slot, text in zip(strings.record.tolist(), stage.slotted.slot.tolist(), strings.texts, strict=True):
        gold = stage.site.marks.gold[record]
        if gold is None or len(result[slot]) >= _MOST_STRINGS:
            continue
        tokens = tokens_of(text)
        if len(tokens) > _MOST_TOKENS:
            continue
        owner = [-1] * len(tokens)
        for unit, (first, last) in enumerate(places_of(gold.units, [words_of(token) for token in tokens])):
            owner[first : last + 1] = [unit] * (last + 1 - first)
        result[slot].append((tokens, owner))
    return result


# Slots of data: those whose strings are labelled units.


def _string_votes(stage: _Stage) -> tuple[Numbers, Numbers]:
    """Return for each string whether it is a labelled unit, and whether the labels say anything."""
    strings = stage.slotted.strings
    good, known = np.zeros(len(strings)), np.zeros(len(strings))
    left: dict[int, tuple[list[GoldUnit], list[GoldUnit]]] = {}
    for number, record in enumerate(strings.record.tolist()):
        gold = stage.site.marks.gold[record]
        unit = GoldUnit(strings.texts[number], "")
        if gold is None or not unit.words:
            continue
        counted, optional = left.setdefault(record, (list(gold.units), list(gold.optional)))
        hit = _taken(unit, counted)
        good[number] = hit
        known[number] = hit or not _taken(unit, optional)
    return good, known


def _taken(unit: GoldUnit, units: list[GoldUnit]) -> bool:
    """Take the unit that is the same, or else alike, out of a list."""
    hit = next((other for other in units if other.key == unit.key), None)
    if hit is None:
        hit = next((other for other in units if alike(unit, other)), None)
    if hit is not None:
        units.remove(hit)
    return hit is not None


def _slot_votes(stage: _Stage) -> tuple[Numbers, Numbers]:
    good, known = _string_votes(stage)
    slot, count = stage.slotted.slot, stage.slotted.count
    seen: Numbers = np.bincount(slot, weights=known, minlength=count).astype(np.float64)
    return np.bincount(slot, weights=good, minlength=count) / np.maximum(seen, 1), seen


def _keeping_lesson(stage: _Stage, names: Priors, words: Priors) -> Lesson:
    slotted = stage.slotted
    share, seen = _slot_votes(stage)
    if not slotted.count:
        return Lesson(np.zeros((0, 0), dtype=np.float32), share, seen)
    hints = Hints(names, words, slotted.covered)
    slots = Slots(slotted.slot, slotted.count)
    rows = slot_evidence(stage.site.sheet, stage.site.pieces, slotted.strings, slots, hints)
    return Lesson(rows, share, seen)


def _name_observations(stage: _Stage) -> list[Observation]:
    slotted = stage.slotted
    share, seen = _slot_votes(stage)
    names = slot_names(stage.site.sheet, slotted.strings, Slots(slotted.slot, slotted.count))
    return [Observation(tokens, float(value)) for tokens, value, used in zip(names, share, seen, strict=True) if used]


def _word_observations(stage: _Stage) -> list[Observation]:
    slotted = stage.slotted
    share, seen = _slot_votes(stage)
    texts = [normal(text) for text in slotted.strings.texts]
    words = slot_words(Slots(slotted.slot, slotted.count), texts)
    return [Observation(tokens, float(value)) for tokens, value, used in zip(words, share, seen, strict=True) if used]
