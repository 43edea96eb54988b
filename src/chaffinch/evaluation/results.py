"""What an evaluation found, and how it is printed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from chaffinch.evaluation.measures import ValueFate
    from chaffinch.methods import Favor

_MANY_SITES: Final = 40
"""Sets with more sites than this are sets of single pages; nobody wants to see a line for each."""
_TOLD_BY_KIND: Final = frozenset({"f1", "leak", "removed", "kept"})
"""The measures that are shown by kind for every prediction."""


@dataclass(frozen=True, slots=True)
class PageRow:
    """One page under one prediction."""

    site: str
    file: str
    kind: str
    words_in: int
    """How many words the page shows, all its visible text printed."""
    words_kept: int
    """How many words the prediction has."""
    measures: Mapping[str, float] = field(default_factory=dict)
    leaked: int = 0
    """How many template words the prediction still has (`sites`)."""
    template: int = 0
    """How many template words the page has (`sites`)."""
    values: tuple[ValueFate, ...] = ()
    """What became of the page's gold values (`swde`)."""

    def having(
        self,
        measures: Mapping[str, float],
        *,
        leaked: int = 0,
        template: int = 0,
        values: tuple[ValueFate, ...] = (),
    ) -> PageRow:
        """Return this row with its measures."""
        return replace(self, measures=measures, leaked=leaked, template=template, values=values)

    def as_dict(self) -> dict[str, Any]:
        """Return the row for JSON, measures side by side with the rest."""
        fixed = {name: getattr(self, name) for name in ("site", "file", "kind", "words_in", "words_kept")}
        lost = [[fate.attribute, fate.value] for fate in self.values if fate.shown and not fate.kept]
        counts = {"leaked": self.leaked, "template": self.template} if self.template else {}
        return {**fixed, **self.measures, **counts, **({"lost": lost} if lost else {})}


@dataclass(frozen=True, slots=True)
class SiteRow:
    """One site under one prediction."""

    site: str
    kind: str
    pages: int
    measures: Mapping[str, float]
    counts: Mapping[str, int] = field(default_factory=dict)
    """Numbers that say how much gold there is."""


