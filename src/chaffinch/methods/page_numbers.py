"""Numbers about each leaf text block of a page: its text, where it stands, what is around it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.methods.containers import LEVELS
from chaffinch.page.tags import IDS, NAMES, Visibility

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from chaffinch.methods.containers import Containers
    from chaffinch.page.arrays import FloatArray, HashArray, IntArray, SmallArray
    from chaffinch.page.blocks import Blocks
    from chaffinch.page.table import Page

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

SETS: Final = ("title", "heading", "description", "data")
"""Texts of the page's metadata that a block may repeat."""

_TEXT: Final = (
    "words", "characters", "link share", "link words", "word length", "upper share", "digit share", "space share",
    *(f"{name} share" for name in _CHARACTERS),
    "ends with a stop", "starts upper", "is linked", "hidden", "unseen",
)  # fmt: skip
_POSITION: Final = (
    "place", "words before", "words behind", "depth", "own siblings", "text siblings", "copies", "gap before",
    "images around", "controls around", "paragraph words around",
)  # fmt: skip
_GROUP: Final = tuple(f"{what} of group" for what in ("blocks", "words", "links", "place in"))
_METADATA: Final = (*(f"words in {name}" for name in SETS), "share of title", "share of heading")
_WHOLE: Final = (
    "page words", "page blocks", "page links", "page paragraphs", "page hidden", "has main", "has article", "has data",
)  # fmt: skip
NUMBER_NAMES: Final[tuple[str, ...]] = (
    *_TEXT,
    *_POSITION,
    *(f"in {name}" for name in _AROUND),
    *_GROUP,
    *_METADATA,
    *(f"{what} at level {level}" for level in range(1, LEVELS + 1) for what in ("blocks", "words", "links", "place")),
    *_WHOLE,
)
"""What the columns of `PageEvidence.numbers` are."""


@dataclass(frozen=True, eq=False)
class Surface:
    """What numbers are made of."""

    page: Page
    """With all unrolled."""
    visibility: SmallArray
    """As the page is before."""
    elements: IntArray
    """The positions of its elements."""
    first_block: IntArray
    """For each position, and behind the last, the first block from there on."""
    containers: Containers
    depth: IntArray
    """For each block, how many elements are around it."""
    group: IntArray
    """For each block, the number of the kind of place it stands in."""
    order: NDArray[np.intp]
    """The blocks sorted by group."""
    words: HashArray
    """The words of the blocks."""
    word_start: IntArray
    metadata: tuple[HashArray, ...]
    """The words of each of `SETS`."""
    has_data: bool


def page_numbers(surface: Surface) -> FloatArray:
    """Return a row for each block, a column for each of `NUMBER_NAMES`."""
    count = len(surface.page.blocks)
    rows = np.empty((len(NUMBER_NAMES), count), dtype=np.float32)
    if count:
        _Numbers(surface, rows).fill()
    return rows.T


