"""The template-detection experiments of Kolcz and Yih (2007), repeated on open data, and what they could not measure.

    chaffinch train CRAWL -o model.npz --features examples.parquet       makes the examples
    python -m chaffinch.evaluation.kolcz2007 curves examples.parquet     10-fold cross-validation by site
    python -m chaffinch.evaluation.kolcz2007 pages examples.parquet      what training on smaller sites costs
    python -m chaffinch.evaluation.kolcz2007 gold examples.parquet       against people's labels, on sites not seen

The crawl is made by `benchmarks/training_crawl.py`, whose sites are named as the labelled sets name them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pyarrow.parquet as pq

from chaffinch.errors import ChaffinchError, InputError
from chaffinch.evaluation.datasets import Regions, open_set
from chaffinch.evaluation.predictors import visible_text
from chaffinch.evaluation.scoring import page_scorer, site_row
from chaffinch.learning.classifiers import TrainingOptions, require_extra, train_on_sites
from chaffinch.learning.crossvalidation import FOLDS, Curve, OutOfFold, cross_validate
from chaffinch.learning.example_set import ExampleSet, read_examples
from chaffinch.learning.naive_bayes import WordCounts
from chaffinch.learning.training import weights_from
from chaffinch.methods import threshold_of
from chaffinch.methods.classifiers import CLASSIFIERS
from chaffinch.methods.model import SiteIndependent
from chaffinch.methods.model_weights import write_weights
from chaffinch.page.blocks import count_words
from chaffinch.page.build import parse_capture
from chaffinch.render import render

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chaffinch.evaluation.datasets import DataSet, GoldSite
    from chaffinch.evaluation.results import PageRow
    from chaffinch.methods import Favor
    from chaffinch.methods.classifiers import ClassifierName
    from chaffinch.page.arrays import BoolArray

PRECISIONS: Final = (0.8, 0.9, 0.95)
LEAST_PAGES: Final = (20, 50, 100, 200)
FAVORS: Final[tuple[Favor, ...]] = ("recall", 0.5, "balanced", "precision")
_POINTS: Final = 200
_GOLD_FOLDS: Final = 4


@dataclass(frozen=True, slots=True)
class CurveRow:
    """One point of a curve."""

    classifier: str
    recall: float
    precision: float


@dataclass(frozen=True, slots=True)
class RecallRow:
    """What a classifier finds of the template on sites that it has not seen."""

    classifier: str
    recalls: tuple[float, ...]
    """At each of `PRECISIONS`, over the blocks of all folds."""
    mean_of_folds: float
    """At a precision of 90 %, of each fold, the mean."""


def read(path: str, *, whole: bool = False) -> ExampleSet:
    """Read a file of examples; with `whole`, those too that are only asked about."""
    try:
        labels = pq.read_table(path, columns=["site", "template"])
    except (OSError, ValueError) as error:
        raise InputError(path, f"holds no examples ({error})") from error
    counts: dict[str, list[int]] = {}
    for row in labels.group_by(["site", "template"]).aggregate([([], "count_all")]).to_pylist():
        counts.setdefault(row["site"], [0, 0, 0])[1 if row["template"] else 2] = row["count_all"]
    return read_examples([Path(path)], counts, whole=whole)


def curves(found: OutOfFold) -> tuple[list[RecallRow], list[CurveRow]]:
    """Return the recall of each classifier at some precisions, and its curve."""
    recalls, points = [], []
    for name in CLASSIFIERS:
        curve = found.curve(name)
        at = tuple(curve.recall_at(precision) for precision in PRECISIONS)
        recalls.append(RecallRow(name, at, fmean(found.recalls(name))))
        shares = np.linspace(1 / _POINTS, 1, _POINTS)
        points += [CurveRow(name, round(float(share), 4), round(curve.precision_at(share), 4)) for share in shares]
    return recalls, points


@dataclass(frozen=True, slots=True)
class PagesRow:
    """What is found by a forest that was trained on sites of at least so many pages."""

    least_pages: int
    sites: int
    recall: float
    """At a precision of 90 %, on the same blocks whatever was trained on."""


def least_pages(
    examples: ExampleSet, pages: Sequence[int], how: TrainingOptions, least: Sequence[int] = LEAST_PAGES
) -> list[PagesRow]:
    """Measure what sites with few pages are worth in training; sites are told apart by `pages`."""
    words = WordCounts.of(examples)
    sites = len(examples.sites)
    fold = _folds(sites, FOLDS // 2, how.seed)
    rows: list[PagesRow] = []
    for fewest in least:
        large = np.array(pages) >= fewest
        answers = np.zeros(len(examples))
        for number in range(int(fold.max()) + 1):
            held = fold == number
            answers[held[examples.site]] = _answers(words, large & ~held, held, how)
        rows.append(PagesRow(fewest, int(large.sum()), Curve.of(examples.template, answers).recall_at(0.9)))
    return rows


def _answers(words: WordCounts, chosen: BoolArray, held: BoolArray, how: TrainingOptions) -> np.ndarray[Any, Any]:
    trained = train_on_sites(words, chosen, how)
    rows = np.flatnonzero(held[words.examples.site])
    features = np.concatenate((words.examples.features[rows], words.scores(chosen, rows)), axis=1)
    return trained.forest(trained.cuts.bins(features))


def _folds(sites: int, folds: int, seed: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    fold = np.zeros(sites, dtype=np.int64)
    fold[np.random.Generator(np.random.PCG64(seed)).permutation(sites)] = np.arange(sites) % folds
    return fold


def pages_of_sites(path: str, examples: ExampleSet) -> list[int]:
    """Count the pages of each site that have examples."""
    table = pq.read_table(path, columns=["site", "page"])
    rows = table.group_by("site").aggregate([("page", "count_distinct")]).to_pylist()
    counts = {row["site"]: row["page_count_distinct"] for row in rows}
    return [counts.get(site, 0) for site in examples.sites]


@dataclass(frozen=True, slots=True)
class GoldRow:
    """Method `model` against people's labels, on sites that its weights did not see; means over sites."""

    classifier: str
    favor: str
    precision: float
    """Of the content that is kept."""
    recall: float
    f1: float
    leak: float
    template_precision: float
    """Of the words of template and content that are dropped, the share that is template."""
    template_recall: float
    """Of the words of template, the share that is dropped."""


