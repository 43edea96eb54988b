"""Batches worked on by several processes, answers in the order of the batches."""

from __future__ import annotations

import multiprocessing
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from chaffinch.errors import PageError
from chaffinch.runs.work import Batch, uncollected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from chaffinch.errors import InputError
    from chaffinch.sources import Capture

AnswerT = TypeVar("AnswerT")

_KILLED: Final = "the process that worked on it died (a crash in native code, or no memory left)"


class Workers(Generic[AnswerT]):
    """Runs one function over batches, in this process or in others.

    `work` and what it holds are sent to each process once. Only a few batches are under way at a time, so memory does
    not grow with the crawl. If a process dies, each page of the batch is tried in a process of its own, and the batch
    is done again without those that kill it: these are answered by a `PageError`.
    """

    def __init__(self, work: Callable[[Batch], AnswerT], jobs: int) -> None:
        self._work = work
        self._jobs = jobs

    def answers(self, items: Iterable[Batch | InputError]) -> Iterator[AnswerT | InputError | PageError]:
        """Yield the answer to each batch; inputs that could not be read pass through in their place."""
        if self._jobs == 1:
            for item in items:
                yield _do_with(self._work, item) if isinstance(item, Batch) else item
            return
        yield from self._in_processes(items)

    def _in_processes(self, items: Iterable[Batch | InputError]) -> Iterator[AnswerT | InputError | PageError]:
        executor = self._executor(self._jobs)
        waiting: deque[tuple[Batch | InputError, Future[AnswerT] | None]] = deque()
        try:
            for item in items:
                future = None
                if isinstance(item, Batch):
                    try:
                        future = executor.submit(_do, item)
                    except BrokenProcessPool:
                        # Answered below, when its turn comes.
                        future = None
                waiting.append((item, future))
                while len(waiting) > 2 * self._jobs:
                    executor, answers = self._next(waiting, executor)
                    yield from answers
            while waiting:
                executor, answers = self._next(waiting, executor)
                yield from answers
        finally:
            executor.shutdown(wait=True, cancel_futures=True)

    def _next(
        self, waiting: deque[tuple[Batch | InputError, Future[AnswerT] | None]], executor: ProcessPoolExecutor
    ) -> tuple[ProcessPoolExecutor, list[AnswerT | InputError | PageError]]:
        """Return the answers to the oldest batch, and the executor to go on with."""
        item, future = waiting.popleft()
        if not isinstance(item, Batch):
            return executor, [item]
        if future is not None:
            try:
                return executor, [future.result()]
            except BrokenProcessPool:
                pass
        executor.shutdown(wait=True, cancel_futures=True)
        answers = self._without_killers(item)
        executor = self._executor(self._jobs)
        for position, (other, _) in enumerate(waiting):
            if isinstance(other, Batch):
                waiting[position] = (other, executor.submit(_do, other))
        return executor, answers

    def _without_killers(self, batch: Batch) -> list[AnswerT | InputError | PageError]:
        """Do a batch again without the pages that kill their process."""
        before, alive = self._survivors(batch.before), self._survivors(batch.captures)
        killers = [capture for capture in batch.captures if capture not in alive]
        answer = self._alone(Batch(alive, before)) if alive else None
        if alive and answer is None:
            killers = list(batch.captures)
        lost: list[AnswerT | InputError | PageError] = [PageError(capture.source, _KILLED) for capture in killers]
        return lost if answer is None else [answer, *lost]

    def _survivors(self, captures: tuple[Capture, ...]) -> tuple[Capture, ...]:
        """Return the pages that leave their process alive, tried one by one, in a new process after each that dies."""
        alive: list[Capture] = []
        position = 0
        while position < len(captures):
            with self._executor(1) as executor:
                try:
                    for capture in captures[position:]:
                        position += 1
                        executor.submit(_do, Batch((capture,))).result()
                        alive.append(capture)
                except BrokenProcessPool:
                    pass
        return tuple(alive)

    def _alone(self, batch: Batch) -> AnswerT | None:
        """Return the answer from a process of its own, or None if that died."""
        with self._executor(1) as executor:
            try:
                answer: AnswerT = executor.submit(_do, batch).result()
            except BrokenProcessPool:
                return None
            return answer

    def _executor(self, jobs: int) -> ProcessPoolExecutor:
        # Not forked: a fork copies the locks of threads that are not there any more, such as those of Arrow.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["chaffinch.runs.work"])
        return ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=(self._work,))


_work: Callable[[Batch], object] | None = None


def _start(work: Callable[[Batch], object]) -> None:
    """Take over the work of this process."""
    global _work  # noqa: PLW0603  (a process of the pool has one work, and the pool offers no other place for it)
    _work = work


def _do(batch: Batch) -> Any:  # noqa: ANN401  (the answer of whichever work the pool was given)
    assert _work is not None  # noqa: S101  (set by the initializer of every process)
    return _do_with(_work, batch)


def _do_with(work: Callable[[Batch], AnswerT], batch: Batch) -> AnswerT:
    with uncollected():
        return work(batch)
