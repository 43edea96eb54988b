"""Repeat the retrieval experiments for every method, and write the measured part of docs/retrieval.md.

    python benchmarks/retrieval_page.py [--jobs 2] [--method NAME ...] [--draw]

Needs the evaluation data (`CHAFFINCH_DATA`) and the extras `retrieval` and `bench`. What was measured is kept in
`docs/figures/retrieval.json`; with `--draw`, page and figure are made anew from it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from chaffinch.evaluation.predictors import EVERYTHING, MethodPredictor, Predictor
from chaffinch.evaluation.retrieval import CUTS, Retrieval, measure_retrieval
from chaffinch.evaluation.retrieval_report import answers, tables, to_json
from chaffinch.evaluation.retrieval_rivals import RawLines, ShingleBlocks
from chaffinch.methods import DEFAULT_METHOD, METHODS, make_method

DOCS: Final = Path(__file__).parent.parent / "docs"
PAGE: Final = DOCS / "retrieval.md"
KEPT: Final = DOCS / "figures" / "retrieval.json"
BEGIN: Final = "<!-- measured: begin -->"
END: Final = "<!-- measured: end -->"
_PAIRED: Final = (("swde", "values"), ("django", "index terms"), ("sqlalchemy", "index terms"))
"""Queries whose average precision with and without template is drawn, as in Figure 1 of Rowlands et al."""


def main() -> int:
    """Measure, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--method", action="append", choices=METHODS, help="only these (default: all)")
    parser.add_argument("--limit", type=int, help="only the first so many corpora of each collection")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    parsed = parser.parse_args()
    if not parsed.draw:
        names = parsed.method or list(METHODS)
        methods = [MethodPredictor(make_method(name)) for name in names]
        predictors: list[Predictor] = [*methods, ShingleBlocks(), RawLines()]
        found = measure_retrieval(predictors, jobs=parsed.jobs, limit=parsed.limit, progress=_tell)
        shown = DEFAULT_METHOD if DEFAULT_METHOD in names else names[0]
        KEPT.write_text(json.dumps(_kept(found, shown), ensure_ascii=False, indent=1) + "\n", "utf-8")
    kept = json.loads(KEPT.read_text("utf-8"))
    text = PAGE.read_text("utf-8")
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    PAGE.write_text(f"{before}\n{kept['tables']}\n{after}", "utf-8")
    # The same rows give the same file, and a small one.
    mpl.rcParams.update({"svg.hashsalt": "chaffinch", "svg.fonttype": "none"})
    draw(kept).savefig(KEPT.with_suffix(".svg"), metadata={"Date": None})
    return 0


def _tell(done: int, total: int, name: str) -> None:
    print(f"{done}/{total} {name}", file=sys.stderr, flush=True)


def _kept(found: Retrieval, shown: str) -> dict[str, Any]:
    """Return what page and figure are made of."""
    pairs = {}
    for collection, kind in _PAIRED:
        rows = answers(found, collection, kind, shown).rows  # type: ignore[arg-type]
        both = [(row.measures[EVERYTHING]["AP"], row.measures[shown]["AP"]) for row in rows]
        pairs[collection] = [[round(one, 3), round(other, 3)] for one, other in both]
    means = json.loads(to_json(found))["means"]
    printed = tables(found, by_site=[shown])
    return {"shown": shown, "means": means, "postings": _postings(found), "ap": pairs, "tables": printed}


def _postings(found: Retrieval) -> dict[str, dict[str, float]]:
    """Return for each collection and prediction by how many per cent there are fewer postings."""
    result: dict[str, dict[str, float]] = {}
    for collection in dict.fromkeys(row.collection for row in found.sizes):
        total: Counter[str] = Counter()
        for row in found.sizes:
            total[row.prediction] += row.postings if row.collection == collection else 0
        fewer = {name: 100 * (1 - total[name] / total[EVERYTHING]) for name in found.predictions}
        result[collection] = {name: round(percent, 1) for name, percent in fewer.items()}
    return result


def draw(kept: dict[str, Any]) -> Figure:
    """Draw the precision of all, the queries better and worse, and each query's average precision."""
    figure = Figure(figsize=(9, 6.6), layout="constrained")
    (precision, changes), (paired, postings) = figure.subplots(2, 2)
    swde = [row for row in kept["means"] if (row["collection"], row["kind"]) == ("swde", "values")]
    names = [row["prediction"] for row in swde]
    for place, cut in enumerate(CUTS):
        across = [number + 0.27 * (place - 1) for number in range(len(names))]
        precision.bar(across, [row[f"P@{cut}"] for row in swde], 0.25, label=f"P@{cut}")
    precision.set(title="swde: attainable precision", ylim=(0.6, 1.0))
    compared = [row for row in swde if "counts" in row]
    for place, cut in enumerate(CUTS):
        across = [number + 0.27 * (place - 1) for number in range(len(compared))]
        colour = f"C{place}"
        changes.bar(across, [row["counts"][f"P@{cut}"]["better"] for row in compared], 0.25, color=colour)
        changes.bar(across, [-row["counts"][f"P@{cut}"]["worse"] for row in compared], 0.25, color=colour, alpha=0.5)
    changes.axhline(0, color="black", linewidth=0.8)
    changes.set(title="swde: queries better (up) and worse (down)")
    for axes, labels in ((precision, names), (changes, [row["prediction"] for row in compared])):
        axes.set_xticks(range(len(labels)), labels=labels, rotation=30, ha="right", fontsize="small")
    precision.legend(fontsize="small", loc="lower right")
    for collection, pairs in kept["ap"].items():
        gains = sorted(other - one for one, other in pairs)
        paired.plot([number / max(1, len(gains) - 1) for number in range(len(gains))], gains, label=collection)
    paired.set(title=f"gain in average precision, {kept['shown']}", xlabel="queries, from worst to best")
    paired.grid(visible=True, alpha=0.3)
    paired.legend(fontsize="small")
    _draw_postings(kept, postings)
    return figure


def _draw_postings(kept: dict[str, Any], axes: Any) -> None:  # noqa: ANN401 - matplotlib declares no types
    collections = list(kept["postings"])
    names = list(kept["postings"][collections[0]])
    for place, name in enumerate(names):
        gone = [kept["postings"][collection][name] for collection in collections]
        width = 0.8 / len(names)
        axes.bar([number + width * place for number in range(len(collections))], gone, width, label=name)
    axes.set_xticks([number + 0.4 for number in range(len(collections))], labels=collections)
    axes.set(title="fewer postings, %")
    axes.legend(fontsize="x-small")


if __name__ == "__main__":
    sys.exit(main())
