"""A full-text index of pages without their template, and the search in it."""

from chaffinch.index.about import About, is_index, read_about
from chaffinch.index.build import IndexReport, delete_pages, delete_remote, index_inputs, send_inputs
from chaffinch.index.remote import RemoteIndex
from chaffinch.index.search import Hit, Results, SearchIndex
from chaffinch.index.writer import Entry, IndexWriter, entry_of

__all__ = [
    "About",
    "Entry",
    "Hit",
    "IndexReport",
    "IndexWriter",
    "RemoteIndex",
    "Results",
    "SearchIndex",
    "delete_pages",
    "delete_remote",
    "entry_of",
    "index_inputs",
    "is_index",
    "read_about",
    "send_inputs",
]
