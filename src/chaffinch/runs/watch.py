"""Which page a process works on, and since when: told in shared memory, so that another process can see it.

A page may crash the process that works on it, or never come to an end. Whoever watches then knows which page it was.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chaffinch.sources import Capture

NOTHING: Final = -1.0
"""No page is worked on."""


class Slots(Protocol):
    """Two numbers in shared memory: the page's position, and when it was begun."""

    def __setitem__(self, position: int, value: float, /) -> None: ...

    def __getitem__(self, position: int, /) -> float: ...


_slots: Slots | None = None


def tell_in(slots: Slots | None) -> None:
    """Take the place where this process tells what it works on."""
    global _slots  # noqa: PLW0603  (a process works on one page at a time, and is watched in one place)
    _slots = slots


def note(position: int) -> None:
    """Tell that the page at this position of the batch is worked on from now on."""
    if _slots is not None:
        _slots[0] = position
        _slots[1] = time.monotonic()


def rest() -> None:
    """Tell that no page is worked on."""
    if _slots is not None:
        _slots[1] = NOTHING


def watched(captures: Sequence[Capture]) -> Iterator[Capture]:
    """Yield captures, and tell of each that it is worked on until the next one is asked for."""
    for position, capture in enumerate(captures):
        note(position)
        yield capture
