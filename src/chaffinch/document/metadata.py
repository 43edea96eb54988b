"""What a page says of itself: title, author, day of publication, language, address and description.

All of it comes from the page's own markup: JSON-LD, `<meta>`, microdata, links, and what stands near the headline.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

import numpy as np

from chaffinch.document.dates import HAS_YEAR, MONTH, date_of_path, find_dates, parse_date
from chaffinch.document.jsonld import Statement, read_jsonld
from chaffinch.page.language import TWO_LETTERS, language_of
from chaffinch.page.tags import BLOCK_LEVEL, LINE_BREAK, NAMES, TEXT, Visibility, tag_set
from chaffinch.sites import host_of, is_web_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chaffinch.page.parser import Attributes
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
    evidence = _Evidence(page)
    language = _language(evidence)
    return Metadata(
        title=_title(evidence),
        author=_author(evidence),
        date=_date(evidence, day_first=_day_first(language)),
        language=language or language_of(_prose(page)),
        canonical_url=evidence.canonical_url,
        description=_description(evidence),
    )


_LONGEST: Final = 5000
"""Characters of an attribute's value or an element's text that are looked at."""

_MOST_VALUES: Final = 20
"""How many values of one meta name, and how many elements of one kind, are looked at."""

_ELEMENTS: Final = ("html", "base", "title", "meta", "link", "script", "h1", "time")
_TELLING: Final = tag_set(*_ELEMENTS)


class _Evidence:
    """The elements of a page that tell something, collected once."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.nodes: dict[str, list[int]] = {name: [] for name in _ELEMENTS}
        found = np.flatnonzero(_TELLING[page.tag])
        for node, tag in zip(found.tolist(), page.tag[found].tolist(), strict=True):
            self.nodes[NAMES[tag]].append(node)
        self.meta: dict[str, list[str]] = {}
        for attributes in self.attributes("meta"):
            self._add_meta(dict(attributes))

    def attributes(self, name: str) -> Iterator[Attributes]:
        """Return the attributes of each element of one kind."""
        numbers = self.page.element_number[self.nodes[name]].tolist() if self.nodes[name] else []
        return map(self.page.element_attributes.__getitem__, numbers)

    def _add_meta(self, attributes: dict[str, str | None]) -> None:
        content = _clean(attributes.get("content") or attributes.get("value"))
        if not content:
            return
        for kind in ("property", "name", "http-equiv", "itemprop"):
            for name in (attributes.get(kind) or "").lower().split()[:4]:
                values = self.meta.setdefault(f"itemprop:{name}" if kind == "itemprop" else name, [])
                if len(values) < _MOST_VALUES and content not in values:
                    values.append(content)

    def first(self, *names: str) -> str | None:
        """Return the first value of the first meta name that is there."""
        return next((self.meta[name][0] for name in names if name in self.meta), None)

    def text(self, node: int) -> str:
        page = self.page
        start, stop = int(page.text_offset[node]), int(page.text_offset[page.end[node]])
        return " ".join(page.text[start : min(stop, start + _LONGEST)].split())

    @cached_property
    def jsonld(self) -> Statement:
        page = self.page
        scripts = [
            page.text_of(node)
            for node, attributes in zip(self.nodes["script"], self.attributes("script"), strict=True)
            if any(key == "type" and value and "ld+json" in value.lower() for key, value in attributes)
        ]
        return read_jsonld(scripts, filter(None, (page.url, self.canonical_link))) if scripts else Statement()

    @cached_property
    def canonical_link(self) -> str | None:
        for attributes in self.attributes("link"):
            if any(key == "rel" and value and "canonical" in value.lower().split() for key, value in attributes):
                return self.absolute(dict(attributes).get("href"))
        return None

    @cached_property
    def canonical_url(self) -> str | None:
        return self.canonical_link or self.absolute(self.first("og:url")) or self.absolute(self.jsonld.url)

    def absolute(self, url: str | None) -> str | None:
        """Return an address of the page in full, None if it is no web address."""
        url = (url or "").strip()
        if not url or len(url) > _LONGEST:
            return None
        try:
            full = urljoin(self.page.url or "", url)
        except ValueError:
            return None
        return full if is_web_url(full) else None

    @cached_property
    def headings(self) -> list[tuple[int, str]]:
        """The first-level headings with their text, the visible ones first."""
        nodes = self.nodes["h1"][:_MOST_VALUES]
        found = [(node, text) for node in nodes if 0 < len(text := self._lines(node)) < _LONGEST]
        return sorted(found, key=lambda pair: self.page.visibility[pair[0]] != Visibility.VISIBLE)

    def _lines(self, node: int) -> str:
        """Return the text below `node`, its lines put one after the other."""
        page = self.page
        inside = page.tag[node + 1 : page.end[node]]
        if not (LINE_BREAK[inside] | BLOCK_LEVEL[inside]).any():
            return self.text(node)
        nodes = (np.flatnonzero(inside[:_LONGEST] == TEXT) + node + 1).tolist()
        return " ".join(filter(None, map(self.text, nodes)))

    @cached_property
    def head_title(self) -> str | None:
        """The text of `<title>`; drawings have titles too, which are not the page's."""
        for node in self.nodes["title"][:_MOST_VALUES]:
            if self.page.visibility[node] != Visibility.GRAPHIC and (text := self.text(node)):
                return text
        return None

    @cached_property
    def site_keys(self) -> frozenset[str]:
        """The site's name in all spellings that are known, as keys."""
        names = [self.first("og:site_name"), self.first("application-name"), self.jsonld.site_name]
        return frozenset(key for name in names if name and (key := _key(name)))

    @cached_property
    def host_name(self) -> str:
        """The site's domain without its suffix, as a key."""
        url = self.page.url or self.canonical_url
        return "".join(_WORD.findall(self.page.place.site.partition(".")[0].lower())) if url else ""


