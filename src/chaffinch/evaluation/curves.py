"""Curves over the methods: what few pages are worth, what thresholds and shares of pages cost, how time grows.

Each curve is a list of typed rows, which `benchmarks/figures.py` writes as JSON and draws.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain, groupby
from math import log
from multiprocessing import get_context
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, TypeVar

from chaffinch.evaluation.datasets import Sites, Swde, find_data
from chaffinch.evaluation.evaluate import Settings, compare
from chaffinch.evaluation.predictors import Clock, Everything, MethodPredictor, visible_text
from chaffinch.evaluation.scoring import page_scorer, site_row
from chaffinch.methods import METHODS, Fold, decide, learn_template, make_method
from chaffinch.page.build import parse_capture
from chaffinch.render import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from chaffinch.evaluation.datasets import DataSet, GoldPage
    from chaffinch.evaluation.predictors import Predictor
    from chaffinch.evaluation.results import PageRow
    from chaffinch.methods import AnyMethod
    from chaffinch.page.table import Page
    from chaffinch.sources.capture import Capture

PAGES_OF_A_SITE: Final = (2, 3, 5, 10, 20, 40, 80)
THRESHOLDS: Final = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
SHARES: Final = (0.03, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5, 0.8)
COUNTING: Final = ("chunks", "offsets", "blocks")
"""The methods that take for template what stands on a share of the site's pages."""
PAGES_TIMED: Final = (100, 200, 400, 1000, 4000)
SITES_TIMED: Final = ("auto-aol",)

_PAGES_DRAWN: Final = 20
"""Draws of few pages are repeated until about so many pages were scored: which pages are drawn matters much."""
_PAGES_RENDERED: Final = 60
"""So many pages of each site are rendered at every threshold; what is learned is learned from all."""

RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True)
class FewPagesRow:
    """How a method does on `sites` where it has only so many pages of each; means over sites."""

    method: str
    pages: int
    sites: int
    """How many sites have so many pages; smaller ones take part with all they have."""
    precision: float
    recall: float
    f1: float
    leak: float


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """What a method removes of `swde` at a threshold, and what it keeps of the gold values; means over sites."""

    method: str
    threshold: float
    removed: float
    kept: float


@dataclass(frozen=True, slots=True)
class ShareRow:
    """How a method does when so large a share of the pages makes template: on `sites`, and on `swde`; means."""

    method: str
    share: float
    f1: float
    leak: float
    removed: float
    kept: float


@dataclass(frozen=True, slots=True)
class TimeRow:
    """CPU seconds for all pages of a site together."""

    method: str
    site: str
    pages: int
    parse: float
    learn: float
    score: float

    @property
    def per_page(self) -> float:
        """Milliseconds for a page, without parsing."""
        return 1000 * (self.learn + self.score) / self.pages


def all_methods() -> tuple[AnyMethod, ...]:
    """Return every method of the table, at its defaults."""
    return tuple(map(make_method, METHODS))


def few_pages(
    methods: Sequence[AnyMethod] | None = None,
    *,
    pages: Sequence[int] = PAGES_OF_A_SITE,
    limit: int | None = None,
    jobs: int = 1,
    root: Path | None = None,
) -> list[FewPagesRow]:
    """Measure methods on `sites` where only `pages` pages of each site are there to learn from and to clean."""
    data = Sites(root or find_data())
    predictors: list[Predictor] = [*map(MethodPredictor, methods or all_methods()), Everything()]
    work = partial(_few_pages_of_site, data, predictors, pages)
    measured = list(chain.from_iterable(_each_site(work, data.site_names()[:limit], jobs)))
    rows = []
    for predictor in predictors:
        for count in pages:
            found = [one for one in measured if (one.method, one.pages) == (predictor.name, count)]
            rows.append(_mean(found, sum(one.sites for one in found)))
    return rows


def _mean(rows: Sequence[FewPagesRow], sites: int) -> FewPagesRow:
    means = {name: fmean(getattr(row, name) for row in rows) for name in ("precision", "recall", "f1", "leak")}
    return FewPagesRow(rows[0].method, rows[0].pages, sites, **means)


