"""The networks of the method `fused`, evaluated over all blocks of a page at once.

The first reads `PageEvidence`. An input layer looks at each block alone. Then, in rounds, every block looks at what the
layer before made of its neighbours, of the containers around it (each at least twice as large as the one inside), of
the blocks in the same kind of place, and of the whole page: means, weighted by words, that prefix sums give for all
blocks together. The second, the judge, reads `judge_numbers`: the first's scores on pages of sites that it had not seen
in training, and what is known of the site.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from chaffinch.methods.word_hashes import hash_texts
from chaffinch.page.arrays import offsets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from chaffinch.methods.containers import Containers
    from chaffinch.methods.page_evidence import PageEvidence
    from chaffinch.page.arrays import FloatArray, HashArray, IntArray

Arrays: TypeAlias = "Mapping[str, NDArray[Any]]"

CONTEXT_LEVELS: Final = (1, 2, 3, 4)
"""The containers whose means are looked at."""
ANSWERS: Final = ("wcxb", "sites", "swde", "docs")
"""Sets of labelled pages that differ in what they call content: the first network answers for each. The first counts;
the judge sees all."""
PARTS: Final = 3 + len(CONTEXT_LEVELS) + 2
"""What a block sees in a round: itself, two neighbours, the containers, the page, its group."""
MOST_WORDS: Final = 60
"""Words of a block that are read."""


PAGE_SHARE: Final = 0.6
"""What the page alone counts where its site is known."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What lies around each block of a page, for the rounds of a network."""

    weight: FloatArray
    """How much each block counts in a mean."""
    containers: Containers
    order: NDArray[np.intp]
    """The blocks sorted by group."""
    group: IntArray
    first: IntArray
    """For each block and level, the first block of the container."""
    stop: IntArray
    """And the one behind its last."""

    @classmethod
    def of(cls, evidence: PageEvidence) -> Surroundings:
        """Find what lies around the blocks."""
        counts = np.diff(evidence.word_start)
        return cls(
            np.log1p(1.0 + counts).astype(np.float32),
            evidence.containers,
            evidence.order,
            evidence.group,
            evidence.first,
            evidence.stop,
        )


@dataclass(frozen=True, eq=False)
class ContextNetwork:
    """The layers behind the inputs."""

    inputs: tuple[FloatArray, FloatArray]
    """Factors and offsets of the input layer."""
    rounds: tuple[tuple[FloatArray, FloatArray], ...]
    output: tuple[FloatArray, FloatArray]

    @classmethod
    def read(cls, arrays: Arrays, prefix: str) -> ContextNetwork:
        """Take the layers from a model's arrays."""
        rounds = sorted(name for name in arrays if name.startswith(f"{prefix}.round") and name.endswith(".factors"))
        layers = [(_array(arrays, name), _array(arrays, name.replace("factors", "offsets"))) for name in rounds]
        return cls(
            (_array(arrays, f"{prefix}.input.factors"), _array(arrays, f"{prefix}.input.offsets")),
            tuple(layers),
            (_array(arrays, f"{prefix}.output.factors"), _array(arrays, f"{prefix}.output.offsets")),
        )

    def answers(self, state: FloatArray, around: Surroundings) -> FloatArray:
        """Return for each block what the last layer makes of it, from what the input layer does."""
        for layer in self.rounds:
            state = state + _Round(layer, state.shape[1]).of(state, around)
        return _layer(self.output, state)


class _Round:
    """One look around. A mean that many blocks share is worked on once, and what becomes of it shared."""

    def __init__(self, layer: tuple[FloatArray, FloatArray], width: int) -> None:
        factors, self._offsets = layer
        parts = [factors[start : start + width] for start in range(0, len(factors), width)]
        self._beside = np.concatenate(parts[:_BESIDE], axis=1)
        self._levels = parts[_BESIDE:-2]
        self._page, self._group = parts[-2:]

    def of(self, state: FloatArray, around: Surroundings) -> FloatArray:
        weight = around.weight[:, None]
        weighted = np.concatenate((state * weight, weight), axis=1)
        own, before, behind = np.split(state @ self._beside, _BESIDE, axis=1)
        result: FloatArray = own + (_mean(_group_sums(weighted, around)) @ self._group).take(around.group, axis=0)
        result[1:] += before[:-1]
        result[0] += before[0]
        result[:-1] += behind[1:]
        result[-1] += behind[-1]
        result += self._containers(weighted, around.containers)
        return np.maximum(result, 0, out=result)

    def _containers(self, weighted: FloatArray, containers: Containers) -> FloatArray:
        """Return what all containers around a block add, and the whole page."""
        sums = np.zeros((len(weighted) + 1, weighted.shape[1]))
        np.cumsum(weighted, axis=0, out=sums[1:], dtype=np.float64)
        last = containers.starts[len(self._levels)]
        means = _mean(sums.take(containers.stop[:last], axis=0) - sums.take(containers.first[:last], axis=0))
        outer = (_mean(sums[-1:]) @ self._page) + self._offsets
        inner = outer
        spans = list(zip(containers.starts, containers.starts[1 : len(self._levels) + 1], strict=False))
        for factors, (start, stop) in zip(reversed(self._levels), reversed(spans), strict=True):
            above = containers.above[start:stop] - stop if stop < last else np.zeros(stop - start, dtype=np.intp)
            inner = means[start:stop] @ factors + outer[above]
            outer = inner
        result: FloatArray = inner.take(containers.of_block[0], axis=0)
        return result


