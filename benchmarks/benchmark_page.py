"""Measure every method and every peer, and write docs/benchmark.md.

    python benchmarks/benchmark_page.py                        everything
    python benchmarks/benchmark_page.py wcxb speed             only these sections; the others stay as they are
    python benchmarks/benchmark_page.py --write-only           the page anew, from the figures that are there
    python benchmarks/benchmark_page.py --held-out FOLDER      besides, what the default method's networks keep if they
                                                               are trained without the page's site: the folder that
                                                               `python -m chaffinch.evaluation.fused --held-out` wrote
    python benchmarks/benchmark_page.py --held-out wcxb:fused=texts.jsonl
                                                               the same for any method: a file of texts for one of
                                                               wcxb, sites and sites-single

The default method is trained on `wcxb`, `sites` and `swde`, `model` on the pages (not the labels) of the last two. What
their shipped networks do there tells nothing of other pages, so it is not measured: held-out texts stand in for them,
and without any the method is missing from these sections. Training holds out a sample of the pages of `swde` only, too
few for the measures of this page.

Needs the evaluation data (`CHAFFINCH_DATA`) and the extras `bench` and `peers`. The figures of each section are kept in
`docs/figures/benchmark-SECTION.json`. The peers' answers are kept in the data folder, so only the first run is long.
"""

from __future__ import annotations

import argparse
import json
import logging
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final, TypeAlias

import chaffinch
from chaffinch.evaluation.about import measure_about
from chaffinch.evaluation.datasets import find_data, open_set
from chaffinch.evaluation.evaluate import Settings, compare
from chaffinch.evaluation.peers import PEERS
from chaffinch.evaluation.predictors import EVERYTHING, NOTHING, HeldOut, MethodPredictor
from chaffinch.evaluation.results import Evaluation, Result
from chaffinch.methods import DEFAULT_METHOD, DEFAULT_THRESHOLD, METHODS, AnyMethod, Favor, decide, make_method
from chaffinch.methods.fused import Fused
from chaffinch.render import render
from chaffinch.store import SiteTemplate
from compare import KGrams

Section: TypeAlias = dict[str, Any]
Row: TypeAlias = Mapping[str, Any]

DOCS: Final = Path(__file__).parent.parent / "docs"

TYPES: Final = ("article", "documentation", "service", "forum", "collection", "listing", "product")
FAVORED: Final[tuple[Favor, ...]] = ("recall", "balanced", "precision", 0.8, 0.9, 0.95, 0.98, 0.99)
SPEED_PAGES: Final = 100
SPEED_SITE_PAGES: Final = 25
TRAINED_ON: Final[Mapping[str, frozenset[str]]] = {
    Fused.name: frozenset({"wcxb", "sites", "swde"}),
    "model": frozenset({"sites", "swde"}),
}
"""The sets that the shipped parts of methods were trained on, where held-out texts stand in for them."""
HELD_OUT_FILES: Final = {
    "wcxb": "page-by-page.jsonl",
    "sites": "sites.jsonl",
    "sites-single": "page-by-page.jsonl",
}
"""What training writes into its folder of held-out texts, by what it is good for."""
CROSS_VALIDATED: Final = ", cross-validated"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be measured."""

    jobs: int = 1
    limit: int | None = None
    rounds: int = 3
    held_out: tuple[tuple[str, HeldOut], ...] = ()
    """Texts made before, each with the set they are of."""

    def held_out_of(self, set_name: str) -> list[HeldOut]:
        """Return the texts made before of one set."""
        return [texts for name, texts in self.held_out if name == set_name]


# Measuring


def labelled(asked: Asked, set_name: str, methods: Sequence[str], *, single: bool = False) -> Section:
    """Measure methods and peers on one set; with `single`, methods are told nothing of the pages' sites."""
    held_out = asked.held_out_of(f"{set_name}-single" if single and set_name != "wcxb" else set_name)
    evaluation = compare(
        set_name,
        [make_method(name) for name in methods if set_name not in TRAINED_ON.get(name, ())],
        peers=PEERS,
        rivals=[*held_out, *([] if single else [KGrams()])],
        settings=Settings(jobs=asked.jobs, limit=asked.limit, page_by_page=single),
        progress=_progress(f"{set_name}{', single pages' if single else ''}"),
    )
    made_before = {texts.name for texts in held_out}
    rows = [
        {
            "name": _shown_name(result, made_before),
            "version": result.label if result.name in PEERS else "",
            "macro": result.macro,
            "by_kind": result.by_kind,
            "empty": list(result.empty),
            "errors": result.errors,
        }
        for result in evaluation.results
        if result.name != NOTHING
    ]
    rows.sort(key=lambda row: not str(row["name"]).endswith(CROSS_VALIDATED))
    return {"pages": evaluation.pages, "sites": len(evaluation.sites), "data": evaluation.data_hash, "rows": rows}


