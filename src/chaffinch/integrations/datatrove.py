"""A step for datatrove's pipelines: HTML in, content out.

from chaffinch.integrations.datatrove import ChaffinchExtractor

pipeline = [WarcReader("warcs/"), ChaffinchExtractor(templates="templates.db"), JsonlWriter("clean/")]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaffinch.errors import MissingExtraError
from chaffinch.integrations.cleaner import PageCleaner

try:
    from datatrove.pipeline.base import PipelineStep
    from datatrove.utils.logging import logger
except ImportError as error:
    raise MissingExtraError("the datatrove step", "datatrove") from error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaffinch.runs import RunOptions

_METADATA: Final = ("title", "author", "date", "language", "description", "site")


class ChaffinchExtractor(PipelineStep):  # type: ignore[misc]  # datatrove publishes no types
    """Replaces the HTML of each document by its content, and adds to its metadata what the page says of itself.

    The URL is taken from the document's metadata. A page that cannot be cleaned, or has no content, is left out and
    counted, as datatrove's own extractors do.
    """

    name = "Chaffinch"
    type = "🛢 - EXTRAC"

    def __init__(self, templates: str | None = None, options: RunOptions | None = None, url_key: str = "url") -> None:
        """Go by a database that `chaffinch learn` made; without one, every page stands alone."""
        super().__init__()
        self._cleaner = PageCleaner(templates, options)
        self._url_key = url_key

    def run(self, data: Iterator[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:  # noqa: ARG002
        """Clean each document that comes."""
        try:
            for document in data:
                self.stat_update("total")
                with self.track_time():
                    outcome = self._cleaner.clean(document.text, document.metadata.get(self._url_key))
                if outcome.document is None:
                    self.stat_update("failed")
                    logger.warning(f"{document.id}: {outcome.error}")
                    continue
                if not outcome.document.content:
                    self.stat_update("dropped")
                    continue
                found = {name: getattr(outcome.document, name) for name in _METADATA}
                document.text = outcome.document.content
                document.metadata.update({name: value for name, value in found.items() if value is not None})
                self.stat_update("forwarded")
                self.update_doc_stats(document)
                yield document
        finally:
            self._cleaner.close()
