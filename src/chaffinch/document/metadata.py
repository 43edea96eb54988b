"""What a page says of itself: title, author, day of publication, language, address and description.

All of it comes from the page's own markup: JSON-LD, `<meta>`, microdata, links, and what stands near the headline.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.document.authors import read_author
from chaffinch.document.dates_published import read_date
from chaffinch.document.evidence import Evidence
from chaffinch.document.titles import read_title
from chaffinch.page.language import MOST_READ, TWO_LETTERS, language_of

if TYPE_CHECKING:
    from chaffinch.page.table import Page


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says of itself; None where it says nothing."""

    title: str | None = None
    author: str | None = None
    """Names of persons, joined with ", "; of an organisation if no person is named."""
    date: str | None = None
    """The day of publication, `YYYY-MM-DD`."""
    language: str | None = None
    """A BCP 47 tag such as `en` or `pt-BR`."""
    canonical_url: str | None = None
    description: str | None = None


def read_metadata(page: Page) -> Metadata:
    """Read what `page` says of itself. No page makes it raise."""
    evidence = Evidence(page)
    language = _language(evidence)
    return Metadata(
        title=read_title(evidence),
        author=read_author(evidence),
        date=read_date(evidence, day_first=_day_first(language, page.place.site)),
        language=language or language_of(_prose(page)),
        canonical_url=evidence.canonical_url,
        description=_description(evidence),
    )


_LANGUAGE_TAG: Final = re.compile(
    r"(?P<language>[a-z]{2,3})(?:-(?P<script>[a-z]{4}))?(?:-(?P<region>[a-z]{2}|\d{3}))?"
    r"(?P<rest>(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*)",
    re.IGNORECASE | re.ASCII,
)
_OLD_CODES: Final = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro"}
_NO_LANGUAGE: Final = frozenset({"und", "mul", "zxx", "mis"})
_KNOWN_CODES: Final = frozenset(TWO_LETTERS.values())


def language_tag(value: str | None) -> str | None:
    """Return a language's BCP 47 tag in canonical case, None if the value is none."""
    if not value:
        return None
    text = value[:100].partition(",")[0].strip().partition(".")[0].partition("@")[0].replace("_", "-")
    match = _LANGUAGE_TAG.fullmatch(text)
    if not match:
        return None
    language = match["language"].lower()
    language = TWO_LETTERS.get(language, _OLD_CODES.get(language, language))
    if language in _NO_LANGUAGE or (len(language) == 2 and language not in _KNOWN_CODES):
        return None
    parts = [
        language,
        (match["script"] or "").title(),
        (match["region"] or "").upper(),
        *match["rest"].lower().split("-"),
    ]
    return "-".join(filter(None, parts))


_LANGUAGE_NAMES: Final = (
    "content-language", "og:locale", "language", "dc.language", "dcterms.language", "itemprop:inlanguage",
)  # fmt: skip


def _language(evidence: Evidence) -> str | None:
    for attributes in evidence.attributes("html")[:1]:
        values = dict(attributes)
        if tag := language_tag(values.get("lang")) or language_tag(values.get("xml:lang")):
            return tag
    for name in _LANGUAGE_NAMES:
        if tag := language_tag(evidence.first(name)):
            return tag
    return language_tag(evidence.jsonld.language)


_MONTH_FIRST: Final = frozenset({None, "en", "en-US", "en-PH", "fil"})
_DAY_FIRST_DOMAINS: Final = frozenset("uk ie au nz in za eu".split())


def _day_first(language: str | None, site: str) -> bool:
    """Tell whether `3/4/2020` is in April: yes, but for American English and where nothing tells."""
    if language in {None, "en"} and site.rpartition(".")[2] in _DAY_FIRST_DOMAINS:
        return True
    return language not in _MONTH_FIRST


_MOST_BLOCKS: Final = 12
_READ_OF_BLOCK: Final = 1000


def _prose(page: Page) -> str:
    """Return the page's longest blocks, in their order: they hold sentences, not the words of menus."""
    blocks = page.blocks
    longest = np.argsort(blocks.start - blocks.stop, kind="stable")[:_MOST_BLOCKS]
    longest.sort()
    pieces: list[str] = []
    left = MOST_READ
    for start, stop in zip(blocks.start[longest].tolist(), blocks.stop[longest].tolist(), strict=True):
        if left < 0:
            break
        pieces.append(" ".join(blocks.visible_text[start : min(stop, start + _READ_OF_BLOCK)].split()))
        left -= len(pieces[-1])
    return "\n".join(pieces)


def _description(evidence: Evidence) -> str | None:
    return (
        evidence.first(
            "description",
            "og:description",
            "twitter:description",
            "dc.description",
            "dcterms.description",
            "sailthru.description",
            "itemprop:description",
        )
        or evidence.jsonld.description
    )
