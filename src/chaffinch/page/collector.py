"""Python's garbage collector, and when it has nothing to do."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector away while pages are worked on.

    A page is thousands of small tuples and no cycles: it is freed as soon as it is done with, and the collector would
    only look at it again and again, for a fifth of all time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
