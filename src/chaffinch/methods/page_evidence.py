"""What one page shows of its leaf text blocks: numbers, words, names of elements around them, what lies together.

Everything is computed for all blocks of a page at once. Nothing here is learned: `fused_network` weighs it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import count, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.methods.containers import LEVELS, Containers, Paths, Skeleton
from chaffinch.methods.page_marks import Marks, split_names
from chaffinch.methods.page_numbers import NUMBER_NAMES, Surface, page_numbers
from chaffinch.methods.word_hashes import TextWords, join_texts, number_hash, number_name
from chaffinch.page.tags import IDS, tag_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import FloatArray, HashArray, IntArray, TagArray
    from chaffinch.page.attributes import Attributes
    from chaffinch.page.table import Page

__all__ = ["LEVELS", "NUMBER_NAMES", "PageEvidence", "find_evidence"]

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


@dataclass(frozen=True, eq=False)
class PageEvidence:
    """The evidence of one page; rows are its leaf text blocks in document order."""

    numbers: FloatArray
    """A column for each of `NUMBER_NAMES`, roughly between -1 and 2."""
    tags: TagArray
    """The names of the three nearest elements around each block."""
    word: HashArray
    """A hash of each word of the blocks, in lower case; all numbers with as many digits have the same."""
    word_start: IntArray
    """Where the words of each block start, and at the end how many there are."""
    marks: Marks
    """What the elements of the page are called."""
    skeleton: Skeleton
    """The elements that hold text."""
    end: IntArray
    """For each node of the page, the position behind its last descendant."""
    containers: Containers
    """The elements around the blocks."""
    group: IntArray
    """Blocks with the same group have the same names of elements and classes around them."""
    order: NDArray[np.intp]
    """The blocks sorted by group."""
    near_path: HashArray
    """A hash of the tags and classes of the four nearest elements; the same on every page and machine."""
    full_path: HashArray
    """A hash of those of all elements up to the root."""
    joined: str
    """The texts of the blocks in lower case, white space folded, joined by NUL."""
    titles: tuple[str, ...]
    """What the page is called: its first heading, its title, and the parts of it; in lower case."""
    signs: tuple[str, ...]
    """What the page as a whole says: types in its structured data, words of its address."""

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def texts(self) -> list[str]:
        """Each block's text in lower case, white space folded."""
        return self.joined.split("\0") if len(self) else []

    @cached_property
    def word_names(self) -> tuple[str, ...]:
        """The different words of the page, in lower case; numbers stand for their number of digits."""
        return self._named_words[0]

    @property
    def words(self) -> IntArray:
        """For each word of the blocks, its place in `word_names`."""
        return self._named_words[1]

    @cached_property
    def _named_words(self) -> tuple[tuple[str, ...], IntArray]:
        words = [number_name(len(word)) if word.isdecimal() else word for word in _WORD.findall(self.joined)]
        numbered = dict(zip(dict.fromkeys(words), count(), strict=False))
        return tuple(numbered), np.fromiter(map(numbered.__getitem__, words), dtype=np.int32, count=len(words))

    @property
    def names(self) -> IntArray:
        """For each name that an element bears, its place in `name_names`."""
        return self.marks.names.number

    @property
    def name_element(self) -> IntArray:
        """And the element's position in the page; ascending."""
        return self.skeleton.node[self.marks.names.element]

    @property
    def name_names(self) -> tuple[str, ...]:
        """The different names of classes, ids and roles on the page."""
        return self.marks.names.different

    @cached_property
    def element(self) -> IntArray:
        """For each block and level (the block's own first), the element whose path of names is read."""
        return self._by_level(self.skeleton.node[self.skeleton.of_block], self.skeleton.node[self.containers.element])

    @cached_property
    def first(self) -> IntArray:
        """For each block and level, the first block of the container; of itself, it is the first."""
        return self._by_level(np.arange(len(self), dtype=np.int32), self.containers.first)

    @cached_property
    def stop(self) -> IntArray:
        """And the one behind its last."""
        return self._by_level(np.arange(1, len(self) + 1, dtype=np.int32), self.containers.stop)

    def _by_level(self, own: IntArray, of_containers: IntArray) -> IntArray:
        return np.concatenate((own[:, None], of_containers[self.containers.of_block].T), axis=1)

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
        start, stop, word = start[filled], stop[filled], self.word
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
        return _hashes(_DIGITS.sub("0", self.joined).split("\0") if len(self) else [])


def find_evidence(shown: Page) -> PageEvidence:
    """Compute what a page shows, and what it would show if all was unrolled."""
    page = shown.unrolled
    blocks = page.blocks
    elements = page.tag.nonzero()[0].astype(np.int32)
    joined = join_texts(blocks.texts).lower()
    words = TextWords.of(joined, len(blocks))
    behind = np.zeros(len(page) + 1, dtype=np.int32)
    behind[blocks.first + 1] = 1
    first_block = behind.cumsum(dtype=np.int32)
    skeleton = Skeleton.of(page, elements, first_block)
    marks = Marks.of(page, skeleton)
    containers = Containers.of(skeleton)
    paths = Paths.of(skeleton, marks.class_hash, page.name_hash[skeleton.node])
    group, order = _groups(paths.near)
    head = _Head(page, elements)
    numbers = page_numbers(
        Surface(
            page,
            shown.visibility,
            elements,
            first_block,
            containers,
            paths.depth,
            group,
            order,
            words.hashes,
            words.starts,
            head.words(),
            "ld+json" in page.html,
        )
    )
    return PageEvidence(
        numbers=numbers,
        tags=_near_tags(page, skeleton),
        word=_numbers_alike(words),
        word_start=words.starts,
        marks=marks,
        skeleton=skeleton,
        end=page.end,
        containers=containers,
        group=group,
        order=order,
        near_path=paths.near,
        full_path=paths.full,
        joined=joined,
        titles=head.titles(),
        signs=head.signs(),
    )


