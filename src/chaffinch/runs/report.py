"""What a run did, site by site."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from chaffinch.version import VERSION

if TYPE_CHECKING:
    from chaffinch.runs.options import Outcome, RunOptions


LEAST_PAGES: Final = 3
"""A mean fit of fewer pages tells too little: none is kept, and no drift is told."""

DRIFT: Final = 0.5
"""A site has drifted if the mean fit of its pages is below this share of what it was at learning."""

_MOST_DRIFTED: Final = 20
"""Sites that are named for it in the table."""


@dataclass(slots=True)
class SiteCounts:
    """The counts of one site."""

    pages: int = 0
    informed: int = 0
    """Pages for which the method knew something of the site."""
    words_in: int = 0
    words_kept: int = 0
    failures: int = 0
    fitted: int = 0
    """Pages of which it was measured how well they fit a kept template."""
    fit_sum: float = 0.0
    fit_learned: float | None = None
    """The mean fit when the template was learned, if it was measured."""

    @property
    def fit(self) -> float | None:
        """The mean fit of the pages, None if it was not measured."""
        return self.fit_sum / self.fitted if self.fitted else None

    @property
    def drifted(self) -> bool:
        """Whether the pages fit so much worse than those learned from that the site looks redesigned."""
        fit, learned = self.fit, self.fit_learned
        return self.fitted >= LEAST_PAGES and fit is not None and learned is not None and fit < DRIFT * learned

    @property
    def template_share(self) -> float:
        """Which share of the words was dropped."""
        return 1 - self.words_kept / self.words_in if self.words_in else 0.0

    def add(self, other: SiteCounts) -> None:
        """Count the pages of another site too."""
        self.pages += other.pages
        self.informed += other.informed
        self.words_in += other.words_in
        self.words_kept += other.words_kept
        self.failures += other.failures


@dataclass(frozen=True, slots=True)
class Failure:
    """An input or a page that gave no document."""

    source: str
    reason: str


@dataclass
class RunReport:
    """The counts of a run."""

    method: str
    templates: str | None = None
    """The database of templates that the run went by."""
    sites: dict[str, SiteCounts] = field(default_factory=dict)
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds of wall-clock time for each pass."""
    failures: list[Failure] = field(default_factory=list)
    unwanted: int = 0
    """Pages that `include` and `exclude` left out."""
    superseded: int = 0
    """Captures that were left out because another one of the same URL was taken."""
    duplicates: int | None = None
    """Pages that were left out as duplicates of an earlier one; None if nobody looked for them."""
    seconds: float = 0.0
    peak_memory: int = 0
    """The most that all processes together have held, in bytes; what they share is counted for each."""

    @classmethod
    def of(cls, options: RunOptions) -> RunReport:
        """Return an empty report."""
        return cls(options.method.name, options.templates, duplicates=None if options.duplicates is None else 0)

    def count(self, outcome: Outcome) -> None:
        """Count what became of one input."""
        if outcome.error is not None:
            self.failures.append(Failure(outcome.source, outcome.error))
            if outcome.site:
                self._site(outcome.site).failures += 1
        elif outcome.duplicate:
            self.duplicates = (self.duplicates or 0) + 1
        elif outcome.document is None:
            self.unwanted += 1
        else:
            counts = self._site(outcome.site)
            counts.pages += 1
            counts.informed += outcome.informed
            counts.words_in += outcome.document.words_in
            counts.words_kept += outcome.document.words_kept
            if outcome.fit is not None:
                counts.fitted += 1
                counts.fit_sum += outcome.fit
                counts.fit_learned = outcome.fit_learned

    def _site(self, site: str) -> SiteCounts:
        return self.sites.setdefault(site, SiteCounts())

    @property
    def total(self) -> SiteCounts:
        """The counts of all sites together, inputs that belong to no site included."""
        total = SiteCounts()
        for counts in self.sites.values():
            total.add(counts)
        total.failures = len(self.failures)
        return total

    @property
    def drifted(self) -> list[str]:
        """The sites that look redesigned, by name."""
        return sorted(site for site, counts in self.sites.items() if counts.drifted)

    def as_json(self) -> dict[str, Any]:
        """Return the report for a machine."""
        kept = self.templates is not None
        return {
            "version": VERSION,
            "method": self.method,
            **({"templates": self.templates, "drifted": self.drifted} if kept else {}),
            "sites": [
                {"site": site, **_counts(counts), **(_fit(counts) if kept else {})}
                for site, counts in sorted(self.sites.items())
            ],
            "total": _counts(self.total),
            "stages": {name: round(seconds, 3) for name, seconds in self.stages.items()},
            "unwanted": self.unwanted,
            "superseded": self.superseded,
            **_duplicates(self.duplicates),
            "failures": [asdict(failure) for failure in self.failures],
            "seconds": round(self.seconds, 3),
            "peak_memory": self.peak_memory,
        }

    def as_table(self, most_sites: int = 40) -> str:
        """Return the report for a person: the largest sites, the total, and what is to be known of them."""
        ordered = sorted(self.sites.items(), key=lambda item: (-item[1].pages, item[0]))
        width = max([len("site"), *(len(shown(site)) for site, _ in ordered[:most_sites])])
        head = f"{'site':<{width}}  {'pages':>7}  {'words kept':>12}  {'template':>8}  {'failed':>6}"
        kept = self.templates is not None
        lines = [f"{head}  {'fit':>5}  {'learned':>7}" if kept else head]
        lines += [_line(site, counts, width, fits=kept) for site, counts in ordered[:most_sites]]
        if len(ordered) > most_sites:
            rest = SiteCounts()
            for _, counts in ordered[most_sites:]:
                rest.add(counts)
            lines.append(_line(f"{len(ordered) - most_sites} more sites", rest, width))
        lines.append(_line("all", self.total, width))
        return "\n".join((*lines, *self.remarks()))

    def remarks(self) -> list[str]:
        """Say what a user should know of the run, in sentences."""
        total = self.total
        lines = []
        if not total.pages + total.failures + (self.duplicates or 0):
            lines.append(
                f"{counted(self.unwanted, 'page')} left out by --include and --exclude, and no other found."
                if self.unwanted
                else "No page was found."
            )
        if total.pages > total.informed:
            alone = f"{total.pages - total.informed} of {total.pages} pages stood alone: {self.method} found "
            lines.append(
                alone
                + (
                    f"nothing to compare them with in {self.templates}."
                    if self.templates
                    else "no other page to compare them with."
                )
            )
        lines += _left_out(self.duplicates)
        drifted = self.drifted
        for site in drifted[:_MOST_DRIFTED]:
            counts = self.sites[site]
            lines.append(
                f"{shown(site)} looks redesigned: its pages show {_percent(counts.fit)} of the learned template, and "
                f"showed {_percent(counts.fit_learned)} when it was learned. "
                "Learn it anew with `chaffinch learn --relearn`."
            )
        if len(drifted) > _MOST_DRIFTED:
            lines.append(f"So do {len(drifted) - _MOST_DRIFTED} more sites.")
        return lines


