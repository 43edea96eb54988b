"""The measures of the labelled sets, on plain text: word scores, snippets, template leak, values kept.

The word scores of `wcxb` and `sites` agree with the official scorers of these sets, to the last digit.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chaffinch.evaluation.datasets import Regions, Values

WordCounts: TypeAlias = Counter[str]

_WORD: Final = re.compile(r"\w+")

_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
"""Han and kana, which are written without spaces."""

_CJK_RUN: Final = re.compile(rf"(?:(?=[{_CJK}])\w)+|[^\W{_CJK}]+")
_STARTS_CJK: Final = re.compile(f"[{_CJK}]")


class WordScore(NamedTuple):
    """How well two texts agree word by word, as multisets."""

    precision: float
    recall: float
    f1: float


def harmonic_mean(one: float, other: float) -> float:
    """Return the harmonic mean, 0 if both are 0."""
    return 2 * one * other / (one + other) if one + other else 0.0


def plain_words(text: str) -> WordCounts:
    r"""Count the words of `text` as WCXB does: runs of `\w`, in lower case."""
    return Counter(_WORD.findall(text.lower()))


def word_score(predicted: WordCounts, gold: WordCounts) -> WordScore:
    """Return WCXB's word score. Where the gold is empty, all is right for an empty prediction and wrong for another."""
    if not gold or not predicted:
        return WordScore(*[float(not gold and not predicted)] * 3)
    shared = (predicted & gold).total()
    precision, recall = shared / predicted.total(), shared / gold.total()
    return WordScore(precision, recall, harmonic_mean(precision, recall))


def snippet_rate(text: str, snippets: Sequence[str]) -> float:
    """Return the share of `snippets` that stand in `text`, whatever their case; 1 if there are none."""
    if not snippets:
        return 1.0
    lowered = text.lower()
    return sum(snippet.lower() in lowered for snippet in snippets) / len(snippets)


def words_and_bigrams(text: str) -> WordCounts:
    """Count the words of `text` as `sites` does: runs of Han and kana give their pairs of neighbouring characters."""
    lowered = text.lower()
    if lowered.isascii():
        return Counter(_WORD.findall(lowered))
    counts: WordCounts = Counter()
    for run in _CJK_RUN.findall(lowered):
        if len(run) == 1 or run.isascii() or not _STARTS_CJK.match(run):
            counts[run] += 1
        else:
            counts.update(map("".join, pairwise(run)))
    return counts


@dataclass(frozen=True, slots=True)
class RegionWords:
    """The words of a page's gold."""

    content: WordCounts
    template: WordCounts
    ignored: WordCounts

    @classmethod
    def of(cls, regions: Regions) -> RegionWords:
        """Count the words of `regions`."""
        return cls(*map(words_and_bigrams, (regions.content, regions.template, regions.ignored)))


class RegionScore(NamedTuple):
    """A page's word score, and how much of its template is still there."""

    precision: float
    recall: float
    f1: float
    leaked: int
    """How many words of the template stand in the prediction beyond content and ignored words."""
    template: int
    """How many words the template has."""


def region_score(predicted: WordCounts, gold: RegionWords) -> RegionScore:
    """Return the score of `sites` for one page.

    Words of ignored regions count neither for nor against a prediction, as far as they go beyond the content's own.
    """
    counted = predicted - ((predicted - gold.content) & gold.ignored)
    shared, kept, wanted = (counted & gold.content).total(), counted.total(), gold.content.total()
    precision = shared / kept if kept else 0.0
    recall = shared / wanted if wanted else float(not kept)
    leaked = ((counted - gold.content) & gold.template).total()
    return RegionScore(precision, recall, harmonic_mean(precision, recall), leaked, gold.template.total())


def template_leak(scores: Iterable[RegionScore]) -> float:
    """Return which share of a site's template words is still there, all pages pooled."""
    found = list(scores)
    return sum(score.leaked for score in found) / max(1, sum(score.template for score in found))


class ValueFate(NamedTuple):
    """What became of one gold value on one page."""

    attribute: str
    value: str
    """Normalised, so that equal values compare equal."""
    shown: bool
    """Whether the page's visible text has it at all."""
    kept: bool
    """Whether the content still has it."""


class ValueReport(NamedTuple):
    """What became of the gold values of a site."""

    kept: float
    """The share of its pages on which a value survives, averaged over the distinct values that are shown."""
    values: int
    """How many distinct pairs of attribute and value there are."""
    never_shown: int
    """How many of them no page shows that should."""
    not_shown: int
    """How many times a page does not show a value of its gold; these pages do not count for the value."""


def normalised(text: str) -> str:
    """Return `text` as values are compared: entities resolved, white space folded, case folded."""
    return " ".join(html.unescape(text).casefold().split())


def value_fates(gold: Values, visible: str, content: str) -> tuple[ValueFate, ...]:
    """Tell for each distinct value of a page whether the page shows it and whether its content keeps it."""
    shown, kept = _folded(visible), _folded(content)
    pairs = sorted({(attribute, normalised(value)) for attribute, value in gold.pairs})
    return tuple(ValueFate(name, value, value in shown, value in shown and value in kept) for name, value in pairs)


def _folded(text: str) -> str:
    """Fold a text that has no entities any more."""
    return " ".join(text.casefold().split())


def value_report(pages: Iterable[Iterable[ValueFate]]) -> ValueReport:
    """Sum up a site. Distinct values count once each, however many pages carry them."""
    shown: Counter[tuple[str, str]] = Counter()
    kept: Counter[tuple[str, str]] = Counter()
    gold: Counter[tuple[str, str]] = Counter()
    for fate in (fate for fates in pages for fate in fates):
        pair = fate.attribute, fate.value
        gold[pair] += 1
        shown[pair] += fate.shown
        kept[pair] += fate.kept
    shares = [kept[pair] / count for pair, count in shown.items() if count]
    return ValueReport(
        kept=sum(shares) / len(shares) if shares else 0.0,
        values=len(gold),
        never_shown=len(gold) - len(shares),
        not_shown=gold.total() - shown.total(),
    )
