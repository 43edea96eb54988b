"""Which pages share a template: told by their URLs where they have them, and always by their tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from chaffinch.page.tags import TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.page import Page

    Sketch = NDArray[np.uint64]

SKETCH_WIDTH: Final = 128
_FACTORS: Final = np.random.Generator(np.random.PCG64(2007)).integers(
    1, 2**63, SKETCH_WIDTH, dtype=np.uint64
) | np.uint64(1)
ONE_SITE: Final = 0.25
"""How alike two pages of one site are at least if they come from one template."""
ONE_FOLDER: Final = 0.55
"""The same for pages of one folder of which nothing tells the site."""
ANYWHERE: Final = 0.9
"""The same for pages that only stand in one input."""
_NEVER: Final = 2.0


def sketch_of(page: Page) -> Sketch:
    """Return the least of many hashes of a page's tag paths: equal entries estimate the share of common paths."""
    paths = np.unique(page.tag_path[page.tag != TEXT])
    if len(paths) == 0:
        return np.zeros(SKETCH_WIDTH, dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed = paths[:, None] * _FACTORS[None, :]
        mixed ^= mixed >> np.uint64(31)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
    result: Sketch = mixed.min(axis=0)
    return result


def likeness(one: Sketch, other: Sketch) -> float:
    """Return about which share of the tag paths of two pages are common."""
    return float((one == other).mean())


_MOST_SKETCHES: Final = 4
LATEST: Final = 200
"""Groups beyond the latest so many of a site, of a folder, or of all are not looked at."""


@dataclass(eq=False, slots=True)
class Group:
    """Pages that share a template."""

    number: int
    site: str | None
    """None if nothing tells the site of its pages."""
    sketches: list[Sketch]
    """Of some of its pages."""


class Groups(Protocol):
    """Where the groups found so far are kept."""

    def of_site(self, site: str) -> list[Group]:
        """Return the latest groups of a site."""
        ...

    def of_folder(self, folder: str) -> list[Group]:
        """Return the latest groups with pages in a folder."""
        ...

    def latest(self) -> list[Group]:
        """Return the latest groups of all."""
        ...

    def add(self, site: str | None) -> Group:
        """Return a new group, numbered from 0."""
        ...

    def put(self, group: Group, folder: str | None) -> None:
        """Write what has changed of a group, and that it has a page in a folder."""
        ...


class HeldGroups:
    """Groups in memory."""

    def __init__(self) -> None:
        self._groups: list[Group] = []
        self._by_site: dict[str, list[Group]] = {}
        self._by_folder: dict[str, list[Group]] = {}

    def of_site(self, site: str) -> list[Group]:
        """Return the latest groups of a site."""
        return self._by_site.get(site, [])[-LATEST:]

    def of_folder(self, folder: str) -> list[Group]:
        """Return the latest groups with pages in a folder."""
        return self._by_folder.get(folder, [])[-LATEST:]

    def latest(self) -> list[Group]:
        """Return the latest groups of all."""
        return self._groups[-LATEST:]

    def add(self, site: str | None) -> Group:
        """Return a new group."""
        self._groups.append(Group(len(self._groups), site, []))
        return self._groups[-1]

    def put(self, group: Group, folder: str | None) -> None:
        """Write down where a group has pages."""
        for table, key in ((self._by_site, group.site), (self._by_folder, folder)):
            if key is not None and group not in table.setdefault(key, []):
                table[key].append(group)


@dataclass(frozen=True, slots=True)
class Sketched:
    """What tells the template of a page."""

    site: str | None
    folder: str | None
    """The folder that it was read from; None if its URL says where it belongs."""
    sketch: Sketch

    @classmethod
    def of(cls, page: Page) -> Sketched:
        """Look at a page."""
        site, directory = page.place.site, page.place.directory
        told = bool(page.url) and site == directory.split("/")[0]
        return cls(site if page.url else None, None if told else directory, sketch_of(page))


def group_of(page: Sketched, groups: Groups) -> Group:
    """Return the group that a page belongs to, and make it a part of it."""
    of_site = groups.of_site(page.site) if page.site is not None else []
    of_folder = groups.of_folder(page.folder) if page.folder is not None else []
    in_folder = {group.number for group in of_folder}
    best = _best([*of_site, *of_folder], page, in_folder) or _best(groups.latest(), page, in_folder)
    group = best or groups.add(page.site)
    changed = best is None or len(group.sketches) < _MOST_SKETCHES
    if len(group.sketches) < _MOST_SKETCHES:
        group.sketches.append(page.sketch)
    if page.site is not None and group.site is None:
        group.site = page.site
        changed = True
    if changed or (page.folder is not None and group.number not in in_folder):
        groups.put(group, page.folder)
    return group


def group_pages(pages: Sequence[Page]) -> list[list[int]]:
    """Return the pages that share a template, as numbers, in the order of the first of each group."""
    groups = HeldGroups()
    members: dict[int, list[int]] = {}
    for number, page in enumerate(pages):
        members.setdefault(group_of(Sketched.of(page), groups).number, []).append(number)
    return list(members.values())


def _best(groups: Sequence[Group], page: Sketched, in_folder: set[int]) -> Group | None:
    """Return the group that a page is likest to, if it is alike enough."""
    best: tuple[float, Group] | None = None
    for group in groups:
        alike = max(likeness(page.sketch, other) for other in group.sketches)
        if page.site is not None and group.site is not None:
            same_folder = ANYWHERE if group.number in in_folder else _NEVER
            wanted = ONE_SITE if page.site == group.site else same_folder
        else:
            wanted = ONE_FOLDER if group.number in in_folder else ANYWHERE
        if alike >= wanted and (best is None or alike > best[0]):
            best = (alike, group)
    return best[1] if best is not None else None
