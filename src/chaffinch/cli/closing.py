"""What a command that learns says at its end."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.runs import Failure


class Report(Protocol):
    """What became of a run."""

    @property
    def failures(self) -> Sequence[Failure]:
        """The inputs that failed."""
        ...

    def as_json(self) -> dict[str, Any]:
        """Return the report for a machine."""
        ...

    def as_line(self) -> str:
        """Return it for a reader."""
        ...


def tell_report(report: Report, *, as_json: bool) -> int:
    """Name what failed and tell the rest; return the exit code."""
    for failure in report.failures:
        print(f"chaffinch: {failure.source}: {failure.reason}", file=sys.stderr)
    if as_json:
        print(json.dumps(report.as_json(), ensure_ascii=False, indent=2))
    else:
        print(report.as_line(), file=sys.stderr)
    return 1 if report.failures else 0
