"""On how many pages of a collection words and phrases stand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.errors import ModelError
from chaffinch.methods.frequency import Frequencies
from chaffinch.models.files import Model, load_model, read_model, write_model

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from chaffinch.models.files import Card
    from chaffinch.page.arrays import HashArray

KIND: Final = "frequencies"
VERSION: Final = 1
MOST_ENTRIES: Final = 16_000_000
"""So many phrases are counted exactly; beyond that, counts are bounded in memory and may be too high."""


@dataclass(frozen=True, eq=False)
class DocumentFrequencies:
    """A collection: how many pages, and on how many of them each phrase stands, by its hash."""

    pages: int
    counts: Frequencies

    @classmethod
    def of(cls, pages: Iterable[HashArray]) -> DocumentFrequencies:
        """Count the candidates of pages, each page once."""
        total = 0
        counts = _NOTHING
        held: list[HashArray] = []
        size = 0
        for keys in pages:
            total += 1
            held.append(keys)
            size += len(keys)
            if size >= _AT_ONCE:
                counts = counts.merge(_counted(held))
                held.clear()
                size = 0
        return cls(total, counts.merge(_counted(held)) if held else counts)

    def merge(self, other: DocumentFrequencies) -> DocumentFrequencies:
        """Add up two collections."""
        return DocumentFrequencies(self.pages + other.pages, self.counts.merge(other.counts))

    def shares(self, keys: HashArray) -> NDArray[np.float64]:
        """Return on which share of the pages each phrase stands."""
        return self.counts.of(keys) / max(1, self.pages)

    def cut(self, least: int) -> DocumentFrequencies:
        """Leave out what stands on fewer pages."""
        kept = self.counts.counts >= least
        counts = Frequencies.of_counts(self.counts.hashes[kept], self.counts.counts[kept], MOST_ENTRIES)
        return DocumentFrequencies(self.pages, counts)


_AT_ONCE: Final = 2_000_000
"""So many phrases are gathered before they are counted together."""
_NOTHING: Final = Frequencies.of_page(np.zeros(0, dtype=np.uint64), MOST_ENTRIES)


def _counted(pages: list[HashArray]) -> Frequencies:
    hashes, counts = np.unique(np.concatenate(pages), return_counts=True)
    return Frequencies.of_counts(hashes, counts.astype(np.int64), MOST_ENTRIES)


@lru_cache(maxsize=1)
def shipped_frequencies() -> DocumentFrequencies:
    """Return the collection that comes with Chaffinch."""
    return _frequencies("collection", load_model(KIND, KIND, VERSION))


def read_frequencies(path: Path) -> DocumentFrequencies:
    """Read a collection that was counted before."""
    return _frequencies(str(path), read_model(path, KIND, VERSION))


def write_frequencies(path: Path, found: DocumentFrequencies, card: Card) -> None:
    """Write a collection, as hashes and counts: no text is kept."""
    if not found.counts.exact:
        raise ModelError(str(path), "the collection is too large to be written")
    arrays = {
        "pages": np.array([found.pages]),
        "hashes": found.counts.hashes,
        "counts": found.counts.counts.astype(np.uint32),
    }
    write_model(path, Model(KIND, VERSION, card, arrays))


def _frequencies(subject: str, model: Model) -> DocumentFrequencies:
    try:
        hashes, counts = model.arrays["hashes"].astype(np.uint64), model.arrays["counts"].astype(np.int64)
        if hashes.shape != counts.shape or hashes.ndim != 1:
            raise ModelError(subject, "is damaged (its parts do not belong together)")
        return DocumentFrequencies(int(model.arrays["pages"][0]), Frequencies.of_counts(hashes, counts, MOST_ENTRIES))
    except (KeyError, IndexError, ValueError) as error:
        raise ModelError(subject, f"is damaged ({error})") from error
