"""Min-max clustering: pages put together by the template they share.

The simple form of Fukunaga's clustering that Ma et al. (2003) use. The first page is a centre; as long as the page
farthest from all centres is far enough, it becomes one too; then every page goes to its nearest centre. What pages
are compared by are sets of hashes, and their distance is Jaccard's. The result depends on the order of the sets, so
whoever wants it free of order sorts them first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import offsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import HashArray, IntArray

MOST_CENTRES: Final = 64
"""No more clusters than this; each costs a look at all sets."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """What belongs together."""

    centres: tuple[int, ...]
    """The positions of the sets that are centres."""
    of_set: IntArray
    """For each set, its cluster: a position in `centres`."""
    distance: NDArray[np.float64]
    """For each set, how far it is from its centre."""

    def __len__(self) -> int:
        return len(self.centres)


def jaccard_distances(sets: Sequence[HashArray], other: HashArray) -> NDArray[np.float64]:
    """Return the distance of each set from `other`: 0 for equal sets, 1 for disjoint ones. Two empty sets are equal.

    A set is an array of different hashes.
    """
    sizes = np.array([len(one) for one in sets], dtype=np.int32)
    joined = np.concatenate(sets) if len(sets) else np.zeros(0, dtype=np.uint64)
    shared_before = offsets(np.isin(joined, other).astype(np.int32))
    bounds = offsets(sizes)
    shared = shared_before[bounds[1:]] - shared_before[bounds[:-1]]
    either = sizes + len(other) - shared
    return 1 - np.where(either == 0, 1.0, shared / np.maximum(either, 1))


def min_max_clusters(sets: Sequence[HashArray], spread: float, most_centres: int = MOST_CENTRES) -> Clusters:
    """Cluster sets so that none is farther than `spread` from its centre, unless there would be too many centres."""
    if not sets:
        return Clusters((), np.zeros(0, dtype=np.int32), np.zeros(0))
    centres = [0]
    nearest = jaccard_distances(sets, sets[0])
    of_set = np.zeros(len(sets), dtype=np.int32)
    while len(centres) < most_centres:
        farthest = int(nearest.argmax())
        if nearest[farthest] <= spread:
            break
        distances = jaccard_distances(sets, sets[farthest])
        closer = distances < nearest
        of_set[closer] = len(centres)
        nearest = np.minimum(nearest, distances)
        centres.append(farthest)
    return Clusters(tuple(centres), of_set, nearest)
