"""From the text of a byline to the names in it."""

from __future__ import annotations

import re
from typing import Final

from chaffinch.document.dates import MONTH
from chaffinch.document.evidence import MOST_VALUES, key_of

_BY: Final = (
    r"(?:(?:article|story|words|text|post|guide|news)\s+)?(?:(?:medically\s+)?(?:written|posted|published|created|reviewed"
    r"|authored|submitted|started|asked|contributed|view all posts|all posts)\s+)?by"
    r"|geschrieben von|verfasst von|écrit par|publié par|escrito por|publicado por|scritto da|geschreven door"
)
_LABEL: Final = r"authors?|contributors?|writers?|words|autor(?:in|es)?|autore|auteurs?|thread starter|via|from"
CREDIT: Final = re.compile(rf"(?:(?:{_BY})(?:\s*:\s*|\s+|$)|(?:{_LABEL})(?:\s*:\s*|\s*$))", re.IGNORECASE)
"""What stands before a name wherever one is given."""

VISIBLE_CREDIT: Final = re.compile(
    rf"(?:(?:{_BY})(?:\s*:\s*|\s+|$)|(?:{_LABEL})(?:\s*:\s*|\s+|$)|(?:von|par|por|door|di|av|af)\s+)", re.IGNORECASE
)
"""What stands before a name for readers; elsewhere the short words may belong to it."""

CREDIT_LINE: Final = re.compile(
    rf"(?i:(?:{_BY})(?:\s*:\s*|\s+)|(?:{_LABEL})\s*:\s*)(?:[^\W\d_a-z]\S*(?:\s|$)|\S+$)"
    r"|(?i:von|par|por|door|di|av|af)\s+(?:[^\W\d_a-z]\S*(?:\s+|$)){2,4}$"
)
"""A line that is nothing but a byline: a capital follows, or a single word."""

_AFTER_NAME: Final = re.compile(
    rf"\s+{MONTH}\s+\d.*|(?:\s+(?-i:on|at|in|am|le|el|il|since))?[\s,(]+\d.*|\s+(?-i:on|at|in|since)\s.*"
    r"|\s+[\u2013\u2014/>-]+(?:\s.*|$)|\s*[|\u2022\u00b7\u22c5<\[].*|\s*\([^()]*\)$|\s+@\S+.*|@\S+\.\S+.*"
    r"|\s+(?:published|posted|(?:last\s+)?updated|reviewed|edited|joined|writer)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_JOINED: Final = re.compile(r"\s*(?:;|,\s*and\b|,\s*&)\s*|\s+(?:and|&|und|et|y|e|en)\s+(?=\S+\s+\S)")
JOINING_LINE: Final = re.compile(r"(?:,|;)?\s*(?:and|&|und|et|y|e|en)?", re.IGNORECASE)
_NO_NAMES: Final = frozenset(
    (
        "admin|administrator|webmaster|root|user|guest|anonymous|unknown|none|null|undefined|n a|na|default|system|"
        "test|superuser|super user|wordpress|true|false|by|and|last|updated|author|authors|the author|author name|"
        "editor|contributor|contributors|written by|more by|about the author|about|bio|profile|view profile|home|"
        "website|share|follow|subscribe|more|read more|learn more|posts|all posts|more posts|view more posts|"
        "view all posts|see all posts|our team|first name|last name|verified buyer|account|sign in"
    ).split("|")
)
_NO_NAME_CHARACTER: Final = re.compile(r"[$€£%=<>{}\[\]\\]")
_PLACEHOLDER: Final = re.compile(r"[a-z]+(?:\.[a-z]+){3,}|.*(?:\{\{|\$\{|%[sd%]).*", re.DOTALL)

_LONGEST_NAME: Final = 70
_MOST_WORDS_OF_NAME: Final = 9
_LONGEST_CREDIT: Final = 500


def names_in(text: str, credit: re.Pattern[str]) -> list[str]:
    """Return the names in a byline, none if it holds something else."""
    text = _without(credit, text[:_LONGEST_CREDIT])
    if not text or "://" in text or text.startswith(("www.", "/", "@", "#", "{")) or _PLACEHOLDER.fullmatch(text):
        return []
    names: dict[str, str] = {}
    for part in _JOINED.split(text):
        name = _AFTER_NAME.sub("", _without(credit, part), count=1).strip(' ,.:;-\u2013\u2014|*"\u201c\u201d\u200b')
        if _is_name(name):
            names.setdefault(name.casefold(), name)
    return list(names.values())[:MOST_VALUES]


def _without(credit: re.Pattern[str], text: str) -> str:
    """Cut "By", "Written by" and the like off the start."""
    text = text.strip()
    for _ in range(3):
        match = credit.match(text)
        if not match:
            break
        text = text[match.end() :].strip()
    return text


def _is_name(text: str) -> bool:
    key = key_of(text)
    return (
        1 < len(text) <= _LONGEST_NAME
        and len(key.split()) <= _MOST_WORDS_OF_NAME
        and key not in _NO_NAMES
        and not _NO_NAME_CHARACTER.search(text)
        and any(map(str.isalpha, key))
    )
