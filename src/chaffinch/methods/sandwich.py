"""The sandwich method (Rowlands, Thomas and Wan 2009): what a page shares with a neighbour in its directory.

The page is compared with a *peer*, another page of the same directory; the longest common subsequence of the two is
template, and what remains is content. A page without a peer keeps everything.

In a finished crawl the peer is the page whose name is nearest by edit distance (ties go by name); in a stream it is
the page that came before in the directory, which a run expresses by learning a template from that page alone. A kept
template holds the names and the hashed sequences of each directory's pages, so a page never seen is compared with its
nearest name among those.

The paper compares source lines. Its footnote suggests tokens instead, tags and texts in their order, which also works
where a page is one long line; measured, they are better throughout, so they are the default.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein
from xxhash import xxh3_64_intdigest

from chaffinch.errors import ModelError
from chaffinch.methods.bounds import Count, check_bounds
from chaffinch.methods.codec import pack, pack_texts, unpack, unpack_texts
from chaffinch.methods.lcs import in_common
from chaffinch.page.arrays import frozen
from chaffinch.page.lines import first_lines, source_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, FloatArray, HashArray
    from chaffinch.page.table import Page

_NAME_LENGTH: Final = 500
"""Names are compared up to here; edit distance is quadratic in their length."""


@dataclass(frozen=True)
class PagePrint:
    """What the method keeps of a page: where it stood, and its sequence of hashed lines or tokens."""

    directory: str
    name: str
    sequence: HashArray

    @property
    def key(self) -> tuple[str, str, bytes]:
        """The order in which pages are kept; it does not depend on the order in which they came."""
        return self.directory, self.name, self.sequence.tobytes()


@dataclass(frozen=True, eq=False)
class Peers:
    """The pages that others can be compared with, by directory and name."""

    prints: tuple[PagePrint, ...]

    @cached_property
    def _directories(self) -> list[str]:
        return [page.directory for page in self.prints]

    def of_directory(self, directory: str) -> tuple[PagePrint, ...]:
        """Return the pages of a directory, by name."""
        start = bisect_left(self._directories, directory)
        return self.prints[start : bisect_right(self._directories, directory, lo=start)]


@dataclass(frozen=True)
class Sandwich:
    """Compares each page with its nearest neighbour."""

    unit: Literal["tokens", "lines"] = "tokens"
    """What is compared: tags and texts, or lines of the source as in the paper."""
    peers: Literal["last", "nearest"] = "last"
    """In a run: the page before in the directory (every page is read once), or the nearest name (read twice)."""
    most_peers: Count = 1000
    """How many pages of a directory a template keeps at most: a sample that does not depend on their order. It bounds
    the search for the nearest name, and memory."""

    name: ClassVar[str] = "sandwich"
    summary: ClassVar[str] = "drops what a page shares with a neighbour in its directory (Rowlands et al. 2009)"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Refuse options that mean nothing."""
        check_bounds(self)

    @property
    def streams(self) -> bool:
        """Whether the page before is enough."""
        return self.peers == "last"

    def summarise(self, page: Page) -> Peers:
        """Keep the page's hashed sequence."""
        return Peers((PagePrint(page.place.directory, page.place.name, frozen(self._sequence(page))),))

    def merge(self, one: Peers, other: Peers) -> Peers:
        """Join the pages of both, one of each name, and of large directories the same sample whatever the order."""
        ordered = sorted((*one.prints, *other.prints), key=lambda page: page.key)
        kept: list[PagePrint] = []
        for _, group in groupby(ordered, key=lambda page: page.directory):
            unique = [next(same_name) for _, same_name in groupby(group, key=lambda page: page.name)]
            if len(unique) > self.most_peers:
                ranked = sorted(unique, key=lambda page: (_rank(page.name), page.name))[: self.most_peers]
                unique = sorted(ranked, key=lambda page: page.key)
            kept.extend(unique)
        return Peers(tuple(kept))

    def finish(self, summary: Peers) -> Peers:
        """Return the summary: it is all there is to know."""
        return summary

    def reopen(self, template: Peers) -> Peers:
        """Return the template: it is its own summary."""
        return template

    def fit(self, page: Page, template: Peers) -> float:
        """Return which share of the peer's lines or tokens stands on the page too; 0 without a peer."""
        sequence = self._sequence(page)
        peer = self._peer(page, template, sequence)
        return float(np.isin(peer.sequence, sequence).mean()) if peer and len(peer.sequence) else 0.0

    def knows(self, page: Page, template: Peers | None) -> bool:
        """Tell whether the page has a peer."""
        return template is not None and any(True for _ in self._others(page, template))

    def score(self, page: Page, template: Peers | None) -> FloatArray:
        """Score 1 for what the peer has too."""
        sequence = self._sequence(page)
        peer = self._peer(page, template, sequence) if template is not None else None
        if peer is None:
            return np.zeros(len(page.text_nodes), dtype=np.float32)
        shared = in_common(sequence, peer.sequence)
        if self.unit == "lines":
            return _line_scores(page, shared)
        of_node = np.zeros(len(page), dtype=np.float32)
        of_node[~page.blank] = shared
        return of_node[page.text_nodes]

    def dump(self, template: Peers) -> bytes:
        """Write the pages as arrays."""
        sequences = [page.sequence for page in template.prints]
        arrays: dict[str, NDArray[Any]] = {
            "directories": pack_texts([page.directory for page in template.prints]),
            "names": pack_texts([page.name for page in template.prints]),
            "lengths": np.array([len(sequence) for sequence in sequences], dtype=np.int64),
            "hashes": np.concatenate(sequences) if sequences else np.zeros(0, dtype=np.uint64),
        }
        return pack(self.name, self.version, arrays)

    def load(self, data: bytes) -> Peers:
        """Read the pages back."""
        columns = unpack(data, self.name, self.version, ("directories", "names", "lengths", "hashes"))
        directories, names = unpack_texts(columns[0]), unpack_texts(columns[1])
        lengths, hashes = columns[2], columns[3]
        if not len(directories) == len(names) == len(lengths) or int(lengths.sum()) != len(hashes):
            raise ModelError(f"template of method {self.name}", "is damaged (its parts differ in length)")
        sequences = np.split(hashes.astype(np.uint64), np.cumsum(lengths)[:-1]) if len(lengths) else []
        prints = zip(directories, names, map(frozen, sequences), strict=True)
        return Peers(tuple(PagePrint(*columns) for columns in prints))

    def _others(self, page: Page, template: Peers) -> Iterator[PagePrint]:
        """Return the other pages of the page's directory."""
        return (peer for peer in template.of_directory(page.place.directory) if peer.name != page.place.name)

    def _peer(self, page: Page, template: Peers, sequence: HashArray) -> PagePrint | None:
        """Return the page of the same directory whose name is nearest, or None if there is no other page.

        A page that is the same to the last token is a copy and tells nothing; the next nearest is taken instead.
        """
        others = list(self._others(page, template))
        if not others:
            return None
        names = [peer.name[:_NAME_LENGTH] for peer in others]
        distances = process.cdist([page.place.name[:_NAME_LENGTH]], names, scorer=Levenshtein.distance)[0]
        ordered = (others[position] for position in np.argsort(distances, kind="stable").tolist())
        return next((peer for peer in ordered if not np.array_equal(peer.sequence, sequence)), None)

    def _sequence(self, page: Page) -> HashArray:
        return _line_hashes(page) if self.unit == "lines" else _token_hashes(page)


def _rank(name: str) -> int:
    """Where a name comes in the sample of a large directory; neighbours in name are spread."""
    return xxh3_64_intdigest(name.encode("utf-8", "surrogatepass"), seed=1)


def _line_hashes(page: Page) -> HashArray:
    lines = source_lines(page)
    return np.fromiter(map(xxh3_64_intdigest, map(str.encode, lines)), dtype=np.uint64, count=len(lines))


def _token_hashes(page: Page) -> HashArray:
    """Hash each element by its name, and each text that is not blank by its words."""
    tokens = page.name_hash.copy()
    tokens[page.text_nodes] = page.text_hash
    return tokens[~page.blank]


def _line_scores(page: Page, shared: BoolArray) -> FloatArray:
    """Return, for each text node, the share of its lines that the peer has."""
    scores = np.zeros(len(page.text_nodes), dtype=np.float32)
    first = first_lines(page)
    for position in np.flatnonzero(page.shown_text_nodes).tolist():
        written = [offset for offset, line in enumerate(page.texts[position].split("\n")) if line.strip()]
        numbers = np.minimum(first[position] + np.array(written), len(shared) - 1)
        scores[position] = shared[numbers].mean()
    return scores
