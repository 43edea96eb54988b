"""Record mining measured on labelled result pages, cross-validated by site, with the parts of it turned off in turn."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from chaffinch.evaluation.datasets import find_data
from chaffinch.evaluation.records import Counts, predicted_records, score_page
from chaffinch.learning.record_folds import FOLDS, DetectorFold, detector_folds, folds_of
from chaffinch.learning.record_gold import read_site, site_folders
from chaffinch.learning.records import data_hash, examples_of, train
from chaffinch.records import UnitOptions, apply_wrapper, mine, mine_all
from chaffinch.records.finding import Found
from chaffinch.records.mining import mine_found
from chaffinch.records.sheet import Sheet
from chaffinch.records.weights import shipped_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chaffinch.learning.record_gold import GoldResultSite
    from chaffinch.learning.records import SiteExamples
    from chaffinch.records import PageRecords
    from chaffinch.records.weights import Weights

    Progress = Callable[[int, int, str], None]

_FULL: Final = "all parts"
PAPER: Final = UnitOptions(joints=False, keeping=False, splitting=0.5)
"""The paper's steps alone."""
ABLATIONS: Final[Mapping[str, UnitOptions]] = {
    "without the decorative tag detector": UnitOptions(decorative=False),
    "without joints (decorative tags alone decide)": UnitOptions(joints=False),
    "without the template text detector": UnitOptions(template_texts=False),
    "template texts part strings from 0.5, as in the paper": UnitOptions(splitting=0.5),
    "without leaving out template slots": UnitOptions(keeping=False),
    "slots by place alone, no clustering": UnitOptions(weights=replace(UnitOptions().weights, reach=0.0)),
    "the paper's steps alone": PAPER,
}


@dataclass(frozen=True, slots=True)
class SiteFigures:
    """What was measured on one site."""

    name: str
    category: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class RecordReport:
    """Figures for each way of mining, site by site."""

    crossed: bool
    """Whether each site was mined by weights learned from other sites."""
    ways: Mapping[str, tuple[SiteFigures, ...]]
    detectors: Mapping[str, list[DetectorFold]] = field(default_factory=dict)

    def macro(self, way: str = _FULL) -> dict[str, float]:
        """Return the means over sites."""
        sites = self.ways[way]
        names = ("record_f1", "unit_f1", "aligned_f1")
        return {name: sum(getattr(site.counts, name) for site in sites) / len(sites) for name in names}

    def to_json(self) -> str:
        """Return everything as JSON."""
        values: dict[str, Any] = {
            "cross_validated": self.crossed,
            "macro": {way: self.macro(way) for way in self.ways},
            "sites": {way: [asdict(site) for site in sites] for way, sites in self.ways.items()},
            "detectors": {name: [asdict(fold) for fold in folds] for name, folds in self.detectors.items()},
        }
        return json.dumps(values, ensure_ascii=False, indent=1)

    def tables(self) -> str:
        """Return everything as tables."""
        return "\n\n".join(table for table in (self._macro(), self._categories(), self._detectors()) if table)

    def _macro(self) -> str:
        lines = [f"{'macro over sites':56}{'record F1':>10}{'unit F1':>10}{'aligned':>10}"]
        for way in self.ways:
            found = self.macro(way)
            lines.append(f"{way:56}" + "".join(f"{value:10.3f}" for value in found.values()))
        return "\n".join(lines)

    def _categories(self) -> str:
        """Slots against columns, as the paper's Table 4 has them."""
        by_category: dict[str, Counts] = defaultdict(Counts)
        for site in self.ways[_FULL]:
            by_category[site.category] += site.counts
            by_category["total"] += site.counts
        lines = [f"{'category':24}{'actual':>8}{'extracted':>10}{'correct':>8}{'recall':>8}{'precision':>10}"]
        order = [*sorted(name for name in by_category if name != "total"), "total"]
        for name in order:
            counts = by_category[name]
            recall, precision = counts.slots_right / max(counts.columns, 1), counts.slots_right / max(counts.slots, 1)
            lines.append(
                f"{name:24}{counts.columns:8}{counts.slots:10}{counts.slots_right:8}{recall:8.3f}{precision:10.3f}"
            )
        return "\n".join(lines)

    def _detectors(self) -> str:
        """Accuracy of both detectors in each fold, as the paper's Table 3 has it."""
        if not self.detectors:
            return ""
        lines = [
            f"{'detector':20}{'fold':>5}{'samples':>9}{'accuracy':>10}{'majority':>10}{'precision':>10}{'recall':>8}"
        ]
        for name, folds in self.detectors.items():
            lines += [
                f"{name:20}{number:5}{fold.samples:9}{fold.accuracy:10.3f}{fold.majority:10.3f}{fold.precision:10.3f}"
                f"{fold.recall:8.3f}"
                for number, fold in enumerate(folds, 1)
            ]
            means = [
                sum(getattr(fold, key) for fold in folds) / len(folds)
                for key in ("accuracy", "majority", "precision", "recall")
            ]
            lines.append(
                f"{name:20}{'mean':>5}{sum(fold.samples for fold in folds):9}"
                + "".join(f"{value:{width}.3f}" for value, width in zip(means, (10, 10, 10, 8), strict=True))
            )
        return "\n".join(lines)


