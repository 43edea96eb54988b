"""Draw the curves of method `model`: precision and recall on sites that it has not seen, under both regimens.

    python benchmarks/training_crawl.py -o uniform.parquet
    python benchmarks/training_crawl.py -o linked.parquet --regimen linked
    chaffinch train uniform.parquet -o uniform.npz
    chaffinch train linked.parquet -o linked.npz
    python benchmarks/model_curves.py uniform.npz linked.npz

Needs the extra `bench`. The rows and the plot go to `docs/figures/model.json` and `model.svg`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from chaffinch.methods.model_weights import weights_of

FOLDER: Final = Path(__file__).parent.parent / "docs" / "figures"
LABELS: Final = {"text": "text", "logistic": "logistic regression", "forest": "random forest"}


def draw(rows: dict[str, Any]) -> Figure:
    """Draw one plot for each regimen."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    for axes, (regimen, found) in zip(figure.subplots(1, 2), rows.items(), strict=True):
        for name, label in LABELS.items():
            axes.plot(*zip(*found[name], strict=True), label=label)
        axes.axhline(0.9, color="grey", linewidth=0.8, linestyle=":")
        axes.set(xlabel="recall of template", ylabel="precision", title=regimen, xlim=(0, 1), ylim=(0.3, 1.01))
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize="small", loc="lower left")
    return figure


def main() -> int:
    """Write and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("uniform", type=Path)
    parser.add_argument("linked", type=Path)
    parsed = parser.parse_args()
    mpl.rcParams.update({"svg.hashsalt": "chaffinch", "svg.fonttype": "none"})
    rows = {
        "uniform sample": weights_of(str(parsed.uniform)).card["curves"],
        "pages that others link to": weights_of(str(parsed.linked)).card["curves"],
    }
    (FOLDER / "model.json").write_text(json.dumps(rows, indent=None) + "\n", "utf-8")
    draw(rows).savefig(FOLDER / "model.svg", metadata={"Date": None})
    return 0


if __name__ == "__main__":
    sys.exit(main())