class _Numbers:
    """Fills the rows of a table: a row for each of `NUMBER_NAMES`, a column for each block."""

    def __init__(self, surface: Surface, rows: FloatArray) -> None:
        page = surface.page
        self._surface = surface
        self._page = page
        self._rows = rows
        self._next = 0
        self._blocks = page.blocks
        self._count = len(page.blocks)
        self._seen = surface.visibility[page.blocks.first]
        self._words = page.blocks.words.astype(np.float32)
        self._links = page.blocks.link_words.astype(np.float32)
        self._before = np.zeros((2, self._count + 1))
        np.cumsum((self._words, self._links), axis=1, out=self._before[:, 1:])
        self._around = _elements_around(surface)
        self._paragraphs = np.minimum(self._around[_PARAGRAPHS], 3)

    def fill(self) -> None:
        """Fill in all rows."""
        self._text()
        self._position()
        self._add_all(np.minimum(self._around, 3))
        self._group()
        self._sets()
        self._levels()
        self._whole()

    def _add(self, *rows: NDArray[np.generic]) -> None:
        for row in rows:
            self._rows[self._next] = row
            self._next += 1

    def _add_all(self, rows: NDArray[np.generic]) -> None:
        self._rows[self._next : self._next + len(rows)] = rows
        self._next += len(rows)

    def _text(self) -> None:
        blocks = self._blocks
        counted = _count_characters(blocks).astype(np.float32)
        lengths = (blocks.stop - blocks.start).astype(np.float32)
        shown = np.maximum(lengths - counted[_SPACE], 1)
        words = np.maximum(self._words, 1)
        self._add(
            np.log1p(self._words) / 3, np.log1p(shown) / 4, self._links / words, np.log1p(self._links) / 3,
            np.minimum(shown / words, 20) / 8, counted[_UPPER] / shown, counted[_DIGIT] / shown,
            counted[_SPACE] / np.maximum(lengths, 1),
        )  # fmt: skip
        self._add_all(np.minimum(3, counted[_FIRST_NAMED:] / words))
        ends = [text[-1:] in _LAST_STOPS for text in blocks.texts]
        begins = [text[:1].isupper() for text in blocks.texts]
        self._add(
            np.array(ends), np.array(begins), self._page.in_link[blocks.first],
            self._seen == Visibility.HIDDEN, self._seen == Visibility.INERT,
        )  # fmt: skip

    def _position(self) -> None:
        page, blocks, count = self._page, self._blocks, self._count
        words = self._before[0]
        total = max(1.0, float(words[-1]))
        container = page.parent[blocks.first]
        children = np.bincount(page.parent[1:], minlength=len(page))
        siblings = np.stack((children[container], children[np.maximum(page.parent[container], 0)]))
        copies = Counter(blocks.texts)
        same = np.fromiter(map(copies.__getitem__, blocks.texts), dtype=np.float32, count=count)
        gap = np.diff(blocks.first, prepend=np.int32(0))
        paragraphs = np.zeros(count + 1)
        np.cumsum(self._words * self._paragraphs, out=paragraphs[1:])
        containers = self._surface.containers
        level = slice(containers.starts[0], containers.starts[1])
        first, stop = containers.first[level], containers.stop[level]
        inside = np.stack(
            (
                *(_inside(page, self._surface.elements, tags, first, stop) for tags in (_IMAGES, _CONTROLS)),
                paragraphs[stop] - paragraphs[first],
            )
        )
        self._add(
            np.arange(count) / count, words[:-1] / total, (total - words[1:]) / total, self._surface.depth / 16,
            *np.log1p(siblings) / 3, np.log(same), np.log1p(gap) / 4,
            *(np.log1p(inside) / _INSIDE_SCALE).take(containers.of_block[0], axis=1),
        )  # fmt: skip

    def _group(self) -> None:
        group, order = self._surface.group, self._surface.order
        size = np.bincount(group)
        words = np.bincount(group, weights=self._words)
        links = np.bincount(group, weights=self._links)
        place = np.empty(self._count)
        place[order] = np.arange(self._count) - np.repeat(size.cumsum() - size, size)
        groups = np.stack((np.log(size) / 3, np.log1p(words / size) / 3, links / np.maximum(words, 1)))
        self._add_all(groups.take(group, axis=1))
        self._add(np.log1p(place) / 3)

    def _sets(self) -> None:
        surface = self._surface
        starts = surface.word_start
        counts = np.maximum(starts[1:] - starts[:-1], 1)
        inside = np.zeros((len(SETS), self._count))
        if any(map(len, surface.metadata)) and len(surface.words):
            different, number = np.unique(surface.words, return_inverse=True)
            known = np.zeros((len(SETS), len(different)), dtype=np.int32)
            for row, words in zip(known, surface.metadata, strict=True):
                place = np.minimum(np.searchsorted(different, words), len(different) - 1)
                row[place[different[place] == words]] = 1
            before = np.zeros((len(SETS), len(number) + 1), dtype=np.int32)
            np.cumsum(known.take(number, axis=1), axis=1, out=before[:, 1:])
            inside[:] = np.diff(before.take(starts, axis=1), axis=1)
        self._add_all(inside / counts)
        self._add(*(np.minimum(1.5, inside[row] / max(1, len(surface.metadata[row]))) for row in range(2)))

    def _levels(self) -> None:
        containers = self._surface.containers
        size = containers.size
        words, links = self._before[:, containers.stop] - self._before[:, containers.first]
        shown = np.stack((np.log(size) / 4, np.log1p(words) / 5, links / np.maximum(words, 1)))
        place = (np.arange(self._count) - containers.first[containers.of_block]) / size[containers.of_block]
        table = self._rows[self._next : self._next + 4 * LEVELS].reshape(LEVELS, 4, self._count)
        table[:, :3] = shown.take(containers.of_block, axis=1).swapaxes(0, 1)
        table[:, 3] = place
        self._next += 4 * LEVELS

    def _whole(self) -> None:
        tags = np.bincount(self._page.tag, minlength=len(NAMES))
        total, links = self._before[:, -1].tolist()
        words = max(1.0, total)
        hidden = self._seen != Visibility.VISIBLE
        whole = (
            np.log1p(total) / 6, np.log1p(self._count) / 5, links / words,
            float(self._words[self._paragraphs > 0].sum()) / words, float(self._words[hidden].sum()) / words,
            float(tags[IDS["main"]] > 0), min(3, int(tags[IDS["article"]])) / 3, float(self._surface.has_data),
        )  # fmt: skip
        self._add_all(np.array(whole)[:, None])


