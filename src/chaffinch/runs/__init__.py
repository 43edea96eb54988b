"""Runs: how methods are driven over a crawl."""

from chaffinch.runs.engine import Engine
from chaffinch.runs.journal import Journal
from chaffinch.runs.learning import LearnOptions, learn_templates
from chaffinch.runs.limits import PageLimits
from chaffinch.runs.local import clean_inputs, with_templates
from chaffinch.runs.options import Outcome, RunOptions, UrlFilter
from chaffinch.runs.report import Failure, LearnReport, RunReport, SiteCounts, SiteLearned

__all__ = [
    "Engine",
    "Failure",
    "Journal",
    "LearnOptions",
    "LearnReport",
    "Outcome",
    "PageLimits",
    "RunOptions",
    "RunReport",
    "SiteCounts",
    "SiteLearned",
    "UrlFilter",
    "clean_inputs",
    "learn_templates",
    "with_templates",
]
