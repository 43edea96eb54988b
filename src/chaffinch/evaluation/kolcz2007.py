"""What Kolcz and Yih (2007) could not measure of their detector, on open data.

    chaffinch train CRAWL -o model.npz --features examples.parquet       makes the examples
    python -m chaffinch.evaluation.kolcz2007 pages examples.parquet      what training on smaller sites costs
    python -m chaffinch.evaluation.kolcz2007 gold examples.parquet       against people's labels, on sites not seen

Their curves, by cross-validation, are in the card of every model that is trained; `benchmarks/model_curves.py` draws
them. The crawl is made by `benchmarks/training_crawl.py`, whose sites are named as the labelled sets name them.
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
from chaffinch.learning.crossvalidation import FOLDS, Curve, cross_validate, folds_of_sites
from chaffinch.learning.example_set import MOST_BLOCKS, ExampleSet, read_examples
from chaffinch.learning.naive_bayes import WordCounts
from chaffinch.learning.training import weights_from
from chaffinch.methods import threshold_of
from chaffinch.methods.model import SiteIndependent
from chaffinch.methods.model_weights import write_weights
from chaffinch.page.blocks import count_words
from chaffinch.page.build import parse_capture
from chaffinch.render import render

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chaffinch.evaluation.datasets import DataSet, GoldSite
    from chaffinch.evaluation.results import PageRow
    from chaffinch.learning.classifiers import Trained
    from chaffinch.methods import Favor
    from chaffinch.methods.classifiers import ClassifierName
    from chaffinch.page.arrays import BoolArray

LEAST_PAGES: Final = (20, 50, 100, 200)
FAVORS: Final[tuple[Favor, ...]] = ("recall", 0.5, "balanced", "precision")
_FEW_BLOCKS: Final = 500
"""Of a site and class, where many models are compared with each other."""
_GOLD_FOLDS: Final = 4


def read(path: str, most: int = MOST_BLOCKS) -> ExampleSet:
    """Read a file of examples, at most about so many of a site and class."""
    try:
        labels = pq.read_table(path, columns=["site", "template"])
    except (OSError, ValueError) as error:
        raise InputError(path, f"holds no examples ({error})") from error
    counts: dict[str, list[int]] = {}
    for row in labels.group_by(["site", "template"]).aggregate([([], "count_all")]).to_pylist():
        counts.setdefault(row["site"], [0, 0, 0])[1 if row["template"] else 2] = row["count_all"]
    return read_examples([Path(path)], counts, most=most)


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
    fold = folds_of_sites(len(examples.sites), FOLDS // 2, how.seed)
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
    return trained.forest(np.concatenate((words.examples.features[:, rows], words.scores(chosen, rows))))


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
    """Measure on each of the labelled sites what was trained without it and the other sites of its fold."""
    words = WordCounts.of(examples)
    trained: dict[int, Trained] = {}
    found = cross_validate(
        words, how, folds=_GOLD_FOLDS, step=lambda done, _: tell(f"training {done}"), keep=trained.__setitem__
    )
    of_site = folds_of_sites(len(examples.sites), _GOLD_FOLDS, how.seed)
    number_of = {site.removesuffix(".example"): number for number, site in enumerate(examples.sites)}
    data = open_set("sites")
    measured: dict[tuple[ClassifierName, str], list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="chaffinch-") as folder:
        for fold, classifiers in trained.items():
            chosen = of_site != fold
            path = Path(folder, f"{fold}.npz")
            write_weights(path, weights_from(words, chosen, classifiers, found, modern=True, card={}))
            for name in data.site_names():
                if not chosen[number_of[name.lower()]]:
                    tell(name)
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
    parser.add_argument("experiment", choices=("pages", "gold"))
    parser.add_argument("examples", help="the file that `chaffinch train --features` wrote")
    parser.add_argument("--seed", type=int, default=0)
    parsed = parser.parse_args(arguments)

    def tell(text: str) -> None:
        sys.stderr.write(f"{text}\n")

    try:
        require_extra()
        how = TrainingOptions(seed=parsed.seed)
        shown: list[dict[str, Any]]
        if parsed.experiment == "pages":
            examples = read(parsed.examples, _FEW_BLOCKS)
            shown = [asdict(row) for row in least_pages(examples, pages_of_sites(parsed.examples, examples), how)]
        else:
            shown = [asdict(row) for row in gold(read(parsed.examples), how, tell)]
    except ChaffinchError as error:
        tell(str(error))
        return 2
    sys.stdout.write(json.dumps(shown, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
