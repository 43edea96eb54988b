"""The keyword experiment of Kolcz and Yih (2007, section 5), repeated on open data.

    python -m chaffinch.evaluation.keywords2007 examples.parquet crawl.parquet [--json]

The extractor is trained on pages of as many sites, those of WCXB whose authors wrote keywords for search engines, and
tested on sites of `swde`, whose keywords a program wrote from the page's title; sites where that string does not vary
are left out. The tag is hidden from the extractor. Template is found by a forest that has seen no site of `swde`, set
to find half of it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.errors import ChaffinchError, InputError
from chaffinch.evaluation.datasets import Swde, Wcxb, find_data
from chaffinch.evaluation.kolcz2007 import read
from chaffinch.keywords.candidates import Candidates, find_candidates
from chaffinch.keywords.frequencies import DocumentFrequencies
from chaffinch.keywords.scoring import keyword_rows
from chaffinch.learning.classifiers import TrainingOptions, require_extra, train_on_sites
from chaffinch.learning.crossvalidation import cross_validate
from chaffinch.learning.keywords import annotated_keys, annotated_keywords, train_keyword_model
from chaffinch.learning.naive_bayes import WordCounts
from chaffinch.learning.training import weights_from
from chaffinch.methods import threshold_of
from chaffinch.methods.model import SiteIndependent
from chaffinch.methods.model_weights import write_weights
from chaffinch.page.build import parse_capture
from chaffinch.sources import open_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from chaffinch.evaluation.datasets import DataSet
    from chaffinch.keywords.scoring import KeywordModel
    from chaffinch.methods import AnyMethod
    from chaffinch.page import Page
    from chaffinch.page.arrays import HashArray

TOPS: Final = (1, 2, 3, 5, 10)
FAVOR: Final = 0.5
"""The share of the template that the detector is set to find."""
_FOLDS: Final = 4
"""So many folds of sites calibrate the detector."""
_MOST_PAGES: Final = 100
"""So many pages of each site are tested on."""
_COLLECTION_STEP: Final = 8
"""Every so many pages of the other collection are counted."""
_SAME: Final = 0.5
"""A keyword string that so many of a site's pages have does not vary."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What is done to pages, and where document frequencies come from."""

    name: str
    clean_training: bool
    clean_test: bool
    collection: str
    """`training`, `both` (training and test pages) or `other`."""


CONFIGURATIONS: Final = (
    Configuration("ORD", clean_training=False, clean_test=False, collection="training"),
    Configuration("DN", clean_training=False, clean_test=True, collection="training"),
    Configuration("DF", clean_training=False, clean_test=False, collection="both"),
    Configuration("DN-DF", clean_training=False, clean_test=True, collection="both"),
    Configuration("DN_both", clean_training=True, clean_test=True, collection="training"),
    Configuration("DN-DF_both", clean_training=True, clean_test=True, collection="both"),
    Configuration("ODP-DF", clean_training=False, clean_test=False, collection="other"),
)


@dataclass(frozen=True, eq=False)
class Annotated:
    """A page with its keywords: its candidates with and without template."""

    whole: Candidates
    clean: Candidates
    keys: frozenset[int]
    """The keywords that the whole page shows."""

    @classmethod
    def of(cls, page: Page, detector: AnyMethod) -> Annotated:
        """Find candidates and keywords."""
        kept = detector.score(page, None) < threshold_of(detector, FAVOR)
        whole = find_candidates(page)
        return cls(whole, find_candidates(page, kept), annotated_keys(page) & set(whole.key.tolist()))


@dataclass(frozen=True, slots=True)
class Row:
    """One configuration on one site, or on all of them."""

    site: str
    configuration: str
    pages: int
    top: tuple[float, ...]
    """The scores of the paper for each of `TOPS`, in percent."""
    p: tuple[float, ...]
    """For each, the chance of such a difference from ORD if there were none: a two-tailed paired t-test."""


def top_scores(found: Candidates, keys: frozenset[int], model: KeywordModel, df: DocumentFrequencies) -> list[float]:
    """Return, for each of `TOPS`, the share of what could have been right that is."""
    odds = model.log_odds(keyword_rows(found, df)) if len(found) else np.zeros(0)
    best = found.key[np.lexsort((found.first, -odds))[: max(TOPS)]].tolist()
    return [len(keys & set(best[:top])) / min(len(keys), top) for top in TOPS]


def run(examples: str, crawl: str, tell: Callable[[str], None]) -> list[Row]:
    """Run the experiment."""
    root = find_data()
    with tempfile.TemporaryDirectory(prefix="chaffinch-") as folder:
        detector = _detector(examples, Path(folder, "detector.npz"), Swde(root), tell)
        tell("reading wcxb")
        training, keys = _training_pages(Wcxb(root), detector)
        collections = {"training": DocumentFrequencies.of(keys), "other": _other(crawl, Swde(root))}
        tell(f"{len(training)} pages to train on")
        scores: dict[str, dict[str, list[list[float]]]] = {}
        for site in Swde(root).site_names():
            pages = _varying(Swde(root), site)
            if not pages:
                tell(f"{site}: keywords do not vary; left out")
                continue
            tell(f"{site}: {len(pages)} pages")
            found = _site_scores(pages, training, collections, detector)
            if any(found.values()):
                scores[site] = found
            else:
                tell(f"{site}: no page shows one of its keywords; left out")
    return _rows(scores)


