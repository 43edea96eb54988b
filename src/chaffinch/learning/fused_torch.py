"""Trains the networks of `fused` with PyTorch; `methods.fused_network` evaluates what comes out.

The loss of a page is the cross-entropy of its blocks, by the square root of their words, and a part of 1 - F1 with the
probabilities in place of decisions. Sets of pages differ in what they call content; each has an answer of its own, and
the network learns from all of them what they have in common. Words and names are left out at random, so that nothing
hangs on a single one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import torch
from torch.nn import functional

from chaffinch.methods.fused_network import (
    ANSWERS,
    CONTEXT_LEVELS,
    PARTS,
    Surroundings,
    judge_inputs,
    known_words,
    standardised,
)
from chaffinch.page.tags import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from chaffinch.learning.fused_examples import Example
    from chaffinch.page.arrays import FloatArray

Tensor: TypeAlias = Any
Parameters: TypeAlias = "dict[str, Tensor]"

WORD_WIDTH: Final = 24
NAME_WIDTH: Final = 24
SIGN_WIDTH: Final = 12
TAG_WIDTH: Final = 8
LEAST_SITES: Final = 5
"""A word or a name is learned if it stands on at least so many sites."""


@dataclass(frozen=True)
class Plan:
    """How a network is trained."""

    epochs: int = 9
    rate: float = 2e-3
    width: int = 64
    rounds: int = 2
    dropout: float = 0.3
    forgetting: float = 0.4
    """The share of words and names that a step does not see."""
    decay: float = 0.05
    f1_part: float = 0.3
    pages: int = 12
    """Pages a step."""
    most_blocks: int = 2500
    """Larger pages are not trained on."""
    seed: int = 2026


@dataclass(frozen=True, eq=False)
class Input:
    """One page as a network sees it."""

    numbers: FloatArray
    around: Surroundings
    words: FloatArray
    content: FloatArray
    gold: int
    columns: dict[str, NDArray[Any]]
    """Tags, words, names and signs, as numbers."""
    answer: int
    """Which of the network's answers the page's labels are for."""
    weight: float
    """How many pages it counts for."""


class _Chance:
    """Leaves things out at random while training."""

    def __init__(self, plan: Plan, *, training: bool) -> None:
        self.plan = plan
        self.training = training

    def drop(self, values: Tensor, share: float | None = None) -> Tensor:
        return functional.dropout(values, self.plan.dropout if share is None else share, self.training)

    def keep(self, count: int, share: float) -> Tensor:
        return (torch.rand(count, 1) >= share).float()


class _Batch:
    """Some pages, one behind the other."""

    def __init__(self, pages: Sequence[Input]) -> None:
        counts = np.array([len(page.numbers) for page in pages])
        begin = np.concatenate(([0], np.cumsum(counts)))
        self.pages = len(pages)
        self.count = int(begin[-1])
        self.numbers = torch.from_numpy(np.concatenate([page.numbers for page in pages]))
        self.page = torch.from_numpy(np.repeat(np.arange(len(pages)), counts))
        self.page_first = torch.from_numpy(np.repeat(begin[:-1], counts))
        self.page_stop = torch.from_numpy(np.repeat(begin[1:], counts))
        here = torch.arange(self.count)
        self.before = torch.maximum(here - 1, self.page_first)
        self.behind = torch.minimum(here + 1, self.page_stop - 1)
        self.first = _joined([page.around.first for page in pages], begin)
        self.stop = _joined([page.around.stop for page in pages], begin)
        groups = np.concatenate(([0], np.cumsum([int(page.around.group.max()) + 1 for page in pages])))
        self.group = _joined([page.around.group for page in pages], groups)
        self.groups = int(groups[-1])
        self.weight = torch.from_numpy(np.concatenate([page.around.weight for page in pages]))[:, None]
        self.words = torch.from_numpy(np.concatenate([page.words for page in pages]))
        self.content = torch.from_numpy(np.concatenate([page.content for page in pages]))
        self.gold = torch.tensor([float(page.gold) for page in pages])
        self.answer = torch.tensor([page.answer for page in pages])[self.page][:, None]
        self.page_weight = torch.tensor([page.weight for page in pages])
        self._columns(pages, begin)

    def _columns(self, pages: Sequence[Input], begin: NDArray[np.int64]) -> None:
        nodes = np.concatenate(([0], np.cumsum([int(page.columns["nodes"][0]) for page in pages])))
        self.nodes = int(nodes[-1])
        self.tags = torch.from_numpy(np.concatenate([page.columns["tags"] for page in pages])).long()
        self.word = _joined([page.columns["word"] for page in pages], 0 * begin)
        self.word_block = _joined([page.columns["word_block"] for page in pages], begin)
        self.name = _joined([page.columns["name"] for page in pages], 0 * begin)
        self.name_first = _joined([page.columns["name_first"] for page in pages], nodes)
        self.name_stop = _joined([page.columns["name_stop"] for page in pages], nodes)
        self.element = _joined([page.columns["element"] for page in pages], nodes)
        self.sign = _joined([page.columns["sign"] for page in pages], 0 * begin)
        self.sign_page = _joined([0 * page.columns["sign"] for page in pages], np.arange(len(pages)))


def _joined(arrays: Sequence[NDArray[Any]], shift: NDArray[Any]) -> Tensor:
    shifted = [array.astype(np.int64) + offset for array, offset in zip(arrays, shift.tolist(), strict=False)]
    return torch.from_numpy(np.concatenate(shifted))


def make_vocabulary(lists: Sequence[tuple[str, Sequence[str]]], most: int) -> list[str]:
    """Return the names that stand on enough sites, the commonest first; `lists` has a site and names for each page."""
    sites: dict[str, set[str]] = {}
    for site, names in lists:
        for name in names:
            sites.setdefault(name, set()).add(site)
    found = [(-len(on), name) for name, on in sites.items() if len(on) >= LEAST_SITES and "\n" not in name]
    return [name for _, name in sorted(found)[:most]]


def start_page(examples: Sequence[Example], plan: Plan) -> Parameters:
    """Return the parameters of a page's network before training, with its vocabularies as lists under `….names`."""
    torch.manual_seed(plan.seed)
    numbers = np.concatenate([example.evidence.numbers for example in examples])
    result: Parameters = {
        "page.mean": torch.from_numpy(numbers.mean(axis=0)),
        "page.spread": torch.from_numpy(numbers.std(axis=0) + np.float32(0.1)),
    }
    kinds = {
        "words": ([(e.site, e.evidence.word_names) for e in examples], 20_000, WORD_WIDTH),
        "names": ([(e.site, e.evidence.name_names) for e in examples], 8_000, NAME_WIDTH),
        "signs": ([(e.site, e.evidence.signs) for e in examples], 2_000, SIGN_WIDTH),
    }
    for kind, (lists, most, width) in kinds.items():
        names = make_vocabulary(lists, most)
        result[f"page.{kind}.names"] = names
        result[f"page.{kind}.vectors"] = _normal(len(names) + 1, width)
    for place in range(3):
        result[f"page.tags{place}"] = _normal(len(NAMES), TAG_WIDTH)
    width = numbers.shape[1] + 3 * TAG_WIDTH + WORD_WIDTH + 3 * NAME_WIDTH + SIGN_WIDTH
    return result | _start_layers(width, plan)