_BESIDE: Final = 3
"""A block itself, the one before and the one behind."""


def _layer(layer: tuple[FloatArray, FloatArray], values: FloatArray) -> FloatArray:
    factors, shift = layer
    result: FloatArray = np.asarray(values @ factors, dtype=np.float32)
    result += shift
    return result


def _mean(sums: NDArray[np.floating]) -> FloatArray:
    means: FloatArray = (sums[..., :-1] / np.maximum(sums[..., -1:], 1e-3)).astype(np.float32)
    return means


def _group_sums(weighted: FloatArray, around: Surroundings) -> FloatArray:
    size = np.bincount(around.group)
    sums: FloatArray = np.add.reduceat(weighted.take(around.order, axis=0), size.cumsum() - size, axis=0)
    return sums


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The names that a network knows, and a vector for each; number 0 stands for all others."""

    numbers: dict[str, int]
    vectors: FloatArray

    @classmethod
    def read(cls, arrays: Arrays, prefix: str) -> Vocabulary:
        """Take a vocabulary from a model's arrays."""
        names = arrays[f"{prefix}.names"].tobytes().decode().split("\n")
        return cls({name: number for number, name in enumerate(names, 1)}, _array(arrays, f"{prefix}.vectors"))

    def find(self, names: Sequence[str]) -> IntArray:
        """Return the number of each name."""
        return np.fromiter(map(self.numbers.get, names, repeat(0)), dtype=np.int32, count=len(names))

    @cached_property
    def hashed(self) -> HashIndex:
        """The numbers of the names by their hashes."""
        return HashIndex.of(hash_texts(list(self.numbers)))

    def silent(self) -> Vocabulary:
        """Return a vocabulary whose names mean nothing."""
        return Vocabulary(self.numbers, np.zeros_like(self.vectors))


@dataclass(frozen=True, eq=False)
class HashIndex:
    """Finds the numbers of many hashes at once: those with the same first bits are looked through."""

    begin: IntArray
    """By the first bits of a hash, where the hashes start that begin with them."""
    hashes: HashArray
    """In ascending order; at the end one that is larger than all."""
    numbers: IntArray

    @classmethod
    def of(cls, hashes: HashArray) -> HashIndex:
        """Number hashes in their order, from 1."""
        order = hashes.argsort(kind="stable")
        ordered = np.append(hashes[order], np.uint64(2**64 - 1))
        firsts = np.arange(1 << _FIRST_BITS, dtype=np.uint64) << np.uint64(64 - _FIRST_BITS)
        return cls(
            np.searchsorted(ordered[:-1], firsts).astype(np.int32), ordered, np.append(order + 1, 0).astype(np.int32)
        )

    def find(self, hashes: HashArray) -> IntArray:
        """Return the number of each hash; 0 of those that have none."""
        place = self.begin[hashes >> np.uint64(64 - _FIRST_BITS)]
        behind = self.hashes[place] < hashes
        while behind.any():
            place += behind
            behind = self.hashes[place] < hashes
        numbers: IntArray = self.numbers[place] * (self.hashes[place] == hashes)
        return numbers


_FIRST_BITS: Final = 16


