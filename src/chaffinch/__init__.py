"""Chaffinch keeps the grain of web pages and drops the chaff.

>>> import chaffinch
>>> page = chaffinch.parse("<h1>Seeds</h1><p>Sunflower and hemp.")
>>> print(chaffinch.extract(page).content)
Seeds
<BLANKLINE>
Sunflower and hemp.
"""

from chaffinch.api import Cleaning, clean, explain, extract, learn, learn_crawl, records
from chaffinch.document import Document
from chaffinch.errors import (
    ChaffinchError,
    InputError,
    MethodError,
    MissingExtraError,
    ModelError,
    OutputError,
    PageError,
    RunError,
    UsageError,
)
from chaffinch.methods import METHODS, make_method
from chaffinch.methods.explain import Explanation
from chaffinch.page import Page, parse
from chaffinch.runs import LearnReport, RunOptions, RunReport, UrlFilter
from chaffinch.sources import SourceOptions
from chaffinch.store import SiteTemplate, TemplateStore
from chaffinch.version import VERSION as __version__

__all__ = [
    "METHODS",
    "ChaffinchError",
    "Cleaning",
    "Document",
    "Explanation",
    "InputError",
    "LearnReport",
    "MethodError",
    "MissingExtraError",
    "ModelError",
    "OutputError",
    "Page",
    "PageError",
    "RunError",
    "RunOptions",
    "RunReport",
    "SiteTemplate",
    "SourceOptions",
    "TemplateStore",
    "UrlFilter",
    "UsageError",
    "__version__",
    "clean",
    "explain",
    "extract",
    "learn",
    "learn_crawl",
    "make_method",
    "parse",
    "records",
]
