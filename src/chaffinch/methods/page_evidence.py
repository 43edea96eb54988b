"""What one page shows of its leaf text blocks: numbers, words, names of elements around them, what lies together.

Everything is computed for all blocks of a page at once. Nothing here is learned: `fused_network` weighs it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain
from itertools import count as counter
from typing import TYPE_CHECKING, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.page.arrays import ancestry, offsets
from chaffinch.page.tags import IDS, NAMES, TEXT, Visibility, tag_set

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, FloatArray, HashArray, IntArray, SmallArray
    from chaffinch.page.table import Page

LEVELS: Final = 5
"""How many containers around a block are looked at."""

_AROUND: Final[Mapping[str, tuple[str, ...]]] = {
    "link": ("a",),
    "nav": ("nav", "menu"),
    "header": ("header",),
    "footer": ("footer",),
    "aside": ("aside",),
    "article": ("article",),
    "main": ("main",),
    "section": ("section",),
    "form": ("form", "fieldset"),
    "control": ("button", "label", "select", "option", "textarea", "optgroup"),
    "table": ("table",),
    "cell": ("td",),
    "head_cell": ("th", "caption"),
    "item": ("li", "dd", "dt"),
    "list": ("ul", "ol", "dl"),
    "code": ("pre", "code", "samp", "kbd"),
    "quotation": ("blockquote",),
    "figure": ("figure", "figcaption"),
    "paragraph": ("p",),
    "top_heading": ("h1",),
    "heading": ("h2", "h3"),
    "low_heading": ("h4", "h5", "h6"),
    "dialog": ("dialog", "details", "summary"),
    "emphasis": ("b", "strong", "em", "i"),
    "small": ("small", "sub", "sup", "time", "address"),
}
"""Elements whose number around a block is counted."""

_CHARACTERS: Final[Mapping[str, str]] = {
    "stops": ".!?。！？؟۔।",
    "commas": ",;、،，；",
    "colons": ":：",
    "separators": "|/\\»«›‹•·–—→←>",
    "currencies": "$€£¥₹₽₩",
    "marks": "©®™@#&+%*",
    "quotes": "\"'“”‘’「」()[]（）",
}
_LETTER, _UPPER, _DIGIT, _SPACE, _FIRST_NAMED = 1, 2, 3, 4, 5
_KINDS: Final = _FIRST_NAMED + len(_CHARACTERS)

_SETS: Final = ("title", "heading", "description", "data")
"""Texts of the page's metadata that a block may repeat."""

NUMBER_NAMES: Final[tuple[str, ...]] = (
    "words", "characters", "link share", "link words", "word length", "upper share", "digit share", "space share",
    *(f"{name} share" for name in _CHARACTERS),
    "ends with a stop", "starts upper", "is linked", "hidden", "unseen",
    "place", "words before", "words behind", "depth", "own siblings", "text siblings", "copies", "gap before",
    "images around", "controls around", "paragraph words around",
    *(f"in {name}" for name in _AROUND),
    *(f"{what} of group" for what in ("blocks", "words", "links", "place in")),
    *(f"words in {name}" for name in _SETS),
    "share of title", "share of heading",
    *(f"{what} at level {level}" for level in range(1, LEVELS + 1) for what in ("blocks", "words", "links", "place")),
    "page words", "page blocks", "page links", "page paragraphs", "page hidden", "has main", "has article", "has data",
)  # fmt: skip
"""What the columns of `PageEvidence.numbers` are."""