def measure_records(
    *, cross: bool = True, ablations: bool = False, limit: int | None = None, progress: Progress | None = None
) -> RecordReport:
    """Measure record mining on the labelled set; with `cross`, each site by weights learned from the other folds."""
    folders = site_folders(find_data() / "records")[:limit]
    tell = progress or (lambda _done, _total, _name: None)
    sites = []
    for number, folder in enumerate(folders):
        tell(number, len(folders), f"reading {folder.name}")
        sites.append(read_site(folder))
    sites = [site for site in sites if site.pages]
    detectors: Mapping[str, list[DetectorFold]] = {}
    if cross:
        examples = []
        for number, site in enumerate(sites):
            tell(number, len(sites), f"examples of {site.name}")
            examples.append(examples_of(site))
        weights, detectors = _weights_of_folds(examples, tell)
        fold_of = folds_of(len(sites)).tolist()
        used = [weights[fold] for fold in fold_of]
    else:
        used, examples = [shipped_weights()] * len(sites), []
    ways: dict[str, list[SiteFigures]] = defaultdict(list)
    for number, (site, own) in enumerate(zip(sites, used, strict=True)):
        tell(number, len(sites), f"mining {site.name}")
        best = examples[number] if examples else None
        for way, results in _ways(site, own, best, ablations=ablations).items():
            ways[way].append(SiteFigures(site.name, site.category, _counted(site, results)))
    tell(len(sites), len(sites), "")
    return RecordReport(cross, {way: tuple(figures) for way, figures in ways.items()}, detectors)


def records_hash() -> str:
    """Return a hash of all labelled result pages and their labels."""
    return data_hash(site_folders(find_data() / "records"))


def _weights_of_folds(
    examples: Sequence[SiteExamples], tell: Progress
) -> tuple[list[Weights], Mapping[str, list[DetectorFold]]]:
    """Return the weights for each fold's sites, learned from the others, and how the detectors do."""
    fold_of = folds_of(len(examples)).tolist()
    weights = []
    for fold in range(FOLDS):
        tell(fold, FOLDS, f"training fold {fold + 1}")
        weights.append(train([site for site, here in zip(examples, fold_of, strict=True) if here != fold]).weights)
    return weights, detector_folds(train(examples))


def _ways(
    site: GoldResultSite, weights: Weights, example: SiteExamples | None, *, ablations: bool
) -> dict[str, Sequence[PageRecords]]:
    pages = [page.page for page in site.pages]
    ways: dict[str, Sequence[PageRecords]] = {_FULL: mine_all(pages, weights)[0]}
    if not ablations:
        return ways
    ways["each page alone"] = [mine([page], weights).pages[0] for page in pages]
    ways["each page by the wrapper of the others"] = [
        apply_wrapper(mine([*pages[:number], *pages[number + 1 :]] or pages, weights).wrapper, page).page
        for number, page in enumerate(pages)
    ]
    for name, options in ABLATIONS.items():
        ways[name] = mine_all(pages, weights, options)[0]
    if example is not None:
        sheet = Sheet.of(pages)
        for name, options in (
            ("records chosen by the labels", UnitOptions()),
            ("the same, the paper's steps alone", PAPER),
        ):
            found = Found(example.finding.best, (), example.finding.candidates)
            ways[name] = mine_found(sheet, found, weights, options).pages
    return ways


def _counted(site: GoldResultSite, results: Sequence[PageRecords]) -> Counts:
    total = Counts()
    for page, found in zip(site.pages, results, strict=True):
        total += score_page(predicted_records(found), page.records)
    return total
