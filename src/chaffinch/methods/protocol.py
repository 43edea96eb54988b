"""What a method is: how it learns what is template on a site, and how it scores a page.

Learning is a fold. Every page gives a *summary*; summaries merge, in any order and any grouping, to the same whole;
the whole is finished into a *template*, which is frozen and can be kept. Scoring takes a page and a template and gives
one number for each text node: 0 for content, 1 for template. Nothing else is known of a method, so one process, many
processes and a cluster all drive these few functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from chaffinch.page.arrays import FloatArray
    from chaffinch.page.table import Page

SummaryT = TypeVar("SummaryT")
TemplateT = TypeVar("TemplateT")

DEFAULT_THRESHOLD: Final = 0.5
"""Text nodes that score at least this much are template."""


class Method(Protocol[SummaryT, TemplateT]):
    """A way to tell template from content.

    A method is a frozen dataclass whose fields are its options, so two methods with equal options are equal, and
    `repr` shows all there is to know. It does no input or output and keeps no state.
    """

    name: ClassVar[str]
    """What users call it."""
    summary: ClassVar[str]
    """What it does, in a line."""
    version: ClassVar[int]
    """Raised whenever templates of an earlier version no longer fit."""

    @property
    def streams(self) -> bool:
        """Whether a page needs only the page before it in its directory, so that a run reads every page once."""
        ...

    def summarise(self, page: Page) -> SummaryT:
        """Return what the method needs to know of one page."""
        ...

    def merge(self, one: SummaryT, other: SummaryT) -> SummaryT:
        """Return the summary of the pages of both. Associative and commutative."""
        ...

    def finish(self, summary: SummaryT) -> TemplateT:
        """Return the template that the summed-up pages share."""
        ...

    def reopen(self, template: TemplateT) -> SummaryT:
        """Return the summary that a template was finished from, so that more pages can be merged into it."""
        ...

    def fit(self, page: Page, template: TemplateT) -> float:
        """Return which share of the template the page still shows, from 0 to 1: low after a redesign of the site."""
        ...

    def knows(self, page: Page, template: TemplateT | None) -> bool:
        """Tell whether the template says anything about the page; where it does not, the summary of a run says so."""
        ...

    def score(self, page: Page, template: TemplateT | None) -> FloatArray:
        """Return for each of `page.text_nodes` how surely it is template, from 0 to 1.

        `None` stands for a page of whose site nothing is known.
        """
        ...

    def dump(self, template: TemplateT) -> bytes:
        """Serialise a template; equal templates give equal bytes."""
        ...

    def load(self, data: bytes) -> TemplateT:
        """Read what `dump` wrote, or raise `ModelError`."""
        ...


AnyMethod = Method[Any, Any]
