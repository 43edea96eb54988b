"""What the adapters have in common: one page at a time, by kept templates or alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from chaffinch.runs import Outcome, RunOptions, with_templates
from chaffinch.runs.templates import HeldTemplates, KeptTemplates
from chaffinch.runs.work import Batch, clean_batch
from chaffinch.sources import Capture

if TYPE_CHECKING:
    from chaffinch.runs.templates import SiteTemplates


class PageCleaner:
    """Cleans pages that come one by one. It can be sent to other processes before it is used."""

    def __init__(self, templates: str | None = None, options: RunOptions | None = None) -> None:
        """Go by a database that `chaffinch learn` made, its method included; without one, every page stands alone."""
        asked = options or RunOptions()
        self._known: SiteTemplates = HeldTemplates({})
        if templates is None:
            self.options = replace(asked, page_by_page=True)
        else:
            self.options = with_templates(asked, templates)
            most = self.options.budget.templates
            self._known = KeptTemplates(templates, self.options.method, measured=False, most_bytes=most)

    def clean(self, html: str | bytes, url: str | None) -> Outcome:
        """Return what becomes of a page: its document, or why there is none."""
        is_text = isinstance(html, str)
        capture = Capture(
            source=url or "page",
            body=html.encode("utf-8", "replace") if isinstance(html, str) else html,
            url=url,
            http_charset="utf-8" if is_text else None,
        )
        return clean_batch(Batch((capture,)), self.options, self._known)[0]

    def close(self) -> None:
        """Close the database."""
        self._known.close()
