"""Runs: how methods are driven over a crawl."""

from chaffinch.runs.local import clean_inputs, learn_sites
from chaffinch.runs.options import Outcome, RunOptions, UrlFilter
from chaffinch.runs.report import Failure, RunReport, SiteCounts

__all__ = [
    "Failure",
    "Outcome",
    "RunOptions",
    "RunReport",
    "SiteCounts",
    "UrlFilter",
    "clean_inputs",
    "learn_sites",
]