_LAST_STOPS: Final = frozenset(_CHARACTERS["stops"] + ':…"”')
_INSIDE_SCALE: Final = np.array([[2.0], [2.0], [5.0]])


def _table(kinds: Mapping[int, Sequence[str]]) -> NDArray[np.int8]:
    """Return a table over tags."""
    table = np.full(len(NAMES), -1, dtype=np.int8)
    for kind, names in kinds.items():
        table[[IDS[name] for name in names]] = kind
    return table


_AROUND_OF: Final = _table(dict(enumerate(_AROUND.values())))
_PARAGRAPHS: Final = list(_AROUND).index("paragraph")
_IMAGES, _CONTROLS = 0, 1
_INSIDE_OF: Final = _table({_IMAGES: ("img", "picture", "video"), _CONTROLS: ("input", "button", "select", "textarea")})


def _elements_around(surface: Surface) -> NDArray[np.int64]:
    """Return for each of `_AROUND` how many of such elements are around each block."""
    page, count = surface.page, len(surface.page.blocks)
    kinds = _AROUND_OF[page.tag[surface.elements]]
    counted = (kinds >= 0).nonzero()[0]
    rows = kinds[counted] * np.intp(count + 1)
    elements = surface.elements[counted]
    length = len(_AROUND) * (count + 1)
    change = np.bincount(rows + surface.first_block[elements], minlength=length)
    change -= np.bincount(rows + surface.first_block[page.end[elements]], minlength=length)
    return change.reshape(len(_AROUND), count + 1)[:, :-1].cumsum(axis=1)


def _inside(page: Page, elements: IntArray, kind: int, first: IntArray, stop: IntArray) -> IntArray:
    """Count the elements of a kind between the first and the last block of each container."""
    found = elements[_INSIDE_OF[page.tag[elements]] == kind]
    between = np.searchsorted(found, page.blocks.last[stop - 1]) - np.searchsorted(found, page.blocks.first[first])
    inside: IntArray = np.maximum(between, 0).astype(np.int32)
    return inside


def _count_characters(blocks: Blocks) -> NDArray[np.int64]:
    """Return how many characters of each kind each block has: a row for each kind; letters are not counted."""
    text, count = blocks.visible_text, len(blocks)
    if text.isascii():
        kinds = np.frombuffer(text.encode("ascii").translate(_ascii_kinds()), dtype=np.uint8)
    else:
        kinds = _character_kinds().take(np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32), mode="clip")
    # Blank text stands between blocks; it gets the number of a block behind the last.
    borders = np.empty(2 * count + 1, dtype=np.int32)
    borders[0] = 0
    borders[1::2], borders[2::2] = blocks.start, blocks.stop
    numbers = np.full(2 * count + 1, count, dtype=np.int32)
    numbers[1::2] = np.arange(count)
    lengths = np.diff(borders, append=np.int32(len(kinds)))
    block = np.repeat(numbers, lengths)
    told = (kinds > _LETTER).nonzero()[0]
    key = kinds[told] * np.intp(count + 1) + block[told]
    return np.bincount(key, minlength=_KINDS * (count + 1)).reshape(_KINDS, count + 1)[:, :-1]


@cache
def _ascii_kinds() -> bytes:
    return _character_kinds()[:256].tobytes()


@cache
def _character_kinds() -> SmallArray:
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
