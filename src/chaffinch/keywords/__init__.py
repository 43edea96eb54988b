"""Keyword extraction, the application of Kolcz and Yih (2007), after Yih, Goodman and Carvalho (2006)."""

from chaffinch.keywords.candidates import Candidates, find_candidates
from chaffinch.keywords.frequencies import DocumentFrequencies
from chaffinch.keywords.scoring import KEYWORD_FEATURES, Keyword, KeywordModel, extract_keywords

__all__ = [
    "KEYWORD_FEATURES",
    "Candidates",
    "DocumentFrequencies",
    "Keyword",
    "KeywordModel",
    "extract_keywords",
    "find_candidates",
]
