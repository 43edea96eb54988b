"""A line on the terminal that tells how far a run has come; nothing in a pipe."""

from __future__ import annotations

import sys
import time
from typing import Final

_EVERY: Final = 0.2
"""Seconds between two updates."""


class Progress:
    """Counts pages and rewrites one line of standard error."""

    def __init__(self, total: int | None = None) -> None:
        """Count towards `total`, if it is known."""
        self._total = total
        self._shown = sys.stderr.isatty()
        self._start = time.monotonic()
        self._next = self._start + _EVERY
        self._pages = 0

    def step(self) -> None:
        """Count a page."""
        self._pages += 1
        now = time.monotonic()
        if self._shown and now >= self._next:
            self._next = now + _EVERY
            sys.stderr.write(f"\r\x1b[K{self._line(now - self._start)}")
            sys.stderr.flush()

    def steps(self, pages: int) -> None:
        """Count pages."""
        for _ in range(pages):
            self.step()

    def tell(self, text: str) -> None:
        """Show what is being done where pages are not what is counted."""
        if self._shown:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line, so that other text can be printed."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _line(self, seconds: float) -> str:
        rate = self._pages / seconds
        line = f"{self._pages:,} pages, {rate:,.0f} pages/s"
        if self._total and self._total >= self._pages:
            left = (self._total - self._pages) / rate
            line += f", {self._pages / self._total:.0%}, {_clock(left)} left"
        return line


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
