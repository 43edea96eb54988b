"""The words and phrases of a page that may be its keywords, and where they stand.

A candidate is a run of one to five words of one leaf text block, or of the title, without a sign between them. Equal
candidates in lower case are one. The tag `<meta name="keywords">` is never read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.page.arrays import covered, frozen
from chaffinch.page.tags import Visibility, tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, HashArray, IntArray
    from chaffinch.page.table import Page

MOST_WORDS: Final = 5
_MOST_PAGE_WORDS: Final = 50_000
"""Of longer pages the rest is not looked at."""
_TOKEN: Final = re.compile(r"\w+(?:['\u2019.&+-]\w+)*|\n|[^\w\s]")
_HEADING: Final = tag_set("h1", "h2", "h3", "h4", "h5", "h6")
_EMPHASIS: Final = tag_set("b", "strong", "em", "i", "u", "big")
_POINT: Final = 0x9E3779B97F4A7C15

FLAGS: Final = ("title", "heading", "link", "emphasis", "capital", "all_capitals")


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of a page in order."""

    text: tuple[str, ...]
    run: IntArray
    """The run of words without a sign between them that each belongs to."""
    sentence: IntArray
    """How many words its run has."""
    flags: BoolArray
    """Words x `FLAGS`."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of one page, one array entry for each."""

    words: tuple[str, ...]
    """The words of the page, as written."""
    first: NDArray[np.int64]
    """Where in `words` the candidate stands first."""
    length: NDArray[np.int64]
    """How many words it has."""
    key: HashArray
    """A hash of its words in lower case; the same on every page."""
    count: NDArray[np.int64]
    """How often it stands on the page."""
    flags: NDArray[np.float64]
    """Candidates x `FLAGS`: the share of its places that are so."""
    in_description: BoolArray
    """Whether the page's description has it."""
    position: NDArray[np.float64]
    """Its first place, as a share of the page's words; the title counts as 0."""
    last_position: NDArray[np.float64]
    """Its last place."""
    run_length: NDArray[np.float64]
    """The words of the shortest run that it stands in: 1 for a word all by itself."""

    def __len__(self) -> int:
        return len(self.first)

    def text(self, number: int) -> str:
        """Return a candidate as it stands first."""
        start = int(self.first[number])
        return " ".join(self.words[start : start + int(self.length[number])])


def find_candidates(page: Page, kept: BoolArray | None = None) -> Candidates:
    """Find the candidates of a page; of its text nodes only those `kept`, the title apart, if that is given."""
    words = _words_of(page, kept)
    count = len(words.text)
    hashes = _hashes([word.lower() for word in words.text])
    firsts, lengths, keys = [], [], []
    for size in range(1, MOST_WORDS + 1):
        starts = np.arange(max(0, count - size + 1))
        starts = starts[words.run[starts] == words.run[starts + size - 1]]
        firsts.append(starts)
        lengths.append(np.full(len(starts), size))
        keys.append(_combined(hashes, starts, size))
    first, length, key = np.concatenate(firsts), np.concatenate(lengths), np.concatenate(keys)
    unique, index, inverse, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    flags = np.stack(
        [np.bincount(inverse, weights=column[first], minlength=len(unique)) for column in words.flags.T], axis=1
    )
    last = np.zeros(len(unique), dtype=np.int64)
    np.maximum.at(last, inverse, first)
    shortest = np.full(len(unique), np.inf)
    np.minimum.at(shortest, inverse, words.sentence[first])
    return Candidates(
        words=words.text,
        first=first[index],
        length=length[index],
        key=frozen(unique),
        count=counts,
        flags=flags / np.maximum(counts, 1)[:, None],
        in_description=np.isin(unique, _keys(description_of(page))),
        position=first[index] / max(1, count),
        last_position=last / max(1, count),
        run_length=shortest,
    )