def _clean(value: str | None) -> str:
    """Return an attribute's value with white space folded and what was escaped twice unescaped."""
    text = (value or "")[:_LONGEST]
    if "&" in text:
        text = html.unescape(text)
    return " ".join(text.split())


_WORD: Final = re.compile(r"\w+")


def _key(text: str) -> str:
    """Return what two spellings of one name or title have in common."""
    return " ".join(_WORD.findall(text.casefold()))


# Title

_SEPARATOR: Final = re.compile(r"\s+(?:[|\u2013\u2014\u00b7\u2022\u00bb\u00ab\u2039\u203a>\u2223\uff5c-]|::|//|~)\s+|\s*[|\uff5c]\s*|\s*\u00bb\s*")


def _title(evidence: _Evidence) -> str | None:
    """Choose among the headline, the heading and the titles that the head gives.

    A heading that the titles repeat is the page's own. One that they do not speak of is the site's or an advertising
    line.
    """
    shared = [evidence.first("og:title"), evidence.first("twitter:title"), evidence.head_title]
    titles = [title for title in shared if title]
    headings = [text for _, text in evidence.headings]
    headline = evidence.jsonld.title
    for title in titles:
        if heading := _repeated(headings, title, evidence):
            return heading
    fallbacks = [
        *titles,
        headline,
        evidence.first("citation_title", "dc.title", "dcterms.title", "parsely-title", "sailthru.title", "title"),
        evidence.first("itemprop:headline"),
    ]
    candidates = [_without_site(text, evidence) for text in fallbacks if text]
    if not candidates:
        return headings[0] if headings else None
    if headings and (near := _nearest(headings, candidates)):
        return near
    return candidates[0]


def _repeated(headings: list[str], title: str, evidence: _Evidence) -> str | None:
    """Return the longest heading that `title` begins with or has as a part, the site's name left out."""
    whole = _key(title)
    parts = {_key(part) for part in _SEPARATOR.split(title)} if headings else set()
    best: str | None = None
    for heading in headings:
        key = _key(heading)
        if not key or key in evidence.site_keys:
            continue
        if (key in parts or whole == key or whole.startswith(f"{key} ")) and (best is None or len(key) > len(_key(best))):
            best = heading
    return best