_TOKEN_KEYS: Final = frozenset({"class", "id", "role", "itemprop", "itemtype", "aria-label", "data-testid", "rel"})
_NAME: Final = re.compile(r"[A-Za-z][a-z]+|[A-Z]+|[^\W\d_a-zA-Z]+")
_WORD: Final = re.compile(r"\w+")
_DIGITS: Final = re.compile(r"\d+")
_PAIR_FACTOR: Final = 0xC2B2AE3D27D4EB4F
_MIX_FACTOR: Final = 0x9E3779B97F4A7C15
"""Odd, with their bits well spread."""
_TITLE_PARTS: Final = re.compile(r"\s+[|·•»«–—:-]+\s+|\s*[|»«]\s*")
_LONGEST_TITLE: Final = 300
_TYPE: Final = re.compile(r'"@type"\s*:\s*\[?\s*"([A-Za-z]+)"')
_DATA_TEXT: Final = re.compile(r'"(?:articleBody|description|text|reviewBody)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_MOST_DATA: Final = 200_000
"""Characters of structured data that are read of one page."""
_MOST_NAMES: Final = 12
"""Names that are read of one attribute."""
_MOST_CLIMBS: Final = 24
"""How many containers are climbed in search of the next larger one."""


@dataclass(frozen=True, eq=False)
class PageEvidence:
    """The evidence of one page; rows are its leaf text blocks in document order."""

    numbers: FloatArray
    """A column for each of `NUMBER_NAMES`, roughly between -1 and 2."""
    tags: NDArray[np.int16]
    """The names of the three nearest elements around each block."""
    words: IntArray
    """For each word of the blocks, its place in `word_names`."""
    word_start: IntArray
    """Where the words of each block start, and at the end how many there are."""
    word_names: tuple[str, ...]
    """The different words of the page, in lower case; numbers stand for their number of digits."""
    names: IntArray
    """For each name that an element bears, its place in `name_names`."""
    name_element: IntArray
    """And the element's position in the page; ascending."""
    name_names: tuple[str, ...]
    """The different names of classes, ids and roles on the page."""
    element: IntArray
    """For each block and level (the block's own first), the element whose path of names is read."""
    end: IntArray
    """For each node of the page, the position behind its last descendant."""
    first: IntArray
    """For each block and level, the first block of the container."""
    stop: IntArray
    """And the one behind its last."""
    group: IntArray
    """Blocks with the same group have the same names of elements and classes around them."""
    near_path: HashArray
    """A hash of the tags and classes of the four nearest elements; the same on every page and machine."""
    full_path: HashArray
    """A hash of those of all elements up to the root."""
    texts: list[str]
    """Each block's text in lower case, white space folded."""
    titles: tuple[str, ...]
    """What the page is called: its first heading, its title, and the parts of it; in lower case."""
    signs: tuple[str, ...]
    """What the page as a whole says: types in its structured data, words of its address."""

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def text(self) -> HashArray:
        """A hash of each block's text."""
        return _hashes(self.texts)

    @cached_property
    def title(self) -> HashArray:
        """A hash of each of the page's names."""
        return _hashes(self.titles)

    @cached_property
    def edges(self) -> HashArray:
        """Hashes of the first word, the first two and the last word of each block, each with the near path.

        Blocks without words have 0.
        """
        start, stop = self.word_start[:-1], self.word_start[1:]
        filled = stop > start
        result = np.zeros((len(self), 3), dtype=np.uint64)
        if not filled.any():
            return result
        start, stop = start[filled], stop[filled]
        word = _hashes(self.word_names)[self.words]
        path = self.near_path[filled]
        first, second, last = word[start], word[np.minimum(start + 1, stop - 1)], word[stop - 1]
        with np.errstate(over="ignore"):
            pair = first * np.uint64(_PAIR_FACTOR) + second
            for column, key in enumerate((first, pair ^ np.uint64(_PAIR_FACTOR), ~last)):
                mixed = (key ^ path) * np.uint64(_MIX_FACTOR)
                result[filled, column] = mixed ^ (mixed >> np.uint64(31))
        return result

    @cached_property
    def shape(self) -> HashArray:
        """The same with every number alike."""
        return _hashes([_DIGITS.sub("0", text) for text in self.texts])


def find_evidence(shown: Page) -> PageEvidence:
    """Compute what a page shows, and what it would show if all was unrolled."""
    page = shown.unrolled
    blocks = page.blocks
    count = len(blocks)
    codes = np.frombuffer(blocks.visible_text.encode("utf-32-le"), dtype=np.uint32)
    texts = blocks.texts
    lowered = list(map(str.lower, texts))
    word_lists = list(map(_WORD.findall, lowered))
    word_start = offsets(np.fromiter(map(len, word_lists), dtype=np.int32, count=count))
    flat = list(chain.from_iterable(word_lists))
    numbered = dict(zip(dict.fromkeys(flat), counter(), strict=False))
    words = np.fromiter(map(numbered.__getitem__, flat), dtype=np.int32, count=len(flat))
    first_block = np.searchsorted(blocks.first, np.arange(len(page) + 1)).astype(np.int32)
    element, first, stop = _containers(page, first_block)
    names, name_element, name_names, classes = _element_names(page)
    near_path, full_path = _paths(page, classes)
    group = np.unique(near_path, return_inverse=True)[1].astype(np.int32)
    unique = tuple(numbered)
    numbers = _Numbers(page, shown.visibility, codes, texts).all(unique, words, word_start, first, stop, group)
    return PageEvidence(
        numbers=numbers,
        tags=_near_tags(page),
        words=words,
        word_start=word_start,
        word_names=tuple(f"{len(word)}digits" if word.isdecimal() else word for word in unique),
        names=names,
        name_element=name_element,
        name_names=name_names,
        element=element,
        end=page.end,
        first=first,
        stop=stop,
        group=group,
        near_path=near_path,
        full_path=full_path,
        texts=lowered,
        titles=_titles(page),
        signs=_signs(page),
    )


def _near_tags(page: Page) -> NDArray[np.int16]:
    """Return the tags of the three nearest elements around each block."""
    node = page.parent[page.blocks.first]
    columns = []
    for _ in range(3):
        columns.append(np.where(node >= 0, page.tag[node], TEXT).astype(np.int16))
        node = np.where(node >= 0, page.parent[node], -1)
    return np.stack(columns, axis=1)


def _containers(page: Page, first_block: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return for each block the elements around it, each holding at least twice the blocks of the one before.

    Elements that hold the same blocks as their parent are passed over by pointer doubling, so depth alone costs
    nothing; the climb from one container to the next is cut short on pages that nest ever so slightly growing ones.
    """
    count = len(page)
    held = first_block[page.end] - first_block[:count]
    parent = np.where(page.parent < 0, np.arange(count), page.parent).astype(np.int32)
    step = np.where(held[parent] == held, parent, np.arange(count)).astype(np.int32)
    while True:
        further = step[step]
        if np.array_equal(further, step):
            break
        step = further
    above = step[parent[step]]
    node = step[page.parent[page.blocks.first]]
    elements = [page.parent[page.blocks.first]]
    size = np.maximum(held[node], 1)
    for level in range(LEVELS):
        goal = 2 if level == 0 else 2 * size
        for _ in range(_MOST_CLIMBS):
            further = np.where(held[node] < goal, above[node], node)
            if np.array_equal(further, node):
                break
            node = further
        size = np.maximum(held[node], 1)
        elements.append(node)
    element = np.stack(elements, axis=1).astype(np.int32)
    return element, first_block[element], first_block[page.end[element]]


def _element_names(page: Page) -> tuple[IntArray, IntArray, tuple[str, ...], HashArray]:
    """Return the names that elements bear, and for each node a hash of its classes (0 without any)."""
    found = [
        (place, key, value)
        for place, attributes in enumerate(page.element_attributes)
        for key, value in attributes
        if key in _TOKEN_KEYS and value
    ]
    bearers = [place for place, _, _ in found]
    values = [value for _, _, value in found]
    classed = [place for place, key, _ in found if key == "class"]
    classes = [class_hash(value) for _, key, value in found if key == "class"]
    of_value = {value: split_names(value) for value in dict.fromkeys(values)}
    numbered = dict(zip(dict.fromkeys(chain.from_iterable(of_value.values())), counter(), strict=False))
    numbers = {value: [numbered[name] for name in names] for value, names in of_value.items()}
    lists = list(map(numbers.__getitem__, values))
    lengths = np.fromiter(map(len, lists), dtype=np.int32, count=len(lists))
    names = np.fromiter(chain.from_iterable(lists), dtype=np.int32, count=int(lengths.sum()))
    element_nodes = np.flatnonzero(page.tag != TEXT).astype(np.int32)
    result = np.zeros(len(page), dtype=np.uint64)
    result[element_nodes[classed]] = np.array(classes, dtype=np.uint64)
    return names, element_nodes[np.repeat(np.array(bearers, dtype=np.int32), lengths)], tuple(numbered), result


@lru_cache(maxsize=1 << 15)
def split_names(value: str) -> tuple[str, ...]:
    """Split the value of a class, an id or a role into names: `postBody--wide` says post, body and wide."""
    return tuple(dict.fromkeys(name.lower() for name in _NAME.findall(value[:200])))[:_MOST_NAMES]


@lru_cache(maxsize=1 << 15)
def class_hash(value: str) -> int:
    """Return a hash of a class, whatever numbers it has."""
    return xxh3_64_intdigest(" ".join(split_names(value)).encode())


def _paths(page: Page, classes: HashArray) -> tuple[HashArray, HashArray]:
    """Hash for each block the tags and classes of the nearest four elements, and of all."""
    with np.errstate(over="ignore"):
        label = classes * np.uint64(_PAIR_FACTOR) + page.name_hash
    node = page.parent[page.blocks.first]
    full = ancestry(page.parent, label)[1][node]
    near = np.zeros(len(node), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for _ in range(4):
            near = (near + np.where(node >= 0, label[node], np.uint64(0))) * np.uint64(_MIX_FACTOR)
            near ^= near >> np.uint64(29)
            node = np.where(node >= 0, page.parent[node], -1)
    return near, full


def _hashes(texts: Sequence[str]) -> HashArray:
    return np.fromiter(map(xxh3_64_intdigest, map(str.encode, texts)), dtype=np.uint64, count=len(texts))


def _titles(page: Page) -> tuple[str, ...]:
    """Return what the page is called."""
    found = []
    for name in ("h1", "title"):
        nodes = page.find(name)
        if nodes:
            text = " ".join(page.text_of(nodes[0]).split()).lower()[:_LONGEST_TITLE]
            found += [text, *_TITLE_PARTS.split(text)]
    return tuple(dict.fromkeys(filter(None, found)))


def _signs(page: Page) -> tuple[str, ...]:
    """Return what the page as a whole says of its kind."""
    signs = [f"type:{name.lower()}" for name in dict.fromkeys(_TYPE.findall(_structured(page)))]
    for meta in page.find("meta"):
        key = (page.attribute(meta, "property") or page.attribute(meta, "name") or "").lower()
        if key in {"og:type", "generator"}:
            content = (page.attribute(meta, "content") or "").lower()
            signs += [f"{key}:{word}" for word in _NAME.findall(content)[:3]]
    if page.url:
        path = page.url.partition("://")[2].lower()
        signs += [f"url:{word}" for word in dict.fromkeys(_NAME.findall(path)) if len(word) < 20][:16]
    body = page.find("body")
    if body:
        value = page.attribute(body[0], "class")
        signs += [f"body:{name}" for name in split_names(value)] if value else []
    return tuple(dict.fromkeys(signs))


def _structured(page: Page) -> str:
    """Return the page's structured data, as it stands."""
    pieces = []
    for script in page.find("script"):
        kind = page.attribute(script, "type")
        if kind and "ld+json" in kind.lower():
            pieces.append(page.text_of(script))
    return "\n".join(pieces)[:_MOST_DATA]


class _Numbers:
    """Puts the columns of `PageEvidence.numbers` together."""

    def __init__(self, page: Page, visibility: SmallArray, codes: NDArray[np.uint32], texts: Sequence[str]) -> None:
        self._page = page
        self._seen = visibility[page.blocks.first]
        self._blocks = page.blocks
        self._codes = codes
        self._texts = texts
        self._words = page.blocks.words.astype(np.float32)
        self._links = page.blocks.link_words.astype(np.float32)
        self._words_before = np.concatenate(([0.0], np.cumsum(self._words)))
        self._links_before = np.concatenate(([0.0], np.cumsum(self._links)))
        self._columns: list[NDArray[np.floating]] = []

    def all(
        self,
        unique: Sequence[str],
        words: IntArray,
        word_start: IntArray,
        first: IntArray,
        stop: IntArray,
        group: IntArray,
    ) -> FloatArray:
        """Return all columns."""
        self._text()
        self._position(first, stop)
        self._around()
        self._group(group)
        self._sets(unique, words, word_start)
        self._levels(first, stop)
        self._whole()
        return np.stack(self._columns, axis=1).astype(np.float32) if len(self._texts) else _no_numbers()

    def _add(self, *columns: NDArray[np.floating]) -> None:
        self._columns += columns

    def _text(self) -> None:
        blocks, page = self._blocks, self._page
        count = len(blocks)
        lengths = blocks.stop - blocks.start
        inside = np.repeat(np.arange(count), lengths)
        place = np.arange(len(inside)) - np.repeat(offsets(lengths)[:-1], lengths) + np.repeat(blocks.start, lengths)
        kinds = _character_kinds().take(self._codes[place], mode="clip")
        counted = np.bincount(inside * _KINDS + kinds, minlength=count * _KINDS).reshape(count, _KINDS)
        shown = np.maximum(lengths - counted[:, _SPACE], 1)
        words = np.maximum(self._words, 1.0)
        self._add(
            np.log1p(self._words) / 3, np.log1p(shown) / 4, self._links / words, np.log1p(self._links) / 3,
            np.minimum(shown / words, 20) / 8, counted[:, _UPPER] / shown, counted[:, _DIGIT] / shown,
            counted[:, _SPACE] / lengths.clip(1),
        )  # fmt: skip
        self._add(*(np.minimum(3.0, counted[:, _FIRST_NAMED + k] / words) for k in range(len(_CHARACTERS))))
        stops = frozenset(_CHARACTERS["stops"] + ':…"”')
        flags = [(text[-1] in stops, text[:1].isupper()) if text else (False, False) for text in self._texts]
        ends = np.array(flags, dtype=np.float64).reshape(count, 2)
        seen = self._seen
        self._add(
            ends[:, 0], ends[:, 1], page.in_link[blocks.first].astype(np.float64),
            (seen == Visibility.HIDDEN).astype(np.float64), (seen == Visibility.INERT).astype(np.float64),
        )  # fmt: skip

    def _position(self, first: IntArray, stop: IntArray) -> None:
        page, blocks = self._page, self._blocks
        count = len(blocks)
        total = max(1.0, float(self._words_before[-1]))
        container = page.parent[blocks.first]
        children = np.bincount(page.parent[1:], minlength=len(page))
        copies = Counter(self._texts)
        same = np.fromiter(map(copies.__getitem__, self._texts), dtype=np.float64, count=count)
        gap = np.diff(blocks.first, prepend=0).astype(np.float64)
        spans = (page.parent[container].clip(0), first, stop)
        images = _inside(page, tag_set("img", "picture", "video"), first, stop, blocks.first, blocks.last)
        controls = _inside(
            page, tag_set("input", "button", "select", "textarea"), first, stop, blocks.first, blocks.last
        )
        paragraphs = np.concatenate(([0.0], np.cumsum(self._words * self._in_set("p"))))
        around = paragraphs[stop[:, 1]] - paragraphs[first[:, 1]]
        self._add(
            np.arange(count) / max(1, count), self._words_before[:-1] / total,
            (total - self._words_before[1:]) / total, page.depth[blocks.first] / 16,
            np.log1p(children[container]) / 3, np.log1p(children[spans[0]]) / 3,
            np.log(same), np.log1p(gap) / 4, np.log1p(images) / 2, np.log1p(controls) / 2, np.log1p(around) / 5,
        )  # fmt: skip

    def _in_set(self, *names: str) -> NDArray[np.floating]:
        page = self._page
        opened = np.zeros(len(page) + 1, dtype=np.int32)
        elements = np.flatnonzero(tag_set(*names)[page.tag])
        opened[elements] += 1
        np.subtract.at(opened, page.end[elements], 1)
        return np.minimum(np.cumsum(opened)[self._blocks.first], 3).astype(np.float64)

    def _around(self) -> None:
        page = self._page
        kinds = _AROUND_OF[page.tag]
        elements = np.flatnonzero(kinds >= 0)
        opened = np.zeros((len(_AROUND), len(page) + 1), dtype=np.int32)
        opened[kinds[elements], elements] = 1
        np.subtract.at(opened, (kinds[elements], page.end[elements]), 1)
        for row in opened:
            self._add(np.minimum(np.cumsum(row)[self._blocks.first], 3) / 1.0)

    def _group(self, group: IntArray) -> None:
        size = np.bincount(group).astype(np.float64) if len(group) else np.zeros(0)
        words = np.bincount(group, weights=self._words)
        links = np.bincount(group, weights=self._links)
        order = np.argsort(group, kind="stable")
        rank = np.zeros(len(group))
        starts = np.concatenate(([0], np.cumsum(size)))[:-1].astype(int) if len(size) else size
        rank[order] = np.arange(len(group)) - starts[group[order]] if len(group) else rank
        self._add(
            np.log(size[group]) / 3, np.log1p(words[group] / size[group]) / 3,
            (links / np.maximum(words, 1))[group], np.log1p(rank) / 3,
        )  # fmt: skip

    def _sets(self, unique: Sequence[str], words: IntArray, word_start: IntArray) -> None:
        counts = np.maximum(np.diff(word_start), 1)
        shares = []
        for known in _metadata_words(self._page):
            is_known = np.fromiter(map(known.__contains__, unique), dtype=np.bool_, count=len(unique))
            before = offsets(is_known[words])
            inside = before[word_start[1:]] - before[word_start[:-1]]
            self._add(inside / counts)
            shares.append(np.minimum(1.5, inside / max(1, len(known))))
        self._add(shares[0], shares[1])

    def _levels(self, first: IntArray, stop: IntArray) -> None:
        here = np.arange(len(self._words))
        for level in range(1, LEVELS + 1):
            start, end = first[:, level], stop[:, level]
            size = np.maximum(end - start, 1)
            words = self._words_before[end] - self._words_before[start]
            links = self._links_before[end] - self._links_before[start]
            self._add(np.log(size) / 4, np.log1p(words) / 5, links / np.maximum(words, 1), (here - start) / size)

    def _whole(self) -> None:
        page, count = self._page, len(self._words)
        total = float(self._words_before[-1])
        hidden = self._seen != Visibility.VISIBLE
        whole = (
            np.log1p(total) / 6, np.log1p(count) / 5, float(self._links_before[-1]) / max(1.0, total),
            float((self._words * (self._in_set("p") > 0)).sum()) / max(1.0, total),
            float(self._words[hidden].sum()) / max(1.0, total),
            float(bool(page.find("main"))), min(3, len(page.find("article"))) / 3, float("ld+json" in page.html),
        )  # fmt: skip
        self._add(*(np.full(count, value) for value in whole))


def _no_numbers() -> FloatArray:
    return np.zeros((0, len(NUMBER_NAMES)), dtype=np.float32)


def _inside(
    page: Page, tags: BoolArray, first: IntArray, stop: IntArray, start: IntArray, last: IntArray
) -> NDArray[np.floating]:
    """Count the elements with `tags` between the first and the last block of each block's nearest container."""
    before = offsets(tags[page.tag])
    return (before[last[stop[:, 1] - 1]] - before[start[first[:, 1]]]).clip(0).astype(np.float64)


def _metadata_words(page: Page) -> tuple[frozenset[str], ...]:
    """Return the different words of title, first heading, description and structured data."""
    titles = page.find("title")
    headings = page.find("h1")
    descriptions = []
    for meta in page.find("meta"):
        key = (page.attribute(meta, "name") or page.attribute(meta, "property") or "").lower()
        if key in {"description", "og:description"}:
            descriptions.append(page.attribute(meta, "content") or "")
    data = " ".join(_DATA_TEXT.findall(_structured(page)))
    texts = (
        page.text_of(titles[0]) if titles else "",
        page.text_of(headings[0]) if headings else "",
        " ".join(descriptions),
        data.replace("\\n", " "),
    )
    return tuple(frozenset(_WORD.findall(text.lower())) for text in texts)


@cache
def _character_kinds() -> NDArray[np.uint8]:
    """Return a table over characters."""
    table = np.zeros(0x30001, dtype=np.uint8)
    for code in range(0x30000):
        character = chr(code)
        if character.isalpha():
            table[code] = _UPPER if character.isupper() else _LETTER
        elif character.isdecimal():
            table[code] = _DIGIT
        elif character.isspace():
            table[code] = _SPACE
    for place, characters in enumerate(_CHARACTERS.values()):
        table[[ord(character) for character in characters]] = _FIRST_NAMED + place
    table[0x30000] = _LETTER
    return table


def _around_of() -> NDArray[np.int8]:
    table = np.full(len(NAMES), -1, dtype=np.int8)
    for place, names in enumerate(_AROUND.values()):
        table[[IDS[name] for name in names]] = place
    return table


_AROUND_OF: Final = _around_of()
