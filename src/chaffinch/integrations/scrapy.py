"""An item pipeline for Scrapy: items with `url` and `html` get the page's own content.

ITEM_PIPELINES = {"chaffinch.integrations.scrapy.ChaffinchPipeline": 300}
CHAFFINCH_TEMPLATES = "templates.db"  # made by `chaffinch learn`; without it, every page stands alone
CHAFFINCH_FORMAT = "markdown"
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, Self

from chaffinch.errors import MissingExtraError, UsageError
from chaffinch.integrations.cleaner import PageCleaner
from chaffinch.methods import make_method, read_favor
from chaffinch.render.formats import FORMATS
from chaffinch.runs import RunOptions

try:
    from itemadapter import ItemAdapter
except ImportError as error:
    raise MissingExtraError("the Scrapy pipeline", "scrapy") from error

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

_LOGGER: Final = logging.getLogger(__name__)
_FIELDS: Final = ("content", "title", "author", "date", "language")


class ChaffinchPipeline:
    """Sets `content`, `title`, `author`, `date` and `language` of every item that has `html`.

    What the item has already of the last four stays. An item whose page cannot be cleaned goes on without content.
    """

    def __init__(self, cleaner: PageCleaner) -> None:
        self._cleaner = cleaner

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline from the settings `CHAFFINCH_TEMPLATES`, `_METHOD`, `_FORMAT` and `_FAVOR`."""
        settings = crawler.settings
        return cls(PageCleaner(settings.get("CHAFFINCH_TEMPLATES"), _options_of(settings)))

    def process_item(self, item: Any, spider: object = None) -> Any:  # noqa: ANN401, ARG002  (items are of any class)
        """Clean the page of an item."""
        fields = ItemAdapter(item)
        html = fields.get("html")
        if html is None:
            return item
        url = fields.get("url")
        outcome = self._cleaner.clean(html, url)
        if outcome.document is None:
            _LOGGER.error("%s: %s", url, outcome.error)
            return item
        for name in _FIELDS:
            if name == "content" or fields.get(name) is None:
                fields[name] = getattr(outcome.document, name)
        return item

    def close_spider(self, spider: object = None) -> None:  # noqa: ARG002  (older versions of Scrapy give it)
        """Close the database."""
        self._cleaner.close()


def _options_of(settings: BaseSettings) -> RunOptions:
    options = RunOptions()
    form = settings.get("CHAFFINCH_FORMAT") or options.format
    if form not in FORMATS:
        raise UsageError(f"CHAFFINCH_FORMAT is one of {', '.join(FORMATS)}, not {form!r}")
    method = settings.get("CHAFFINCH_METHOD")
    favor = settings.get("CHAFFINCH_FAVOR")
    return RunOptions(
        method=make_method(method) if method else options.method,
        format=form,
        favor=read_favor(str(favor)) if favor is not None else options.favor,
    )