def _nearest(headings: list[str], candidates: list[str]) -> str | None:
    """Return the heading that shares the most words with a title, if that is at least half of them."""
    best, best_share = None, 0.5
    for heading in headings:
        words = set(_key(heading).split())
        for candidate in candidates:
            others = set(_key(candidate).split())
            share = 2 * len(words & others) / max(1, len(words) + len(others))
            if share > best_share:
                best, best_share = heading, share
    return best


def _without_site(title: str, evidence: _Evidence) -> str:
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


def _is_site(part: str, evidence: _Evidence) -> bool:
    """Tell whether a part of a title is the site's name, as the page or its domain has it."""
    key = _key(part)
    if not key or key in evidence.site_keys:
        return True
    packed, host = key.replace(" ", ""), evidence.host_name
    if len(host) < 4:
        return packed == host
    return packed.startswith(host) or (len(packed) > 3 and packed in host)


# Author

_MOST_CANDIDATES: Final = 6
_BYLINE_LENGTH: Final = 120
_BYLINE_BLOCKS: Final = 12
_BYLINE_LINE: Final = 80
_MARKS: Final = frozenset({"class", "id", "data-testid", "itemprop", "rel"})

_AUTHOR_NAMES: Final = (
    "citation_author", "parsely-author", "sailthru.author", "author", "article:author", "og:article:author",
    "book:author", "og:author", "dc.creator", "dcterms.creator", "dc.contributor", "byl", "byline", "article.author",
    "rbauthors", "news_authors", "citation_authors", "creator",
)  # fmt: skip
_AUTHOR_LABELS: Final = frozenset({"written by", "author", "by", "posted by", "geschrieben von", "verfasst von", "écrit par", "escrito por", "scritto da"})
_BY: Final = (
    r"(?:(?:article|story|words|review|text|post|guide|news|photos?)\s+)?(?:(?:medically\s+)?(?:written|posted|published|created|reviewed|"
    r"authored|submitted|started|asked|contributed|view all posts|all posts)\s+)?by|authors?|contributors?|von|par|por|door|escrito por|"
    r"scritto da|geschrieben von|geschreven door|publi\u00e9 par|publicado por|autore?|auteur|autor(?:in)?|words|writer|thread starter|via|from"
)
_WRITTEN_BY: Final = re.compile(rf"(?:{_BY})(?:\s*:\s*|\s+|$)", re.IGNORECASE)
_AFTER_NAME: Final = re.compile(
    rf"\s+{MONTH}\s+\d.*|\s+[|\u2022\u00b7\u22c5\u2013\u2014/>-]+(?:\s.*|$)|\s*[|\u2022\u00b7\u22c5].*|\s+(?:on|in|at|am|le|el|il|since)\s+.*"
    r"|\s+(?:published|posted|(?:last\s+)?updated|reviewed|edited|writer|joined)\b.*|[\s,(]+\d.*|\s*[<\[].*|\s*\([^()]*\)$|\s+@\S+.*|@\S+\.\S+.*",
    re.IGNORECASE | re.DOTALL,
)
_JOINED: Final = re.compile(r"\s*(?:;|,\s*and\b|,\s*&)\s*|\s+(?:and|&|und|et|y|e|en)\s+(?=\S+\s+\S)")
_JOINING_LINE: Final = re.compile(r"\s*(?:,|and|&|und|et|y|e|en|;|, and)\s*", re.IGNORECASE)
_NO_NAMES: Final = frozenset(
    """admin|administrator|author|authors|the author|anonymous|webmaster|root|user|guest|unknown|none|null|undefined|n a|na|by|
    wordpress|default|system|superuser|super user|test|true|false|about|website|home|share|follow|read more|profile|posts|
    all posts|contributor|contributors|about the author|written by|author name|view more posts|view all posts|see all posts|last|
    updated|more|bio|and|view profile|more posts|editor|our team|more by|learn more|subscribe""".replace("\n", "").replace("    ", "").split("|")
)
_PLACEHOLDER: Final = re.compile(r"[a-z]+(?:\.[a-z]+){3,}|.*(?:\{\{|\$\{|%[sd%]).*", re.DOTALL)


