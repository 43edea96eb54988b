"""The template graph: slots, and which follows which, as the records vote; without cycles."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEAST_SHARE: Final = 0.02
"""Slots and edges of a smaller share of the records are not drawn from: they are accidents, or of false records."""
_ALWAYS: Final = 0.98
_NEVER_TOGETHER: Final = 0.02
_APART: Final = 0.1


@dataclass(frozen=True, slots=True)
class Slot:
    """A vertex: a place of the template that holds a unit of data, or a text that is part of the template."""

    name: str
    type: str
    support: int
    """How many records have it."""
    data: bool
    constant: bool = False
    label: str | None = None
    """The template text that names it, as the pages have it."""


@dataclass(frozen=True, eq=False)
class TemplateGraph:
    """Slots and weighted edges; every edge leads forward, so that each record is a path."""

    slots: tuple[Slot, ...]
    edges: Mapping[tuple[int, int], int]
    records: int
    together: Mapping[tuple[int, int], int]
    """In how many records two slots stand both; only pairs that do."""

    @cached_property
    def rank(self) -> tuple[int, ...]:
        """Each slot's place in an order in which all edges lead forward."""
        incoming = Counter(head for _, head in self.edges)
        heads: dict[int, list[int]] = defaultdict(list)
        for tail, head in self.edges:
            heads[tail].append(head)
        ready = sorted((slot for slot in range(len(self.slots)) if not incoming[slot]), reverse=True)
        place = [0] * len(self.slots)
        number = 0
        while ready:
            slot = ready.pop()
            place[slot] = number
            number += 1
            for head in sorted(heads[slot], reverse=True):
                incoming[head] -= 1
                if not incoming[head]:
                    ready.append(head)
        return tuple(place)

    def is_optional(self, slot: int) -> bool:
        """Tell whether some records lack the slot."""
        return self.slots[slot].support < _ALWAYS * self.records

    def disjunctive(self) -> list[tuple[int, int]]:
        """Return the pairs of slots of which a record has one or the other."""
        before: dict[int, set[int]] = defaultdict(set)
        behind: dict[int, set[int]] = defaultdict(set)
        for tail, head in self.edges:
            before[head].add(tail)
            behind[tail].add(head)
        found = []
        often = [slot for slot in range(len(self.slots)) if self.slots[slot].support >= _APART * self.records]
        for number, one in enumerate(often):
            for other in often[number + 1 :]:
                least = min(self.slots[one].support, self.slots[other].support)
                apart = self.together.get((one, other), 0) <= _NEVER_TOGETHER * least
                beside = before[one] & before[other] or behind[one] & behind[other]
                if apart and beside and self.is_optional(one) and self.is_optional(other):
                    found.append((one, other))
        return found

    def as_json(self) -> dict[str, Any]:
        """Return the graph as plain values."""
        return {
            "records": self.records,
            "slots": [
                {
                    "name": slot.name, "type": slot.type, "support": slot.support, "data": slot.data,
                    "constant": slot.constant, "label": slot.label, "optional": self.is_optional(number),
                }
                for number, slot in enumerate(self.slots)
            ],
            "edges": [[tail, head, weight] for (tail, head), weight in sorted(self.edges.items())],
            "disjunctive": [list(pair) for pair in self.disjunctive()],
            "together": [[one, other, count] for (one, other), count in sorted(self.together.items())],
        }  # fmt: skip

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TemplateGraph:
        """Return the graph that `as_json` made plain values of."""
        slots = tuple(
            Slot(
                str(slot["name"]), str(slot["type"]), int(slot["support"]), bool(slot["data"]), bool(slot["constant"]),
                None if slot["label"] is None else str(slot["label"]),
            )
            for slot in values["slots"]
        )  # fmt: skip
        edges = {(int(tail), int(head)): int(weight) for tail, head, weight in values["edges"]}
        together = {(int(one), int(other)): int(count) for one, other, count in values["together"]}
        if any(not 0 <= end < len(slots) for edge in (*edges, *together) for end in edge):
            raise ValueError("an edge leads to no slot")
        return cls(slots, edges, int(values["records"]), together)


def vote(paths: Sequence[Sequence[int]], slots: Sequence[Slot]) -> TemplateGraph:
    """Let records, each the slots of its strings in order, vote for the template graph."""
    weights: Counter[tuple[int, int]] = Counter()
    together: Counter[tuple[int, int]] = Counter()
    for path, count in Counter(map(tuple, paths)).items():
        for tail, head in pairwise(path):
            weights[tail, head] += count
        here = sorted(set(path))
        for number, one in enumerate(here):
            for other in here[number + 1 :]:
                together[one, other] += count
    least = max(LEAST_SHARE * len(paths), 1)
    edges = {edge: weight for edge, weight in weights.items() if weight >= least and edge[0] != edge[1]}
    return TemplateGraph(tuple(slots), _without_cycles(edges), len(paths), dict(together))


def _without_cycles(edges: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
    """Break each cycle at its lightest edge: of the heaviest edges keep those that close none."""
    behind: dict[int, set[int]] = defaultdict(set)
    kept: dict[tuple[int, int], int] = {}
    for (tail, head), weight in sorted(edges.items(), key=lambda item: (-item[1], item[0])):
        if not _reaches(behind, head, tail):
            behind[tail].add(head)
            kept[tail, head] = weight
    return dict(sorted(kept.items()))


def _reaches(behind: Mapping[int, set[int]], start: int, end: int) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        slot = waiting.pop()
        if slot == end:
            return True
        fresh = behind.get(slot, set()) - seen
        seen |= fresh
        waiting += fresh
    return False
