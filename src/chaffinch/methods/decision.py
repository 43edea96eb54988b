"""From scores to what is kept of a page, the same for every method and every output."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

if TYPE_CHECKING:
    from chaffinch.methods.protocol import AnyMethod
    from chaffinch.page.arrays import BoolArray, FloatArray
    from chaffinch.page.table import Page


@runtime_checkable
class JudgesHidden(Protocol):
    """A method that also tells content among the text that only a script or a click would show."""

    judges_hidden: ClassVar[bool]


def read_by(method: AnyMethod, page: Page) -> Page:
    """Return the page as a method reads it."""
    return page.unrolled if isinstance(method, JudgesHidden) else page


def decide(method: AnyMethod, page: Page, scores: FloatArray, threshold: float) -> tuple[Page, BoolArray]:
    """Return the page as it is to be shown, and which of its text nodes are content."""
    kept = scores < threshold
    return (page.showing(kept) if isinstance(method, JudgesHidden) else page), kept