def _names(text: str | None) -> list[str]:
    """Return the names in a byline, none if it holds something else."""
    text = _without_by(text or "")
    if not text or "://" in text or text.startswith(("www.", "/", "@", "#", "{")) or _PLACEHOLDER.fullmatch(text):
        return []
    names: list[str] = []
    for part in _JOINED.split(text):
        name = _AFTER_NAME.sub("", _without_by(part), count=1).strip(" ,.:;-\u2013\u2014|*\"\u201c\u201d\u200b")
        if _is_name(name) and name.casefold() not in {other.casefold() for other in names}:
            names.append(name)
    return names[:_MOST_VALUES]


def _without_by(text: str) -> str:
    """Cut "By", "Written by" and the like off the start."""
    text = text.strip()
    for _ in range(3):
        match = _WRITTEN_BY.match(text)
        if not match:
            break
        text = text[match.end() :].strip()
    return text


def _is_name(text: str) -> bool:
    key = _key(text)
    return 1 < len(text) <= 70 and len(key.split()) <= 9 and key not in _NO_NAMES and any(map(str.isalpha, key))


def _author(evidence: _Evidence) -> str | None:
    """Return persons before organisations, and what machines are told before what readers see."""
    sources = (
        evidence.jsonld.persons,
        *(evidence.meta.get(name, ()) for name in _AUTHOR_NAMES),
        _twitter_author(evidence),
    )
    organisation: list[str] = []
    for values in sources:
        if names := _joined(values, evidence, organisation):
            return names
    for text in _bylines(evidence):
        if names := _joined([text], evidence, organisation):
            return names
    if not organisation:
        for group in evidence.jsonld.groups:
            organisation += _names(group)
    return organisation[0] if organisation else None


def _joined(values: Iterable[str], evidence: _Evidence, organisation: list[str]) -> str | None:
    """Join the persons' names in `values`; a site's own name goes to `organisation`."""
    persons: dict[str, str] = {}
    for value in values:
        for name in _names(value):
            if _is_site(name, evidence):
                organisation.append(name)
            else:
                persons.setdefault(name.casefold(), name)
    return ", ".join(persons.values()) or None


def _twitter_author(evidence: _Evidence) -> list[str]:
    """Return what share previews show under the label of an author."""
    return [
        value
        for number in "12"
        for value in evidence.meta.get(f"twitter:data{number}", ())
        if (evidence.first(f"twitter:label{number}") or "").casefold() in _AUTHOR_LABELS
    ]


_BYLINE_PARTS: Final = frozenset(
    "author authors byline bylines writer writers username contributor contributors creator postedby writtenby".split()
)
_BYLINE_WORDS: Final = ("author", "byline", "by-line", "writer", "username", "user-name", "posted", "written", "contributor", "creator")
_NO_BYLINE_PARTS: Final = frozenset(
    """bio avatar image images img photo picture pic thumb thumbnail social follow comment comments related desc description
    date time icon about archive count share footer sidebar job role position box email button tooltip widget more all""".split()
)
_CLASS_PARTS: Final = re.compile(r"[A-Z]?[a-z]+")
_TWO_WORDS: Final = re.compile(r"(?<=by)-line|(?<=user)-name|(?<=posted)-by|(?<=written)-by", re.IGNORECASE)
_AUTHOR_PATH: Final = re.compile(r"/(?:authors?|autore?|auteurs?|contributors?|writers?|columnists?|bylines?)/[^/]", re.IGNORECASE)
_PERSON_PATH: Final = re.compile(
    r"/(?:authors?|autore?s?|auteurs?|people|profiles?|users?|members?|contributors?|by|staff|team|writers?|columnists?|u)/|author=",
    re.IGNORECASE,
)


@lru_cache(maxsize=1 << 14)
def _mark_rank(key: str, value: str) -> int:
    """Return how surely an attribute marks an author's name: 1 most, 0 not at all.

    Sites repeat their classes on every page, so answers are kept.
    """
    if len(value) > 500:
        return 0
    lowered = value.lower()
    if key in {"itemprop", "rel"}:
        return (1 if key == "itemprop" else 2) if "author" in lowered.split() else 0
    if not any(word in lowered for word in _BYLINE_WORDS):
        return 0
    best = 9
    for token in _TWO_WORDS.sub(lambda match: match[0][1:], value).split():
        parts = [part.lower() for part in _CLASS_PARTS.findall(token)]
        if not _BYLINE_PARTS.intersection(parts):
            continue
        is_name = parts[-1] == "name"
        if is_name or not _NO_BYLINE_PARTS.intersection(parts):
            best = min(best, 3 if is_name or parts[-1] in _BYLINE_PARTS else 4)
    return best % 9


