"""The tables of the retrieval experiments, as Markdown and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from chaffinch.evaluation.corpora import KINDS
from chaffinch.evaluation.predictors import EVERYTHING
from chaffinch.evaluation.retrieval import BM25_MEASURES, CUTS, PIVOTED, module

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from chaffinch.evaluation.corpora import Kind
    from chaffinch.evaluation.retrieval import QueryRow, Retrieval, SizeRow

_TINY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Counts:
    """How many queries are answered better, worse, and as well without template."""

    better: int
    worse: int
    same: int

    def __str__(self) -> str:
        return f"{self.better} / {self.worse} / {self.same}"

    @property
    def better_share(self) -> float:
        """Of the queries that are answered otherwise, the share that is answered better: N/T of Ma et al."""
        return self.better / max(1, self.better + self.worse)


@dataclass(frozen=True, slots=True)
class Answers:
    """Queries of one kind on one collection, with the measures of one prediction beside those of all text."""

    rows: tuple[QueryRow, ...]
    prediction: str

    def mean(self, measure: str) -> float:
        """Return the mean over corpora of the means over queries."""
        return self._macro(lambda row: row.measures[self.prediction][measure])

    def switched(self, measure: str) -> float:
        """Return the mean if the better of the two indexes answered each query: the paper's switch."""
        return self._macro(lambda row: max(row.measures[name][measure] for name in (self.prediction, EVERYTHING)))

    def counts(self, measure: str) -> Counts:
        """Compare with the index of all text, query by query."""
        gains = [row.measures[self.prediction][measure] - row.measures[EVERYTHING][measure] for row in self.rows]
        better, worse = sum(gain > _TINY for gain in gains), sum(gain < -_TINY for gain in gains)
        return Counts(better, worse, len(gains) - better - worse)

    def p_value(self, measure: str) -> float:
        """Return by Wilcoxon's signed-rank test how likely such differences are if there is none; 1 without any."""
        gains = [row.measures[self.prediction][measure] - row.measures[EVERYTHING][measure] for row in self.rows]
        changed = [gain for gain in gains if abs(gain) > _TINY]
        return float(module("scipy.stats").wilcoxon(changed, method="approx").pvalue) if changed else 1.0

    def of_corpus(self, name: str) -> Answers:
        """Return those of one corpus."""
        return Answers(tuple(row for row in self.rows if row.corpus == name), self.prediction)

    @property
    def corpora(self) -> list[str]:
        """The names of the corpora that have such queries."""
        return list(dict.fromkeys(row.corpus for row in self.rows))

    def _macro(self, value: Callable[[QueryRow], float]) -> float:
        means = [fmean(value(row) for row in self.rows if row.corpus == name) for name in self.corpora]
        return fmean(means) if means else 0.0


def answers(found: Retrieval, collection: str, kind: Kind, prediction: str) -> Answers:
    """Return the queries of one kind."""
    rows = (row for row in found.queries if (row.collection, row.kind) == (collection, kind))
    return Answers(tuple(rows), prediction)


def groups(found: Retrieval) -> list[tuple[str, Kind]]:
    """Return collections and kinds of queries, in order."""
    names = dict.fromkeys(row.collection for row in found.queries)
    there = {(row.collection, row.kind) for row in found.queries}
    return [(name, kind) for name in names for kind in KINDS if (name, kind) in there]


def to_json(found: Retrieval) -> str:
    """Return all that was measured, means and counts first."""
    means = [
        {"collection": collection, "kind": kind, "prediction": name, **_figures(answers(found, collection, kind, name))}
        for collection, kind in groups(found)
        for name in (EVERYTHING, *found.predictions)
    ]
    sizes = [asdict(row) for row in found.sizes]
    return json.dumps({"predictions": found.predictions, "means": means, "sizes": sizes}, ensure_ascii=False, indent=1)


def query_lines(found: Retrieval) -> Iterator[str]:
    """Return a line of JSON for each query."""
    return (json.dumps(asdict(row), ensure_ascii=False) for row in found.queries)


def _figures(found: Answers) -> dict[str, Any]:
    names = (*BM25_MEASURES, PIVOTED)
    figures: dict[str, Any] = {
        "queries": len(found.rows),
        "corpora": len(found.corpora),
        **{name: round(found.mean(name), 4) for name in names},
    }
    if found.prediction != EVERYTHING:
        figures["counts"] = {name: asdict(found.counts(name)) for name in names}
        figures["switch"] = {name: round(found.switched(name), 4) for name in names}
        figures["wilcoxon"] = {name: found.p_value(name) for name in ("AP", "RR")}
    return figures


def tables(found: Retrieval, by_site: Collection[str] | None = None) -> str:
    """Print everything; corpora one by one only of the predictions `by_site`, if they are given."""
    named = found.predictions if by_site is None else [name for name in found.predictions if name in by_site]
    parts = [*_precision(found), *_sites(found, named), *_sizes(found), *_causes(found)]
    return "\n\n".join(["\n".join(part) for part in parts])


