"""Page evidence and site evidence, weighed by trained networks: the default method.

A network looks at what the page itself shows of each leaf text block (`page_evidence`). A second one, the judge, looks
at what the first made of it and of what is around it, and, when other pages of the site are known, at what they show of
it (`site_evidence`). From the probabilities follows which choice of blocks has the highest expected word F1; that
choice is a score of 0.5, whatever the page.

Text that an attribute hides until a script or a click shows it is judged like all other text, and shown if it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from chaffinch.errors import ModelError
from chaffinch.methods.codec import pack, unpack
from chaffinch.methods.explain import Evidence
from chaffinch.methods.favor import Calibration
from chaffinch.methods.frequency import Frequencies
from chaffinch.methods.fused_network import (
    PAGE_SHARE,
    Judge,
    PageNetwork,
    Surroundings,
    best_cut,
)
from chaffinch.methods.judge_numbers import JUDGE_NAMES, SITE_NAMES, judge_numbers, page_numbers, site_numbers
from chaffinch.methods.one_thread import one_thread
from chaffinch.methods.page_evidence import NUMBER_NAMES, find_evidence
from chaffinch.methods.site_evidence import Places, SiteEvidence
from chaffinch.methods.word_hashes import hash_texts
from chaffinch.models.files import load_model
from chaffinch.page.arrays import frozen, offsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.methods.page_evidence import PageEvidence
    from chaffinch.models.files import Model
    from chaffinch.page.arrays import BoolArray, FloatArray, HashArray
    from chaffinch.page.table import Page

KIND: Final = "fused"
VERSION: Final = 2
"""Raised when the networks or what they look at change."""

_MOST_BLOCKS: Final = 50_000
"""Of larger pages, which are tables and lists, so many blocks are judged; what stands behind them is kept."""
_LEAST_PAGES: Final = 2
"""A page alone is no site."""
_LASTING: Final = 0.5
"""A place that at least so many of a site's pages have is looked for to tell whether the site still looks the same."""
_STEEPEST: Final = 30.0
SHARES: Final = (0.95, 0.8)
"""The shares of the template that go where clean text matters most, and where no content may be lost."""


@dataclass(frozen=True, eq=False)
class Networks:
    """The trained part of the method."""

    page: PageNetwork
    judge: Judge
    warmth: float
    thresholds: FloatArray
    """The scores from which on 0, 1 %, 2 % … of the template is found, on sites that were held out of training."""

    @classmethod
    def read(cls, model: Model) -> Networks:
        """Take the networks from a model file."""
        return cls(
            PageNetwork.read(model.arrays),
            Judge.read(model.arrays),
            float(model.arrays["warmth"]),
            model.arrays["calibration"],
        )


@cache
def shipped() -> Networks:
    """Return the networks that come with Chaffinch."""
    return Networks.read(load_model("fused", KIND, VERSION))


