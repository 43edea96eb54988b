"""Batches worked on by several processes, answers in the order of the batches; a page that kills costs itself only."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from multiprocessing.sharedctypes import RawArray
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from chaffinch.errors import PageError, RunError
from chaffinch.page.collector import uncollected
from chaffinch.runs.limits import NO_LIMITS, PageLimits
from chaffinch.runs.memory import peak_of_process, shown_bytes
from chaffinch.runs.watch import NOTHING, Slots, rest, tell_in
from chaffinch.runs.work import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerProcess

    from chaffinch.errors import InputError
    from chaffinch.sources import Capture

AnswerT = TypeVar("AnswerT")

_KILLED: Final = "the process that worked on it died (a crash in native code, or no memory left)"
_MOST_DEATHS: Final = 3
"""A batch whose process dies this often while it works on no page is given up as a whole."""

_PAUSE: Final = 0.5
"""Who wakes so many seconds later than it wanted to was stopped."""


@dataclass(slots=True)
class Answered(Generic[AnswerT]):
    """What became of one item: all there is to know, in order."""

    answers: list[AnswerT | InputError | PageError]


@dataclass(slots=True)
class _Task:
    """An item on its way."""

    item: Batch | InputError
    sent: bytes = b""
    """The batch as it goes to a process; made once, unless pages have to be left out."""
    done: list[Any] | None = None
    lost: list[PageError] = field(default_factory=list)
    suspect: str | None = None
    """The page during which a process died. It gets a second chance: somebody else may have killed the process."""
    deaths: int = 0

    def pack(self) -> None:
        """Make the bytes that are sent."""
        self.sent = bytes(ForkingPickler.dumps(self.item))


class _Worker:
    """One process, which works on one batch at a time."""

    def __init__(self, work: Callable[[Batch], object], limits: PageLimits) -> None:
        # Not forked: a fork copies the locks of threads that are not there any more, such as those of Arrow.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["chaffinch.runs.pool"])
        self._slots: Slots = RawArray("d", 2)
        self._slots[1] = NOTHING
        self.connection, theirs = context.Pipe()
        self._process: ForkServerProcess = context.Process(
            target=_serve, args=(theirs, self._slots, work, limits.memory), daemon=True
        )
        self._process.start()
        theirs.close()
        self.task: _Task | None = None
        self.peak = 0
        self.forgiven = 0.0
        """Seconds in which nobody ran, so that they do not count."""

    def give(self, task: _Task) -> None:
        """Hand over a batch."""
        self.task = task
        self.forgiven = 0.0
        self._slots[0], self._slots[1] = 0.0, NOTHING
        with suppress(OSError):  # it is dead, which shows when its answer is asked for
            self.connection.send_bytes(task.sent)

    @property
    def page(self) -> int | None:
        """The position of the page that is worked on; None if there is none. Those before the batch are negative."""
        return None if self._slots[1] == NOTHING else int(self._slots[0])

    def deadline(self, seconds: float) -> float | None:
        """Return when the page that is worked on has had its time."""
        return None if self._slots[1] == NOTHING else self._slots[1] + seconds + self.forgiven

    def stop(self) -> None:
        """End the process, whatever it does: it holds nothing that anybody needs."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self.connection.close()