def _precision(found: Retrieval) -> Iterator[list[str]]:
    """Print the experiment of Ma et al., with the test of Rowlands et al."""
    for collection, kind in groups(found):
        whole = answers(found, collection, kind, EVERYTHING)
        cuts = " | ".join(f"P@{cut}" for cut in CUTS)
        counts = " | ".join(f"better / worse / same at {cut}" for cut in CUTS)
        switches = " | ".join(f"switch P@{cut}" for cut in CUTS)
        about = f"{collection}, {kind}: {len(whole.rows)} queries on {len(whole.corpora)} indexes."
        lines = [
            f"{about} Precisions are divided by what is attainable.",
            "",
            f"| | {cuts} | AP | RR | p (AP) | {counts} | N/T | {switches} |",
            f"|---|{'--:|' * (7 + 2 * len(CUTS))}",
        ]
        for name in (EVERYTHING, *found.predictions):
            one = answers(found, collection, kind, name)
            means = " | ".join(f"{one.mean(measure):.3f}" for measure in BM25_MEASURES)
            if name == EVERYTHING:
                rest = " | ".join([""] * (2 + 2 * len(CUTS)))
            else:
                changes = [one.counts(f"P@{cut}") for cut in CUTS]
                against = [*map(str, changes), " / ".join(f"{change.better_share:.2f}" for change in changes)]
                switched = [f"{one.switched(f'P@{cut}'):.3f}" for cut in CUTS]
                rest = " | ".join([_p(one.p_value("AP")), *against, *switched])
            lines.append(f"| {name} | {means} | {rest} |")
        yield lines


def _p(value: float) -> str:
    return "< .001" if value < 0.001 else f"{value:.3f}"


def _sites(found: Retrieval, named: Sequence[str]) -> Iterator[list[str]]:
    """Print the corpora one by one, where queries of a kind have several."""
    for collection, kind in groups(found):
        corpora = answers(found, collection, kind, EVERYTHING).corpora
        if len(corpora) < 2 or kind != "values":
            continue
        for name in named:
            heads = " | ".join(f"P@{cut}: all text | {name} | better / worse" for cut in CUTS)
            lines = [f"{collection}, {kind}, {name}, site by site.", "", f"| | queries | {heads} |"]
            lines.append(f"|---|{'--:|' * (1 + 3 * len(CUTS))}")
            for corpus in corpora:
                one = answers(found, collection, kind, name).of_corpus(corpus)
                whole = answers(found, collection, kind, EVERYTHING).of_corpus(corpus)
                cells = []
                for cut in CUTS:
                    counts = one.counts(f"P@{cut}")
                    cells += [f"{whole.mean(f'P@{cut}'):.3f}", f"{one.mean(f'P@{cut}'):.3f}"]
                    cells.append(f"{counts.better} / {counts.worse}")
                lines.append(f"| {corpus} | {len(one.rows)} | {' | '.join(cells)} |")
            yield lines


def _sizes(found: Retrieval) -> Iterator[list[str]]:
    """Print Table 1 of Rowlands et al."""
    collections = list(dict.fromkeys(row.collection for row in found.sizes))

    def total(collection: str, name: str, value: Callable[[SizeRow], int | None]) -> int:
        rows = (row for row in found.sizes if (row.collection, row.prediction) == (collection, name))
        return sum(value(row) or 0 for row in rows)

    def row_of(name: str, title: str, value: Callable[[SizeRow], int | None], unit: int, digits: int) -> str:
        cells = []
        for collection in collections:
            whole = total(collection, EVERYTHING, value)
            if name == EVERYTHING:
                cells.append(f"{whole / unit:,.{digits}f}")
            else:
                cells.append(f"{total(collection, name, value) / max(1, whole) - 1:+.0%}")
        return f"| {title} | {' | '.join(cells)} |"

    lines = [
        "Sizes: all text as it is, and what removal changes.",
        "",
        f"| | {' | '.join(collections)} |",
        f"|---|{'--:|' * len(collections)}",
    ]
    measures: tuple[tuple[str, Callable[[SizeRow], int | None], int, int], ...] = (
        ("bytes of pages, MB", lambda row: row.page_bytes, 1_000_000, 1),
        ("bytes of text, MB", lambda row: row.text_bytes, 1_000_000, 1),
        ("postings, thousands", lambda row: row.postings, 1_000, 0),
    )
    for title, value, unit, digits in measures:
        lines.append(row_of(EVERYTHING, f"**{title}**", value, unit, digits))
        lines += [
            row_of(name, name, value, unit, digits)
            for name in found.predictions
            if any(value(row) is not None for row in found.sizes if row.prediction == name)
        ]
    yield lines


def _causes(found: Retrieval) -> Iterator[list[str]]:
    """Print the experiment of Chen et al.: relevant pages among the first ten, by what the template does."""
    if not {"offsets", "shingle"} <= set(found.predictions):
        return
    shown = (EVERYTHING, "shingle", "offsets")
    heads = [f"{function}: {name}" for function in ("BM25", "pivoted") for name in shown]
    lines = [
        "Relevant pages among the first ten, means over queries. A query word stands in a template if `offsets`",
        "removes it from some page; elsewhere templates only make pages longer.",
        "",
        f"| | queries | {' | '.join(heads)} |",
        f"|---|--:|{'--:|' * len(heads)}",
    ]
    for collection, kind in groups(found):
        rows = answers(found, collection, kind, "offsets").rows
        for title, part in (
            ("query word in a template", [row for row in rows if row.in_template["offsets"]]),
            ("pages longer only", [row for row in rows if not row.in_template["offsets"]]),
        ):
            cells = [f"{_found(part, name, measure):.2f}" for measure in ("P@10", PIVOTED) for name in shown]
            if part:
                lines.append(f"| {collection}, {kind}: {title} | {len(part)} | {' | '.join(cells)} |")
    yield lines


def _found(rows: Iterable[QueryRow], name: str, measure: str) -> float:
    """Return how many of the first ten are relevant, from what is attainable of them."""
    counts = [row.measures[name][measure] * min(10, row.relevant) for row in rows]
    return fmean(counts) if counts else 0.0
