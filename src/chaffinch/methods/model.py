"""The site-independent detector (Kolcz and Yih 2007): template told by the looks of a block, on sites never seen.

A model was trained on blocks that the crawls of many sites had labelled by themselves. It needs nothing but the page,
so it works on a page alone; what it learns of a site serves only to tell a redesign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from chaffinch.errors import ModelError
from chaffinch.methods.bounds import Count, check_bounds
from chaffinch.methods.codec import pack, unpack
from chaffinch.methods.explain import Evidence
from chaffinch.methods.model_weights import COLUMNS, Weights, weights_of
from chaffinch.methods.page_blocks import PageBlocks
from chaffinch.page.arrays import frozen
from chaffinch.page.tags import BLOCK_LEVEL, Visibility

if TYPE_CHECKING:
    from chaffinch.methods.classifiers import Forest, Logistic
    from chaffinch.methods.favor import Calibration
    from chaffinch.page.arrays import FloatArray, HashArray
    from chaffinch.page.table import Page


@dataclass(frozen=True, eq=False)
class Layout:
    """The paths of block-level elements that a site's pages have, those with the smallest hashes."""

    paths: HashArray
    """Ascending."""


@dataclass(frozen=True)
class SiteIndependent:
    """Drops what looks like template."""

    classifier: Literal["forest", "logistic"] = "forest"
    """A random forest, or logistic regression, which is quicker and finds less."""
    file: str = ""
    """A model that `chaffinch train` wrote; without one, the model that comes with Chaffinch."""
    most_paths: Count = 2000
    """How many paths of elements are remembered of a site, to tell a redesign."""

    name: ClassVar[str] = "model"
    summary: ClassVar[str] = "drops what looks like template, page by page, by a trained model (Kolcz & Yih 2007)"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Refuse options that mean nothing."""
        check_bounds(self)
        if self.file:
            weights_of(self.file)  # a file that cannot be read is told of before any page

    @property
    def streams(self) -> bool:
        """No page needs another one."""
        return True

    @property
    def calibration(self) -> Calibration:
        """What the scores were worth on sites that had no part in training."""
        return self._weights.gradings[self.classifier].calibration

    @property
    def _weights(self) -> Weights:
        return weights_of(self.file)

    @property
    def _chosen(self) -> Forest | Logistic:
        return self._weights.forest if self.classifier == "forest" else self._weights.logistic

    def summarise(self, page: Page) -> Layout:
        """Return the paths of the page's block-level elements."""
        return self._bounded(page.tag_path[BLOCK_LEVEL[page.tag]])

    def merge(self, one: Layout, other: Layout) -> Layout:
        """Join the paths."""
        return self._bounded(np.concatenate((one.paths, other.paths)))

    def finish(self, summary: Layout) -> Layout:
        """Return the paths."""
        return summary

    def reopen(self, template: Layout) -> Layout:
        """Return the template: it is its own summary."""
        return template

    def fit(self, page: Page, template: Layout) -> float:
        """Return which share of the page's paths the site has had."""
        paths = np.unique(page.tag_path[BLOCK_LEVEL[page.tag]])
        if len(template.paths) >= self.most_paths:
            paths = paths[paths <= template.paths[-1]]  # what is greater was not remembered
        return float(np.isin(paths, template.paths).mean()) if len(paths) else 1.0

    def knows(self, page: Page, template: Layout | None) -> bool:  # noqa: ARG002  (it needs nothing of the site)
        """Every page tells enough by itself."""
        return True

    def score(self, page: Page, template: Layout | None) -> FloatArray:  # noqa: ARG002
        """Score each text by the innermost block that it stands in."""
        scores = np.zeros(len(page.text_nodes), dtype=np.float32)
        if not len(scores):
            return scores
        weights = self._weights
        blocks = PageBlocks.of(page, modern=weights.modern)
        if not len(blocks):
            return scores
        chosen = blocks.innermost()
        answers = self._chosen(weights.features(blocks, chosen))
        of_block = np.zeros(len(blocks) + 1, dtype=np.float32)
        of_block[chosen] = weights.gradings[self.classifier].scores(answers)
        scores[page.visibility[page.text_nodes] == Visibility.VISIBLE] = of_block[blocks.of_text]
        return scores

    def evidence(self, page: Page, template: Layout | None) -> Evidence:  # noqa: ARG002
        """Return, for each leaf text block, the features of the innermost block around it, and what they did."""
        weights = self._weights
        blocks = PageBlocks.of(page, modern=weights.modern)
        values = weights.features(blocks, np.arange(len(blocks)))
        parts = self._chosen.parts(values)
        nothing = np.full((len(COLUMNS), 1), np.nan, dtype=np.float32)
        shown = page.text_nodes[page.visibility[page.text_nodes] == Visibility.VISIBLE]
        block = blocks.of_text[np.searchsorted(shown, page.blocks.first)]
        return Evidence(
            COLUMNS,
            np.concatenate((values, nothing), axis=1)[:, block].T,
            np.concatenate((parts, np.zeros_like(nothing)), axis=1)[:, block].T,
        )

    def dump(self, template: Layout) -> bytes:
        """Write the paths."""
        return pack(self.name, self.version, {"paths": template.paths})

    def load(self, data: bytes) -> Layout:
        """Read the paths back."""
        (paths,) = unpack(data, self.name, self.version, ("paths",))
        if paths.ndim != 1:
            raise ModelError(f"template of method {self.name}", "is damaged (it is no list of paths)")
        return self._bounded(paths.astype(np.uint64))

    def _bounded(self, paths: HashArray) -> Layout:
        return Layout(frozen(np.unique(paths)[: self.most_paths]))
