"""How many of the values of `swde` are in texts that were made before, such as by networks that never saw the site.

    python benchmarks/values_kept.py HELD_OUT/sites.jsonl

The file is what `python -m chaffinch.evaluation.fused --held-out` writes; of each site it has a sample of the pages.
Printed are, for each site, the share of the distinct gold values that is in the texts, of those that are visible on the
pages, and the share of the visible words that is not. Needs the evaluation data (`CHAFFINCH_DATA`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from chaffinch.evaluation.datasets import Values, open_set
from chaffinch.evaluation.measures import plain_words, value_fates, value_report
from chaffinch.evaluation.predictors import visible_text
from chaffinch.page import parse_capture


def main(arguments: Sequence[str]) -> int:
    """Print a line for each site, and the means."""
    (path,) = arguments
    rows = map(json.loads, Path(path).read_text("utf-8").rstrip("\n").split("\n"))
    texts = {row["source"]: row["text"] for row in rows}
    data = open_set("swde")
    kept, removed = [], []
    for name in data.site_names():
        fates, words, visible_words = [], 0, 0
        for page in data.load(name).pages:
            text = texts.get(page.capture.source)
            if text is not None and isinstance(page.gold, Values):
                visible = visible_text(parse_capture(page.capture))
                fates.append(value_fates(page.gold, visible, text))
                words += plain_words(text).total()
                visible_words += plain_words(visible).total()
        if fates:
            kept.append(value_report(fates).kept)
            removed.append(1 - words / visible_words)
            sys.stdout.write(f"{name:<16} {len(fates):>4} pages  kept {kept[-1]:.3f}  removed {removed[-1]:.3f}\n")
    sys.stdout.write(f"{'mean':<16} {'':>10}  kept {fmean(kept):.3f}  removed {fmean(removed):.3f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
