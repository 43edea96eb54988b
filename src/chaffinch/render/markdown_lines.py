"""Lines of Markdown inside quotations, list items and the like."""

from __future__ import annotations

from typing import Final, NamedTuple

DEEPEST: Final = 20
"""Blocks nested deeper than that are written as if they stood directly in the innermost of these."""


class _Container(NamedTuple):
    first: str
    """What stands before its first line."""
    rest: str
    """What stands before all others."""


class Lines:
    """Collects blocks, and writes before each line the marks of the containers around it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tight = False
        """Whether the next block follows the last without a blank line."""
        self._containers: list[_Container] = []
        self._used = 0
        """How many of the containers have a line already."""
        self._ignored = 0

    def push(self, first: str, rest: str) -> bool:
        """Open a container; return False if it is nested too deep to be shown."""
        if len(self._containers) >= DEEPEST:
            self._ignored += 1
            return False
        self._containers.append(_Container(first, rest))
        return True

    def pop(self) -> None:
        """Close the innermost container."""
        if self._ignored:
            self._ignored -= 1
            return
        self._containers.pop()
        self._used = min(self._used, len(self._containers))

    @property
    def fresh(self) -> bool:
        """Whether the innermost container has no line yet."""
        return self._used < len(self._containers) and not self._ignored

    def block(self, text: str) -> None:
        """Write a block."""
        shared = "".join(container.rest for container in self._containers[: self._used])
        if self.lines and not self.tight:
            self.lines.append(shared.rstrip())
        self.tight = False
        first = shared + "".join(container.first for container in self._containers[self._used :])
        rest = "".join(container.rest for container in self._containers)
        self._used = len(self._containers)
        head, *tail = text.split("\n")
        self.lines.append(first + head)
        bare = rest.rstrip()
        self.lines += [rest + line if line else bare for line in tail]