def key_of(phrase: str) -> int:
    """Return the hash that a candidate with these words has."""
    words = [word for word in _TOKEN.findall(phrase) if word[0].isalnum() or word[0] == "_"]
    return int(_combined(_hashes([word.lower() for word in words]), np.zeros(1, dtype=np.int64), len(words))[0])


def _keys(text: str) -> HashArray:
    words = [word for word in _TOKEN.findall(text) if word[0].isalnum()]
    hashes = _hashes([word.lower() for word in words])
    found = [
        _combined(hashes, np.arange(max(0, len(words) - length + 1)), length) for length in range(1, MOST_WORDS + 1)
    ]
    return np.concatenate(found)


def _hashes(words: list[str]) -> HashArray:
    known = {word: xxh3_64_intdigest(word.encode("utf-8", "replace")) for word in set(words)}
    return np.array([known[word] for word in words], dtype=np.uint64)


def _combined(hashes: HashArray, starts: NDArray[np.int64], length: int) -> HashArray:
    """Return a hash of the words from each start."""
    result = np.full(len(starts), length, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for place in range(length):
            result = (result ^ hashes[starts + place]) * np.uint64(_POINT)
            result ^= result >> np.uint64(29)
    return result


def description_of(page: Page) -> str:
    """Return what the page says of itself in its head."""
    for node in page.find("meta"):
        if (page.attribute(node, "name") or page.attribute(node, "property") or "").lower() in _DESCRIPTIONS:
            return page.attribute(node, "content") or ""
    return ""


_DESCRIPTIONS: Final = frozenset({"description", "og:description"})


def title_of(page: Page) -> str:
    """Return the title of a page."""
    return " ".join(" ".join(page.text_of(node) for node in page.find("title")[:1]).split())


def _words_of(page: Page, kept: BoolArray | None) -> _Words:
    """Return the words of the title and of the leaf text blocks."""
    blocks = page.blocks
    shown = (blocks.of_text >= 0) & (page.visibility[page.text_nodes] == Visibility.VISIBLE)
    if kept is not None:
        shown &= kept
    chosen = np.flatnonzero(shown)
    of_block = blocks.of_text[chosen]
    title = title_of(page)
    pieces = [title]
    for fresh, number in zip(np.diff(of_block, prepend=-1).astype(bool).tolist(), chosen.tolist(), strict=True):
        pieces.append(("\n" if fresh else "") + page.texts[number].replace("\n", " "))
    starts = np.cumsum([0, *map(len, pieces)])
    found = list(islice(_TOKEN.finditer("".join(pieces)), _MOST_PAGE_WORDS))
    is_word = np.array([match[0][0].isalnum() or match[0][0] == "_" for match in found], dtype=np.bool_)
    text = tuple(match[0] for match, word in zip(found, is_word.tolist(), strict=True) if word)
    at = np.array([match.start() for match in found], dtype=np.int64)[is_word]
    run = np.cumsum(~is_word)[is_word].astype(np.int32)
    piece = np.searchsorted(starts, at, side="right") - 1
    in_title = piece == 0
    node = page.text_nodes[chosen[np.maximum(piece - 1, 0)]] if len(chosen) else np.zeros(len(at), dtype=np.int64)
    flags = np.stack(
        [
            in_title,
            _inside(page, _HEADING)[node] & ~in_title,
            page.in_link[node] & ~in_title,
            _inside(page, _EMPHASIS)[node] & ~in_title,
            np.array([word[:1].isupper() for word in text], dtype=np.bool_),
            np.array([len(word) > 1 and word.isupper() for word in text], dtype=np.bool_),
        ],
        axis=1,
    )
    sizes = np.bincount(run) if len(run) else np.zeros(1, dtype=np.int64)
    return _Words(text, run, sizes[run].astype(np.int32), flags)


def _inside(page: Page, tags: BoolArray) -> BoolArray:
    nodes = np.flatnonzero(tags[page.tag]).astype(np.int32)
    return covered(nodes, page.end[nodes], max(1, len(page)))
