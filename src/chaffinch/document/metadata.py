"""What a page says of itself: title, author, day of publication, language, address and description.

All of it comes from the page's own markup: JSON-LD, `<meta>`, microdata, links, and what stands near the headline.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from operator import itemgetter
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

import numpy as np

from chaffinch.document.dates import MONTH, date_near, date_of_path, date_of_times, days_between, parse_date
from chaffinch.document.jsonld import Statement, read_jsonld, unescaped
from chaffinch.page.language import TWO_LETTERS, language_of
from chaffinch.page.tags import BLOCK_LEVEL, IDS, LINE_BREAK, NAMES, TEXT, Visibility, tag_set
from chaffinch.sites import is_web_url

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
        date=_date(evidence, day_first=_day_first(language, page.place.site)),
        language=language or language_of(_prose(page)),
        canonical_url=evidence.canonical_url,
        description=_description(evidence),
    )


_LONGEST: Final = 5000
"""Characters of an attribute's value or an element's text that are looked at."""

_MOST_VALUES: Final = 20
"""How many values of one meta name, and how many elements of one kind, are looked at."""

_LONGEST_HEADING: Final = 500

_ELEMENTS: Final = ("html", "base", "title", "meta", "link", "script", "h1", "time")
_TELLING: Final = tag_set(*_ELEMENTS)

_WANTED_ITEMS: Final = frozenset({"headline", "datepublished"})
_WANTED_ITEM: Final = re.compile(r"itemprop=[\"']?(?:headline|datePublished)\b")


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
        """Return the text below `node`, white space folded."""
        page = self.page
        start, stop = int(page.text_offset[node]), int(page.text_offset[page.end[node]])
        return " ".join(page.text[start : min(stop, start + _LONGEST)].split())

    @cached_property
    def jsonld(self) -> Statement:
        """What the page's JSON-LD says of it."""
        page = self.page
        scripts = [
            page.text_of(node)
            for node, attributes in zip(self.nodes["script"], self.attributes("script"), strict=True)
            if any(key == "type" and value and "ld+json" in value.lower() for key, value in attributes)
        ]
        return read_jsonld(scripts, filter(None, (page.url, self.canonical_link))) if scripts else Statement()

    def items(self, name: str) -> list[int]:
        """Return the elements that are a microdata property, `<meta>` left out."""
        return self._items.get(name, [])

    @cached_property
    def _items(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        page = self.page
        if "itemprop=" not in page.html or not _WANTED_ITEM.search(page.html):
            return found
        elements = np.flatnonzero((page.tag != TEXT) & (page.tag != IDS["meta"])).tolist()
        numbers = page.element_number[elements].tolist() if elements else []
        for node, number in zip(elements, numbers, strict=True):
            for key, value in page.element_attributes[number]:
                if key == "itemprop" and value and (name := value.lower()) in _WANTED_ITEMS:
                    found.setdefault(name, []).append(node)
        return {name: nodes[:_MOST_VALUES] for name, nodes in found.items()}

    @cached_property
    def path(self) -> str:
        """The path of the page's address."""
        try:
            return urlsplit(self.page.url or "").path
        except ValueError:
            return ""

    @cached_property
    def canonical_link(self) -> str | None:
        """The address that `<link rel="canonical">` gives."""
        for attributes in self.attributes("link"):
            if any(key == "rel" and value and "canonical" in value.lower().split() for key, value in attributes):
                return self.absolute(dict(attributes).get("href"))
        return None

    @cached_property
    def canonical_url(self) -> str | None:
        """The page's address as it gives it itself."""
        return self.canonical_link or self.absolute(self.first("og:url")) or self.absolute(self.jsonld.url)

    @cached_property
    def base(self) -> str:
        """What relative addresses are relative to."""
        own = self.page.url or ""
        for attributes in self.attributes("base"):
            try:
                return urljoin(own, (dict(attributes).get("href") or "").strip())
            except ValueError:
                break
        return own

    def absolute(self, url: str | None) -> str | None:
        """Return an address of the page in full, None if it is no web address."""
        url = (url or "").strip()
        if not url or len(url) > _LONGEST:
            return None
        try:
            full = urljoin(self.base, url)
        except ValueError:
            return None
        return full if is_web_url(full) else None

    @cached_property
    def headline(self) -> int:
        """The position of the heading that the page begins with, 0 if it has none."""
        if self.headings:
            return self.headings[0][0]
        return next(iter(self.items("headline")), 0)

    @cached_property
    def headings(self) -> list[tuple[int, str]]:
        """The first-level headings with their text, the visible ones first."""
        nodes = self.nodes["h1"][:_MOST_VALUES]
        found = [(node, text) for node in nodes if 0 < len(text := self._lines(node)) <= _LONGEST_HEADING]
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
    return " ".join(unescaped((value or "")[:_LONGEST]).split())


_WORD: Final = re.compile(r"\w+")


def _key(text: str) -> str:
    """Return what two spellings of one name or title have in common."""
    return " ".join(_WORD.findall(text.casefold()))


# Title

_SEPARATOR: Final = re.compile(
    r"\s+(?:[|\u2013\u2014\u00b7\u2022\u00bb\u00ab\u2039\u203a>\u2223\uff5c-]|::|//|~)\s+|\s*[|\uff5c]\s*|\s*\u00bb\s*"
)


def _title(evidence: _Evidence) -> str | None:
    """Choose among the headline, the heading and the titles that the head gives.

    A heading that the titles repeat is the page's own. One that they do not speak of is the site's or an advertising
    line.
    """
    shared = (evidence.first("og:title"), evidence.first("twitter:title"), evidence.head_title)
    titles = [title for title in dict.fromkeys(shared) if title]
    headings = {text: key for _, text in evidence.headings if (key := _key(text))}
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


def _repeated(headings: dict[str, str], title: str, evidence: _Evidence) -> str | None:
    """Return the longest heading that `title` begins with or has as a part, the site's name left out."""
    whole = f"{_key(title)} "
    parts = {_key(part) for part in _SEPARATOR.split(title)} if headings else set()
    found = [
        (len(key), heading)
        for heading, key in headings.items()
        if (key in parts or whole.startswith(f"{key} ")) and key not in evidence.site_keys
    ]
    return max(found, key=itemgetter(0))[1] if found else None


def _nearest(headings: dict[str, str], titles: list[str]) -> str | None:
    """Return the heading that shares the most words with a title, if that is more than half of them."""
    best, best_share = None, 0.5
    words_of_titles = [set(_key(title).split()) for title in titles] if headings else []
    for heading, key in headings.items():
        words = set(key.split())
        for others in words_of_titles:
            share = 2 * len(words & others) / (len(words) + len(others))
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
_BY: Final = (
    r"(?:(?:article|story|words|text|post|guide|news)\s+)?(?:(?:medically\s+)?(?:written|posted|published|created|reviewed"
    r"|authored|submitted|started|asked|contributed|view all posts|all posts)\s+)?by"
    r"|geschrieben von|verfasst von|écrit par|publié par|escrito por|publicado por|scritto da|geschreven door"
)
_LABEL: Final = r"authors?|contributors?|writers?|words|autor(?:in|es)?|autore|auteurs?|thread starter|via|from"
_CREDIT: Final = re.compile(rf"(?:(?:{_BY})(?:\s*:\s*|\s+|$)|(?:{_LABEL})(?:\s*:\s*|\s*$))", re.IGNORECASE)
"""What stands before a name wherever one is given."""

_VISIBLE_CREDIT: Final = re.compile(
    rf"(?:(?:{_BY})(?:\s*:\s*|\s+|$)|(?:{_LABEL})(?:\s*:\s*|\s+|$)|(?:von|par|por|door|di|av|af)\s+)", re.IGNORECASE
)
"""What stands before a name for readers; elsewhere the short words may belong to it."""

_CREDIT_LINE: Final = re.compile(
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
_JOINING_LINE: Final = re.compile(r"(?:,|;)?\s*(?:and|&|und|et|y|e|en)?", re.IGNORECASE)
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


def _names(text: str, credit: re.Pattern[str]) -> list[str]:
    """Return the names in a byline, none if it holds something else."""
    text = _without(credit, text[:_LONGEST_CREDIT])
    if not text or "://" in text or text.startswith(("www.", "/", "@", "#", "{")) or _PLACEHOLDER.fullmatch(text):
        return []
    names: dict[str, str] = {}
    for part in _JOINED.split(text):
        name = _AFTER_NAME.sub("", _without(credit, part), count=1).strip(' ,.:;-\u2013\u2014|*"\u201c\u201d\u200b')
        if _is_name(name):
            names.setdefault(name.casefold(), name)
    return list(names.values())[:_MOST_VALUES]


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
    key = _key(text)
    return (
        1 < len(text) <= _LONGEST_NAME
        and len(key.split()) <= _MOST_WORDS_OF_NAME
        and key not in _NO_NAMES
        and not _NO_NAME_CHARACTER.search(text)
        and any(map(str.isalpha, key))
    )


def _author(evidence: _Evidence) -> str | None:
    """Return persons before organisations, and what machines are told before what readers see."""
    statement = evidence.jsonld
    # Names on the page of a product are those of its reviewers.
    is_thing = statement.rank == 2 or (evidence.first("og:type") or "").lower().startswith(("product", "og:product"))
    if persons := [name for text in statement.persons for name in _names(text, _CREDIT)]:
        return _joined(persons)
    told = [[*evidence.meta.get(name, ())] for name in _AUTHOR_NAMES]
    organisations: list[str] = []
    for names in chain(
        ([name for text in texts for name in _names(text, _CREDIT)] for texts in (*told, _shared_author(evidence))),
        (_names(text, _VISIBLE_CREDIT) for text in _bylines(evidence) if not is_thing),
    ):
        if persons := [name for name in names if _key(name) not in evidence.site_keys]:
            return _joined(persons)
        organisations += names
    organisations += [name for text in statement.groups for name in _names(text, _CREDIT)]
    return organisations[0] if organisations else None


def _joined(names: Iterable[str]) -> str:
    """Join names, each in its first spelling."""
    spellings: dict[str, str] = {}
    for name in names:
        spellings.setdefault(name.casefold(), name)
    return ", ".join(spellings.values())


def _shared_author(evidence: _Evidence) -> list[str]:
    """Return what share previews show under the label of an author."""
    return [
        value
        for number in "12"
        for value in evidence.meta.get(f"twitter:data{number}", ())
        if (evidence.first(f"twitter:label{number}") or "").casefold() in _AUTHOR_LABELS
    ]


_MOST_CANDIDATES: Final = 6
_BYLINE_LENGTH: Final = 120
_BYLINE_BLOCKS: Final = 12
"""How far behind the headline a byline may stand, in leaf blocks; half as far before it."""

_MAY_SHOW: Final = np.array([kind in {Visibility.VISIBLE, Visibility.INERT} for kind in Visibility])
"""Forums that build their pages in the browser keep a plain copy in `<noscript>`."""

_CREDIT_LINE_LENGTH: Final = 80
_LONGEST_CLASS: Final = 500
_MARKS: Final = frozenset({"class", "data-testid", "itemprop", "rel"})

_BYLINE_PARTS: Final = frozenset(
    "author authors byline bylines writer writers username contributor contributors creator postedby writtenby".split()
)
_BYLINE_WORDS: Final = (
    "author",
    "byline",
    "by-line",
    "writer",
    "username",
    "user-name",
    "posted",
    "written",
    "contributor",
    "creator",
)
_NO_BYLINE_PARTS: Final = frozenset(
    (
        "bio avatar image images img photo picture pic thumb thumbnail icon social follow share comment comments "
        "related review reviews reviewer testimonial desc description date time about archive count footer sidebar job "
        "role position box email button tooltip widget more all"
    ).split()
)
_CLASS_PARTS: Final = re.compile(r"[A-Z]?[a-z]+")
_TWO_WORDS: Final = re.compile(r"(?<=by)-line|(?<=user)-name|(?<=posted)-by|(?<=written)-by", re.IGNORECASE)
_AUTHOR_PATH: Final = re.compile(r"/(?:authors?|autore?|auteurs?|contributors?|writers?)/[^/]")
_PERSON_PATH: Final = re.compile(
    r"/(?:authors?|autore?s?|auteurs?|people|profiles?|users?|members?|contributors?|by|staff|team|writers?|columnists?|u)/|author=",
    re.IGNORECASE,
)


def _mark_rank(key: str, value: str) -> int:
    """Return how surely an attribute marks an author's name: 1 most, 0 not at all."""
    if key in {"itemprop", "rel"}:
        return (1 if key == "itemprop" else 2) if "author" in value.lower().split() else 0
    best = 9
    for token in _TWO_WORDS.sub(lambda match: match[0][1:], value[:_LONGEST_CLASS]).split():
        parts = [part.lower() for part in _CLASS_PARTS.findall(token)]
        if not _BYLINE_PARTS.intersection(parts):
            continue
        is_name = parts[-1] == "name"
        if is_name or not _NO_BYLINE_PARTS.intersection(parts):
            best = min(best, 3 if is_name or parts[-1] in _BYLINE_PARTS else 4)
    return best % 9


def _bylines(evidence: _Evidence) -> Iterator[str]:
    """Yield what may name the author: what is marked as it, lines that begin with "By", links to authors' pages."""
    page, headline = evidence.page, evidence.headline
    yield from _texts_of(evidence, _marked(page, headline))
    yield from _credit_lines(page, headline)
    links = page.find("a")
    numbers = page.element_number[links].tolist() if links else []
    to_authors = [
        (node < headline, node)
        for node, number in zip(links, numbers, strict=True)
        for key, value in page.element_attributes[number]
        if key == "href" and value and _leads_to_author(value)
    ]
    yield from _texts_of(evidence, [node for _, node in sorted(to_authors)])


def _texts_of(evidence: _Evidence, nodes: list[int]) -> Iterator[str]:
    texts = (_byline_text(evidence, node) for node in nodes[:_MOST_CANDIDATES])
    return (text for text in texts if len(text) <= _BYLINE_LENGTH)


def _marked(page: Page, headline: int) -> list[int]:
    """Return the elements that are marked as the author's, the surest first.

    Among equals those behind the headline come first, in their order.
    """
    elements = np.flatnonzero(page.tag != TEXT)
    length = page.text_offset[page.end[elements]] - page.text_offset[elements]
    kept = _MAY_SHOW[page.visibility[elements]] & (length > 1) & (length < 2 * _BYLINE_LENGTH)
    marks = [
        (node, key, value)
        for node, attributes in zip(
            elements[kept].tolist(), compress(page.element_attributes, kept.tolist()), strict=True
        )
        for key, value in attributes
        if key in _MARKS and value
    ]
    # All values are searched at once first; the parser leaves no NUL in them.
    joined = "\0".join([value for _, _, value in marks]).lower()
    words = [word for word in _BYLINE_WORDS if word in joined]
    if not words:
        return []
    values = joined.split("\0")
    numbers = sorted({number for word in words for number, value in enumerate(values) if word in value})
    found = [
        (rank, node < headline, node)
        for node, key, value in map(marks.__getitem__, numbers)
        if (rank := _mark_rank(key, value))
    ]
    return [node for _, _, node in sorted(found)]


def _leads_to_author(href: str) -> bool:
    """Tell whether a link leads to the page of an author."""
    return ("/aut" in href or "/contrib" in href or "/writ" in href) and bool(_AUTHOR_PATH.search(href))


def _credit_lines(page: Page, headline: int) -> Iterator[str]:
    """Yield the lines near the headline that begin with "By" or the like, those behind it first."""
    blocks = page.blocks
    at = int(np.searchsorted(blocks.first, headline))
    low, high = max(0, at - _BYLINE_BLOCKS // 2), at + _BYLINE_BLOCKS
    spans = list(zip(blocks.start[low:high].tolist(), blocks.stop[low:high].tolist(), strict=True))
    for start, stop in spans[at - low :] + spans[: at - low]:
        line = " ".join(blocks.visible_text[start : min(stop, start + _BYLINE_LENGTH)].split())
        if len(line) <= _CREDIT_LINE_LENGTH and _CREDIT_LINE.match(line):
            yield line


def _byline_text(evidence: _Evidence, node: int) -> str:
    """Return the name in a marked element: what is marked as a name in it, else its links to authors, else a line."""
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
        elif names := _names(line, _VISIBLE_CREDIT):
            found += names
            joined = line.endswith((",", "&", " and"))
    return "; ".join(found)


# Date

_PUBLISHED: Final = (
    "article:published_time", "og:article:published_time", "og:published_time", "article:published", "datepublished",
    "itemprop:datepublished", "publishdate", "publish_date", "publish-date", "pubdate", "publication_date",
    "published_time", "published_at", "parsely-pub-date", "sailthru.date", "citation_publication_date", "citation_date",
    "citation_online_date", "dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date.created", "dc.date",
    "dcterms.date", "date", "article.published", "article_date_original", "cxenseparse:recs:publishtime",
    "originalpublicationdate", "displaydate", "itemprop:datecreated", "created", "og:pubdate", "rnews:datepublished",
)  # fmt: skip
_MODIFIED: Final = (
    "article:modified_time", "og:updated_time", "og:article:modified_time", "itemprop:datemodified",
    "dcterms.modified", "dc.date.modified", "lastmod", "last-modified", "revised", "datemodified",
)  # fmt: skip
_PUBLISHED_NAME: Final = re.compile(
    r"publi(?:sh|cation).{0,9}(?:date|time)|pub-?date|date.{0,3}(?:publi|created|issued)"
)


def _date(evidence: _Evidence, *, day_first: bool) -> str | None:
    """Return the day of publication, or of the last change if only that is told.

    Where JSON-LD and `<meta>` differ, the earlier one is the publication. An address that is a day off has the day at
    the writer's place, not in Greenwich.
    """

    def first(values: Iterable[str | None]) -> str | None:
        return next((day for value in values if (day := parse_date(value, day_first=day_first))), None)

    stated = (
        first([evidence.jsonld.published]),
        first(value for name in _PUBLISHED for value in evidence.meta.get(name, ())),
    )
    in_path = date_of_path(evidence.path)
    if published := min(filter(None, stated), default=None):
        return in_path if in_path and days_between(in_path, published) <= 1 else published
    page, headline = evidence.page, evidence.headline
    return (
        in_path
        or first(values[0] for name, values in evidence.meta.items() if _PUBLISHED_NAME.search(name))
        or first(
            evidence.page.attribute(node, "content") or evidence.text(node) for node in evidence.items("datepublished")
        )
        or date_of_times(page, evidence.nodes["time"], headline, day_first=day_first)
        or date_near(page, headline, day_first=day_first)
        or first([evidence.jsonld.modified, *(value for name in _MODIFIED for value in evidence.meta.get(name, ()))])
    )


# Language

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
    text = (value or "")[:100].partition(",")[0].strip().partition(".")[0].partition("@")[0].replace("_", "-")
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


def _language(evidence: _Evidence) -> str | None:
    page = evidence.page
    declared = [page.attribute(node, name) for node in evidence.nodes["html"][:1] for name in ("lang", "xml:lang")]
    declared += [
        evidence.first(name)
        for name in (
            "content-language",
            "og:locale",
            "language",
            "dc.language",
            "dcterms.language",
            "itemprop:inlanguage",
        )
    ]
    return next((tag for tag in map(language_tag, declared) if tag), None) or language_tag(evidence.jsonld.language)


_MONTH_FIRST: Final = frozenset({None, "en", "en-US", "en-PH", "fil"})
_DAY_FIRST_DOMAINS: Final = frozenset("uk ie au nz in za eu".split())


def _day_first(language: str | None, site: str) -> bool:
    """Tell whether `3/4/2020` is in April: yes, but for American English and where nothing tells."""
    if language in {None, "en"} and site.rpartition(".")[2] in _DAY_FIRST_DOMAINS:
        return True
    return language not in _MONTH_FIRST


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