def gold(examples: ExampleSet, how: TrainingOptions, tell: Callable[[str], None]) -> list[GoldRow]:
    """Train without some of the labelled sites, and measure on them."""
    words = WordCounts.of(examples)
    found = cross_validate(words, how, step=lambda done, _: tell(f"cross-validating {done}"))
    data = open_set("sites")
    names = data.site_names()
    number_of = {site.removesuffix(".example"): number for number, site in enumerate(examples.sites)}
    measured: dict[tuple[ClassifierName, str], list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="chaffinch-") as folder:
        for fold in range(_GOLD_FOLDS):
            held = names[fold::_GOLD_FOLDS]
            tell(f"without {', '.join(held)}")
            chosen = np.ones(len(examples.sites), dtype=np.bool_)
            chosen[[number_of[name.lower()] for name in held if name.lower() in number_of]] = False
            path = Path(folder, f"{fold}.npz")
            weights = weights_from(words, chosen, train_on_sites(words, chosen, how), found, modern=True, card={})
            write_weights(path, weights)
            for name in held:
                for key, measures in _measure_site(data, data.load(name), str(path)).items():
                    measured.setdefault(key, []).append(measures)
    return [
        GoldRow(classifier, favor, **{measure: fmean(site[measure] for site in sites) for measure in sites[0]})
        for (classifier, favor), sites in measured.items()
    ]


def _measure_site(data: DataSet, site: GoldSite, weights: str) -> dict[tuple[ClassifierName, str], dict[str, float]]:
    pages = [parse_capture(page.capture) for page in site.pages]
    scorers = [page_scorer(site, page, visible_text(parsed)) for page, parsed in zip(site.pages, pages, strict=True)]
    result: dict[tuple[ClassifierName, str], dict[str, float]] = {}
    classifiers: tuple[Literal["forest", "logistic"], ...] = ("forest", "logistic")
    for classifier in classifiers:
        method = SiteIndependent(classifier=classifier, file=weights)
        scores = [method.score(page, None) for page in pages]
        for favor in FAVORS:
            threshold = threshold_of(method, favor)
            texts = [render(page, score < threshold, "text") for page, score in zip(pages, scores, strict=True)]
            rows = tuple(scorer(text) for scorer, text in zip(scorers, texts, strict=True))
            row = site_row(data.name, rows).measures
            result[classifier, str(favor)] = {
                **{name: row[name] for name in ("precision", "recall", "f1", "leak")},
                **_dropped(site, rows),
            }
    return result


def _dropped(site: GoldSite, rows: Sequence[PageRow]) -> dict[str, float]:
    """Return precision and recall of template, in words; what the gold ignores does not count."""
    template, gone = sum(row.template for row in rows), sum(row.template - row.leaked for row in rows)
    lost = sum(
        count_words(page.gold.content) * (1 - row.measures["recall"])
        for page, row in zip(site.pages, rows, strict=True)
        if isinstance(page.gold, Regions)
    )
    return {
        "template_precision": gone / (gone + lost) if gone + lost else 1.0,
        "template_recall": gone / template if template else 1.0,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an experiment and print its rows as JSON."""
    parser = argparse.ArgumentParser(prog="python -m chaffinch.evaluation.kolcz2007", description="Kolcz & Yih 2007.")
    parser.add_argument("experiment", choices=("curves", "pages", "gold"))
    parser.add_argument("examples", help="the file that `chaffinch train --features` wrote")
    parser.add_argument("--seed", type=int, default=0)
    parsed = parser.parse_args(arguments)

    def tell(text: str) -> None:
        sys.stderr.write(f"{text}\n")

    try:
        require_extra()
        whole = parsed.experiment == "curves"  # as in the paper, nothing is left out of what is tested on
        examples, how = read(parsed.examples, whole=whole), TrainingOptions(seed=parsed.seed)
        if parsed.experiment == "curves":
            recalls, points = curves(cross_validate(WordCounts.of(examples), how, step=lambda done, _: tell(str(done))))
            shown: Any = {"recalls": [asdict(row) for row in recalls], "points": [asdict(row) for row in points]}
        elif parsed.experiment == "pages":
            shown = [asdict(row) for row in least_pages(examples, pages_of_sites(parsed.examples, examples), how)]
        else:
            shown = [asdict(row) for row in gold(examples, how, tell)]
    except ChaffinchError as error:
        tell(str(error))
        return 2
    sys.stdout.write(json.dumps(shown, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