def _shown_name(result: Result, held_out: set[str]) -> str:
    if result.name in held_out and not result.seconds:
        return f"{result.name}{CROSS_VALIDATED}"
    return {EVERYTHING: "all visible text"}.get(result.name, result.name)


def measure_wcxb(asked: Asked) -> Section:
    """Measure single pages of seven types."""
    return labelled(asked, "wcxb", [DEFAULT_METHOD, "model"], single=True)


def measure_sites(asked: Asked) -> Section:
    """Measure whole sites."""
    return labelled(asked, "sites", list(METHODS))


def measure_sites_single(asked: Asked) -> Section:
    """Measure the pages of the same sites one at a time."""
    return labelled(asked, "sites", [DEFAULT_METHOD, "model"], single=True)


def measure_swde(asked: Asked) -> Section:
    """Measure commercial sites with layout tables."""
    return labelled(asked, "swde", list(METHODS))


def measure_favor(asked: Asked) -> Section:
    """Measure what `--favor` does to the default method, on sets that it was not trained on."""
    method = make_method()
    section: Section = {"method": method.name, "rows": []}
    for set_name in ("sites", "wcxb", "swde"):
        if set_name in TRAINED_ON.get(method.name, ()):
            continue
        evaluation: Evaluation = compare(
            set_name,
            [],
            rivals=[MethodPredictor(method, favor) for favor in FAVORED],
            settings=Settings(jobs=asked.jobs, limit=asked.limit),
            progress=_progress(f"favor, {set_name}"),
        )
        for favor, result in zip(FAVORED, evaluation.results, strict=False):
            section["rows"].append({"set": set_name, "favor": str(favor), "macro": result.macro})
    return section


def measure_metadata(asked: Asked) -> Section:
    """Measure titles, authors and dates."""
    return {"rows": [asdict(score) for score in measure_about(limit=asked.limit)]}