@dataclass(slots=True)
class SiteLearned:
    """What was learned of one site."""

    pages: int
    """Pages of this run."""
    pages_in_all: int
    """Pages that the template was learned from, those of earlier runs included."""
    fit: float | None
    """The mean fit of the sample pages, None if too few could tell."""


@dataclass
class LearnReport:
    """What was learned in a run."""

    method: str
    templates: str
    """The database."""
    sites: dict[str, SiteLearned] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    unwanted: int = 0
    """Pages that `include` and `exclude` left out."""
    superseded: int = 0
    """Captures that were left out because another one of the same URL was taken."""
    duplicates: int | None = None
    """Pages that were left out as duplicates of an earlier one; None if nobody looked for them."""
    seconds: float = 0.0
    peak_memory: int = 0
    """The most that all processes together have held, in bytes; what they share is counted for each."""

    @property
    def pages(self) -> int:
        """How many pages were learned from."""
        return sum(site.pages for site in self.sites.values())

    def as_json(self) -> dict[str, Any]:
        """Return the report for a machine."""
        return {
            "version": VERSION,
            "method": self.method,
            "templates": self.templates,
            "sites": [{"site": site, **asdict(learned)} for site, learned in sorted(self.sites.items())],
            "pages": self.pages,
            "unwanted": self.unwanted,
            "superseded": self.superseded,
            **_duplicates(self.duplicates),
            "failures": [asdict(failure) for failure in self.failures],
            "seconds": round(self.seconds, 3),
            "peak_memory": self.peak_memory,
        }

    def as_table(self, most_sites: int = 40) -> str:
        """Return the report for a person."""
        ordered = sorted(self.sites.items(), key=lambda item: (-item[1].pages, item[0]))
        width = max([len("site"), *(len(shown(site)) for site, _ in ordered[:most_sites])])
        lines = [f"{'site':<{width}}  {'pages':>7}  {'in all':>7}  {'fit':>5}"]
        lines += [
            f"{shown(site):<{width}}  {learned.pages:>7,}  {learned.pages_in_all:>7,}  {_percent(learned.fit):>5}"
            for site, learned in ordered[:most_sites]
        ]
        if len(ordered) > most_sites:
            rest = ordered[most_sites:]
            pages, in_all = sum(site.pages for _, site in rest), sum(site.pages_in_all for _, site in rest)
            lines.append(f"{f'{len(rest)} more sites':<{width}}  {pages:>7,}  {in_all:>7,}")
        done = f"{counted(len(self.sites), 'site')} from {counted(self.pages, 'page')}"
        lines.append(f"{self.templates}: {self.method} learned {done}.")
        return "\n".join((*lines, *_left_out(self.duplicates)))


def shown(site: str) -> str:
    """Return a site's name, shortened to what fits a table."""
    return site if len(site) <= 50 else f"…{site[-49:]}"


def _duplicates(number: int | None) -> dict[str, int]:
    return {} if number is None else {"duplicates": number}


def _left_out(duplicates: int | None) -> list[str]:
    """Say how many duplicates were left out, if anybody looked for them."""
    if duplicates is None:
        return []
    return [f"{counted(duplicates, 'page')} left out as {'a duplicate' if duplicates == 1 else 'duplicates'}."]


def counted(number: int, thing: str) -> str:
    """Return a number of things in words."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def _percent(fit: float | None) -> str:
    return "-" if fit is None else f"{fit:.0%}"


def _line(name: str, counts: SiteCounts, width: int, *, fits: bool = False) -> str:
    line = (
        f"{shown(name):<{width}}  {counts.pages:>7,}  {counts.words_kept:>12,}  {counts.template_share:>8.0%}"
        f"  {counts.failures:>6,}"
    )
    return f"{line}  {_percent(counts.fit):>5}  {_percent(counts.fit_learned):>7}" if fits else line


def _counts(counts: SiteCounts) -> dict[str, Any]:
    return {
        "pages": counts.pages,
        "informed": counts.informed,
        "words_in": counts.words_in,
        "words_kept": counts.words_kept,
        "failures": counts.failures,
        "template_share": round(counts.template_share, 4),
    }


def _fit(counts: SiteCounts) -> dict[str, Any]:
    fit, learned = counts.fit, counts.fit_learned
    return {
        "fit": None if fit is None else round(fit, 4),
        "fit_learned": None if learned is None else round(learned, 4),
        "drifted": counts.drifted,
    }