@dataclass(frozen=True)
class Fused:
    """What a page shows, and what its site shows, in one score."""

    keep_comments: bool = False
    """Whether what readers wrote under an article is kept."""
    most_entries: int = 1 << 18
    """Texts, shapes and places of a site that are counted exactly; beyond it texts are counted within fixed memory."""

    judges_hidden: ClassVar[bool] = True
    name: ClassVar[str] = "fused"
    summary: ClassVar[str] = "what the page shows and what the pages of its site show, weighed by trained networks"
    version: ClassVar[int] = 2

    @property
    def streams(self) -> bool:
        """Every page of the site counts."""
        return False

    @property
    def calibration(self) -> Calibration:
        """What scores were worth on held-out sites."""
        return Calibration(shipped().thresholds, *SHARES)

    def summarise(self, page: Page) -> SiteEvidence:
        """Count what a page shows."""
        evidence = find_evidence(_judged(page))
        with one_thread():
            views = shipped().page.views(evidence, Surroundings.of(evidence))
        likely = probabilities(views[:, 0])
        return SiteEvidence.of_page(evidence, likely, self.most_entries)

    def merge(self, one: SiteEvidence, other: SiteEvidence) -> SiteEvidence:
        """Add up."""
        return one.merge(other)

    def finish(self, summary: SiteEvidence) -> SiteEvidence:
        """Return the sums; they are the template."""
        return summary

    def reopen(self, template: SiteEvidence) -> SiteEvidence:
        """Return the sums again."""
        return template

    def fit(self, page: Page, template: SiteEvidence) -> float:
        """Return which share of the places that most pages of the site have the page has too."""
        lasting = template.near.keys[template.near.sums[:, 0] >= _LASTING * template.pages]
        if not len(lasting):
            return 1.0
        return float(np.isin(lasting, find_evidence(_judged(page)).near_path).mean())

    def knows(self, page: Page, template: SiteEvidence | None) -> bool:
        """Tell whether there are other pages to compare with."""
        del page
        return template is not None and template.pages >= _LEAST_PAGES

    def score(self, page: Page, template: SiteEvidence | None) -> FloatArray:
        """Score each text node by its block; text that nobody can see is template."""
        judged = _judged(page)
        evidence = find_evidence(judged)
        logits = block_logits(evidence, template if self.knows(page, template) else None, shipped())
        if self.keep_comments:
            logits[_in_comments(evidence)] = np.maximum(logits, _COMMENT_LOGIT)[_in_comments(evidence)]
        scores = text_scores(judged, logits)
        rest = ~page.shown_text_nodes[len(scores) :]
        return np.concatenate((scores, rest.astype(np.float32)))

    def evidence(self, page: Page, template: SiteEvidence | None) -> Evidence:
        """Say what every feature did to the decision: how the logit changes if the feature is an ordinary one."""
        known = template if self.knows(page, template) else None
        return _explained(find_evidence(_judged(page)), known, shipped()).padded(len(page.unrolled.blocks))

    def dump(self, template: SiteEvidence) -> bytes:
        """Serialise the sums."""
        arrays: dict[str, NDArray[Any]] = {"about": np.array([template.pages, self.most_entries], dtype=np.int64)}
        for name, counts in (
            ("texts", template.texts),
            ("shapes", template.shapes),
            ("edges", template.edges),
            ("titles", template.titles),
        ):
            arrays |= {
                f"{name}_hashes": counts.hashes,
                f"{name}_counts": counts.counts,
                f"{name}_sketch": counts.sketch,
            }
        for name, places in (("near", template.near), ("full", template.full)):
            arrays |= {f"{name}_keys": places.keys, f"{name}_sums": places.sums, f"{name}_seen": places.seen}
        return pack(self.name, self.version, arrays)

    def load(self, data: bytes) -> SiteEvidence:
        """Read what `dump` wrote."""
        (about,) = unpack(data, self.name, self.version, ["about"])
        if about.shape != (2,):
            raise ModelError(f"template of method {self.name}", "is damaged")
        pages, most = about.tolist()
        texts, shapes, edges, titles = (
            Frequencies(most, *unpack(data, self.name, self.version, [f"{name}_{part}" for part in _COUNTS]))
            for name in ("texts", "shapes", "edges", "titles")
        )
        near, full = (
            Places(most, *unpack(data, self.name, self.version, [f"{name}_{part}" for part in _PLACES]))
            for name in ("near", "full")
        )
        return SiteEvidence(pages, texts, shapes, edges, titles, near, full)


def _judged(page: Page) -> Page:
    """Return the part of a page that is judged: all of it, unless it is huge."""
    first = page.unrolled.blocks.first
    return page if len(first) <= _MOST_BLOCKS else page.upto(int(first[_MOST_BLOCKS]))


def text_scores(page: Page, logits: FloatArray) -> FloatArray:
    """Return the score of each text node from how much each block is content."""
    of_block: FloatArray = np.append(probabilities(-logits), np.float32(1.0))
    return of_block[page.unrolled.blocks.of_text]


_COUNTS: Final = ("hashes", "counts", "sketch")
_PLACES: Final = ("keys", "sums", "seen")


