"""Learned templates, kept in one SQLite file."""

from chaffinch.store.database import KeptSite, SiteSummary, TemplateStore, check_replaceable
from chaffinch.store.samples import Sample, Samples, merge_samples, with_page
from chaffinch.store.site_template import SiteTemplate
from chaffinch.store.spill import Spill, SpilledPart

__all__ = [
    "KeptSite",
    "Sample",
    "Samples",
    "SiteSummary",
    "SiteTemplate",
    "Spill",
    "SpilledPart",
    "TemplateStore",
    "check_replaceable",
    "merge_samples",
    "with_page",
]