class Workers(Generic[AnswerT]):
    """Runs one function over batches, in this process or in others.

    `work` and what it holds are sent to each process once. Only a few batches are under way at a time, so memory does
    not grow with the crawl, and the pages of a batch are sent once. A page that ends its process, or takes longer than
    the limits allow, is left out and answered by a `PageError` behind its batch; the batch is done again without it.
    """

    def __init__(self, work: Callable[[Batch], AnswerT], jobs: int, limits: PageLimits = NO_LIMITS) -> None:
        self._work = work
        self._jobs = jobs
        self._limits = limits
        self._workers: list[_Worker] = []
        self.peak_memory = 0
        """The largest sum of what the processes have held, in bytes, as far as they have told."""

    def answers(self, items: Iterable[Batch | InputError]) -> Iterator[AnswerT | InputError | PageError]:
        """Yield the answer to each batch; inputs that could not be read pass through in their place."""
        for answered in self.answered(items):
            yield from answered.answers

    def answered(self, items: Iterable[Batch | InputError]) -> Iterator[Answered[AnswerT]]:
        """Yield what became of each item, one by one."""
        if self._jobs > 1 or self._limits.isolate:
            yield from self._in_processes(items)
            return
        for item in items:
            yield Answered([_done_with(self._work, item) if isinstance(item, Batch) else item])

    def _in_processes(self, items: Iterable[Batch | InputError]) -> Iterator[Answered[AnswerT]]:
        source = iter(items)
        window: deque[_Task] = deque()  # in the order of the input, whatever is done first
        waiting: deque[_Task] = deque()
        more = True
        try:
            while more or window:
                self._dispatch(waiting)
                if window and (answers := window[0].done) is not None:
                    window.popleft()
                    yield Answered(answers)
                elif more and len(waiting) < self._jobs and len(window) < 4 * self._jobs:
                    item = next(source, None)
                    more = item is not None
                    if item is not None:
                        window.append(_Task(item) if isinstance(item, Batch) else _Task(item, done=[item]))
                        if isinstance(item, Batch):
                            window[-1].pack()
                            waiting.append(window[-1])
                elif window:
                    self._collect(waiting)
        finally:
            for worker in self._workers:
                worker.stop()
            self._workers.clear()

    def _dispatch(self, waiting: deque[_Task]) -> None:
        """Give batches to processes that have none, and start processes while there are batches for them."""
        for worker in self._workers:
            if worker.task is None and waiting:
                worker.give(waiting.popleft())
        while waiting and len(self._workers) < self._jobs:
            self._workers.append(_Worker(self._work, self._limits))
            self._workers[-1].give(waiting.popleft())

    def _collect(self, waiting: deque[_Task]) -> None:
        """Wait until a process answers, dies, or has had its time for a page."""
        busy = [worker for worker in self._workers if worker.task is not None]
        patience = self._patience(busy)
        before = time.monotonic()
        ready = wait([worker.connection for worker in busy], timeout=patience)
        waited = time.monotonic() - before
        if patience is not None and waited > patience + _PAUSE:  # nobody can tell since when nothing ran
            for worker in busy:
                worker.forgiven += waited
        for worker in [worker for worker in busy if worker.connection in ready]:
            busy.remove(worker)
            task = worker.task
            assert task is not None  # noqa: S101  (only processes that have one were waited for)
            try:
                answer, failure, peak = worker.connection.recv()
            except (EOFError, OSError):
                self._replace(worker)
                self._blame(task, worker.page, waiting)
                continue
            if failure is not None:
                raise RunError("run", failure)
            worker.task, worker.peak = None, max(worker.peak, peak)
            self.peak_memory = max(self.peak_memory, sum(one.peak for one in self._workers))
            task.done = [answer, *task.lost]
        if self._limits.seconds is not None:
            for worker in busy:
                self._check_time(worker, self._limits.seconds, waiting)

    def _patience(self, busy: list[_Worker]) -> float | None:
        """Return how long to wait before looking at the clock again."""
        if self._limits.seconds is None:
            return None
        now = time.monotonic()
        left = [deadline - now for worker in busy if (deadline := worker.deadline(self._limits.seconds)) is not None]
        return max(0.01, min([*left, self._limits.seconds]))

    def _check_time(self, worker: _Worker, seconds: float, waiting: deque[_Task]) -> None:
        deadline = worker.deadline(seconds)
        task = worker.task
        if deadline is None or task is None or time.monotonic() < deadline:
            return
        page = worker.page
        self._replace(worker)
        if page is not None:
            self._leave_out(task, page, f"took longer than {seconds:g} seconds", waiting)
        else:
            waiting.appendleft(task)

    def _replace(self, worker: _Worker) -> None:
        """End a process; another one is started when there is work for it."""
        worker.stop()
        self._workers.remove(worker)

    def _blame(self, task: _Task, page: int | None, waiting: deque[_Task]) -> None:
        """Do a batch again whose process died; a page that was worked on twice when that happened is left out."""
        batch = task.item
        assert isinstance(batch, Batch)  # noqa: S101  (nothing else is sent)
        task.deaths += 1
        if page is None:
            if task.deaths < _MOST_DEATHS:
                waiting.appendleft(task)
            else:
                task.done = [*task.lost, *(PageError(capture.source, _KILLED) for capture in batch.captures)]
            return
        capture = _at(batch, page)
        if task.suspect == capture.source:
            limit = self._limits.memory
            bound = f"{_KILLED[:-1]}; it may take {shown_bytes(limit)})" if limit else _KILLED
            self._leave_out(task, page, bound, waiting)
        else:
            task.suspect = capture.source
            waiting.appendleft(task)

    def _leave_out(self, task: _Task, page: int, reason: str, waiting: deque[_Task]) -> None:
        batch = task.item
        assert isinstance(batch, Batch)  # noqa: S101  (nothing else is sent)
        if page < 0:  # a page before the batch was answered with its own one
            left = _without(batch.before, page + len(batch.before))
            task.item = replace(batch, before=left)
        else:
            task.lost.append(PageError(batch.captures[page].source, reason))
            task.item = replace(batch, captures=_without(batch.captures, page))
            if not task.item.captures:
                task.done = list(task.lost)
                return
        task.pack()
        waiting.appendleft(task)


def _at(batch: Batch, page: int) -> Capture:
    return batch.captures[page] if page >= 0 else batch.before[page]


def _without(captures: tuple[Capture, ...], position: int) -> tuple[Capture, ...]:
    return (*captures[:position], *captures[position + 1 :])


def _serve(connection: Connection, slots: Slots, work: Callable[[Batch], object], memory: int | None) -> None:
    """Work on what comes until nobody is there any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    if memory is not None:
        _bound_memory(memory)
    tell_in(slots)
    while True:
        try:
            batch = connection.recv()
        except (EOFError, OSError):
            return
        answer, failure = None, None
        try:
            answer = _done_with(work, batch)
        except Exception as error:  # noqa: BLE001  (told in the other process; a page's faults never come up to here)
            failure = f"a process failed with {type(error).__name__}: {error}"
        rest()
        try:
            connection.send((answer, failure, peak_of_process()))
        except OSError:
            return


def _bound_memory(more: int) -> None:
    """Let this process take so much more memory than it has now."""
    with suppress(OSError, ValueError):
        with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123
            held = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (held + more, hard))


def _done_with(work: Callable[[Batch], AnswerT], batch: Batch) -> AnswerT:
    with uncollected():
        return work(batch)
