"""Running methods and peers over a labelled set."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final, TypeAlias

from chaffinch.evaluation.datasets import open_set
from chaffinch.evaluation.peers import PeerPredictor
from chaffinch.evaluation.predictors import Clock, Everything, MethodPredictor, Nothing, visible_text
from chaffinch.evaluation.results import Evaluation, PageRow, Result, SiteRow
from chaffinch.evaluation.scoring import page_scorer, site_row
from chaffinch.methods import DEFAULT_FAVOR, make_method
from chaffinch.page.build import parse_capture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from chaffinch.evaluation.datasets import DataSet
    from chaffinch.evaluation.predictors import Predictor
    from chaffinch.methods import AnyMethod, Favor

Progress: TypeAlias = Callable[[int, int, str], None]
"""Is told after each site how many are done, how many there are, and the site's name."""

_CHUNK: Final = 16
"""How many sites go to another process at once, where there are many small ones."""
_MANY_SITES: Final = 100


@dataclass(frozen=True, slots=True)
class Settings:
    """How to measure."""

    favor: Favor = DEFAULT_FAVOR
    """How far methods are trusted."""
    limit: int | None = None
    """Only this many sites, the first ones; in `wcxb` every page is a site."""
    page_by_page: bool = False
    """Whether methods are told nothing of the site."""
    jobs: int = 1
    """How many processes share the sites."""
    root: Path | None = None
    """The data folder, if it is not the usual one."""


_DEFAULT: Final = Settings()


def evaluate(
    set_name: str,
    method: AnyMethod,
    *,
    favor: Favor = DEFAULT_FAVOR,
    limit: int | None = None,
    page_by_page: bool = False,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure a method on a set."""
    settings = Settings(favor=favor, limit=limit, page_by_page=page_by_page, jobs=jobs)
    return compare(set_name, [method], settings=settings, progress=progress)


def evaluate_peer(
    set_name: str, peer_name: str, *, settings: Settings = _DEFAULT, progress: Progress | None = None
) -> Evaluation:
    """Measure a peer on a set."""
    return compare(set_name, [], peers=[peer_name], settings=settings, progress=progress)


def run_evaluation(
    set_name: str,
    method_name: str,
    options: Mapping[str, str] | None = None,
    *,
    settings: Settings = _DEFAULT,
    peers: Sequence[str] = (),
    progress: Progress | None = None,
) -> Evaluation:
    """Measure a method, given by name and options as on the command line, and peers beside it."""
    return compare(set_name, [make_method(method_name, options)], peers=peers, settings=settings, progress=progress)


def compare(
    set_name: str,
    methods: Iterable[AnyMethod],
    *,
    peers: Iterable[str] = (),
    rivals: Iterable[Predictor] = (),
    settings: Settings = _DEFAULT,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure methods, peers, other predictors and the baselines on the same parsed pages, in this order."""
    data = open_set(set_name, settings.root)
    predictors: tuple[Predictor, ...] = (
        *(MethodPredictor(method, settings.favor, settings.page_by_page) for method in methods),
        *(PeerPredictor(name, data.peer_cache) for name in peers),
        *rivals,
        Everything(),
        Nothing(),
    )
    labels = [predictor.label for predictor in predictors]  # a missing peer is told before the work begins
    names = data.site_names()[: settings.limit]
    done: list[_SiteOutcome] = []
    for outcome in _run([_SiteJob(data, name, predictors) for name in names], settings.jobs):
        done.append(outcome)
        if progress:
            progress(len(done), len(names), names[len(done) - 1])
    return Evaluation(
        set_name=data.name,
        data_hash=data.hash(),
        favor=settings.favor,
        page_by_page=settings.page_by_page,
        pages=sum(outcome.pages for outcome in done),
        parse_seconds=sum(outcome.parse_seconds for outcome in done),
        results=tuple(
            _result(predictor.name, label, [outcome.parts[number] for outcome in done])
            for number, (predictor, label) in enumerate(zip(predictors, labels, strict=True))
        ),
    )


@dataclass(frozen=True, slots=True)
class _SiteJob:
    data: DataSet
    site: str
    predictors: tuple[Predictor, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """One prediction on one site."""

    rows: tuple[PageRow, ...]
    site: SiteRow
    seconds: dict[str, float]
    errors: int


@dataclass(frozen=True, slots=True)
class _SiteOutcome:
    pages: int
    parse_seconds: float
    parts: list[_Part] = field(default_factory=list)


def _run(jobs: Sequence[_SiteJob], processes: int) -> Iterator[_SiteOutcome]:
    if processes <= 1 or len(jobs) <= 1:
        yield from map(_measure_site, jobs)
        return
    # Fresh processes: a fork of one that has threads can hang.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_measure_site, jobs, chunksize=_CHUNK if len(jobs) > _MANY_SITES else 1)


def _measure_site(job: _SiteJob) -> _SiteOutcome:
    site = job.data.load(job.site)
    clock = Clock()
    with clock.step("parse"):
        pages = [parse_capture(page.capture) for page in site.pages]
    # Before all else a method gets to see the pages, so that what pages compute once is counted as its time.
    predictions = [predictor.predict(pages) for predictor in job.predictors]
    scorers = [
        page_scorer(site, gold_page, visible_text(page)) for gold_page, page in zip(site.pages, pages, strict=True)
    ]
    outcome = _SiteOutcome(len(pages), clock.seconds["parse"])
    for prediction in predictions:
        rows = tuple(score(text) for score, text in zip(scorers, prediction.texts, strict=True))
        outcome.parts.append(_Part(rows, site_row(job.data.name, rows), prediction.seconds, prediction.errors))
    return outcome


def _result(name: str, label: str, parts: Sequence[_Part]) -> Result:
    steps = dict.fromkeys(chain.from_iterable(part.seconds for part in parts))
    return Result(
        name=name,
        label=label,
        rows=tuple(row for part in parts for row in part.rows),
        sites=tuple(part.site for part in parts),
        seconds={step: sum(part.seconds.get(step, 0.0) for part in parts) for step in steps},
        errors=sum(part.errors for part in parts),
    )
