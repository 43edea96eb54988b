"""The trained parts of record mining, from labelled result pages.

python -m chaffinch.learning.records FOLDER -o records.npz
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chaffinch.learning.networks import Training
from chaffinch.learning.record_finding import RANKER, FindingExamples, finding_examples, train_finding
from chaffinch.learning.record_folds import DetectorFold, detector_folds
from chaffinch.learning.record_gold import read_site, site_folders
from chaffinch.learning.record_units import Learned, UnitExamples, train_units, unit_examples
from chaffinch.records.units import UnitOptions
from chaffinch.records.weights import write_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.learning.record_gold import GoldResultSite


@dataclass(frozen=True, eq=False)
class SiteExamples:
    """What one labelled site teaches."""

    name: str
    pages: int
    finding: FindingExamples
    units: UnitExamples


def examples_of(site: GoldResultSite) -> SiteExamples:
    """Return what a site teaches."""
    finding = finding_examples(site)
    return SiteExamples(site.name, len(site.pages), finding, unit_examples(site, finding.best))


def train(examples: Sequence[SiteExamples], ranker: Training = RANKER) -> Learned:
    """Train everything."""
    network = train_finding([site.finding for site in examples], ranker)
    return train_units([site.units for site in examples], network, UnitOptions())


def data_hash(folders: Sequence[Path]) -> str:
    """Return a hash of all labels and pages."""
    result = hashlib.sha256()
    for folder in folders:
        for path in sorted([*folder.glob("*.json"), *folder.glob("*.html")]):
            data = path.read_bytes()
            result.update(f"{folder.name}/{path.name}:{len(data)}:".encode())
            result.update(data)
    return result.hexdigest()


def main() -> None:
    """Train on all labelled sites of a folder."""
    parser = argparse.ArgumentParser(
        description="Train the parts of record mining that are learned from labelled pages."
    )
    parser.add_argument("folder", type=Path, help="the labelled result pages: SITE/N.html and SITE/N.json")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the model file")
    parsed = parser.parse_args()
    folders = site_folders(parsed.folder)
    examples = [examples_of(read_site(folder)) for folder in folders]
    learned = train(examples)
    folds = detector_folds(learned)
    card = {
        "data": "result pages of the set `records`, open half",
        "sites": len(folders),
        "pages": sum(site.pages for site in examples),
        "data_sha256": data_hash(folders),
        "command": "python -m chaffinch.learning.records FOLDER -o records.npz",
        "seed": RANKER.seed,
        "folds": {name: [_rounded(fold) for fold in found] for name, found in folds.items()},
    }
    write_weights(parsed.output, learned.weights, card)
    for name, found in folds.items():
        accuracies = [fold.accuracy for fold in found]
        sys.stderr.write(
            f"{name}: accuracy {' '.join(f'{value:.3f}' for value in accuracies)}, mean "
            f"{sum(accuracies) / len(accuracies):.3f}, majority "
            f"{sum(fold.majority for fold in found) / len(found):.3f}\n"
        )
    sys.stderr.write(f"trained on {len(folders)} sites\n")


def _rounded(fold: DetectorFold) -> dict[str, float]:
    return {
        "samples": fold.samples, "accuracy": round(fold.accuracy, 3), "majority": round(fold.majority, 3),
        "precision": round(fold.precision, 3), "recall": round(fold.recall, 3),
    }  # fmt: skip


if __name__ == "__main__":
    main()