def _detector(examples: str, path: Path, swde: Swde, tell: Callable[[str], None]) -> SiteIndependent:
    found = read(examples)
    how = TrainingOptions()
    words = WordCounts.of(found)
    held = {f"{name}.example" for name in swde.site_names()}
    chosen = np.array([site not in held for site in found.sites])
    tell(f"training the detector on {int(chosen.sum())} sites")
    out_of_fold = cross_validate(words, how, folds=_FOLDS)
    weights = weights_from(words, chosen, train_on_sites(words, chosen, how), out_of_fold, modern=True, card={})
    write_weights(path, weights)
    return SiteIndependent(file=str(path))


def _training_pages(data: Wcxb, detector: AnyMethod) -> tuple[list[Annotated], list[HashArray]]:
    """Return the annotated pages, and the candidates of all pages, which are the collection."""
    annotated: list[Annotated] = []
    keys: list[HashArray] = []
    for page in _pages(data, data.site_names()):
        if annotated_keywords(page):
            found = Annotated.of(page, detector)
            keys.append(found.whole.key)
            if found.keys:
                annotated.append(found)
        else:
            keys.append(find_candidates(page).key)
    return annotated, keys


def _pages(data: DataSet, sites: Iterable[str]) -> Iterator[Page]:
    for site in sites:
        yield from (parse_capture(page.capture) for page in data.load(site).pages)


def _other(crawl: str, swde: Swde) -> DocumentFrequencies:
    """Count the pages of another, diverse collection, without the sites that are tested on."""
    held = {f"{name}.example" for name in swde.site_names()}

    def keys() -> Iterator[HashArray]:
        for item in islice(open_inputs([crawl]), 0, None, _COLLECTION_STEP):
            if isinstance(item, InputError):
                raise item
            page = parse_capture(item)
            if page.place.site not in held:
                yield find_candidates(page).key

    return DocumentFrequencies.of(keys())


def _varying(data: Swde, site: str) -> list[Page]:
    """Return pages of a site, evenly drawn, none if most pages have the same keywords."""
    pages = data.load(site).pages
    drawn = [parse_capture(page.capture) for page in pages[:: max(1, len(pages) // _MOST_PAGES)]][:_MOST_PAGES]
    keywords = Counter(annotated_keywords(page) for page in drawn)
    return drawn if keywords.most_common(1)[0][1] < _SAME * len(drawn) else []


def _site_scores(
    pages: Sequence[Page],
    training: Sequence[Annotated],
    collections: dict[str, DocumentFrequencies],
    detector: AnyMethod,
) -> dict[str, list[list[float]]]:
    test = [found for page in pages if (found := Annotated.of(page, detector)).keys]
    of_site = DocumentFrequencies.of(found.whole.key for found in test)
    known = {**collections, "both": collections["training"].merge(of_site)}
    models: dict[tuple[bool, str], KeywordModel] = {}
    result: dict[str, list[list[float]]] = {}
    for how in CONFIGURATIONS:
        df = known[how.collection]
        key = (how.clean_training, how.collection)
        if key not in models:
            pairs = [(page.clean if how.clean_training else page.whole, page.keys) for page in training]
            models[key] = train_keyword_model(pairs, df)
        result[how.name] = [
            top_scores(page.clean if how.clean_test else page.whole, page.keys, models[key], df) for page in test
        ]
    return result


def _rows(scores: dict[str, dict[str, list[list[float]]]]) -> list[Row]:
    from scipy.stats import ttest_rel  # noqa: PLC0415  (an extra)

    pooled = {how.name: [row for site in scores.values() for row in site[how.name]] for how in CONFIGURATIONS}
    rows: list[Row] = []
    for site, found in [*scores.items(), ("all", pooled)]:
        base = np.array(found["ORD"])
        for name, values in found.items():
            measured = np.array(values)
            differs = [bool((measured[:, top] != base[:, top]).any()) for top in range(len(TOPS))]
            p = [
                float(ttest_rel(measured[:, top], base[:, top]).pvalue) if differs[top] else 1.0
                for top in range(len(TOPS))
            ]
            means = tuple(round(100 * fmean(column), 2) for column in measured.T.tolist())
            rows.append(Row(site, name, len(values), means, tuple(round(value, 4) for value in p)))
    return rows


def table(rows: Sequence[Row]) -> str:
    """Print rows in Markdown; a star marks what differs from ORD at the 95 % level."""
    lines = [
        "| site | pages | | " + " | ".join(f"Top{top}" for top in TOPS) + " |",
        f"|---|--:|---|{'--:|' * len(TOPS)}",
    ]
    for row in rows:
        cells = [f"{value:.2f}{'*' * (p < 0.05)}" for value, p in zip(row.top, row.p, strict=True)]
        lines.append(f"| {row.site} | {row.pages} | {row.configuration} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment and print its table."""
    parser = argparse.ArgumentParser(prog="python -m chaffinch.evaluation.keywords2007", description="Keywords.")
    parser.add_argument("examples", help="the file that `chaffinch train --features` wrote")
    parser.add_argument("crawl", help="the crawl that it was made from: the other, large collection")
    parser.add_argument("--json", action="store_true")
    parsed = parser.parse_args(arguments)

    def tell(text: str) -> None:
        sys.stderr.write(f"{text}\n")

    try:
        require_extra()
        rows = run(parsed.examples, parsed.crawl, tell)
    except ChaffinchError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write((json.dumps([asdict(row) for row in rows], indent=1) if parsed.json else table(rows)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