@dataclass(frozen=True)
class JudgePlan:
    """How the judge is trained."""

    epochs: int = 6
    rate: float = 3e-3
    widths: tuple[int, ...] = (96, 32)
    members: int = 2
    dropout: float = 0.25
    decay: float = 0.3
    blocks: int = 2048
    """Blocks a step."""
    most_blocks: int = 100
    """Of a page with more, so many are drawn."""
    seed: int = 2026


@dataclass(frozen=True, eq=False)
class JudgePage:
    """One page as the judge sees it."""

    numbers: FloatArray
    words: FloatArray
    content: FloatArray
    weight: float = 1.0
    emphasis: float = 1.0
    """How much more what is content counts."""


def train_judge(
    pages: Sequence[JudgePage], plan: JudgePlan, progress: Callable[[str], None] = lambda _: None
) -> dict[str, NDArray[Any]]:
    """Train the judge; every page counts by its weight, a block by the square root of its words."""
    generator = np.random.default_rng(plan.seed)
    pages = [_thinned(page, plan.most_blocks, generator) for page in pages]
    numbers = np.concatenate([page.numbers for page in pages])
    share = np.concatenate([np.clip(page.content / np.maximum(page.words, 1), 0, 1) for page in pages])
    roots = [np.sqrt(page.words) for page in pages]
    weight = np.concatenate(
        [
            root * np.where(page.content > 0, page.emphasis, 1.0) * (page.weight / max(1.0, float(root.sum())))
            for page, root in zip(pages, roots, strict=True)
        ]
    )
    counts = weight > 0
    numbers, share, weight = numbers[counts], share[counts], weight[counts] / weight[counts].mean()
    mean = np.nanmean(numbers, axis=0)
    spread = np.nanstd(numbers, axis=0) + np.float32(0.05)
    inputs = torch.from_numpy(judge_inputs(numbers, mean, spread))
    wanted, weights = torch.from_numpy(share.astype(np.float32)), torch.from_numpy(weight.astype(np.float32))
    result: dict[str, NDArray[Any]] = {"judge.mean": mean.astype(np.float32), "judge.spread": spread.astype(np.float32)}
    for member in range(plan.members):
        torch.manual_seed(plan.seed + member)
        layers = _judge_layers(inputs.shape[1], plan)
        _train_judge(layers, (inputs, wanted, weights), plan)
        progress(f"judge {member + 1} of {plan.members}")
        for place, (factors, shift) in enumerate(layers):
            result[f"judge.{member}.{place}.factors"] = factors.detach().numpy()
            result[f"judge.{member}.{place}.offsets"] = shift.detach().numpy()
    return result


