"""What a run is asked to do, and what it tells of each page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cached_property
from typing import Final, Literal, TypeAlias, get_args

from chaffinch.document import Document, Parts
from chaffinch.methods import DEFAULT_FAVOR, AnyMethod, Favor, make_method
from chaffinch.methods.duplicates import IMatch
from chaffinch.page import Page
from chaffinch.render.formats import Format
from chaffinch.runs.limits import NO_LIMITS, Budget, PageLimits
from chaffinch.sites import SiteBy
from chaffinch.sources import SourceOptions

CapturesTaken: TypeAlias = Literal["all", "first", "latest"]
"""Of several captures of one URL: all of them, the first in the input, or the one fetched last."""

CAPTURES_CHOICES: Final[tuple[CapturesTaken, ...]] = get_args(CapturesTaken)


@dataclass(frozen=True)
class UrlFilter:
    """Which pages are wanted, by shell-like patterns over the URL, or over the source where there is none."""

    include: tuple[str, ...] = ()
    """If there are any, one of them must match."""
    exclude: tuple[str, ...] = ()
    """None of these may match."""

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
        return _any_of(self.include), _any_of(self.exclude)

    def wants(self, address: str) -> bool:
        """Tell whether a page of this address is wanted."""
        include, exclude = self._patterns
        return (include is None or bool(include.match(address))) and not (exclude and exclude.match(address))


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(translate, patterns))) if patterns else None


@dataclass(frozen=True)
class RunOptions:
    """Everything that decides what a run gives out. Equal options and equal input give equal output."""

    method: AnyMethod = field(default_factory=make_method)
    format: Format = "text"
    favor: Favor = DEFAULT_FAVOR
    """How far the method is trusted: a name, or the share of the template that should go."""
    page_by_page: bool = False
    """Treat every page alone, whatever else is in the input."""
    site_by: SiteBy = "domain"
    """What a site is: a registrable domain, a host, or a host and the first folder of the path."""
    templates: str | None = None
    """A database of learned templates to go by, of the same method and the same kind of sites; `with_templates` sets
    all three. Every page is then read once."""
    duplicates: IMatch | None = None
    """How duplicates are told: each page that is one of an earlier page is left out. None keeps all."""
    urls: UrlFilter = field(default_factory=UrlFilter)
    sources: SourceOptions = field(default_factory=SourceOptions)
    parts: bool = False
    """Whether each outcome has the page's template and headings too, as an index wants them."""
    captures: CapturesTaken = "all"
    """Which of several captures of one URL are taken."""
    jobs: int = 1
    """How many processes work; the output does not depend on it."""
    memory: int | None = None
    """What all processes together may hold, in bytes; the output does not depend on it, but for pages that need more
    than there is."""
    limits: PageLimits = NO_LIMITS
    """What a page may take."""

    @cached_property
    def budget(self) -> Budget:
        """How the memory is shared out."""
        return Budget.of(self.memory, self.jobs)

    @property
    def page_limits(self) -> PageLimits:
        """What a page may take, by its own limits and by what the run may hold."""
        return PageLimits(self.limits.seconds, self.limits.memory or self.budget.page)

    def wants(self, page: Page) -> bool:
        """Tell whether the user asked for this page."""
        return self.urls.wants(page.url or page.source)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one input: exactly one of `document` and `error` is set, or neither if it was left out."""

    source: str
    site: str = ""
    document: Document | None = None
    error: str | None = None
    duplicate: bool = False
    """Whether it was left out for being a duplicate of an earlier page."""
    informed: bool = False
    """Whether the method knew anything of the page's site."""
    fit: float | None = None
    """Which share of its site's kept template the page shows; None without one."""
    fit_learned: float | None = None
    """The mean fit of the pages that the template was learned from, if it was measured."""
    parts: Parts | None = None
    """Set with `document`, if the run was asked for them."""