def measure_speed(asked: Asked) -> Section:
    """Measure one page in memory against the peers, and what it costs to know the site."""
    files = sorted((find_data() / "wcxb" / "dev" / "html").glob("*.html"))
    step = max(1, len(files) // SPEED_PAGES)
    bodies = [path.read_bytes() for path in files[::step]][: min(SPEED_PAGES, asked.limit or SPEED_PAGES)]
    texts = [chaffinch.parse(body).html for body in bodies]
    costs: dict[str, list[float]] = {}
    method = make_method()
    peers = {name: make() for name, make in PEERS.items()}
    for number in range(asked.rounds):
        _tell(f"speed, round {number + 1} of {asked.rounds}")
        costs.setdefault(method.name, []).append(_seconds(lambda body: chaffinch.extract(body, method=method), bodies))
        costs.setdefault(f"{method.name}, text alone", []).append(_seconds(partial(_text_alone, method), bodies))
        for name, extract in peers.items():
            costs.setdefault(name, []).append(_seconds(extract, texts))
    _tell("")
    own = costs[method.name]
    rows = [
        {
            "name": name,
            "ms": 1000 * median(spent) / len(bodies),
            "ratio": median(other / mine for other, mine in zip(spent, own, strict=True)),
        }
        for name, spent in costs.items()
    ]
    return {"pages": len(bodies), "method": method.name, "rows": rows, "evidence": _site_evidence(asked)}


def _site_evidence(asked: Asked) -> Section:
    """Return the cost of pages alone, of the same pages with a template at hand, and of learning that template."""
    data = open_set("sites")
    method = make_method()
    rounds: list[dict[str, float]] = []
    names = data.site_names()[: asked.limit]
    sites = [[gold.capture.body for gold in data.load(name).pages[:SPEED_SITE_PAGES]] for name in names]
    for number in range(asked.rounds):
        spent = {"alone": 0.0, "with": 0.0, "learn": 0.0}
        for done, bodies in enumerate(sites):
            _tell(f"site evidence, round {number + 1} of {asked.rounds}, site {done + 1} of {len(sites)}")
            pages = [chaffinch.parse(body) for body in bodies]
            start = time.process_time()
            template = chaffinch.learn(pages, method=method)
            spent["learn"] += time.process_time() - start
            spent["alone"] += _seconds(lambda body: chaffinch.extract(body, method=method), bodies)
            spent["with"] += _seconds(partial(_extract_with, template), bodies)
        rounds.append(spent)
    _tell("")
    pages_done = sum(map(len, sites))
    return {
        "pages": pages_done,
        **{name: 1000 * median(spent[name] for spent in rounds) / pages_done for name in rounds[0]},
        "ratio": median(spent["with"] / spent["alone"] for spent in rounds),
    }


def _text_alone(method: AnyMethod, body: bytes) -> str:
    page = chaffinch.parse(body)
    return render(*decide(method, page, method.score(page, None), DEFAULT_THRESHOLD), "text")


def _extract_with(template: SiteTemplate, body: bytes) -> object:
    return chaffinch.extract(body, template=template)


def _seconds(work: Callable[[Any], object], items: Sequence[Any]) -> float:
    """Return the CPU seconds of `work` on all items; an error is an answer too."""
    start = time.process_time()
    for item in items:
        try:
            work(item)
        except Exception:  # noqa: BLE001, S112  (whatever a peer raises)
            continue
    return time.process_time() - start


SECTIONS: Final[dict[str, Callable[[Asked], Section]]] = {
    "wcxb": measure_wcxb,
    "sites": measure_sites,
    "sites-single": measure_sites_single,
    "swde": measure_swde,
    "favor": measure_favor,
    "metadata": measure_metadata,
    "speed": measure_speed,
}


# Writing


def page_lines(figures: Mapping[str, Section]) -> Iterator[str]:
    """Write the page."""
    yield "# Benchmark"
    yield (
        "\nMade by `python benchmarks/benchmark_page.py`; `benchmarks/` says how, and every section when. All peers get"
        " the same decoded pages and are called with what suits the measure: trafilatura with comments and tables,"
        " resiliparse with `main_content` and without bullets, jusText with English stop words."
    )
    for name, write in WRITERS.items():
        if name in figures:
            section = figures[name]
            yield ""
            yield from write(section)
            yield f"\n{_made(section)}"
    versions = sorted({row["version"] for section in figures.values() for row in section["rows"] if row.get("version")})
    if versions:
        yield f"\nPeers: {', '.join(versions)}."


def _made(section: Section) -> str:
    made = section["made"]
    data = f", data {section['data'][:12]}" if "data" in section else ""
    return f"*{made['date']}, Chaffinch {made['chaffinch']}, Python {made['python']}{data}.*"


def write_wcxb(section: Section) -> Iterator[str]:
    """Write the tables of single pages."""
    yield f"## Single pages: WCXB development split ({section['pages']:,} pages)"
    yield (
        "\nWord F1, precision and recall as the benchmark defines them, means over pages. *Found* is the share of the"
        " snippets that must appear and do, *leaked* that of those that must not and do. *Empty* counts the pages that"
        " show words and of which nothing came back.\n"
    )
    yield "| | F1 | precision | recall | found | leaked | empty |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for row in section["rows"]:
        macro = row["macro"]
        cells = [f"{macro[name]:.3f}" for name in ("f1", "precision", "recall")]
        cells += [f"{macro['with']:.1%}", f"{macro['without']:.1%}", f"{len(row['empty'])}"]
        yield _line(row["name"], cells)
    yield "\nF1 by page type:\n"
    yield from _by_kind(section, TYPES, lambda means: f"{means['f1']:.3f}")
    yield from _footnote(section)
    shown = [row for row in section["rows"] if row["empty"] and DEFAULT_METHOD in row["name"]]
    for row in shown:
        yield f"\nEmpty under {row['name']}: {', '.join(name.partition('/')[0] for name in row['empty'])}."


def write_sites(section: Section) -> Iterator[str]:
    """Write the tables of whole sites."""
    yield f"## Whole sites: `sites` ({section['pages']:,} pages of {section['sites']} sites)"
    yield (
        "\nMethods get all pages of a site, peers one at a time. *Leak* is the share of the template's words that is"
        " still there. Means over sites.\n"
    )
    yield from _sites_tables(section)


def write_sites_single(section: Section) -> Iterator[str]:
    """Write the tables of the same sites, page by page."""
    yield "## The same sites, one page at a time"
    yield "\nNobody is told anything of the site.\n"
    yield from _sites_tables(section)


def _sites_tables(section: Section) -> Iterator[str]:
    names = ("f1", "precision", "recall", "leak")
    yield f"| | F1 | {' | '.join(names[1:])} | empty |"
    yield "|---|--:|--:|--:|--:|--:|"
    for row in section["rows"]:
        yield _line(row["name"], [*(f"{row['macro'][name]:.3f}" for name in names), str(len(row["empty"]))])
    yield "\nF1 / leak by kind of site:\n"
    yield from _by_kind(section, None, lambda means: f"{means['f1']:.3f} / {means['leak']:.3f}")
    yield from _footnote(section)


def write_swde(section: Section) -> Iterator[str]:
    """Write the table of commercial sites."""
    yield f"## Commercial sites: `swde` ({section['pages']:,} pages of {section['sites']} sites)"
    yield (
        "\nThe share of distinct gold values that is kept, and of visible words that is removed; means over sites."
        " Methods that were trained on pages of these sites are left out.\n"
    )
    yield "| | values kept | words removed |"
    yield "|---|--:|--:|"
    for row in section["rows"]:
        yield _line(row["name"], [f"{row['macro'][name]:.3f}" for name in ("kept", "removed")])


def write_favor(section: Section) -> Iterator[str]:
    """Write what `--favor` does."""
    yield f"## `--favor` under {section['method']}"
    if not section["rows"]:
        yield "\nNot measured here: the method was trained on pages of every set that could tell."
    for set_name in dict.fromkeys(row["set"] for row in section["rows"]):
        rows = [row for row in section["rows"] if row["set"] == set_name]
        measures = [
            name
            for name in ("f1", "precision", "recall", "leak", "with", "without", "kept", "removed")
            if name in rows[0]["macro"]
        ]
        yield f"\n| {set_name} | {' | '.join(measures)} |"
        yield f"|---|{'--:|' * len(measures)}"
        for row in rows:
            yield _line(row["favor"], [f"{row['macro'][name]:.3f}" for name in measures])


def write_metadata(section: Section) -> Iterator[str]:
    """Write the table of titles, authors and dates."""
    yield "## Titles, authors and dates: WCXB development split"
    yield (
        "\n*Exact* is the share of pages with gold where the value is right, but for case, punctuation and the order of"
        " names; *words* the mean word F1; *told* the share where there is an answer at all.\n"
    )
    yield "| | pages | exact | words | told |"
    yield "|---|--:|--:|--:|--:|"
    for row in section["rows"]:
        cells = [f"{row['pages']:,}", *(f"{row[name]:.3f}" for name in ("exact", "words", "told"))]
        yield _line(f"{row['field']}: {row['reader']}", cells)


def write_speed(section: Section) -> Iterator[str]:
    """Write the tables of time."""
    yield "## Time"
    yield (
        f"\nOne page in memory to its text, {section['pages']} pages of WCXB, one process, medians of rounds in which"
        " all take turns. CPU milliseconds a page; the ratio is to the default method. Peers get decoded text and give"
        " text; Chaffinch gets bytes and gives text, title, author, date, language and the rest, or text alone.\n"
    )
    yield "| | ms | times |"
    yield "|---|--:|--:|"
    for row in section["rows"]:
        yield _line(row["name"], [f"{row['ms']:.1f}", f"{row['ratio']:.2f}"])
    evidence = section["evidence"]
    yield (
        f"\nWith what is known of the site at hand, a page costs {evidence['ratio']:.2f} times as much as alone"
        f" ({evidence['with']:.1f} ms, {evidence['alone']:.1f} ms; {evidence['pages']} pages of `sites`). Learning"
        f" takes {evidence['learn']:.1f} ms for each parsed page."
    )


def _by_kind(section: Section, kinds: Sequence[str] | None, cell: Callable[[Row], str]) -> Iterator[str]:
    names = kinds or list(section["rows"][0]["by_kind"])
    names = [name for name in names if name in section["rows"][0]["by_kind"]]
    yield f"| | {' | '.join(names)} |"
    yield f"|---|{'--:|' * len(names)}"
    for row in section["rows"]:
        yield _line(row["name"], [cell(row["by_kind"][name]) for name in names])


def _footnote(section: Section) -> Iterator[str]:
    if any(row["name"].endswith(CROSS_VALIDATED) for row in section["rows"]):
        yield (
            "\n*Cross-validated*: what networks kept that were trained without the page's site. Those that are shipped"
            " were trained on these very pages, and are not measured on them."
        )


def _line(name: str, cells: Sequence[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


WRITERS: Final[dict[str, Callable[[Section], Iterator[str]]]] = {
    "wcxb": write_wcxb,
    "sites": write_sites,
    "sites-single": write_sites_single,
    "swde": write_swde,
    "favor": write_favor,
    "metadata": write_metadata,
    "speed": write_speed,
}


def _tell(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def _progress(what: str) -> Callable[[int, int, str], None]:
    return lambda done, total, name: _tell(f"{what}: {done}/{total} {name}" if done < total else "")


def _read_held_out(text: str) -> list[tuple[str, HeldOut]]:
    if Path(text).is_dir():
        return [(set_name, HeldOut(DEFAULT_METHOD, Path(text, name))) for set_name, name in HELD_OUT_FILES.items()]
    set_name, colon, rest = text.partition(":")
    name, equals, path = rest.partition("=")
    if not (colon and equals):
        raise ValueError(text)
    return [(set_name, HeldOut(name, Path(path)))]


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--write-only", action="store_true", help="measure nothing")
    parser.add_argument("--held-out", type=_read_held_out, action="extend", default=[], metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes share the sites (default: 1)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the times (default: 3)")
    parser.add_argument("--limit", type=int, help="only the first sites, to try this out")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where to write (default: docs/)")
    parsed = parser.parse_args()
    if unknown := set(parsed.sections) - set(SECTIONS):
        parser.error(f"there is no section {', '.join(sorted(unknown))}; there are: {', '.join(SECTIONS)}")
    logging.disable(logging.CRITICAL)
    folder: Path = parsed.docs / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    asked = Asked(parsed.jobs, parsed.limit, parsed.rounds, tuple(parsed.held_out))
    made = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "chaffinch": chaffinch.__version__,
        "python": platform.python_version(),
    }
    for name in () if parsed.write_only else parsed.sections or SECTIONS:
        section = {"made": made, **SECTIONS[name](asked)}
        (folder / f"benchmark-{name}.json").write_text(json.dumps(section, indent=1) + "\n", "utf-8")
    figures = {
        name: json.loads(path.read_text("utf-8"))
        for name in SECTIONS
        if (path := folder / f"benchmark-{name}.json").exists()
    }
    page: Path = parsed.docs / "benchmark.md"
    page.write_text("\n".join(page_lines(figures)) + "\n", "utf-8")
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
