"""The elements of a page that tell something about it, collected once and read when they are asked for."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

import numpy as np

from chaffinch.document.jsonld import Statement, read_jsonld, unescaped
from chaffinch.page.tags import BLOCK_LEVEL, IDS, LINE_BREAK, NAMES, TEXT, Visibility, tag_set
from chaffinch.sites import is_web_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chaffinch.page.attributes import Attributes
    from chaffinch.page.table import Page

LONGEST: Final = 5000
"""Characters of an attribute's value or an element's text that are looked at."""

MOST_VALUES: Final = 20
"""How many values of one meta name, and how many elements of one kind, are looked at."""

_LONGEST_HEADING: Final = 500
_MOST_NAMES_OF_META: Final = 4

_ELEMENTS: Final = ("html", "base", "title", "meta", "link", "script", "body", "h1", "time")
_TELLING: Final = tag_set(*_ELEMENTS)
_WEB_SCHEMES: Final = ("https://", "http://")
_VISIBLE: Final = int(Visibility.VISIBLE)
_GRAPHIC: Final = int(Visibility.GRAPHIC)
_NAMING: Final = frozenset({"property", "name", "http-equiv"})
_WANTED_ITEMS: Final = frozenset({"headline", "datepublished"})
_ITEMS_BEFORE: Final = 20
_ITEMS_BEHIND: Final = 60
"""How far from the headline microdata may stand, in elements; what stands elsewhere is of other things."""


class Evidence:
    """What tells something about a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.elements = np.flatnonzero(page.tag != TEXT)
        """The positions of the elements; `page.element_attributes` has the same order."""
        tags = page.tag[self.elements]
        telling = np.flatnonzero(_TELLING[tags])
        self._numbers: dict[str, list[int]] = {name: [] for name in _ELEMENTS}
        for number, tag in zip(telling.tolist(), tags[telling].tolist(), strict=True):
            self._numbers[NAMES[tag]].append(number)
        self._meta: dict[str, list[str]] = {}
        self._clean_meta: dict[str, list[str]] = {}
        for number in self._numbers["meta"]:
            self._add_meta(page.element_attributes[number])

    def attributes(self, name: str) -> list[Attributes]:
        """Return the attributes of each element of one kind."""
        return [self.page.element_attributes[number] for number in self._numbers[name]]

    def nodes(self, name: str) -> list[int]:
        """Return the positions of the elements of one kind."""
        numbers = self._numbers[name]
        return self.elements[numbers].tolist() if numbers else []

    def _add_meta(self, attributes: Attributes) -> None:
        content = other_content = ""
        names: list[str] = []
        for key, value in attributes:
            if not value:
                continue
            if key == "content":
                content = value
            elif key in _NAMING:
                names += value.lower().split()[:_MOST_NAMES_OF_META]
            elif key == "itemprop":
                names += [f"itemprop:{name}" for name in value.lower().split()[:_MOST_NAMES_OF_META]]
            elif key == "value":
                other_content = value
        for name in names if content or other_content else ():
            values = self._meta.setdefault(name, [])
            if len(values) < MOST_VALUES:
                values.append(content or other_content)

    @property
    def meta_names(self) -> list[str]:
        """The names of all meta elements that have a value, in lower case; microdata with `itemprop:` before it."""
        return list(self._meta)

    def meta(self, name: str) -> list[str]:
        """Return the different values of one meta name; none is empty."""
        if name not in self._meta:
            return []
        found = self._clean_meta.get(name)
        if found is None:
            found = self._clean_meta[name] = list(dict.fromkeys(filter(None, map(clean, self._meta[name]))))
        return found

    def first(self, *names: str) -> str | None:
        """Return the first value of the first meta name that is there."""
        return next(self.all(names), None)

    def all(self, names: Iterable[str]) -> Iterator[str]:
        """Return the values of several meta names, one name after the other."""
        return (value for name in names if name in self._meta for value in self.meta(name))

    def text(self, node: int) -> str:
        """Return the text below `node`, white space folded."""
        page = self.page
        start, stop = int(page.text_offset[node]), int(page.text_offset[page.end[node]])
        return " ".join(page.text[start : min(stop, start + LONGEST)].split())

    @cached_property
    def jsonld(self) -> Statement:
        """What the page's JSON-LD says of it."""
        scripts = self.jsonld_scripts
        return read_jsonld(scripts, self.own_urls) if scripts else Statement()

    @property
    def own_urls(self) -> tuple[str, ...]:
        """The addresses by which the page's JSON-LD may name it."""
        return tuple(filter(None, (self.page.url, self.canonical_link)))

    @property
    def jsonld_scripts(self) -> list[str]:
        """The sources of the page's JSON-LD."""
        numbers = [
            number
            for number, attributes in zip(self._numbers["script"], self.attributes("script"), strict=True)
            for key, value in attributes
            if key == "type" and value and "ld+json" in value.lower()
        ]
        return [self.page.text_of(node) for node in self.elements[numbers].tolist()] if numbers else []

    def items(self, name: str) -> list[int]:
        """Return the elements near the headline that are a microdata property, `<meta>` left out."""
        return self._items.get(name, [])

    @cached_property
    def _items(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        page = self.page
        beginning = self.headings[0][0] if self.headings else next(iter(self.nodes("body")), 0)
        at = int(np.searchsorted(self.elements, beginning))
        low = max(0, at - _ITEMS_BEFORE)
        numbers = [
            number
            for number, value in zip(*page.element_attributes.values("itemprop"), strict=True)
            if low <= number < at + _ITEMS_BEHIND and value.lower() in _WANTED_ITEMS
        ]
        for node in self.elements[numbers].tolist() if numbers else ():
            if page.tag[node] != IDS["meta"]:
                found.setdefault((page.attribute(node, "itemprop") or "").lower(), []).append(node)
        return {name: nodes[:MOST_VALUES] for name, nodes in found.items()}

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
            for key, value in attributes:
                if key == "rel" and value and "canonical" in value.lower().split():
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
        if not url or len(url) > LONGEST:
            return None
        try:
            full = url if url.startswith(_WEB_SCHEMES) and url.isprintable() else urljoin(self.base, url)
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
        nodes = self.nodes("h1")[:MOST_VALUES]
        found = [(node, text) for node in nodes if 0 < len(text := self._lines(node)) <= _LONGEST_HEADING]
        return sorted(found, key=lambda pair: int(self.page.visibility[pair[0]]) != _VISIBLE)

    def _lines(self, node: int) -> str:
        """Return the text below `node`, its lines put one after the other."""
        page = self.page
        inside = page.tag[node + 1 : page.end[node]]
        if len(inside) < 2 or not (LINE_BREAK[inside] | BLOCK_LEVEL[inside]).any():
            return self.text(node)
        nodes = (np.flatnonzero(inside[:LONGEST] == TEXT) + node + 1).tolist()
        return " ".join(filter(None, map(self.text, nodes)))

    @cached_property
    def head_title(self) -> str | None:
        """The text of `<title>`; drawings have titles too, which are not the page's."""
        for node in self.nodes("title")[:MOST_VALUES]:
            if int(self.page.visibility[node]) != _GRAPHIC and (text := self.text(node)):
                return text
        return None

    @cached_property
    def site_keys(self) -> frozenset[str]:
        """The site's name in all spellings that are known, as keys."""
        names = [self.first("og:site_name"), self.first("application-name"), self.jsonld.site_name]
        return frozenset(key for name in names if name and (key := key_of(name)))

    @cached_property
    def host_name(self) -> str:
        """The site's domain without its suffix, as a key."""
        url = self.page.url or self.canonical_url
        return "".join(_WORD.findall(self.page.place.site.partition(".")[0].lower())) if url else ""


def clean(value: str | None) -> str:
    """Return an attribute's value with white space folded and what was escaped twice unescaped."""
    return " ".join(unescaped((value or "")[:LONGEST]).split())


_WORD: Final = re.compile(r"\w+")


def key_of(text: str) -> str:
    """Return what two spellings of one name or title have in common."""
    return " ".join(_WORD.findall(text.casefold()))