@dataclass(frozen=True, eq=False)
class PageNetwork:
    """The network that looks at one page."""

    words: Vocabulary
    names: Vocabulary
    signs: Vocabulary
    tags: tuple[FloatArray, ...]
    """A table of vectors for each of the nearest elements."""
    mean: FloatArray
    spread: FloatArray
    layers: ContextNetwork

    @classmethod
    def read(cls, arrays: Arrays) -> PageNetwork:
        """Take the network from a model's arrays."""
        return cls(
            Vocabulary.read(arrays, "page.words"),
            Vocabulary.read(arrays, "page.names"),
            Vocabulary.read(arrays, "page.signs"),
            tuple(_array(arrays, f"page.tags{place}") for place in range(3)),
            _array(arrays, "page.mean"),
            _array(arrays, "page.spread"),
            ContextNetwork.read(arrays, "page"),
        )

    def views(self, evidence: PageEvidence, around: Surroundings) -> FloatArray:
        """Return for each block how much it looks like content, a column for each of `ANSWERS`.

        Above 0 it is more likely than not.
        """
        if not len(evidence):
            return np.zeros((0, len(ANSWERS)), dtype=np.float32)
        return self.layers.answers(self._state(evidence), around)

    def _state(self, evidence: PageEvidence) -> FloatArray:
        """Return what the input layer makes of each block."""
        factors, shift = self.layers.inputs
        numbers = standardised(evidence.numbers, self.mean, self.spread)
        others = np.concatenate(
            (
                *(table.take(evidence.tags[:, place], axis=0) for place, table in enumerate(self.tags)),
                self._words(evidence),
                self._names(evidence),
            ),
            axis=1,
        )
        known = self.signs.find(evidence.signs)
        signs = self.signs.vectors[known[known > 0]]
        middle, last = numbers.shape[1], numbers.shape[1] + others.shape[1]
        result: FloatArray = numbers @ factors[:middle]
        result += others @ factors[middle:last]
        result += signs.sum(axis=0) @ factors[last:] + shift
        return np.maximum(result, 0, out=result)

    def _words(self, evidence: PageEvidence) -> FloatArray:
        """Return the sum of the vectors of each block's known words, over the square root of their number."""
        words, starts = known_words(evidence, self.words.hashed.find(evidence.word))
        lengths = starts[1:] - starts[:-1]
        sums = _sums(self.words.vectors.take(words, axis=0), starts)
        sums /= np.sqrt(np.maximum(lengths, 1, dtype=np.float32))[:, None]
        return sums

    def _names(self, evidence: PageEvidence) -> FloatArray:
        """Return the sums of the vectors of the names around each block: near, further out, and all."""
        marks, containers, skeleton = evidence.marks, evidence.containers, evidence.skeleton
        numbers = self.names.hashed.find(marks.name_hash)
        known = numbers > 0
        starts = offsets(known)[marks.name_start]
        telling = (starts[1:] > starts[:-1])[marks.number]
        of_values = _sums(self.names.vectors.take(numbers[known], axis=0), starts)
        vectors = of_values.take(marks.number[telling], axis=0)
        bearers = marks.element[telling]
        middle, far = (slice(*containers.starts[level : level + 2]) for level in _NAME_LEVELS)
        places = np.concatenate((skeleton.of_block, containers.element[middle], containers.element[far]))
        # Names count from where their element starts up to where it ends.
        ends = skeleton.end[bearers]
        order = ends.argsort(kind="stable")
        sums = np.zeros((len(vectors) + 1, vectors.shape[1]))
        np.cumsum(vectors, axis=0, out=sums[1:], dtype=np.float64)
        found = sums.take(np.searchsorted(bearers, places, side="right"), axis=0)
        np.cumsum(vectors.take(order, axis=0), axis=0, out=sums[1:], dtype=np.float64)
        found -= sums.take(np.searchsorted(ends[order], places, side="right"), axis=0)
        count = len(evidence)
        own = found[:count]
        around, outside = (
            found[count + shift :].take(containers.of_block[level] - containers.starts[level], axis=0)
            for level, shift in zip(_NAME_LEVELS, (0, middle.stop - middle.start), strict=True)
        )
        return np.concatenate((own - around, around - outside, own), axis=1, dtype=np.float32)


_NAME_LEVELS: Final = (1, 3)
"""The levels of containers at which names are parted into near and further out."""


