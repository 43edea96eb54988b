"""What a run did, site by site."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from chaffinch.version import VERSION

if TYPE_CHECKING:
    from chaffinch.runs.options import Outcome, RunOptions


@dataclass(slots=True)
class SiteCounts:
    """The counts of one site."""

    pages: int = 0
    informed: int = 0
    """Pages for which the method knew something of the site."""
    words_in: int = 0
    words_kept: int = 0
    failures: int = 0

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
    sites: dict[str, SiteCounts] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    unwanted: int = 0
    """Pages that `include` and `exclude` left out."""
    seconds: float = 0.0

    @classmethod
    def of(cls, options: RunOptions) -> RunReport:
        """Return an empty report."""
        return cls(options.method.name)

    def count(self, outcome: Outcome) -> None:
        """Count what became of one input."""
        if outcome.error is not None:
            self.failures.append(Failure(outcome.source, outcome.error))
            if outcome.site:
                self._site(outcome.site).failures += 1
        elif outcome.document is None:
            self.unwanted += 1
        else:
            counts = self._site(outcome.site)
            counts.pages += 1
            counts.informed += outcome.informed
            counts.words_in += outcome.document.words_in
            counts.words_kept += outcome.document.words_kept

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

    def as_json(self) -> dict[str, Any]:
        """Return the report for a machine."""
        return {
            "version": VERSION,
            "method": self.method,
            "sites": [{"site": site, **_counts(counts)} for site, counts in sorted(self.sites.items())],
            "total": _counts(self.total),
            "unwanted": self.unwanted,
            "failures": [asdict(failure) for failure in self.failures],
            "seconds": round(self.seconds, 3),
        }

    def as_table(self, most_sites: int = 40) -> str:
        """Return the report for a person: the largest sites, the total, and the failures."""
        ordered = sorted(self.sites.items(), key=lambda item: (-item[1].pages, item[0]))
        width = max([len("site"), *(len(_shown(site)) for site, _ in ordered[:most_sites])])
        lines = [f"{'site':<{width}}  {'pages':>7}  {'words kept':>12}  {'template':>8}  {'failed':>6}"]
        lines += [_line(_shown(site), counts, width) for site, counts in ordered[:most_sites]]
        if len(ordered) > most_sites:
            rest = SiteCounts()
            for _, counts in ordered[most_sites:]:
                rest.add(counts)
            lines.append(_line(f"{len(ordered) - most_sites} more sites", rest, width))
        lines.append(_line("all", self.total, width))
        total = self.total
        if total.pages > total.informed:
            alone = total.pages - total.informed
            lines.append(
                f"{alone} of {total.pages} pages stood alone: {self.method} found no other page to compare them with."
            )
        return "\n".join(lines)


def _shown(site: str) -> str:
    return site if len(site) <= 50 else f"…{site[-49:]}"


def _line(name: str, counts: SiteCounts, width: int) -> str:
    return (
        f"{name:<{width}}  {counts.pages:>7,}  {counts.words_kept:>12,}  {counts.template_share:>8.0%}"
        f"  {counts.failures:>6,}"
    )


def _counts(counts: SiteCounts) -> dict[str, Any]:
    return {**asdict(counts), "template_share": round(counts.template_share, 4)}
