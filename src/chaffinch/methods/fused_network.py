"""The networks of the method `fused`, evaluated over all blocks of a page at once.

The first reads `PageEvidence`. An input layer looks at each block alone. Then, in rounds, every block looks at what the
layer before made of its neighbours, of the containers around it (each at least twice as large as the one inside), of
the blocks in the same kind of place, and of the whole page: means, weighted by words, that prefix sums give for all
blocks together. The second, the judge, reads `judge_numbers`: the first's scores on pages of sites that it had not seen
in training, and what is known of the site.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from threadpoolctl import ThreadpoolController

from chaffinch.page.arrays import offsets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from chaffinch.methods.page_evidence import PageEvidence
    from chaffinch.page.arrays import FloatArray, IntArray

Arrays: TypeAlias = "Mapping[str, NDArray[Any]]"

CONTEXT_LEVELS: Final = (1, 2, 3, 4)
"""The containers whose means are looked at."""
PARTS: Final = 3 + len(CONTEXT_LEVELS) + 2
"""What a block sees in a round: itself, two neighbours, the containers, the page, its group."""
MOST_WORDS: Final = 60
"""Words of a block that are read."""
_ROWS: Final = 1 << 14
"""Blocks that are worked on at a time, so that a huge page takes little memory."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Multiply on one core: the matrices of a page are too small to share out, and runs use the cores page by page."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What lies around each block of a page, for the rounds of a network."""

    weight: FloatArray
    """How much each block counts in a mean."""
    first: IntArray
    stop: IntArray
    order: NDArray[np.intp]
    """The blocks sorted by group."""
    group: IntArray

    @classmethod
    def of(cls, evidence: PageEvidence) -> Surroundings:
        """Find what lies around the blocks."""
        counts = np.diff(evidence.word_start)
        return cls(
            np.log1p(1.0 + counts).astype(np.float32),
            evidence.first,
            evidence.stop,
            np.argsort(evidence.group, kind="stable"),
            evidence.group,
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

    def logits(self, inputs: FloatArray, around: Surroundings) -> FloatArray:
        """Return for each block how much it looks like content: above 0 more likely than not."""
        state = np.maximum(_layer(self.inputs, inputs), 0)
        for layer in self.rounds:
            state = state + self._round(layer, state, around)
        column: FloatArray = _layer(self.output, state)[:, 0]
        return column

    @staticmethod
    def _round(layer: tuple[FloatArray, FloatArray], state: FloatArray, around: Surroundings) -> FloatArray:
        count, width = state.shape
        weighted = np.concatenate((state * around.weight[:, None], around.weight[:, None]), axis=1)
        before = np.zeros((count + 1, width + 1))
        np.cumsum(weighted, axis=0, out=before[1:], dtype=np.float64)
        group = _group_means(weighted, around)
        whole = _mean(before[count] - before[0])
        result = np.empty_like(state)
        for start in range(0, count, _ROWS):
            rows = np.arange(start, min(count, start + _ROWS))
            parts = [state[rows], state[np.maximum(rows - 1, 0)], state[np.minimum(rows + 1, count - 1)]]
            parts += [
                _mean(before[around.stop[rows, level]] - before[around.first[rows, level]]) for level in CONTEXT_LEVELS
            ]
            parts += [np.broadcast_to(whole, (len(rows), width)), group[around.group[rows]]]
            result[rows] = np.maximum(_layer(layer, np.concatenate(parts, axis=1)), 0)
        return result


def _layer(layer: tuple[FloatArray, FloatArray], values: FloatArray) -> FloatArray:
    factors, shift = layer
    result: FloatArray = np.asarray(values @ factors, dtype=np.float32)
    result += shift
    return result


def _mean(sums: NDArray[np.floating]) -> FloatArray:
    means: FloatArray = (sums[..., :-1] / np.maximum(sums[..., -1:], 1e-3)).astype(np.float32)
    return means


def _group_means(weighted: FloatArray, around: Surroundings) -> FloatArray:
    ordered = around.group[around.order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return _mean(np.add.reduceat(weighted[around.order], starts, axis=0))


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
        get = self.numbers.get
        return np.fromiter((get(name, 0) for name in names), dtype=np.int32, count=len(names))

    def silent(self) -> Vocabulary:
        """Return a vocabulary whose names mean nothing."""
        return Vocabulary(self.numbers, np.zeros_like(self.vectors))


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

    def logits(self, evidence: PageEvidence, around: Surroundings) -> FloatArray:
        """Return for each block how much it looks like content."""
        if not len(evidence):
            return np.zeros(0, dtype=np.float32)
        return self.layers.logits(self.inputs(evidence), around)

    def inputs(self, evidence: PageEvidence) -> FloatArray:
        """Return what the input layer sees."""
        signs = self.signs.find(evidence.signs)
        sign = self.signs.vectors[signs[signs > 0]].sum(axis=0)
        return np.concatenate(
            (
                standardised(evidence.numbers, self.mean, self.spread),
                *(table[evidence.tags[:, place]] for place, table in enumerate(self.tags)),
                self._words(evidence),
                self._names(evidence),
                np.broadcast_to(sign.astype(np.float32), (len(evidence), len(sign))),
            ),
            axis=1,
        )

    def _words(self, evidence: PageEvidence) -> FloatArray:
        """Return the sum of the vectors of each block's known words, over the square root of their number."""
        words, starts = known_words(evidence, self.words.find(evidence.word_names))
        lengths = np.diff(starts)
        sums = _sums(self.words.vectors[words], starts)
        return np.asarray(sums / np.sqrt(np.maximum(lengths, 1))[:, None], dtype=np.float32)

    def _names(self, evidence: PageEvidence) -> FloatArray:
        """Return the sums of the vectors of the names around each block: near, further out, and all."""
        numbers = self.names.find(evidence.name_names)[evidence.names]
        elements = evidence.name_element[numbers > 0]
        vectors = self.names.vectors[numbers[numbers > 0]].astype(np.float64)
        # Names count from where their element starts up to where it ends.
        bearers, starts = np.unique(elements, return_index=True)
        opened = _sums(vectors, np.append(starts, len(elements))) if len(bearers) else vectors
        ends = evidence.end[bearers]
        order = np.argsort(ends, kind="stable")
        total = np.zeros((len(bearers) + 1, vectors.shape[1]))
        closed = total.copy()
        np.cumsum(opened, axis=0, out=total[1:])
        np.cumsum(opened[order], axis=0, out=closed[1:])
        own, middle, far = (
            total[np.searchsorted(bearers, element, side="right")]
            - closed[np.searchsorted(ends[order], element, side="right")]
            for element in (evidence.element[:, level] for level in (0, 2, 4))
        )
        return np.concatenate((own - middle, middle - far, own), axis=1).astype(np.float32)