def _bylines(evidence: _Evidence) -> Iterator[str]:
    """Yield the texts of elements that are marked as the author's, the surest first, then lines that begin with "By"."""
    page = evidence.page
    elements = np.flatnonzero(page.tag != TEXT)
    length = page.text_offset[page.end[elements]] - page.text_offset[elements]
    visibility = page.visibility[elements]
    kept = (length > 1) & (length < 2 * _BYLINE_LENGTH) & ((visibility == Visibility.VISIBLE) | (visibility == Visibility.INERT))
    headline = evidence.headings[0][0] if evidence.headings else 0
    marked = [
        (rank, node < headline, node)
        for node, attributes in zip(
            elements[kept].tolist(), compress(page.element_attributes, kept.tolist()), strict=True
        )
        for key, value in attributes
        if key in _MARKS and value and (rank := _mark_rank(key, value))
    ]
    # The first ones behind the headline; those before it only if there are none behind.
    marked.sort()
    for _, _, node in marked[:_MOST_CANDIDATES]:
        if len(text := _byline_text(evidence, node)) <= _BYLINE_LENGTH:
            yield text
    yield from _lines_by(page, headline)
    links = [
        (node < headline, node)
        for node in page.find("a")
        if _AUTHOR_PATH.search(page.attribute(node, "href") or "") and page.visibility[node] == Visibility.VISIBLE
    ]
    links.sort()
    for _, node in links[:_MOST_CANDIDATES]:
        if len(text := _byline_text(evidence, node)) <= _BYLINE_LENGTH:
            yield text