def block_logits(evidence: PageEvidence, site: SiteEvidence | None, networks: Networks) -> FloatArray:
    """Return how much each block is content by all that is known; 0 is the decision."""
    if not len(evidence):
        return np.zeros(0, dtype=np.float32)
    logits = _logits(evidence, site, networks)
    return logits - np.float32(best_cut(logits, np.diff(evidence.word_start), networks.warmth))


def _logits(evidence: PageEvidence, site: SiteEvidence | None, networks: Networks) -> FloatArray:
    with one_thread():
        views = networks.page.views(evidence, Surroundings.of(evidence))
        about_site = None if site is None else site_numbers(evidence, site)
        return networks.judge.both(page_numbers(evidence, views), about_site)


COLUMNS: Final = {name: place for place, name in enumerate(NUMBER_NAMES)}


def probabilities(logits: FloatArray) -> FloatArray:
    """Return 1 for what is sure, 0.5 for what is open, 0 for what is out of the question."""
    likely: FloatArray = (1.0 / (1.0 + np.exp(-logits.clip(-_STEEPEST, _STEEPEST)))).astype(np.float32)
    return likely


_COMMENT_NAMES: Final = ("comment", "comments", "commentlist", "replies", "disqus", "respond")
_COMMENT_LOGIT: Final = np.float32(1.0)
_COMMENT_LINKS: Final = 0.5
"""Of a comment's text at most this share is in links; the rest are its buttons."""


@cache
def _comment_hashes() -> HashArray:
    return hash_texts(_COMMENT_NAMES)


def _in_comments(evidence: PageEvidence) -> BoolArray:
    """Tell which blocks are text of comments, by the names of the elements around them."""
    marks = evidence.marks
    is_comment = np.isin(marks.name_hash, _comment_hashes())
    change = np.zeros(len(evidence.skeleton.node) + 1, dtype=np.int32)
    telling = offsets(is_comment)
    bearers = marks.element[(telling[marks.name_start[1:]] > telling[marks.name_start[:-1]])[marks.number]]
    np.add.at(change, bearers, 1)
    np.subtract.at(change, evidence.skeleton.end[bearers], 1)
    result = change.cumsum()[evidence.skeleton.of_block] > 0
    links = evidence.numbers[:, COLUMNS["link share"]]
    return result & (links <= _COMMENT_LINKS) & (np.diff(evidence.word_start) > 1)


def _explained(evidence: PageEvidence, site: SiteEvidence | None, networks: Networks) -> Evidence:
    """Take one feature after the other away, and see what becomes of every block: its logit without, less that with it.

    What stands in for a feature is its mean in training. Words, names and signs are taken away all together.
    """
    whole = _logits(evidence, site, networks)
    columns: list[tuple[str, FloatArray, NDArray[np.floating]]] = []
    for place, name in enumerate(NUMBER_NAMES):
        numbers = evidence.numbers.copy()
        numbers[:, place] = networks.page.mean[place]
        without = _logits(replace(evidence, numbers=frozen(numbers)), site, networks)
        columns.append((name, evidence.numbers[:, place], without - whole))
    page = networks.page
    for name, silent in (
        ("words of the block", replace(page, words=page.words.silent())),
        ("names of elements around", replace(page, names=page.names.silent())),
        ("kind of page", replace(page, signs=page.signs.silent())),
    ):
        without = _logits(evidence, site, replace(networks, page=silent))
        columns.append((name, np.full(len(evidence), np.nan, dtype=np.float32), without - whole))
    if site is not None:
        views = networks.page.views(evidence, Surroundings.of(evidence))
        known_numbers = judge_numbers(evidence, views, site)
        known_whole = networks.judge.logits(known_numbers)
        share = np.float32(1 - PAGE_SHARE)
        start = len(JUDGE_NAMES) - len(SITE_NAMES)
        for place, name in enumerate(SITE_NAMES, start):
            numbers = known_numbers.copy()
            numbers[:, place] = networks.judge.mean[place]
            columns.append((name, known_numbers[:, place], (networks.judge.logits(numbers) - known_whole) * share))
    names, values, changes = zip(*columns, strict=True)
    return Evidence(names, np.stack(values, axis=1), np.stack(changes, axis=1).astype(np.float32))
