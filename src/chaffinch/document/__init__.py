"""From a scored page to the document that a run gives out."""

from chaffinch.document.build import make_document
from chaffinch.document.document import Document
from chaffinch.document.parts import Parts, make_parts
from chaffinch.document.pieces import PagePieces

__all__ = ["Document", "PagePieces", "Parts", "make_document", "make_parts"]
