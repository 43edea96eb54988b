"""From a page's gold and a text to a row of measures, and from the rows of a site to those of the site."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import TYPE_CHECKING, Final, TypeAlias

from chaffinch.evaluation.datasets import MainText, Regions
from chaffinch.evaluation.measures import (
    RegionScore,
    RegionWords,
    plain_words,
    region_score,
    snippet_rate,
    template_leak,
    value_fates,
    value_report,
    word_score,
    words_and_bigrams,
)
from chaffinch.evaluation.results import PageRow, SiteRow
from chaffinch.page.blocks import count_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.evaluation.datasets import GoldPage, GoldSite, SetName, Values

MEASURES: Final[dict[SetName, tuple[str, ...]]] = {
    "wcxb": ("precision", "recall", "f1", "with", "without"),
    "wcxb-sample": ("precision", "recall", "f1", "with", "without"),
    "sites": ("precision", "recall", "f1", "leak"),
    "swde": ("removed", "kept"),
}
"""What is measured on each set.

`with` and `without` are the shares of snippets found that must and must not appear; `leak` is the share of the site's
template words that is still there; `removed` is the share of visible words that is gone, `kept` that of gold values
that is not.
"""

LOWER_IS_BETTER: Final = frozenset({"leak", "without"})

PageScorer: TypeAlias = Callable[[str], PageRow]


def page_scorer(site: GoldSite, page: GoldPage, visible: str) -> PageScorer:
    """Return a function from a text to its row; it counts the words of the gold once, for all predictions.

    `visible` is all visible text of the page, printed as predictions are.
    """
    words_in = count_words(visible)
    measure = _measure_of(page.gold, visible)

    def score(text: str) -> PageRow:
        row = PageRow(site.name, page.file, site.kind, words_in=words_in, words_kept=count_words(text))
        return measure(row, text)

    return score


def _measure_of(gold: MainText | Regions | Values, visible: str) -> Callable[[PageRow, str], PageRow]:
    if isinstance(gold, MainText):
        return _main_text_measure(gold)
    if isinstance(gold, Regions):
        return _regions_measure(gold)
    return _values_measure(gold, visible)


def _main_text_measure(gold: MainText) -> Callable[[PageRow, str], PageRow]:
    wanted = plain_words(gold.content)

    def measure(row: PageRow, text: str) -> PageRow:
        score = word_score(plain_words(text), wanted)
        snippets = {"with": snippet_rate(text, gold.required), "without": snippet_rate(text, gold.forbidden)}
        return row.having({**score._asdict(), **snippets})

    return measure


def _regions_measure(gold: Regions) -> Callable[[PageRow, str], PageRow]:
    words = RegionWords.of(gold)

    def measure(row: PageRow, text: str) -> PageRow:
        score = region_score(words_and_bigrams(text), words)
        shares = {"precision": score.precision, "recall": score.recall, "f1": score.f1, "leak": template_leak([score])}
        return row.having(shares, leaked=score.leaked, template=score.template)

    return measure


def _values_measure(gold: Values, visible: str) -> Callable[[PageRow, str], PageRow]:
    def measure(row: PageRow, text: str) -> PageRow:
        fates = value_fates(gold, visible, text)
        shown = [fate.kept for fate in fates if fate.shown]
        shares = {"removed": _removed([row]), "kept": fmean(shown) if shown else 1.0}
        return row.having(shares, values=fates)

    return measure


def _removed(rows: Sequence[PageRow]) -> float:
    return 1 - sum(row.words_kept for row in rows) / max(1, sum(row.words_in for row in rows))


def site_row(set_name: SetName, rows: Sequence[PageRow]) -> SiteRow:
    """Sum up the pages of one site."""
    first = rows[0]
    if set_name == "swde":
        report = value_report(row.values for row in rows)
        return SiteRow(
            first.site,
            first.kind,
            len(rows),
            {"removed": _removed(rows), "kept": report.kept},
            {"values": report.values, "never_shown": report.never_shown, "not_shown": report.not_shown},
        )
    means = {name: fmean(row.measures[name] for row in rows) for name in MEASURES[set_name]}
    if set_name == "sites":  # the official leak pools the pages of a site
        means["leak"] = template_leak(RegionScore(0, 0, 0, row.leaked, row.template) for row in rows)
    return SiteRow(first.site, first.kind, len(rows), means)
