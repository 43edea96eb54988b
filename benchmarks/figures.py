"""Measure the curves of all methods, and draw them.

    python benchmarks/figures.py [few-pages] [thresholds] [shares] [times] [--jobs 2]

Needs the evaluation data (`CHAFFINCH_DATA`) and the extra `bench`. Each curve is written to `docs/figures/` as rows
in JSON and as a plot in SVG; with `--draw`, the plots are drawn anew from the rows that are there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaffinch.evaluation.curves import COUNTING, TimeRow, few_pages, growth, shares, thresholds, times, to_json
from chaffinch.methods import make_method, options_of

Rows: TypeAlias = list[dict[str, Any]]

SHARE_MEASURES: Final = (("sites", "f1"), ("sites", "leak"), ("swde", "removed"), ("swde", "kept"))
FOLDER: Final = Path(__file__).parent.parent / "docs" / "figures"


def lines(axes: Axes, rows: Rows, x: str, y: str) -> None:
    """Draw a line for each method."""
    for method in dict.fromkeys(row["method"] for row in rows):
        points = [(row[x], row[y]) for row in rows if row["method"] == method]
        style = {"color": "grey", "linestyle": ":"} if method == "everything" else {"marker": "o", "markersize": 3}
        axes.plot(*zip(*points, strict=True), label=method, **style)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small")


def draw_few_pages(rows: Rows) -> Figure:
    """Draw F1 and leak against pages."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, measure in zip(figure.subplots(1, 2), ("f1", "leak"), strict=True):
        lines(axes, rows, "pages", measure)
        axes.set_xscale("log")
        axes.set_xticks([2, 3, 5, 10, 20, 40, 80], labels=["2", "3", "5", "10", "20", "40", "80"])
        axes.minorticks_off()
        axes.set(xlabel="pages of each site", ylabel=measure.replace("f1", "F1"))
    figure.suptitle("sites: fewer pages")
    return figure


def draw_thresholds(rows: Rows) -> Figure:
    """Draw gold values kept against words removed, whole and near the top; a ring marks the usual threshold."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    whole, top = figure.subplots(1, 2)
    for axes in (whole, top):
        lines(axes, rows, "removed", "kept")
        for row in rows:
            if row["threshold"] == 0.5:
                axes.plot(row["removed"], row["kept"], "o", markersize=9, markerfacecolor="none", color="black")
        axes.set(xlabel="share of visible words removed", ylabel="share of distinct gold values kept")
    top.set(xlim=(0.42, 0.58), ylim=(0.95, 1.002))
    figure.suptitle("swde: removed and kept as the threshold moves")
    return figure


def draw_shares(rows: Rows) -> Figure:
    """Draw what a method does at each share of pages; a line marks the usual share."""
    figure = Figure(figsize=(9, 6.4), layout="constrained")
    usual = {method: float(options_of(make_method(method))["share"]) for method in COUNTING}
    for axes, (set_name, measure) in zip(figure.subplots(2, 2).flat, SHARE_MEASURES, strict=True):
        lines(axes, rows, "share", measure)
        for line in axes.get_lines():
            axes.axvline(usual[str(line.get_label())], color=line.get_color(), linestyle="--", linewidth=0.8)
        axes.set(xlabel="share of the pages that makes template", ylabel=measure.replace("f1", "F1"), title=set_name)
    return figure


def draw_times(rows: Rows) -> Figure:
    """Draw seconds against pages, and the time of one page."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    shown = [
        {**row, "seconds": row["learn"] + row["score"], "each": 1000 * (row["learn"] + row["score"]) / row["pages"]}
        for row in _mean_over_sites(rows)
    ]
    total, each = figure.subplots(1, 2)
    lines(total, shown, "pages", "seconds")
    total.set(xscale="log", yscale="log", xlabel="pages of a site", ylabel="CPU seconds, without parsing")
    lines(each, shown, "pages", "each")
    each.set(xscale="log", xlabel="pages of a site", ylabel="CPU ms a page, without parsing")
    each.set(ylim=(0, 1.3 * each.get_ylim()[1]))  # room for the legend
    figure.suptitle("swde: time of learning and scoring")
    return figure


def _mean_over_sites(rows: Rows) -> Rows:
    keys = dict.fromkeys((row["method"], row["pages"]) for row in rows)
    result: Rows = []
    for method, pages in keys:
        found = [row for row in rows if (row["method"], row["pages"]) == (method, pages)]
        means = {name: sum(row[name] for row in found) / len(found) for name in ("parse", "learn", "score")}
        result.append({"method": method, "pages": pages, **means})
    return result


def print_times(rows: Rows) -> None:
    """Print the time of one page for each method, and how it grows."""
    exponents = growth([TimeRow(**row) for row in rows])
    for row in rows:
        each = {name: 1000 * row[name] / row["pages"] for name in ("parse", "learn", "score")}
        shown = "  ".join(f"{name} {value:6.2f}" for name, value in each.items())
        print(f"{row['method']:<24}{row['site']:<16}{row['pages']:>6} pages, CPU ms a page: {shown}")
    for (method, site), exponent in exponents.items():
        print(f"{method:<24}{site:<16}grows with pages to the power of {exponent:.2f}")


DRAWN: Final[dict[str, Callable[[Rows], Figure]]] = {
    "few-pages": draw_few_pages,
    "thresholds": draw_thresholds,
    "shares": draw_shares,
    "times": draw_times,
}


def measure(name: str, methods: Sequence[str], jobs: int) -> str:
    """Measure a curve and return its rows as JSON."""
    made = [make_method(method) for method in methods] or None
    if name == "few-pages":
        return to_json(few_pages(made, jobs=jobs))
    if name == "thresholds":
        return to_json(thresholds(made, jobs=jobs))
    if name == "shares":
        return to_json(shares(methods or COUNTING, jobs=jobs))
    return to_json(times(made))


def main() -> int:
    """Measure, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("curves", nargs="*", metavar="CURVE", help=f"{', '.join(DRAWN)} (default: all)")
    parser.add_argument("--method", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--draw", action="store_true", help="only draw, from the rows that are there")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--jobs", type=int, default=1)
    parsed = parser.parse_args()
    if unknown := set(parsed.curves) - set(DRAWN):
        parser.error(f"there is no curve {', '.join(sorted(unknown))}; there are: {', '.join(DRAWN)}")
    # The same rows give the same file, and a small one.
    mpl.rcParams.update({"svg.hashsalt": "chaffinch", "svg.fonttype": "none"})
    parsed.folder.mkdir(parents=True, exist_ok=True)
    for name in parsed.curves or DRAWN:
        path = parsed.folder / f"{name}.json"
        if not parsed.draw:
            path.write_text(measure(name, parsed.method, parsed.jobs), "utf-8")
        rows: Rows = json.loads(path.read_text("utf-8"))
        DRAWN[name](rows).savefig(path.with_suffix(".svg"), metadata={"Date": None})
        print(f"{path}: {len(rows)} rows")
        if name == "times":
            print_times(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