def known_words(evidence: PageEvidence, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of the first words of each block that are known, and where each block's start.

    `numbers` has one for each word of the page, 0 for those that are not known.
    """
    kept = numbers > 0
    counts = np.diff(evidence.word_start)
    if len(counts) and counts.max() > MOST_WORDS:
        place = np.arange(len(numbers)) - np.repeat(evidence.word_start[:-1], counts)
        kept &= place < MOST_WORDS
    return numbers[kept], offsets(kept)[evidence.word_start]


def _sums(vectors: NDArray[np.floating], starts: NDArray[np.integer]) -> NDArray[np.floating]:
    """Return the sum of the rows of each span."""
    result = np.zeros((len(starts) - 1, vectors.shape[1]), dtype=vectors.dtype)
    filled = starts[1:] > starts[:-1]
    if filled.any():
        result[filled] = np.add.reduceat(vectors, starts[:-1][filled], axis=0)
    return result


def standardised(numbers: FloatArray, mean: FloatArray, spread: FloatArray) -> FloatArray:
    """Return numbers around 0, none far away."""
    near: FloatArray = np.clip((numbers - mean) / spread, -5, 5).astype(np.float32)
    return near


@dataclass(frozen=True, eq=False)
class Judge:
    """The network that has the last word: it looks at `judge_numbers`, block by block."""

    mean: FloatArray
    spread: FloatArray
    members: tuple[tuple[tuple[FloatArray, FloatArray], ...], ...]
    """The layers of each of some networks; their mean counts."""

    @classmethod
    def read(cls, arrays: Arrays) -> Judge:
        """Take the network from a model's arrays."""
        names = sorted(name for name in arrays if name.startswith("judge.") and name.endswith(".factors"))
        members: dict[str, list[tuple[FloatArray, FloatArray]]] = {}
        for name in names:
            layer = _array(arrays, name), _array(arrays, name.replace("factors", "offsets"))
            members.setdefault(name.split(".")[1], []).append(layer)
        return cls(_array(arrays, "judge.mean"), _array(arrays, "judge.spread"), tuple(map(tuple, members.values())))

    def logits(self, numbers: FloatArray) -> FloatArray:
        """Return for each block how much it is content."""
        factors, shift = self._first
        return self._voted(judge_inputs(numbers, self.mean, self.spread) @ factors + shift)

    def both(self, about_page: FloatArray, about_site: FloatArray | None) -> FloatArray:
        """Return what the page alone says, weighed against what it says with its site if that is known."""
        factors, shift = self._first
        page = about_page.shape[1]
        hidden = _clipped(about_page, self.mean[:page], self.spread[:page]) @ factors[:page]
        hidden += shift
        if about_site is None:
            return self._voted(hidden)
        site = _clipped(about_site, self.mean[page:], self.spread[page:]) @ factors[page:-1]
        site += factors[-1]
        site += hidden
        return weighed(self._voted(hidden), self._voted(site))

    @cached_property
    def _first(self) -> tuple[FloatArray, FloatArray]:
        """The first layers of all members side by side."""
        factors, shifts = zip(*(layers[0] for layers in self.members), strict=True)
        return np.concatenate(factors, axis=1), np.concatenate(shifts)

    def _voted(self, hidden: FloatArray) -> FloatArray:
        """Return what the members make of the outputs of their first layers; `hidden` is used up."""
        np.maximum(hidden, 0, out=hidden)
        parts = np.split(hidden, len(self.members), axis=1)
        votes = [_feed(layers[1:], part) for layers, part in zip(self.members, parts, strict=True)]
        result: FloatArray = sum(votes[1:], start=votes[0])
        result *= np.float32(1 / len(votes))
        return result


def _feed(layers: Sequence[tuple[FloatArray, FloatArray]], values: FloatArray) -> FloatArray:
    for layer in layers[:-1]:
        values = np.maximum(_layer(layer, values), np.float32(0))
    column: FloatArray = _layer(layers[-1], values)[:, 0]
    return column


def judge_inputs(numbers: FloatArray, mean: FloatArray, spread: FloatArray) -> FloatArray:
    """Return numbers around 0; what is not known is ordinary, and a last column tells whether the site is known."""
    ready = np.nan_to_num(_clipped(numbers, mean, spread), nan=0.0)
    known = ~np.isnan(numbers[:, -1:])
    return np.concatenate((ready, known), axis=1).astype(np.float32)


def weighed(alone: FloatArray, with_site: FloatArray) -> FloatArray:
    """Weigh what the judge says of a page alone against what it says of the page and its site.

    Some template differs from page to page, and only the page itself tells; so its word counts a little more.
    """
    return np.asarray(PAGE_SHARE * alone + (1 - PAGE_SHARE) * with_site, dtype=np.float32)


def _clipped(numbers: FloatArray, mean: FloatArray, spread: FloatArray) -> FloatArray:
    result: FloatArray = np.subtract(numbers, mean)
    result /= spread
    return np.clip(result, -4, 4, out=result)


def best_cut(logits: FloatArray, words: IntArray, warmth: float) -> float:
    """Return the logit from which on blocks are kept so that the expected word F1 of the page is highest.

    Where it is doubtful what the content is, more of it is worth keeping: of a set that is right with probability p,
    F1 is highest if all is kept that is right with more than half of the F1 that can be reached. `warmth` says how much
    surer the network sounds than it is.
    """
    if not len(logits):
        return 0.0
    order = np.argsort(-logits, kind="stable")
    sizes = words[order].astype(np.float64)
    right = np.cumsum(sizes / (1.0 + np.exp(-logits[order].astype(np.float64) / warmth)))
    f1 = 2.0 * right / np.maximum(np.cumsum(sizes) + right[-1], 1e-9)
    last = int(np.argmax(f1))
    lowest = float(logits[order[last]])
    below = float(logits[order[last + 1]]) if last + 1 < len(order) else lowest - 1.0
    return min(0.0, (lowest + below) / 2)


def _array(arrays: Arrays, name: str) -> FloatArray:
    return np.asarray(arrays[name], dtype=np.float32)
