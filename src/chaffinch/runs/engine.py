"""What does the work of a run: this machine, or another engine that is given in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chaffinch.runs.learning import Learned
    from chaffinch.runs.options import Outcome, RunOptions
    from chaffinch.runs.report import LearnReport, RunReport


class Engine(Protocol):
    """Does whole runs, with the same results as the engine of this machine."""

    def clean(self, inputs: Sequence[str], options: RunOptions, report: RunReport) -> Iterator[Outcome]:
        """Clean every page of `inputs` and yield what becomes of it, in the order of the input."""
        ...

    def learn(self, inputs: Sequence[str], options: RunOptions, report: LearnReport) -> Iterator[Learned]:
        """Yield what is learned of every site of `inputs`; all that goes wrong is told to the report."""
        ...