def _few_pages_of_site(
    data: DataSet, predictors: Sequence[Predictor], counts: Sequence[int], name: str
) -> list[FewPagesRow]:
    site = data.load(name)
    parsed = [parse_capture(page.capture) for page in site.pages]
    scorers = [page_scorer(site, gold, visible_text(page)) for gold, page in zip(site.pages, parsed, strict=True)]
    rows: list[FewPagesRow] = []
    for count in counts:
        whole = count >= len(parsed)
        draws = 1 if whole else max(1, _PAGES_DRAWN // count)
        of_predictor: list[list[FewPagesRow]] = [[] for _ in predictors]
        for draw in range(draws):
            generator = random.Random(f"{name}/{count}/{draw}")  # noqa: S311  (a sample, no secret)
            chosen = range(len(parsed)) if whole else sorted(generator.sample(range(len(parsed)), count))
            for held, predictor in zip(of_predictor, predictors, strict=True):
                texts = predictor.predict([parsed[number] for number in chosen]).texts
                scored = [scorers[number](text) for number, text in zip(chosen, texts, strict=True)]
                means = site_row("sites", scored).measures
                held.append(FewPagesRow(predictor.name, count, int(count <= len(parsed)), **means))
        rows += [_mean(held, held[0].sites) for held in of_predictor]
    return rows


def thresholds(
    methods: Sequence[AnyMethod] | None = None,
    *,
    at: Sequence[float] = THRESHOLDS,
    limit: int | None = None,
    jobs: int = 1,
    root: Path | None = None,
) -> list[ThresholdRow]:
    """Measure on `swde` what methods remove and keep as the threshold moves."""
    data = Swde(root or find_data())
    methods = methods or all_methods()
    work = partial(_thresholds_of_site, data, methods, at)
    measured = list(chain.from_iterable(_each_site(work, data.site_names()[:limit], jobs)))
    rows = []
    for method in methods:
        name = MethodPredictor(method).name
        for threshold in at:
            found = [one for one in measured if (one.method, one.threshold) == (name, threshold)]
            removed, kept = fmean(one.removed for one in found), fmean(one.kept for one in found)
            rows.append(ThresholdRow(name, threshold, removed, kept))
    return rows


def _thresholds_of_site(
    data: DataSet, methods: Sequence[AnyMethod], at: Sequence[float], name: str
) -> list[ThresholdRow]:
    site = data.load(name)
    parsed = [parse_capture(page.capture) for page in site.pages]
    step = max(1, len(parsed) // _PAGES_RENDERED)
    shown = [
        (page, page_scorer(site, gold, visible_text(page)))
        for gold, page in list(zip(site.pages, parsed, strict=True))[::step]
    ]
    rows = []
    for method in methods:
        template = learn_template(method, parsed)
        measured = [_at_thresholds(page, method, template, at, score) for page, score in shown]
        for number, threshold in enumerate(at):
            found = site_row("swde", [rows_of_page[number] for rows_of_page in measured]).measures
            rows.append(ThresholdRow(MethodPredictor(method).name, threshold, found["removed"], found["kept"]))
    return rows


def _at_thresholds(
    page: Page, method: AnyMethod, template: object, at: Sequence[float], measure: Callable[[str], PageRow]
) -> list[PageRow]:
    """Return the page's row at each threshold; thresholds that keep the same texts are rendered once."""
    scores = method.score(page, template)
    rows: dict[bytes, PageRow] = {}
    found = []
    for threshold in at:
        seen, kept = decide(method, page, scores, threshold)
        key = kept.tobytes()
        if key not in rows:
            rows[key] = measure(render(seen, kept, "text"))
        found.append(rows[key])
    return found


def shares(
    names: Sequence[str] = COUNTING,
    *,
    at: Sequence[float] = SHARES,
    limit: int | None = None,
    jobs: int = 1,
    root: Path | None = None,
) -> list[ShareRow]:
    """Measure on `sites` and `swde` what methods do as the share of pages moves that makes a thing template."""
    pairs = [(name, share) for name in names for share in at]
    methods = [make_method(name, {"share": str(share)}) for name, share in pairs]
    settings = Settings(limit=limit, jobs=jobs, root=root)
    of_sites, of_swde = (
        [result.macro for result in compare(name, methods, settings=settings).results] for name in ("sites", "swde")
    )
    return [
        ShareRow(name, share, one["f1"], one["leak"], other["removed"], other["kept"])
        for (name, share), one, other in zip(pairs, of_sites, of_swde, strict=False)
    ]


def times(
    methods: Sequence[AnyMethod] | None = None,
    *,
    pages: Sequence[int] = PAGES_TIMED,
    sites: Sequence[str] = SITES_TIMED,
    root: Path | None = None,
) -> list[TimeRow]:
    """Measure how the time of each method grows with the pages of a site.

    Sites of `swde` have 400 pages. Beyond these come copies of them in which all text that stands on one page only is
    varied, so that the template stays, and content and vocabulary grow. Pages are parsed anew for each method: what a
    page computes once for all methods is then counted for each.
    """
    data = Swde(root or find_data())
    rows: list[TimeRow] = []
    for name in sites:
        gold = data.load(name).pages
        for method in methods or all_methods():
            rows += [_time(method, name, count, gold) for count in pages]
    return rows


def _time(method: AnyMethod, site: str, count: int, gold: Sequence[GoldPage]) -> TimeRow:
    clock = Clock()
    fold: Fold[Any, Any] = Fold(method)
    for capture in grown([page.capture for page in gold], count):
        with clock.step("parse"):
            page = parse_capture(capture)
        with clock.step("learn"):
            fold.add(page)
    with clock.step("learn"):
        template = fold.template()
    for capture in grown([page.capture for page in gold], count):
        page = parse_capture(capture)
        with clock.step("score"):
            method.score(page, template)
    seconds = clock.seconds
    name = MethodPredictor(method).name
    return TimeRow(name, site, count, seconds["parse"], seconds["learn"], seconds["score"])


_SEGMENT: Final = re.compile(r"(?<=>)[^<]*[^<\s][^<]*(?=<)")
"""Text between two tags. In a script it may be code; nobody runs it here."""


def grown(captures: Sequence[Capture], count: int) -> Iterator[Capture]:
    """Give `count` pages: `captures`, then copies in which the text that only one page has is varied."""
    yield from captures[:count]
    if count <= len(captures):
        return
    texts = [capture.body.decode("utf-8", "replace") for capture in captures]
    pages_with = Counter(chain.from_iterable(set(_SEGMENT.findall(text)) for text in texts))

    def vary(match: re.Match[str], copy: int) -> str:
        return match[0] if pages_with[match[0]] > 1 else re.sub(r"\w+", rf"\g<0>v{copy}", match[0])

    for number in range(len(captures), count):
        copy, original = divmod(number, len(captures))
        body = _SEGMENT.sub(partial(vary, copy=copy), texts[original])
        capture = captures[original]
        yield replace(capture, body=body.encode(), path=f"{copy}-{capture.path}", source=f"{copy}-{capture.source}")


def growth(rows: Iterable[TimeRow]) -> dict[tuple[str, str], float]:
    """Return for each method and site the exponent of its growth with pages, by least squares: 1 is linear."""
    result = {}
    for key, group in groupby(sorted(rows, key=lambda row: (row.method, row.site)), lambda row: (row.method, row.site)):
        points = [(log(row.pages), log(max(1e-9, row.learn + row.score))) for row in group]
        middle, height = fmean(x for x, _ in points), fmean(y for _, y in points)
        spread = sum((x - middle) ** 2 for x, _ in points)
        result[key] = sum((x - middle) * (y - height) for x, y in points) / spread if spread else 0.0
    return result


def to_json(rows: Sequence[FewPagesRow | ThresholdRow | ShareRow | TimeRow]) -> str:
    """Return rows as JSON, one on each line, with four digits: more is noise."""
    lines = (
        json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(row).items()})
        for row in rows
    )
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _each_site(work: Callable[[str], RowT], names: Sequence[str], jobs: int) -> Iterator[RowT]:
    if jobs <= 1:
        yield from map(work, names)
        return
    # Fresh processes: a fork of one that has threads can hang.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, names)
