"""The title of a page: its heading or what its head gives, the site's name cut off."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Final

from chaffinch.document.evidence import Evidence, key_of

_SEPARATOR: Final = re.compile(
    r"\s+(?:[|\u2013\u2014\u00b7\u2022\u00bb\u00ab\u2039\u203a>\u2223\uff5c-]|::|//|~)\s+|\s*[|\uff5c]\s*|\s*\u00bb\s*"
)
_PERMANENT_LINK: Final = re.compile(r"\s*[\u00b6\u00a7\U0001f517]$|\s+#$")
"""The mark that manuals put behind a heading, to link to it."""


def read_title(evidence: Evidence) -> str | None:
    """Return the title, if the page has any."""
    title = _choose(evidence)
    return _PERMANENT_LINK.sub("", title) if title else None


def _choose(evidence: Evidence) -> str | None:
    """Choose among the headline, the heading and the titles that the head gives.

    A heading that the titles repeat is the page's own. One that they do not speak of is the site's or an advertising
    line.
    """
    shared = (evidence.first("og:title"), evidence.first("twitter:title"), evidence.head_title)
    titles = [title for title in dict.fromkeys(shared) if title]
    headings = {text: key for _, text in evidence.headings if (key := key_of(text))}
    for title in titles:
        if heading := _repeated(headings, title, evidence):
            return heading
    others = (
        evidence.jsonld.title,
        evidence.first("citation_title", "dc.title", "dcterms.title", "parsely-title", "sailthru.title", "title"),
        evidence.first("itemprop:headline"),
        *map(evidence.text, evidence.items("headline")),
    )
    candidates = [_without_site(text, evidence) for text in dict.fromkeys((*titles, *others)) if text]
    if not candidates:
        return next(iter(headings), None)
    return _nearest(headings, candidates) or candidates[0]


def _repeated(headings: dict[str, str], title: str, evidence: Evidence) -> str | None:
    """Return the longest heading that `title` begins with or has as a part, the site's name left out."""
    whole = f"{key_of(title)} "
    parts = {key_of(part) for part in _SEPARATOR.split(title)} if headings else set()
    found = [
        (len(key), heading)
        for heading, key in headings.items()
        if (key in parts or whole.startswith(f"{key} ")) and key not in evidence.site_keys
    ]
    return max(found, key=itemgetter(0))[1] if found else None


def _nearest(headings: dict[str, str], titles: list[str]) -> str | None:
    """Return the heading that shares the most words with a title, if that is more than half of them."""
    best, best_share = None, 0.5
    words_of_titles = [set(key_of(title).split()) for title in titles] if headings else []
    for heading, key in headings.items():
        words = set(key.split())
        for others in words_of_titles:
            share = 2 * len(words & others) / (len(words) + len(others))
            if share > best_share:
                best, best_share = heading, share
    return best


def _without_site(title: str, evidence: Evidence) -> str:
    """Cut the site's name off both ends of a title, and what follows a bar."""
    pieces = list(_SEPARATOR.finditer(title))
    starts = [0, *(match.end() for match in pieces)]
    stops = [*(match.start() for match in pieces), len(title)]
    first, last = 0, len(starts) - 1
    while last > first and _is_site(title[starts[last] : stops[last]], evidence):
        last -= 1
    while first < last and _is_site(title[starts[first] : stops[first]], evidence):
        first += 1
    for number in range(first, last):
        if set(pieces[number][0].strip()) & {"|", "\uff5c"}:
            last = number
            break
    return title[starts[first] : stops[last]].strip() or title


def _is_site(part: str, evidence: Evidence) -> bool:
    """Tell whether a part of a title is the site's name, as the page or its domain has it."""
    key = key_of(part)
    if not key or key in evidence.site_keys:
        return True
    packed, host = key.replace(" ", ""), evidence.host_name
    if len(host) < 4:
        return packed == host
    return packed.startswith(host) or (len(packed) > 3 and packed in host)
