"""What a page's JSON-LD says of it. Broken JSON is read as far as it goes; nothing here raises."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

_Object: TypeAlias = dict[str, Any]

_LONGEST: Final = 400_000
"""Characters of JSON-LD read of one page; blocks that go beyond are passed over."""

_LONGEST_TEXT: Final = 5_000
_MOST_OBJECTS: Final = 2_000
_MOST_NAMES: Final = 20
_MOST_PIECES: Final = 50

_WRAPPER: Final = re.compile(r"/\*\s*(?:<!\[CDATA\[|\]\]>)\s*\*/|(?://\s*)?(?:<!\[CDATA\[|\]\]>)|<!--|-->")
_TRAILING_COMMA: Final = re.compile(r",(?=\s*[}\]])")
_BAD_ESCAPE: Final = re.compile(r'\\(?![\\"/bfnrtu])')
_MARKUP: Final = re.compile(r"<[a-zA-Z/!][^<>]{0,300}>")
_LOOSE: Final = {
    key: re.compile(rf'"{key}"\s*:\s*"((?:[^"\\]|\\.){{1,400}})"') for key in ("headline", "datePublished")
}
_LOOSE_AUTHOR: Final = re.compile(
    r'"author"\s*:\s*[\[{\s]{1,9}(?:"@?(?:type|id|url)"\s*:\s*"[^"]{0,300}"\s*,\s*){0,3}"name"\s*:\s*"([^"]{1,200})"'
)

_PROSE: Final = frozenset(
    "Recipe HowTo Report Review QAPage Question CreativeWork Guide Course Book Thesis Chapter Statement".split()
)
_THINGS: Final = frozenset(
    "Product ProductGroup VideoObject AudioObject PodcastEpisode Event SoftwareApplication WebApplication Movie"
    " JobPosting Service Dataset SoftwareSourceCode ItemList".split()
)
_BODIES: Final = ("articleBody", "reviewBody", "text", "description")
"""The members that hold an object's text, the fullest first."""
_PAGES: Final = frozenset("WebPage ItemPage CollectionPage AboutPage ContactPage ProfilePage FAQPage".split())
_GROUPS: Final = frozenset(
    {"Organization", "NewsMediaOrganization", "Corporation", "WebSite", "Brand", "LocalBusiness"}
)


@dataclass(frozen=True, slots=True)
class Statement:
    """What one object says, or all of them together. Texts are cleaned of markup but not judged."""

    rank: int = 0
    """3 for prose such as articles, 2 for things such as products, 1 for pages, 0 for nothing."""
    title: str | None = None
    persons: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    published: str | None = None
    modified: str | None = None
    language: str | None = None
    url: str | None = None
    description: str | None = None
    site_name: str | None = None


_NOTHING: Final = Statement()


def read_jsonld(scripts: Iterable[str], own_urls: Iterable[str] = ()) -> Statement:
    """Join what all JSON-LD of a page says about the page itself.

    Objects that name one of the page's URLs come first, then prose before things before pages.
    """
    objects = _read_objects(scripts)
    if not objects:
        return Statement()
    ordered = [statement for _, statement in _ordered(objects, own_urls)]
    best = ordered[0].rank if ordered else 0
    # Only prose and pages date the page; a product's author or upload date is that of something else.
    telling = [statement for statement in ordered if statement.rank != 2 or best == 2]
    return Statement(
        rank=best,
        title=next((s.title for s in ordered if s.title and s.rank > 1), None),
        persons=next((s.persons for s in telling if s.persons), ()),
        groups=next((s.groups for s in telling if s.groups), ()),
        published=next((s.published for s in telling if s.published), None),
        modified=next((s.modified for s in telling if s.modified), None),
        language=next((s.language for s in ordered if s.language), None),
        url=next((s.url for s in ordered if s.url and s.rank != 2), None),
        description=next((s.description for s in ordered if s.description), None),
        site_name=next(
            (name for item in objects if _types(item) & {"WebSite"} and (name := _text(item.get("name")))), None
        ),
    )


