"""The fields of an index, and how text becomes words."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import tantivy

from chaffinch.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

Field: TypeAlias = Literal["content", "title", "headings", "url", "template", "site", "date", "language"]
FIELDS: Final[tuple[Field, ...]] = get_args(Field)

WORD_FIELDS: Final[tuple[Field, ...]] = ("content", "title", "headings", "url", "template")
"""Fields that are searched word by word. Sites and languages are searched as they stand, dates by their order."""

DEFAULT_FIELDS: Final[Mapping[Field, float]] = {"content": 1.0, "title": 1.0, "headings": 0.5}
"""Where a query looks if it does not say so, and how much a word counts there."""

KEY: Final = "key"
HASH: Final = "hash"
STORED: Final = "stored"
STORED_CONTENT: Final = "stored_content"
STORED_TEMPLATE: Final = "stored_template"
"""What is read back, as it is: the texts by themselves, all else of an entry together."""

STEMMERS: Final[Mapping[str, str]] = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""The languages whose words can be stemmed, and what the engine calls them."""

_LONGEST_WORD: Final = 255
"""Longer words (in bytes of UTF-8) are kept with the page but cannot be found: nobody searches for them."""

SEPARATOR: Final = "\x1f"
"""Put between characters that are words of their own; the engine splits words at it, and no text contains it."""

_SPACELESS: Final = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Scripts written without spaces between words: every character is indexed as a word, and runs are searched as
phrases."""

_SPACELESS_CHARACTER: Final = re.compile(f"[{_SPACELESS}]")
_HAS_SPACELESS: Final = _SPACELESS_CHARACTER.search


_WIDTHS: Final = "\uff01-\uff9f"
"""Full-width forms of ASCII, and half-width kana."""
_OTHER_WIDTH: Final = re.compile(f"[{_WIDTHS}]+")
_IS_EAST_ASIAN: Final = re.compile(f"[{_SPACELESS}{_WIDTHS}]").search
"""Whether there is anything to do at all: one look at the text, not two."""


def is_spaceless(word: str) -> bool:
    """Tell whether a word of an index is a character of a script without spaces."""
    return len(word) == 1 and _HAS_SPACELESS(word) is not None


def _is_latin(text: str) -> bool:
    """Tell whether a text has Western Latin letters only, which are composed and have spaces between words."""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def prepared(text: str) -> str:
    """Return `text` as the engine can split it into words: composed, and with separators around ideographs.

    Letters, digits and kana of the other width, as East Asian pages mix them, become those of the usual one.
    """
    if _is_latin(text):
        return text
    text = unicodedata.normalize("NFC", text)
    if not _IS_EAST_ASIAN(text):
        return text
    text = _OTHER_WIDTH.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return _SPACELESS_CHARACTER.sub(rf"{SEPARATOR}\g<0>{SEPARATOR}", text)


def make_analyzer(stem: str | None) -> tantivy.TextAnalyzer:
    """Return what splits prepared text into words: runs of letters and digits, in lower case, stemmed if asked for."""
    builder = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(_LONGEST_WORD))
        .filter(tantivy.Filter.lowercase())
    )
    if stem is not None:
        builder = builder.filter(tantivy.Filter.stemmer(STEMMERS[stem]))
    return builder.build()


def check_stem(stem: str | None) -> None:
    """Raise `UsageError` unless there is a stemmer for the language."""
    if stem is not None and stem not in STEMMERS:
        raise UsageError(f"there is no stemmer for {stem!r}; there is one for: {', '.join(STEMMERS)}")


def make_schema() -> tantivy.Schema:
    """Return the engine's schema: what can be searched, and the entry as it is, which is only read back."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field(KEY, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field(HASH, fast=True)
    for name in (STORED, STORED_CONTENT, STORED_TEMPLATE):
        builder.add_bytes_field(name, stored=True)
    for name in FIELDS:
        if name in WORD_FIELDS:
            builder.add_text_field(name, tokenizer_name=WORDS)
        elif name == "date":
            builder.add_date_field(name, indexed=True)
        else:
            builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    return builder.build()


WORDS: Final = "words"
"""The name under which the analyzer is known to the engine."""
