"""Train what `chaffinch keywords` ships with, on the development split of WCXB, and count its phrases.

    python benchmarks/training_keywords.py [-o FOLDER]

Needs the evaluation data and the extra `train`. Pages whose authors wrote keywords are learned from. Of every site one
page is counted, and only phrases of five sites or more are kept, as hashes.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

import chaffinch
from chaffinch.evaluation.datasets import Wcxb, data_hash, find_data
from chaffinch.keywords import Candidates, DocumentFrequencies, find_candidates
from chaffinch.keywords.frequencies import write_frequencies
from chaffinch.keywords.scoring import write_keyword_model
from chaffinch.learning.keywords import annotated_keys, train_keyword_model
from chaffinch.page.build import parse_capture

LEAST_SITES: Final = 5
FOLDER: Final = Path(chaffinch.__file__).parent / "models" / "weights"


def main() -> int:
    """Read, count, train, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, metavar="FOLDER")
    parsed = parser.parse_args()
    data = Wcxb(find_data())
    counted: dict[str, np.ndarray[tuple[int], np.dtype[np.uint64]]] = {}
    annotated: list[tuple[Candidates, frozenset[int]]] = []
    for name in data.site_names():
        (gold,) = data.load(name).pages
        page = parse_capture(gold.capture)
        found = find_candidates(page)
        counted.setdefault(page.place.site, found.key)
        keys = annotated_keys(page) & set(found.key.tolist())
        if keys:
            annotated.append((found, keys))
    frequencies = DocumentFrequencies.of(counted.values()).cut(LEAST_SITES)
    model = train_keyword_model(annotated, frequencies)
    card = {
        "data": "WCXB, development split (CC-BY-4.0)",
        "data_sha256": data_hash("wcxb"),
        "sites": len(counted),
        "annotated_pages": len(annotated),
        "least_sites_of_a_phrase": LEAST_SITES,
        "command": "python benchmarks/training_keywords.py",
        "date": datetime.now(UTC).date().isoformat(),
        "seed": 0,
    }
    write_frequencies(parsed.output / "frequencies.npz", frequencies, card)
    write_keyword_model(parsed.output / "keywords.npz", model, card)
    print(f"{len(annotated)} annotated pages, {len(frequencies.counts.hashes):,} phrases of {len(counted)} sites")
    return 0


if __name__ == "__main__":
    sys.exit(main())
