"""Queries that a collection brings with it: terms of its index, addresses of its parts, words of its templates."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urldefrag, urljoin

from xxhash import xxh3_64_intdigest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from chaffinch.page.table import Page

MOST_TERMS: Final = 400
_NUMBER: Final = re.compile(r"\[\d+\]")
_OWNER: Final = re.compile(r" \([^()]*\)$")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_INDEX_PAGE: Final = re.compile(r"index\.html?$")
_GENERIC: Final = frozenset({"home", "index", "next", "prev", "previous", "up", "top", "contents", "main", "back"})
_OFTEN: Final = 0.5
"""A word of the template stands in that of this share of the pages; a word of content in that of no more."""


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody seeks."""

    text: str
    relevant: frozenset[int]
    """The numbers of the pages that answer it."""


def index_queries(index: Page, urls: Sequence[str], *, most: int = MOST_TERMS) -> list[Query]:
    """Return a sample of the terms of an index page as Sphinx makes them, and the pages that it names for each.

    A term below another one, such as a method's class, is read together with it.
    """
    number_of = {url: number for number, url in enumerate(urls)}
    pages_of: dict[str, set[int]] = defaultdict(set)
    term = ""
    heads: dict[int, str] = {}
    for link in index.find("a"):
        depth = _depth(index, link)
        if depth < 0:
            continue
        text = " ".join(index.text_of(link).split())
        if not _NUMBER.fullmatch(text):
            heads[depth] = text
            term = f"{_head(heads.get(1, ''), text)} {text}".strip() if depth > 1 else text
        address = urldefrag(urljoin(index.url or "", index.attribute(link, "href") or ""))[0]
        if address in number_of:
            pages_of[term].add(number_of[address])
    found = [Query(text, frozenset(pages)) for text, pages in pages_of.items() if _WORD.search(text)]
    sample = sorted(found, key=lambda query: xxh3_64_intdigest(query.text.encode()))[:most]
    return sorted(sample, key=lambda query: query.text)


def _head(term: str, below: str) -> str:
    """Return what a term below is read with: "f() (method of A)" and, below it, "(method of B)" share "f()"."""
    return _OWNER.sub("", term) if below.startswith("(") else term


def _depth(index: Page, link: int) -> int:
    """Return in how many lists a link of the index stands; -1 if it is no term."""
    lists, node = 0, int(index.parent[link])
    while node >= 0:
        name = index.name_of(node)
        if name in {"dl", "ul"}:
            lists += 1
        elif name == "table" and "indextable" in (index.attribute(node, "class") or ""):
            return lists
        node = int(index.parent[node])
    return -1


def entry_queries(pages: Sequence[Page]) -> list[Query]:
    """Return for each page at whose address others lie the words with which most pages of the site link to it."""
    addresses = [_address(page.url) for page in pages]
    folders = Counter(address[: position + 1] for address in addresses for position in _slashes(address))
    entries = {
        address: number for number, address in enumerate(addresses) if address.endswith("/") and folders[address] > 1
    }
    names: dict[str, Counter[str]] = defaultdict(Counter)
    for number, page in enumerate(pages):
        said = set()
        for link in page.find("a"):
            target = _address(urljoin(page.url or "", page.attribute(link, "href") or ""))
            text = " ".join(page.text_of(link).split())
            if entries.get(target, number) != number and _WORD.search(text) and text.lower() not in _GENERIC:
                said.add((target, text))
        for target, text in said:
            names[target][text] += 1
    sought: dict[str, set[int]] = defaultdict(set)
    for target in sorted(names):
        best = min(names[target], key=lambda text: (-names[target][text], text))
        sought[best].add(entries[target])
    return [Query(text, frozenset(found)) for text, found in sorted(sought.items())]


def _address(url: str | None) -> str:
    return _INDEX_PAGE.sub("", urldefrag(url or "")[0])


def _slashes(address: str) -> Iterable[int]:
    return (match.start() for match in re.finditer(r"(?<![:/])/", address))


def noun_queries(nouns: Collection[str], contents: Sequence[str], templates: Sequence[str]) -> list[Query]:
    """Return the nouns that the template of half of the pages has, and the content of some, but no more than half.

    Relevant are the pages that have the noun in their content.
    """
    in_template = Counter(word for text in templates for word in _words(text) if word in nouns)
    in_content: dict[str, set[int]] = defaultdict(set)
    for number, text in enumerate(contents):
        for word in _words(text):
            if word in in_template:
                in_content[word].add(number)
    often = _OFTEN * len(contents)
    return [
        Query(word, frozenset(found))
        for word, found in sorted(in_content.items())
        if in_template[word] >= often and len(found) <= often
    ]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
