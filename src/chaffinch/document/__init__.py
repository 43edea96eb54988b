"""From a scored page to the document that a run gives out."""

from chaffinch.document.build import make_document
from chaffinch.document.document import Document

__all__ = ["Document", "make_document"]
