"""Runs trainings beside each other, each in a process that begins with all that this one has read."""

from __future__ import annotations

from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from chaffinch.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def run_forked(tasks: Sequence[Callable[[], Any]], jobs: int) -> list[Any]:
    """Return what the tasks return, in their order; at most `jobs` run at a time."""
    context = get_context("fork")
    results: dict[int, Any] = {}
    running: dict[Connection, int] = {}
    waiting = list(enumerate(tasks))
    while waiting or running:
        while waiting and len(running) < jobs:
            number, task = waiting.pop(0)
            receiver, sender = context.Pipe(duplex=False)
            context.Process(target=_run, args=(task, sender)).start()
            sender.close()
            running[receiver] = number
        wait(list(running))
        for receiver in [receiver for receiver in running if receiver.poll()]:
            number = running.pop(receiver)
            try:
                results[number] = receiver.recv()
            except EOFError:
                raise RunError(f"training {number + 1} of {len(tasks)}", "its process has died") from None
    return [results[number] for number in range(len(tasks))]


def _run(task: Callable[[], Any], sender: Connection) -> None:
    sender.send(task())
    sender.close()