@dataclass(frozen=True, slots=True)
class Result:
    """One prediction - of a method, a peer or a baseline - on all sites of a set."""

    name: str
    label: str
    """All there is to know of it: the method with its options, the peer with its version."""
    rows: tuple[PageRow, ...]
    sites: tuple[SiteRow, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    """CPU seconds by step, over all pages."""
    errors: int = 0
    """How many pages made it fail; they count as empty answers."""

    @property
    def macro(self) -> dict[str, float]:
        """The mean over sites of every measure."""
        return _means(self.sites)

    @property
    def by_kind(self) -> dict[str, dict[str, float]]:
        """The means over the sites of each kind (in `wcxb`, the pages of each type)."""
        return {kind: _means([row for row in self.sites if row.kind == kind]) for kind in kinds_of(self.sites)}

    @property
    def empty(self) -> tuple[str, ...]:
        """The pages that show words and of which nothing was returned."""
        return tuple(f"{row.site}/{row.file}" for row in self.rows if row.words_in and not row.words_kept)

    def as_dict(self) -> dict[str, Any]:
        """Return the result for JSON, without the rows of pages, and without sites that are single pages."""
        return {
            "name": self.name,
            "label": self.label,
            "macro": self.macro,
            "by_kind": self.by_kind,
            "seconds": dict(self.seconds),
            "errors": self.errors,
            "empty": list(self.empty),
            "sites": [asdict(row) for row in self.sites] if len(self.sites) <= _MANY_SITES else [],
        }


def kinds_of(sites: Iterable[SiteRow]) -> list[str]:
    """Return the kinds there are, sorted."""
    return sorted({row.kind for row in sites})


def _means(sites: Sequence[SiteRow]) -> dict[str, float]:
    return {name: fmean(row.measures[name] for row in sites) for name in sites[0].measures} if sites else {}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything that was measured on one set, what was asked for first and the baselines last."""

    set_name: str
    data_hash: str
    """The SHA-256 of the whole set, whatever part of it was measured."""
    favor: Favor
    page_by_page: bool
    """Whether methods were kept from knowing anything of the site."""
    pages: int
    parse_seconds: float
    """CPU seconds for parsing all pages."""
    results: tuple[Result, ...]

    @property
    def main(self) -> Result:
        """The prediction that was asked for."""
        return self.results[0]

    @property
    def rows(self) -> tuple[PageRow, ...]:
        """The pages under the prediction that was asked for."""
        return self.main.rows

    @property
    def sites(self) -> tuple[SiteRow, ...]:
        """The sites under the prediction that was asked for."""
        return self.main.sites

    @property
    def macro(self) -> dict[str, float]:
        """The means over sites of the prediction that was asked for."""
        return self.main.macro

    def __getitem__(self, name: str) -> Result:
        """Return the first prediction called `name`."""
        return next(result for result in self.results if result.name == name)

    def as_dict(self) -> dict[str, Any]:
        """Return the evaluation for JSON, without the rows of pages."""
        return {
            "set": self.set_name,
            "data_hash": self.data_hash,
            "favor": self.favor,
            "page_by_page": self.page_by_page,
            "pages": self.pages,
            "parse_seconds": self.parse_seconds,
            "results": [result.as_dict() for result in self.results],
        }

    def to_json(self) -> str:
        """Return the evaluation as JSON, without the rows of pages."""
        return json.dumps(self.as_dict(), ensure_ascii=False, indent=2)

    def page_lines(self) -> Iterator[str]:
        """Give the rows of all pages as lines of JSON, each naming its prediction."""
        for result in self.results:
            for row in result.rows:
                yield json.dumps({"prediction": result.name, **row.as_dict()}, ensure_ascii=False)

    def table(self) -> str:
        """Return the means, those of each kind and, on sets of whole sites, those of each site, for reading."""
        measures = list(self.main.macro)
        parts = [
            f"{self.set_name}: {self.pages} pages of {len(self.sites)} sites, data {self.data_hash[:12]}"
            + (", page by page" if self.page_by_page else ""),
            _grid(
                ["mean", *measures, "empty", "errors", "ms/page"], [self._overall(result) for result in self.results]
            ),
        ]
        parts += [
            _grid(
                [f"{measure}, by kind", *kinds_of(self.sites)], [_by_kind(result, measure) for result in self.results]
            )
            for measure in measures
            if measure in _TOLD_BY_KIND and len(self.results) > 1
        ]
        kinds = {kind: [row for row in self.sites if row.kind == kind] for kind in kinds_of(self.sites)}
        heads = [f"{self.main.name}, by kind", "sites", *measures]
        parts.append(_grid(heads, [[kind, str(len(rows)), *_cells(_means(rows))] for kind, rows in kinds.items()]))
        if len(self.sites) <= _MANY_SITES:
            counts = list(self.sites[0].counts) if self.sites else []
            lines = [
                [row.site, str(row.pages), *_cells(row.measures), *(str(row.counts[name]) for name in counts)]
                for row in self.sites
            ]
            parts.append(_grid([f"{self.main.name}, by site", "pages", *measures, *counts], lines))
        return "\n\n".join(parts)

    def _overall(self, result: Result) -> list[str]:
        milliseconds = 1000 * sum(result.seconds.values()) / max(1, self.pages)
        spent = f"{milliseconds:.1f}" if result.seconds else ""
        errors = str(result.errors) if result.errors else ""
        return [result.name, *_cells(result.macro), str(len(result.empty)), errors, spent]


def _by_kind(result: Result, measure: str) -> list[str]:
    return [result.name, *(f"{means[measure]:.3f}" for means in result.by_kind.values())]


def _cells(measures: Mapping[str, float]) -> list[str]:
    return [f"{value:.3f}" for value in measures.values()]


def _grid(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Align columns, the first to the left and the others to the right."""
    rows = [head, *lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = (
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in aligned)