def _near_tags(page: Page, skeleton: Skeleton) -> TagArray:
    """Return the tags of the three nearest elements around each block; above the root there are none."""
    tags = np.zeros(len(skeleton.node) + 1, dtype=np.int16)
    tags[:-1] = page.tag[skeleton.node]
    up = np.append(skeleton.parent, np.int32(-1))
    parent = skeleton.of_block
    grandparent = up[parent]
    return np.stack((tags[parent], tags[grandparent], tags[up[grandparent]]), axis=1)


def _groups(keys: HashArray) -> tuple[IntArray, NDArray[np.intp]]:
    """Number the different keys in ascending order, and sort the blocks by them."""
    order = keys.argsort(kind="stable")
    ordered = keys[order]
    fresh = np.zeros(len(keys), dtype=np.int32)
    fresh[1:] = ordered[1:] != ordered[:-1]
    group = np.empty(len(keys), dtype=np.int32)
    group[order] = fresh.cumsum()
    return group, order


def _numbers_alike(words: TextWords) -> HashArray:
    """Return the hashes of words, all numbers with as many digits alike."""
    numbers = words.digits.nonzero()[0]
    if not len(numbers):
        return words.hashes
    result = words.hashes.copy()
    result[numbers] = np.fromiter(map(number_hash, words.digits[numbers].tolist()), dtype=np.uint64, count=len(numbers))
    return result


def _hashes(texts: Sequence[str]) -> HashArray:
    return np.fromiter(map(xxh3_64_intdigest, map(str.encode, texts)), dtype=np.uint64, count=len(texts))


_READ: Final = ("title", "h1", "meta", "script", "body")
_IS_READ: Final = tag_set(*_READ)


class _Head:
    """What the page says of itself, in few elements."""

    def __init__(self, page: Page, elements: IntArray) -> None:
        self._page = page
        self._elements = elements
        tags = page.tag[elements]
        self._numbers: dict[int, list[int]] = {IDS[name]: [] for name in _READ}
        read = _IS_READ[tags].nonzero()[0]
        for number, tag in zip(read.tolist(), tags[read].tolist(), strict=True):
            self._numbers[tag].append(number)
        self._metas = [_named_content(attributes) for attributes in self._attributes("meta")]
        self._title, self._heading = (self._first_text(name) for name in ("title", "h1"))
        self._data = self._structured()

    def _attributes(self, name: str) -> list[Attributes]:
        return [self._page.element_attributes[number] for number in self._numbers[IDS[name]]]

    def _first_text(self, name: str) -> str:
        numbers = self._numbers[IDS[name]]
        return self._page.text_of(int(self._elements[numbers[0]])) if numbers else ""

    def _structured(self) -> str:
        """Return the page's structured data, as it stands."""
        scripts = zip(self._numbers[IDS["script"]], self._attributes("script"), strict=True)
        pieces = [
            self._page.text_of(int(self._elements[number]))
            for number, attributes in scripts
            for key, value in attributes
            if key == "type" and value and "ld+json" in value.lower()
        ]
        return "\n".join(pieces)[:_MOST_DATA]

    def titles(self) -> tuple[str, ...]:
        """Return what the page is called."""
        found = []
        for title in (self._heading, self._title):
            text = " ".join(title.split()).lower()[:_LONGEST_TITLE]
            found += [text, *_TITLE_PARTS.split(text)]
        return tuple(dict.fromkeys(filter(None, found)))

    def words(self) -> tuple[HashArray, ...]:
        """Return the different words of title, first heading, description and structured data."""
        descriptions = " ".join(
            content for names, content in self._metas if names[0] in {"description", "og:description"}
        )
        data = " ".join(_DATA_TEXT.findall(self._data)).replace("\\n", " ")
        texts = [text.lower() for text in (self._title, self._heading, descriptions, data)]
        found = TextWords.of(join_texts(texts), len(texts))
        starts = found.starts.tolist()
        return tuple(np.unique(found.hashes[start:stop]) for start, stop in pairwise(starts))

    def signs(self) -> tuple[str, ...]:
        """Return what the page as a whole says of its kind."""
        signs = [f"type:{name.lower()}" for name in dict.fromkeys(_TYPE.findall(self._data))]
        for names, content in self._metas:
            if names[1] in {"og:type", "generator"}:
                signs += [f"{names[1]}:{word}" for word in _NAME.findall(content.lower())[:3]]
        if self._page.url:
            path = self._page.url.partition("://")[2].lower()
            signs += [f"url:{word}" for word in dict.fromkeys(_NAME.findall(path)) if len(word) < 20][:16]
        for attributes in self._attributes("body")[:1]:
            value = dict(attributes).get("class")
            signs += [f"body:{name}" for name in split_names(value)] if value else []
        return tuple(dict.fromkeys(signs))


def _named_content(attributes: Attributes) -> tuple[tuple[str, str], str]:
    """Return how a meta element is called, once `name` before `property` and once after it, and its content."""
    values = dict(attributes)
    name, named = values.get("name") or "", values.get("property") or ""
    return ((name or named).lower(), (named or name).lower()), values.get("content") or ""
