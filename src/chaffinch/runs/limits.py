"""What a page, and a run, may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from chaffinch.errors import UsageError

_MB: Final = 1 << 20
_PROCESS: Final = 190 * _MB
"""What a process takes before it has done anything, and for the batches that are on their way to it and back."""
_READING: Final = 110 * _MB
"""What the reading process holds beside: the last page of each directory, the next batches, what waits for output."""
_LEAST_ROOM: Final = 64 * _MB
"""Below this, for each process, pages of usual size could not be worked on."""


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What one page may take. With any limit, pages are worked on in processes that can be killed."""

    seconds: float | None = None
    """A page that takes longer is given up."""
    memory: int | None = None
    """A page that needs more bytes than this is given up."""

    @property
    def isolate(self) -> bool:
        """Whether pages must be worked on in other processes."""
        return self.seconds is not None or self.memory is not None


NO_LIMITS: Final = PageLimits()


@dataclass(frozen=True, slots=True)
class Budget:
    """How a bound on memory is shared out. None of it changes what a run gives out."""

    learning: int = 256 * _MB
    """What the summaries of sites that are being learned may take before they are written to disk."""
    templates: int = 64 * _MB
    """What each process may hold of finished templates, as they are written."""
    page: int | None = None
    """What a page may take."""

    @classmethod
    def of(cls, memory: int | None, jobs: int) -> Budget:
        """Share out so many bytes, of all processes together, or raise `UsageError` if they are too few."""
        if memory is None:
            return cls()
        fixed = _READING + _PROCESS * (jobs + 1)
        room = memory - fixed
        if room < _LEAST_ROOM * (jobs + 1):
            least = (fixed + _LEAST_ROOM * (jobs + 1) + _MB - 1) // _MB
            raise UsageError(f"--memory of less than {least}M is too little for {jobs} job{'s' if jobs > 1 else ''}")
        share = room // (jobs + 1)
        # Summaries are merged, and written, in copies; a template that is read is larger than it is written.
        return cls(learning=share // 3, templates=share // 8, page=share - share // 4)