def known_words(evidence: PageEvidence, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of the first words of each block that are known, and where each block's start."""
    found = numbers[evidence.words]
    counts = np.diff(evidence.word_start)
    place = np.arange(len(found)) - np.repeat(evidence.word_start[:-1], counts)
    kept = (found > 0) & (place < MOST_WORDS)
    return found[kept], offsets(kept)[evidence.word_start]


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
        if not len(numbers):
            return np.zeros(0, dtype=np.float32)
        inputs = judge_inputs(numbers, self.mean, self.spread)
        result = np.empty(len(inputs), dtype=np.float32)
        for start in range(0, len(inputs), _ROWS):
            rows = inputs[start : start + _ROWS]
            result[start : start + _ROWS] = np.mean([_feed(layers, rows) for layers in self.members], axis=0)
        return result


def _feed(layers: Sequence[tuple[FloatArray, FloatArray]], values: FloatArray) -> FloatArray:
    for layer in layers[:-1]:
        values = np.maximum(_layer(layer, values), np.float32(0))
    column: FloatArray = _layer(layers[-1], values)[:, 0]
    return column


def judge_inputs(numbers: FloatArray, mean: FloatArray, spread: FloatArray) -> FloatArray:
    """Return numbers around 0; what is not known is ordinary, and a last column tells whether the site is known."""
    ready = np.nan_to_num(np.clip((numbers - mean) / spread, -4, 4), nan=0.0)
    known = ~np.isnan(numbers[:, -1:])
    return np.concatenate((ready, known), axis=1).astype(np.float32)


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