def read_body(scripts: Iterable[str], own_urls: Iterable[str] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the texts of each object that may describe the page, as they stand there; markup is not resolved.

    The order is that of `read_jsonld`. What is said of a site or a company is not what the page is about.
    """
    for item, _ in _ordered(_read_objects(scripts), own_urls):
        texts: list[str] = []
        for key in _BODIES:
            value = item.get(key)
            if isinstance(value, dict):
                value = value.get("@value")
            if isinstance(value, str) and value.strip() and not any(value.strip() in text for text in texts):
                texts.append(value.strip())
        if texts:
            yield tuple(texts)


def _read_objects(scripts: Iterable[str]) -> list[_Object]:
    values: list[Any] = []
    left = _LONGEST
    for script in scripts:
        if len(script) <= left:
            left -= len(script)
            values.extend(_load(script))
    return list(_objects(values))


def _ordered(objects: list[_Object], own_urls: Iterable[str]) -> list[tuple[_Object, Statement]]:
    """Return what describes the page: what names one of its URLs first, then prose before things before pages."""
    by_id = {identity: item for item in reversed(objects) if isinstance(identity := item.get("@id"), str)}
    keys = {_url_key(url) for url in own_urls}
    described = [(item, statement) for item in objects if (statement := _describe(item, by_id)).rank]
    described.sort(key=lambda pair: (not _is_about(pair[0], keys), -pair[1].rank))
    return described


def _load(script: str) -> list[Any]:
    """Return the values in one script: usually one, none if nothing can be made of it."""
    text = script.strip().removeprefix("\ufeff")
    if not text:
        return []
    try:
        return [json.loads(text, strict=False)]
    except (ValueError, RecursionError):
        pass
    text = _WRAPPER.sub(" ", text).strip()
    if "&quot;" in text and text.count('"') < text.count("&quot;"):
        text = unescaped(text)
    text = _BAD_ESCAPE.sub(r"\\\\", _TRAILING_COMMA.sub("", text))
    return _pieces(text) or _loose(text)


def _pieces(text: str) -> list[Any]:
    """Read JSON values that stand one after the other."""
    decoder = json.JSONDecoder(strict=False)
    values: list[Any] = []
    position = 0
    while len(values) < _MOST_PIECES and (start := re.compile(r"[{\[]").search(text, position)):
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            break
        values.append(value)
    return values


def _loose(text: str) -> list[Any]:
    """Pick the most telling members out of what is no JSON."""
    found: _Object = {key: match[1] for key, pattern in _LOOSE.items() if (match := pattern.search(text))}
    if match := _LOOSE_AUTHOR.search(text):
        found["author"] = {"name": match[1]}
    return [{"@type": "Article", **found}] if found else []


def _objects(values: list[Any]) -> Iterator[_Object]:
    """Yield the objects that may describe the page, in document order.

    Members such as comments, list items and publishers describe something else, so only those that lead to the page's
    own subject are followed.
    """
    stack: list[Any] = values[::-1]
    for _ in range(_MOST_OBJECTS):
        if not stack:
            return
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(reversed(value[:_MOST_OBJECTS]))
        elif isinstance(value, dict):
            yield value
            followed = (
                ["@graph", "mainEntityOfPage"]
                if "FAQPage" in _types(value)
                else ["@graph", "mainEntityOfPage", "mainEntity"]
            )
            stack.extend(member for key in followed if isinstance(member := value.get(key), dict | list))


def _types(item: _Object) -> frozenset[str]:
    kinds = item.get("@type")
    if isinstance(kinds, str):
        return frozenset((kinds.rpartition("/")[2].rpartition(":")[2],))
    names = kinds if isinstance(kinds, list) else [kinds]
    return frozenset(name.rpartition("/")[2].rpartition(":")[2] for name in names[:10] if isinstance(name, str))


def _rank(types: frozenset[str]) -> int:
    if types & _PROSE or any(name.endswith(("Article", "Posting")) and name != "JobPosting" for name in types):
        return 3
    if types & _THINGS:
        return 2
    return 1 if types & _PAGES else 0


def _describe(item: _Object, by_id: dict[str, _Object]) -> Statement:
    rank = _rank(_types(item))
    if not rank:
        return _NOTHING
    persons, groups = _names(item.get("author") or item.get("creator"), by_id)
    return Statement(
        rank=rank,
        title=_text(item.get("headline")) or _text(item.get("name")),
        persons=persons,
        groups=groups,
        published=_text(item.get("datePublished")) or _text(item.get("dateCreated")) or _text(item.get("uploadDate")),
        modified=_text(item.get("dateModified")),
        language=_text(item.get("inLanguage")),
        url=_text(item.get("url")),
        description=_text(item.get("description")),
    )


def _names(value: Any, by_id: dict[str, _Object]) -> tuple[tuple[str, ...], tuple[str, ...]]:  # noqa: ANN401
    """Return the names of persons and of groups in an author's value."""
    persons: list[str] = []
    groups: list[str] = []
    for entry in (value if isinstance(value, list) else [value])[:_MOST_NAMES]:
        item = entry
        if isinstance(item, dict) and "name" not in item and isinstance(identity := item.get("@id"), str):
            item = by_id.get(identity, item)
        if isinstance(item, dict):
            names = item.get("name")
            kept = groups if _types(item) & _GROUPS else persons
        else:
            names, kept = item, persons
        for name in (names if isinstance(names, list) else [names])[:_MOST_NAMES]:
            if isinstance(name, str) and (text := _text(name)):
                kept.append(text)
    return tuple(persons), tuple(groups)


def _text(value: Any) -> str | None:  # noqa: ANN401
    """Return a member's text, None if it has none."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("@value") or value.get("name")
    if not isinstance(value, str):
        return None
    text = unescaped(value[:_LONGEST_TEXT])
    if "<" in text:
        text = _MARKUP.sub(" ", text)
    return " ".join(text.split()) or None


def unescaped(text: str) -> str:
    """Return `text` with character references resolved, which pages often write where they have no meaning."""
    if "&" not in text:
        return text
    try:
        return html.unescape(text)
    except ValueError:  # a reference of thousands of digits
        return text


def _url_key(url: str) -> str:
    """Return what stays the same between the ways to write a URL."""
    return url.partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/").lower()


def _is_about(item: _Object, keys: set[str]) -> bool:
    """Tell whether an object names one of the page's URLs."""
    page = item.get("mainEntityOfPage")
    names = [item.get("url"), item.get("@id"), page, page.get("@id") if isinstance(page, dict) else None]
    return any(isinstance(name, str) and _url_key(name) in keys for name in names)
