"""What a method makes of one page, block by block: score, decision, and the evidence where a method can tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

import numpy as np

from chaffinch.methods.decision import read_by
from chaffinch.methods.favor import DEFAULT_FAVOR, Favor, threshold_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.methods.protocol import AnyMethod
    from chaffinch.page.arrays import BoolArray, FloatArray
    from chaffinch.page.table import Page


_MOST_NAMES: Final = 12
"""How many elements around a block are named."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What spoke for and against each of a page's leaf text blocks: a row for each block, a column for each feature."""

    features: tuple[str, ...]
    values: FloatArray
    """What was measured; NaN where there is no number to it, as with the words of a block."""
    contributions: FloatArray
    """What it did to the decision: above 0 it spoke for template, below 0 for content."""

    def padded(self, blocks: int) -> Evidence:
        """Return the evidence with rows that say nothing for the blocks behind the last."""
        more = ((0, blocks - len(self.values)), (0, 0))
        return Evidence(
            self.features,
            np.pad(self.values, more, constant_values=np.nan),
            np.pad(self.contributions, more),
        )


@runtime_checkable
class Explains(Protocol):
    """A method that can tell why."""

    def evidence(self, page: Page, template: Any) -> Evidence:  # noqa: ANN401  (of the method's own kind, or None)
        """Return the evidence for each of `page.blocks`."""
        ...


@dataclass(frozen=True, slots=True)
class FeatureEvidence:
    """One feature of one block."""

    feature: str
    value: float | None
    """What was measured, if it is a number."""
    contribution: float
    """Above 0 it spoke for template, below 0 for content."""


@dataclass(frozen=True, slots=True)
class ExplainedBlock:
    """One leaf text block and what became of it."""

    text: str
    path: str
    """The names of the elements around it, from the outermost; of many the innermost."""
    words: int
    score: float
    """From 0, content, to 1, template."""
    template: bool
    """The decision."""
    evidence: tuple[FeatureEvidence, ...]
    """The strongest first; empty if the method has none of its own to show."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One page under one method."""

    source: str
    url: str | None
    method: str
    favor: Favor
    threshold: float
    """The score from which on a block is template; infinite if none is."""
    informed: bool
    """Whether the method knew what it needs to know of the page's site."""
    alone: bool
    """Whether it was told nothing of the site."""
    blocks: tuple[ExplainedBlock, ...]
    """In the order of the page."""


def explain_page(
    method: AnyMethod,
    page: Page,
    template: Any = None,  # noqa: ANN401  (of the method's own kind)
    *,
    favor: Favor = DEFAULT_FAVOR,
) -> Explanation:
    """Say of every leaf text block of a page what the method makes of it, and why."""
    threshold = threshold_of(method, favor)
    shown, page = page, read_by(method, page)
    scores = method.score(shown, template)
    evidence = method.evidence(shown, template) if isinstance(method, Explains) and len(page.blocks) else None
    means = block_scores(page, scores)
    dropped = block_scores(page, (scores >= threshold).astype(np.float32)) >= 0.5
    columns = zip(page.blocks.texts, page.blocks.first.tolist(), page.blocks.words.tolist(), strict=True)
    blocks = tuple(
        ExplainedBlock(
            text=text,
            path=_path(page, first),
            words=words,
            score=round(float(means[number]), 4),
            template=bool(dropped[number]),
            evidence=_rows(evidence, number) if evidence else (),
        )
        for number, (text, first, words) in enumerate(columns)
    )
    return Explanation(
        page.source, page.url, method.name, favor, threshold, method.knows(shown, template), template is None, blocks
    )


def block_scores(page: Page, scores: FloatArray) -> NDArray[np.float64]:
    """Return the mean score of the words of each leaf text block."""
    blocks = page.blocks
    inside = blocks.of_text >= 0
    # Signs alone make no word, but a block of them has a score as well.
    weights = np.maximum(blocks.text_words[inside], 0.001)
    of_text = blocks.of_text[inside]
    total = np.bincount(of_text, weights=weights, minlength=len(blocks))
    weighted = np.bincount(of_text, weights=weights * scores[inside], minlength=len(blocks))
    return np.asarray(weighted / np.maximum(total, 0.001))


def _rows(evidence: Evidence, block: int) -> tuple[FeatureEvidence, ...]:
    values, contributions = evidence.values[block], evidence.contributions[block]
    told: BoolArray = ~np.isnan(values) | (contributions != 0)
    order = [place for place in np.argsort(-np.abs(contributions), kind="stable").tolist() if told[place]]
    return tuple(
        FeatureEvidence(
            evidence.features[place],
            None if np.isnan(values[place]) else round(float(values[place]), 4),
            round(float(contributions[place]), 4),
        )
        for place in order
    )


def _path(page: Page, node: int) -> str:
    names: list[str] = []
    above = int(page.parent[node])
    while above >= 0 and len(names) < _MOST_NAMES:
        names.append(page.name_of(above))
        above = int(page.parent[above])
    return "/".join(reversed([*names, "…"] if above >= 0 else names))
