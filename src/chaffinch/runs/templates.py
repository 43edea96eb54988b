"""What is known of each site while a run cleans: held in memory, or looked up in a database."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from chaffinch.store import TemplateStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chaffinch.methods import AnyMethod

_MOST_SITES: Final = 256
"""Templates that a process keeps at hand."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a site."""

    template: Any
    fit: float | None = None
    """The mean fit at learning, if it was measured."""
    measured: bool = False
    """Whether the run measures how well its pages fit."""


class SiteTemplates(Protocol):
    """Where a run finds what is known of a site."""

    def of_site(self, site: str) -> Known | None:
        """Return what is known of a site, None if nothing is; raises `ModelError` if it is damaged."""
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...


class HeldTemplates:
    """Templates in memory, as a run that reads its pages twice has learned them."""

    def __init__(self, templates: Mapping[str, Any]) -> None:
        self._templates = templates

    def of_site(self, site: str) -> Known | None:
        """Return what is known of a site."""
        return Known(self._templates[site]) if site in self._templates else None

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""


class KeptTemplates:
    """Templates in a database, those looked up last kept at hand, up to `most_bytes` as they are written.

    Each process opens the database for itself, for reading, when it needs the first template.
    """

    def __init__(self, path: str, method: AnyMethod, *, measured: bool, most_bytes: int) -> None:
        self._path = path
        self._method = method
        self._measured = measured
        self._most_bytes = most_bytes
        self._store: TemplateStore | None = None
        self._at_hand: OrderedDict[str, tuple[Known | None, int]] = OrderedDict()
        self._bytes = 0

    def of_site(self, site: str) -> Known | None:
        """Look a site up."""
        if site in self._at_hand:
            self._at_hand.move_to_end(site)
            return self._at_hand[site][0]
        if self._store is None:
            self._store = TemplateStore.open(self._path, method=self._method)
        row = self._store.dumped(site)
        known, size = None, 0
        if row is not None:
            fit, dumped = row
            known, size = Known(self._store.load(site, dumped), fit, self._measured), len(dumped)
        self._at_hand[site] = known, size
        self._bytes += size
        while len(self._at_hand) > 1 and (len(self._at_hand) > _MOST_SITES or self._bytes > self._most_bytes):
            _, (_, freed) = self._at_hand.popitem(last=False)
            self._bytes -= freed
        return known

    def close(self) -> None:
        """Close the database."""
        if self._store is not None:
            self._store.close()
            self._store = None
