"""The author of a page, among all that its markup names and what readers see near the headline."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from chaffinch.document.authors_bylines import bylines
from chaffinch.document.authors_names import CREDIT, VISIBLE_CREDIT, names_in
from chaffinch.document.evidence import Evidence, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_AUTHOR_NAMES: Final = (
    "citation_author", "parsely-author", "sailthru.author", "author", "article:author", "og:article:author",
    "book:author", "og:author", "dc.creator", "dcterms.creator", "dc.contributor", "byl", "byline", "article.author",
    "rbauthors", "news_authors", "citation_authors", "creator",
)  # fmt: skip
_AUTHOR_LABELS: Final = frozenset(
    {
        "written by",
        "author",
        "by",
        "posted by",
        "verfasst von",
        "geschrieben von",
        "écrit par",
        "escrito por",
        "scritto da",
    }
)


def read_author(evidence: Evidence) -> str | None:
    """Return persons before organisations, and what machines are told before what readers see."""
    statement = evidence.jsonld
    # Names on the page of a product are those of its reviewers.
    is_thing = statement.rank == 2 or (evidence.first("og:type") or "").lower().startswith(("product", "og:product"))
    if persons := [name for text in statement.persons for name in names_in(text, CREDIT)]:
        return _joined(persons)
    told = (evidence.meta(name) for name in _AUTHOR_NAMES)
    organisations: list[str] = []
    for names in chain(
        (
            [name for text in texts for name in names_in(text, CREDIT)]
            for texts in (*told, _shared_author(evidence))
            if texts
        ),
        (names_in(text, VISIBLE_CREDIT) for text in bylines(evidence) if not is_thing),
    ):
        if persons := [name for name in names if key_of(name) not in evidence.site_keys]:
            return _joined(persons)
        organisations += names
    organisations += [name for text in statement.groups for name in names_in(text, CREDIT)]
    return organisations[0] if organisations else None


def _joined(names: Iterable[str]) -> str:
    """Join names, each in its first spelling."""
    spellings: dict[str, str] = {}
    for name in names:
        spellings.setdefault(name.casefold(), name)
    return ", ".join(spellings.values())


def _shared_author(evidence: Evidence) -> list[str]:
    """Return what share previews show under the label of an author."""
    return [
        value
        for number in "12"
        for value in evidence.meta(f"twitter:data{number}")
        if (evidence.first(f"twitter:label{number}") or "").casefold() in _AUTHOR_LABELS
    ]