def _thinned(page: JudgePage, most: int, generator: np.random.Generator) -> JudgePage:
    """Draw blocks of a large page; those that do not count are passed over."""
    counted = np.flatnonzero(page.words > 0)
    if len(counted) > most:
        counted = np.sort(generator.choice(counted, most, replace=False))
    return replace(page, numbers=page.numbers[counted], words=page.words[counted], content=page.content[counted])


def _judge_layers(width: int, plan: JudgePlan) -> list[tuple[Tensor, Tensor]]:
    sizes = (width, *plan.widths, 1)
    layers = []
    for ins, outs in pairwise(sizes):
        bound = 1 / math.sqrt(ins)
        factors = ((torch.rand(ins, outs) * 2 - 1) * bound).requires_grad_()
        layers.append((factors, ((torch.rand(outs) * 2 - 1) * bound).requires_grad_()))
    return layers


def _train_judge(layers: list[tuple[Tensor, Tensor]], data: tuple[Tensor, Tensor, Tensor], plan: JudgePlan) -> None:
    inputs, wanted, weights = data
    steps = max(1, len(inputs) // plan.blocks)
    trained = [value for layer in layers for value in layer]
    optimiser = torch.optim.AdamW(trained, lr=plan.rate, weight_decay=plan.decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, plan.rate, total_steps=plan.epochs * steps, pct_start=0.1)
    for _ in range(plan.epochs):
        order = torch.randperm(len(inputs))
        for step in range(steps):
            rows = order[step * plan.blocks : (step + 1) * plan.blocks]
            values = inputs[rows]
            for factors, shift in layers[:-1]:
                values = functional.relu(functional.dropout(values, plan.dropout) @ factors + shift)
            logits = (values @ layers[-1][0] + layers[-1][1])[:, 0]
            crossed = functional.binary_cross_entropy_with_logits(logits, wanted[rows], reduction="none")
            loss = (crossed * weights[rows]).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()


def _normal(rows: int, width: int) -> Tensor:
    return (torch.randn(rows, width) * 0.1).requires_grad_()


def _start_layers(width: int, plan: Plan) -> Parameters:
    result: Parameters = {}
    sizes = {"input": (width, plan.width), "output": (plan.width, len(ANSWERS))}
    sizes |= {f"round{number}": (plan.width * PARTS, plan.width) for number in range(plan.rounds)}
    for name, (ins, outs) in sizes.items():
        bound = 1 / math.sqrt(ins)
        result[f"page.{name}.factors"] = ((torch.rand(ins, outs) * 2 - 1) * bound).requires_grad_()
        result[f"page.{name}.offsets"] = ((torch.rand(outs) * 2 - 1) * bound).requires_grad_()
    return result


def page_input(
    example: Example, parameters: Parameters, numbered: dict[str, dict[str, int]], weight: float = 1.0
) -> Input:
    """Return a page as its network sees it; `numbered` has the numbers of the vocabularies' names."""
    evidence = example.evidence
    around = Surroundings.of(evidence)

    def find(kind: str, names: Sequence[str]) -> NDArray[np.int32]:
        get = numbered[kind].get
        return np.fromiter((get(name, 0) for name in names), dtype=np.int32, count=len(names))

    words, starts = known_words(evidence, find("words", evidence.word_names)[evidence.words])
    names = find("names", evidence.name_names)[evidence.names]
    known = names > 0
    bearer = evidence.name_element[known]
    signs = find("signs", evidence.signs)
    return Input(
        standardised(evidence.numbers, parameters["page.mean"].numpy(), parameters["page.spread"].numpy()),
        around,
        example.words,
        example.content,
        example.gold,
        {
            "nodes": np.array([len(evidence.end) + 1]),
            "tags": evidence.tags,
            "word": words,
            "word_block": np.repeat(np.arange(len(evidence)), np.diff(starts)),
            "name": names[known],
            "name_first": bearer,
            "name_stop": evidence.end[bearer],
            "element": np.maximum(evidence.element[:, [0, 2, 4]], 0),
            "sign": signs[signs > 0],
        },
        ANSWERS.index(example.set),
        weight,
    )


def page_forward(parameters: Parameters, batch: _Batch, chance: _Chance) -> Tensor:
    """Return the logits of the page's network: of each page, the answer that its labels are for."""
    vectors = parameters["page.words.vectors"]
    word = vectors[batch.word]
    name = parameters["page.names.vectors"][batch.name]
    if chance.training:
        share = chance.plan.forgetting
        word = word * chance.keep(len(vectors), share)[batch.word]
        forgotten = chance.keep(len(parameters["page.names.vectors"]), share / 2)
        name = name * forgotten[batch.name] * chance.keep(len(name), share)
    counts = torch.bincount(batch.word_block, minlength=batch.count).clamp(min=1).sqrt()[:, None]
    words = torch.zeros(batch.count, WORD_WIDTH).index_add(0, batch.word_block, word) / counts
    opened = torch.zeros(batch.nodes, NAME_WIDTH).index_add(0, batch.name_first, name)
    opened = opened.index_add(0, batch.name_stop, -name).cumsum(0)
    own, middle, far = (opened[batch.element[:, place]] for place in range(3))
    sign = torch.zeros(batch.pages, SIGN_WIDTH)
    sign = sign.index_add(0, batch.sign_page, parameters["page.signs.vectors"][batch.sign])
    tags = [parameters[f"page.tags{place}"][batch.tags[:, place]] for place in range(3)]
    parts = [batch.numbers, *tags, words, own - middle, middle - far, own, chance.drop(sign, 0.2)[batch.page]]
    return _layers(parameters, torch.cat(parts, 1), batch, chance)


def _layers(parameters: Parameters, values: Tensor, batch: _Batch, chance: _Chance) -> Tensor:
    def layer(name: str, inputs: Tensor) -> Tensor:
        return inputs @ parameters[f"page.{name}.factors"] + parameters[f"page.{name}.offsets"]

    state = functional.relu(layer("input", chance.drop(values)))
    for number in range(chance.plan.rounds):
        weighted = torch.cat([state * batch.weight, batch.weight], 1)
        before = torch.cat([torch.zeros(1, weighted.shape[1]), weighted.cumsum(0)])
        group = torch.zeros(batch.groups, weighted.shape[1]).index_add(0, batch.group, weighted)
        parts = [state, state[batch.before], state[batch.behind]]
        parts += [_mean(before[batch.stop[:, level]] - before[batch.first[:, level]]) for level in CONTEXT_LEVELS]
        parts += [_mean(before[batch.page_stop] - before[batch.page_first]), _mean(group)[batch.group]]
        state = state + functional.relu(layer(f"round{number}", chance.drop(torch.cat(parts, 1))))
    return layer("output", state).gather(1, batch.answer)[:, 0]


def _mean(sums: Tensor) -> Tensor:
    return sums[:, :-1] / sums[:, -1:].clamp(min=1e-3)


def _loss(logits: Tensor, batch: _Batch, f1_part: float) -> Tensor:
    words = batch.words
    share = (batch.content / words.clamp(min=1)).clamp(0, 1)
    weight = words.sqrt()
    crossed = functional.binary_cross_entropy_with_logits(logits, share, reduction="none") * weight
    total = torch.zeros(batch.pages).index_add(0, batch.page, weight).clamp(min=1)
    entropy = torch.zeros(batch.pages).index_add(0, batch.page, crossed) / total
    likely = torch.sigmoid(logits)
    right = torch.zeros(batch.pages).index_add(0, batch.page, likely * torch.minimum(batch.content, words))
    chosen = torch.zeros(batch.pages).index_add(0, batch.page, likely * words)
    losses = entropy + f1_part * (1 - (2 * right + 1) / (chosen + batch.gold + 1))
    return (losses * batch.page_weight).sum() / batch.page_weight.sum()


def train(
    parameters: Parameters,
    inputs: Sequence[Input],
    plan: Plan,
    progress: Callable[[str], None] = lambda _: None,
) -> None:
    """Train `parameters` in place."""
    torch.manual_seed(plan.seed)
    torch.set_num_threads(1)
    generator = np.random.default_rng(plan.seed)
    used = np.array([n for n, page in enumerate(inputs) if 0 < len(page.numbers) <= plan.most_blocks])
    trained = [value for value in parameters.values() if isinstance(value, torch.Tensor) and value.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=plan.rate, weight_decay=plan.decay)
    steps = math.ceil(len(used) / plan.pages)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, plan.rate, total_steps=plan.epochs * steps, pct_start=0.15
    )
    chance = _Chance(plan, training=True)
    for epoch in range(plan.epochs):
        generator.shuffle(used)
        total = 0.0
        for step in range(steps):
            batch = _Batch([inputs[n] for n in used[step * plan.pages : (step + 1) * plan.pages].tolist()])
            loss = _loss(page_forward(parameters, batch, chance), batch, plan.f1_part)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            schedule.step()
            total += float(loss.detach())
        progress(f"epoch {epoch + 1} of {plan.epochs}: loss {total / steps:.4f}")


def arrays_of(parameters: Parameters) -> dict[str, NDArray[Any]]:
    """Return parameters as the arrays of a model file."""
    result: dict[str, NDArray[Any]] = {}
    for name, value in parameters.items():
        if isinstance(value, torch.Tensor):
            kept = np.float16 if name.endswith("vectors") else np.float32
            result[name] = value.detach().numpy().astype(kept)
        else:
            result[name] = np.frombuffer("\n".join(value).encode(), dtype=np.uint8)
    return result
