"""Learning as a fold: from the summaries of many pages to one template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chaffinch.methods.protocol import Method
    from chaffinch.page.table import Page

SummaryT = TypeVar("SummaryT")
TemplateT = TypeVar("TemplateT")


class Fold(Generic[SummaryT, TemplateT]):
    """Merges summaries as they come.

    Like is merged with like, as in a binary counter: each summary takes part in log n merges, however many pages
    there are, and only log n summaries are held.
    """

    def __init__(self, method: Method[SummaryT, TemplateT]) -> None:
        self._method = method
        self._held: list[tuple[int, SummaryT]] = []

    def add(self, page: Page) -> None:
        """Take in a page."""
        self.add_summary(self._method.summarise(page))

    def add_summary(self, summary: SummaryT) -> None:
        """Take in what was learned elsewhere."""
        weight = 1
        while self._held and self._held[-1][0] == weight:
            _, before = self._held.pop()
            summary = self._method.merge(before, summary)
            weight *= 2
        self._held.append((weight, summary))

    def summary(self) -> SummaryT | None:
        """Return the summary of all pages so far, or None if there was none."""
        if not self._held:
            return None
        summary = self._held[-1][1]
        for _, before in reversed(self._held[:-1]):
            summary = self._method.merge(before, summary)
        return summary

    def template(self) -> TemplateT | None:
        """Return what has been learned so far, or None if no page was seen."""
        summary = self.summary()
        return None if summary is None else self._method.finish(summary)


def learn_template(method: Method[SummaryT, TemplateT], pages: Iterable[Page]) -> TemplateT | None:
    """Learn the template that `pages` share; None if there are none."""
    fold = Fold(method)
    for page in pages:
        fold.add(page)
    return fold.template()