def _lines_by(page: Page, headline: int) -> Iterator[str]:
    """Yield the lines near the headline that begin with "By" or the like."""
    blocks = page.blocks
    at = int(np.searchsorted(blocks.first, headline))
    behind = range(at, min(len(blocks), at + _BYLINE_BLOCKS))
    for number in (*behind, *range(max(0, at - _BYLINE_BLOCKS // 2), at)):
        start = int(blocks.start[number])
        line = " ".join(blocks.visible_text[start : min(int(blocks.stop[number]), start + _BYLINE_LENGTH)].split())
        match = _WRITTEN_BY.match(line)
        if match and len(line) <= _BYLINE_LINE and (line[match.end() : match.end() + 1].isupper() or len(line.split()) <= 3):
            yield line


def _byline_text(evidence: _Evidence, node: int) -> str:
    """Return the name in a marked element: what is marked as a name in it, or its links to authors, or its first line."""
    page = evidence.page
    links: list[str] = []
    lines: list[str] = []
    for child in range(node + 1, min(int(page.end[node]), node + 60)):
        if page.tag[child] == TEXT:
            if not page.blank[child]:
                lines.append(evidence.text(child))
            continue
        attributes = dict(page.attributes_of(child))
        if "name" in (attributes.get("itemprop") or "").split():
            return evidence.text(child) or _clean(attributes.get("content"))
        if _PERSON_PATH.search(attributes.get("href") or "") and (text := evidence.text(child)) and text not in links:
            links.append(text)
    return "; ".join(links) or _first_names(lines)


def _first_names(lines: list[str]) -> str:
    """Return the first line that holds names, and those that follow it behind a comma or an "and"."""
    found: list[str] = []
    joined = True
    for line in lines:
        if _JOINING_LINE.fullmatch(line):
            joined = True
        elif found and not joined:
            break
        elif names := _names(line):
            found += names
            joined = line.endswith((",", "&", " and"))
    return "; ".join(found)


# Date

_PUBLISHED: Final = (
    "article:published_time", "og:article:published_time", "og:published_time", "article:published", "datepublished", "itemprop:datepublished",
    "publishdate", "publish_date", "publish-date", "pubdate", "publication_date", "published_time", "published_at", "parsely-pub-date",
    "sailthru.date", "citation_publication_date", "citation_date", "citation_online_date", "dc.date.issued",
    "dcterms.issued", "dcterms.created", "dc.date.created", "dc.date", "dcterms.date", "date", "article.published", "article_date_original", "cxenseparse:recs:publishtime",
    "originalpublicationdate", "displaydate", "itemprop:datecreated", "created", "og:pubdate", "rnews:datepublished", "ptime",
)  # fmt: skip
_MODIFIED: Final = (
    "article:modified_time", "og:updated_time", "og:article:modified_time", "itemprop:datemodified", "dcterms.modified", "dc.date.modified", "lastmod", "last-modified",
    "revised", "datemodified",
)  # fmt: skip
_PUBLISHED_NAME: Final = re.compile(r"publi(?:sh|cation).{0,9}(?:date|time)|pub-?date|date.{0,3}(?:publi|created|issued)")
_UPDATED: Final = re.compile(r"updat|modif|edit|revis|aktualisiert|geändert|mis à jour|actualizad|aggiornat|atualizad|bijgewerkt|review|last", re.IGNORECASE)
_DATE_CLASS: Final = re.compile(r"(?:^|[\s_-])(?:date|published|pub-?date|posted|timestamp|datetime|post-?date|publish)|Date", re.IGNORECASE)
_DATE_LABEL: Final = re.compile(
    r"(?:published|posted|publication date|first published|date published|veröffentlicht|erschienen|publié|publicado|pubblicato|gepubliceerd|geplaatst)"
    r"[^\n]{0,40}", re.IGNORECASE,
)


def _date(evidence: _Evidence, *, day_first: bool) -> str | None:
    """Return the day of publication, or of the last change if only that is told."""
    def first(values: Iterable[str | None]) -> str | None:
        return next((day for value in values if (day := parse_date(value, day_first=day_first))), None)

    stated = [
        first([evidence.jsonld.published]),
        first(value for name in _PUBLISHED for value in evidence.meta.get(name, ())),
    ]
    in_path = date_of_path(urlsplit_path(evidence.page.url))
    if published := min(filter(None, stated), default=None):
        return in_path if in_path and _next_to(in_path, published) else published
    return (
        in_path
        or first(values[0] for name, values in evidence.meta.items() if _PUBLISHED_NAME.search(name))
        or _time_element(evidence, day_first=day_first)
        or _date_near_headline(evidence, day_first=day_first)
        or first([evidence.jsonld.modified, *(value for name in _MODIFIED for value in evidence.meta.get(name, ()))])
    )


def _next_to(day: str, other: str) -> bool:
    """Tell whether two days may be one in two time zones; an address has the writer's."""
    return abs(date.fromisoformat(day) - date.fromisoformat(other)) <= timedelta(days=1)


def urlsplit_path(url: str | None) -> str:
    try:
        return urlsplit(url or "").path
    except ValueError:
        return ""


def _time_element(evidence: _Evidence, *, day_first: bool) -> str | None:
    """Return the day of the most telling `<time>`: marked as published, else the first behind the headline."""
    page = evidence.page
    headline = evidence.headings[0][0] if evidence.headings else 0
    best: tuple[int, str] | None = None
    for node in evidence.nodes["time"][: 2 * _MOST_VALUES]:
        attributes = dict(page.attributes_of(node))
        marks = f"{attributes.get('class') or ''} {attributes.get('itemprop') or ''}"
        rank = 0 if "pubdate" in attributes or "published" in marks.lower() else 1
        rank += 2 * bool(_UPDATED.search(marks)) + 4 * (node < headline)
        if best and best[0] <= rank:
            continue
        day = parse_date(attributes.get("datetime"), day_first=day_first) or parse_date(evidence.text(node)[:60], day_first=day_first)
        if day:
            best = rank, day
    return best[1] if best else None


_WINDOW_BEFORE: Final = 6
_WINDOW_AFTER: Final = 16
_MOST_SHORT_BLOCKS: Final = 400
_SHORT_BLOCK: Final = 60


def _date_near_headline(evidence: _Evidence, *, day_first: bool) -> str | None:
    """Return the day that readers see: next to the headline, else the first that stands in a short line behind it."""
    blocks = evidence.page.blocks
    headline = evidence.headings[0][0] if evidence.headings else 0
    at = int(np.searchsorted(blocks.first, headline))
    length = blocks.stop - blocks.start
    behind = np.arange(at, min(len(blocks), at + _WINDOW_AFTER))
    before = np.arange(max(0, at - _WINDOW_BEFORE), at)
    short = np.flatnonzero(length[at:] <= _SHORT_BLOCK)[:_MOST_SHORT_BLOCKS] + at
    for numbers in (behind, before, short):
        spans = zip(blocks.start[numbers].tolist(), blocks.stop[numbers].tolist(), strict=True)
        lines = [blocks.visible_text[start : min(stop, start + 300)] for start, stop in spans]
        text = "\n".join(" ".join(line.split()) for line in lines if HAS_YEAR.search(line))
        if day := _best_date(text, day_first=day_first):
            return day
    return None


def _best_date(text: str, *, day_first: bool) -> str | None:
    found = find_dates(text, day_first=day_first)
    for start, day in found:
        if not _UPDATED.search(text[max(0, start - 25) : start]):
            return day
    return found[0][1] if found else None


# Language

_LANGUAGE_TAG: Final = re.compile(
    r"(?P<language>[a-z]{2,3})(?:-(?P<script>[a-z]{4}))?(?:-(?P<region>[a-z]{2}|\d{3}))?"
    r"(?P<rest>(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*)",
    re.IGNORECASE,
)
_OLD_CODES: Final = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro"}
_NO_LANGUAGE: Final = frozenset({"und", "mul", "zxx", "mis"})
_KNOWN_CODES: Final = frozenset(TWO_LETTERS.values())


def language_tag(value: str | None) -> str | None:
    """Return a language's BCP 47 tag in canonical case, None if the value is none."""
    text = (value or "")[:100].partition(",")[0].strip().partition(".")[0].partition("@")[0].replace("_", "-")
    match = _LANGUAGE_TAG.fullmatch(text)
    if not match:
        return None
    language = match["language"].lower()
    language = TWO_LETTERS.get(language, _OLD_CODES.get(language, language))
    if language in _NO_LANGUAGE or (len(language) == 2 and language not in _KNOWN_CODES):
        return None
    parts = [language, (match["script"] or "").title(), (match["region"] or "").upper(), *match["rest"].lower().split("-")]
    return "-".join(filter(None, parts))


def _language(evidence: _Evidence) -> str | None:
    page = evidence.page
    declared = [
        page.attribute(node, name) for node in evidence.nodes["html"][:1] for name in ("lang", "xml:lang")
    ]
    declared += [
        evidence.first(name)
        for name in ("content-language", "og:locale", "language", "dc.language", "dcterms.language", "itemprop:inlanguage")
    ]
    return next((tag for tag in map(language_tag, declared) if tag), None) or language_tag(evidence.jsonld.language)


def _day_first(language: str | None) -> bool:
    """Tell whether `3/4/2020` is in April: everywhere but in American English and where nothing tells."""
    return language not in {None, "en", "en-US", "en-PH", "fil"}


_MOST_BLOCKS: Final = 12


def _prose(page: Page) -> str:
    """Return the page's longest blocks, in their order: they hold sentences, not the words of menus."""
    blocks = page.blocks
    longest = np.argsort(blocks.start - blocks.stop, kind="stable")[:_MOST_BLOCKS]
    longest.sort()
    spans = zip(blocks.start[longest].tolist(), blocks.stop[longest].tolist(), strict=True)
    return "\n".join(" ".join(blocks.visible_text[start : min(stop, start + 1000)].split()) for start, stop in spans)


# Description

def _description(evidence: _Evidence) -> str | None:
    return evidence.first(
        "description", "og:description", "twitter:description", "dc.description", "dcterms.description",
        "sailthru.description", "itemprop:description",
    ) or evidence.jsonld.description
