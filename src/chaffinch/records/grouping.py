"""Which pages share a template: told by their URLs where they have them, and always by their tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.tags import TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.page import Page

    Sketch = NDArray[np.uint64]

_WIDTH: Final = 128
_FACTORS: Final = np.random.Generator(np.random.PCG64(2007)).integers(1, 2**63, _WIDTH, dtype=np.uint64) | np.uint64(1)
ONE_SITE: Final = 0.25
"""How alike two pages of one site are at least if they come from one template."""
ONE_FOLDER: Final = 0.55
"""The same for pages of one folder of which nothing tells the site."""
ANYWHERE: Final = 0.9
"""The same for pages that only stand in one input."""


def sketch_of(page: Page) -> Sketch:
    """Return the least of many hashes of a page's tag paths: equal entries estimate the share of common paths."""
    paths = np.unique(page.tag_path[page.tag != TEXT])
    if len(paths) == 0:
        return np.zeros(_WIDTH, dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed = paths[:, None] * _FACTORS[None, :]
        mixed ^= mixed >> np.uint64(31)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
    result: Sketch = mixed.min(axis=0)
    return result


def likeness(one: Sketch, other: Sketch) -> float:
    """Return about which share of the tag paths of two pages are common."""
    return float((one == other).mean())


@dataclass(eq=False)
class _Group:
    site: str | None
    folders: set[str]
    sketches: list[Sketch]
    pages: list[int]


_MOST_SKETCHES: Final = 4


def group_pages(pages: Sequence[Page]) -> list[list[int]]:
    """Return the pages that share a template, as numbers, in the order of the first of each group."""
    groups: list[_Group] = []
    by_site: dict[str, list[_Group]] = {}
    by_folder: dict[str, list[_Group]] = {}
    for number, page in enumerate(pages):
        site = page.place.site if page.url else None
        folder = page.place.directory if not page.url or site != page.place.directory.split("/")[0] else ""
        sketch = sketch_of(page)
        near = [*by_site.get(site or "", ()), *by_folder.get(folder, ())]
        best = _best(near, sketch, site, folder) or _best(groups[-_LATEST:], sketch, site, folder)
        if best is None:
            best = _Group(site, set(), [], [])
            groups.append(best)
        best.pages.append(number)
        if len(best.sketches) < _MOST_SKETCHES:
            best.sketches.append(sketch)
        if site is not None and best.site is None:
            best.site = site
        if site is not None and best not in by_site.setdefault(site, []):
            by_site[site].append(best)
        if folder not in best.folders:
            best.folders.add(folder)
            by_folder.setdefault(folder, []).append(best)
    return [group.pages for group in groups]


_LATEST: Final = 200


def _best(groups: Sequence[_Group], sketch: Sketch, site: str | None, folder: str) -> _Group | None:
    """Return the group that a page is likest to, if it is alike enough."""
    best: tuple[float, _Group] | None = None
    for group in groups:
        alike = max(likeness(sketch, other) for other in group.sketches)
        if site is not None and group.site is not None:
            wanted = ONE_SITE if site == group.site else ANYWHERE if folder in group.folders else 2.0
        else:
            wanted = ONE_FOLDER if folder in group.folders else ANYWHERE
        if alike >= wanted and (best is None or alike > best[0]):
            best = (alike, group)
    return best[1] if best is not None else None
