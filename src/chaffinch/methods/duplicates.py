"""I-Match (Chowdhury, Frieder, Grossman and McCabe 2002): pages with the same telling words are duplicates.

Pass one counts on how many pages of the collection each term stands. Pass two takes from each page the terms that
tell it from others and hashes them, sorted and each once, with SHA-1; pages with the same hash are duplicates of each
other. What tells pages apart is chosen by frequency: terms on a large share of the pages are dropped, or only the most
infrequent ones are kept. Terms on very few pages can be dropped as well, which the paper does not do: a date, a visit
counter or a session number makes copies differ.

A page of which too few terms are left would collide with others by chance; it is known by all its terms instead.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from functools import reduce
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.methods.frequency import Frequencies

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from typing import TypeVar

    from chaffinch.page.arrays import HashArray
    from chaffinch.page.table import Page

    KeyT = TypeVar("KeyT", bound=Hashable)

MOST_TERMS: Final = 1_000_000
"""How many different terms are counted exactly."""

_SPACELESS: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
"""Han and kana, which are written without spaces: their terms are pairs of neighbouring characters."""
_RUN: Final = re.compile(rf"(?:(?=[{_SPACELESS}])\w)+|[^\W{_SPACELESS}]+")
_STARTS_SPACELESS: Final = re.compile(f"[{_SPACELESS}]")


@dataclass(frozen=True)
class TermStatistics:
    """On how many pages of a collection each term stands."""

    pages: int
    frequencies: Frequencies

    @classmethod
    def of_terms(cls, terms: Iterable[str], most_terms: int = MOST_TERMS) -> TermStatistics:
        """Count the terms of one page."""
        return cls(1, Frequencies.of_page(_hashes(list(terms)), most_terms))

    @classmethod
    def of_pages(cls, pages: Iterable[Iterable[str]], most_terms: int = MOST_TERMS) -> TermStatistics:
        """Count the terms of each page of a collection.

        Like is merged with like, as in a binary counter, so that each page takes part in log n merges.
        """
        held: list[TermStatistics] = []
        for terms in pages:
            added = cls.of_terms(terms, most_terms)
            while held and held[-1].pages == added.pages:
                added = held.pop().merge(added)
            held.append(added)
        return reduce(cls.merge, reversed(held), cls(0, Frequencies.of_page(_hashes([]), most_terms)))

    def merge(self, other: TermStatistics) -> TermStatistics:
        """Return the statistics of the pages of both; any order and grouping gives the same."""
        return TermStatistics(self.pages + other.pages, self.frequencies.merge(other.frequencies))


@dataclass(frozen=True)
class IMatch:
    """Which terms of a page tell whether it is a duplicate."""

    most_share: float = 0.5
    """Terms on more than this share of the collection's pages are dropped."""
    rarest: int = 0
    """Only so many terms of a page are kept, those on the fewest pages; 0 keeps all."""
    least_pages: int = 1
    """Terms on fewer pages than this are dropped; 1 drops none."""
    least_terms: int = 5
    """A page with fewer terms left is known by all its terms."""

    def telling_terms(self, terms: Iterable[str], statistics: TermStatistics) -> list[str]:
        """Return the different terms that a page is known by, sorted."""
        unique = sorted(set(terms))
        counts = statistics.frequencies.of(_hashes(unique))
        kept = (counts >= self.least_pages) & (counts <= self.most_share * statistics.pages)
        telling = np.flatnonzero(kept)
        if self.rarest:
            # Stable, so that of equally rare terms the same are taken on every page.
            telling = np.sort(telling[np.argsort(counts[telling], kind="stable")][: self.rarest])
        return unique if len(telling) < self.least_terms else [unique[place] for place in telling.tolist()]

    def fingerprint(self, terms: Iterable[str], statistics: TermStatistics) -> bytes:
        """Return the SHA-1 of the terms that a page is known by."""
        text = "\n".join(self.telling_terms(terms, statistics))
        return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def terms_of(page: Page) -> frozenset[str]:
    """Return the different terms of a page's visible text, in lower case."""
    # Blocks are kept apart, so that the last word of one never runs into the first of the next.
    return frozenset(chain.from_iterable(map(_terms, page.blocks.texts)))


def _terms(text: str) -> list[str]:
    lowered = text.lower()
    terms: list[str] = []
    for run in _RUN.findall(lowered):
        if len(run) > 1 and not run.isascii() and _STARTS_SPACELESS.match(run):
            terms.extend(map("".join, pairwise(run)))
        else:
            terms.append(run)
    return terms


def groups_of(fingerprints: Iterable[tuple[KeyT, bytes]]) -> list[list[KeyT]]:
    """Return the groups of duplicates among named fingerprints, in the order of their first members.

    The first of each group is the one to keep.
    """
    named = list(fingerprints)
    sizes = Counter(fingerprint for _, fingerprint in named)
    groups: dict[bytes, list[KeyT]] = {}
    for name, fingerprint in named:
        if sizes[fingerprint] > 1:
            groups.setdefault(fingerprint, []).append(name)
    return list(groups.values())


def _hashes(terms: list[str]) -> HashArray:
    encoded = (term.encode("utf-8", "surrogatepass") for term in terms)
    return np.fromiter(map(xxh3_64_intdigest, encoded), dtype=np.uint64, count=len(terms))
