"""`RecordsRun`: the records of a crawl of any size, within bounded memory, and after every interruption.

The pages are sorted into groups that share a template, by what tells it (`grouping`); each template is learned from the
first of its pages, and its wrapper is applied to the others, for which the inputs are read once more. Pages that their
group's wrapper does not fit are learned from among themselves. What has been done lies in a `Ledger`.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

from chaffinch.errors import InputError, PageError
from chaffinch.records.grouping import group_of
from chaffinch.records.ledger import KeptWrappers, Ledger, Numbered
from chaffinch.records.work import BatchRead, GivenWrappers, apply_batch, mine_batch, sketch_batch
from chaffinch.runs import Failure
from chaffinch.runs.batches import cut_batches
from chaffinch.runs.journal import EVERY
from chaffinch.runs.memory import peak_of_process
from chaffinch.runs.pool import Workers
from chaffinch.runs.reading import reading
from chaffinch.runs.work import Batch
from chaffinch.sources import Capture
from chaffinch.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType

    from chaffinch.records.results import PageRecords
    from chaffinch.records.wrapper import Wrapper
    from chaffinch.runs import Journal, RunOptions
    from chaffinch.runs.reading import Readable

AnswerT = TypeVar("AnswerT")

_STAGES: Final = ("sort", "learn", "apply", "learn the rest", "done")


@dataclass
class RecordsReport:
    """What a run over result pages did."""

    pages: int = 0
    records: int = 0
    templates: int = 0
    """Templates that were learned."""
    failures: list[Failure] = field(default_factory=list)
    unwanted: int = 0
    superseded: int = 0
    duplicates: int | None = None
    stages: dict[str, float] = field(default_factory=dict)
    peak_memory: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the report for a machine."""
        shown = {name: value for name, value in asdict(self).items() if value is not None}
        shown["stages"] = {name: round(seconds, 3) for name, seconds in self.stages.items()}
        return {"version": VERSION, **shown}


class RecordsRun:
    """A run: do it, then iterate over it for the pages, as often as need be. Use it in a `with` statement."""

    def __init__(
        self,
        inputs: Sequence[str],
        options: RunOptions,
        *,
        wrappers: Sequence[Wrapper] = (),
        journal: Journal | None = None,
        step: Callable[[int], None] = lambda _: None,
    ) -> None:
        """With `wrappers`, nothing is learned: pages that none of them fits are failures.

        With a `journal`, a run that was killed is gone on with. `step` is called with numbers of pages that are done.
        """
        self._inputs = inputs
        self._options = options
        self._given = tuple(wrappers)
        self._journal = journal
        self._step = step
        self._stack = ExitStack()
        self._last = time.monotonic()
        self.report = RecordsReport()

    def __enter__(self) -> Self:
        if self._journal is None:
            folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="chaffinch-")))
        else:
            folder = self._journal.begin()
        self._ledger = self._stack.enter_context(Ledger(folder / "records.db"))
        state = self._ledger.state
        self._stage: str = state.get("stage", "apply" if self._given else _STAGES[0])
        self._items = int(state.get("items", 0))
        self._records = int(state.get("records", 0))
        self.report.unwanted = int(state.get("unwanted", 0))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def __iter__(self) -> Iterator[PageRecords]:
        """Yield the records of every page, in the order of the input."""
        return self._ledger.pages()

    @property
    def wrappers(self) -> Iterator[Wrapper]:
        """What was learned, one for each template."""
        return self._ledger.wrappers()

    @property
    def largest_wrapper(self) -> Wrapper | None:
        """The wrapper of the template with most records."""
        return self._ledger.largest_wrapper()

    def do(self) -> RecordsReport:
        """Read all pages; raises nothing for those that cannot be read: the report names them."""
        passes = {"sort": self._sort, "learn": self._learn, "apply": self._apply, "learn the rest": self._learn}
        with reading(self._inputs, self._options, often=not self._given) as readable:
            self.report.superseded = readable.superseded
            if self._options.duplicates is not None:
                self.report.duplicates = len(readable.duplicates)
            while self._stage != "done":
                start = time.perf_counter()
                passes[self._stage](readable)
                taken = self.report.stages.get(self._stage, 0.0) + time.perf_counter() - start
                self.report.stages[self._stage] = taken
                self._items = 0
                self._stage = "done" if self._given else _STAGES[_STAGES.index(self._stage) + 1]
                self._keep()
        self.report.failures = [Failure(source, reason) for source, reason in self._ledger.failures()]
        self.report.pages, self.report.templates = self._ledger.counts()
        self.report.records = self._records
        self.report.peak_memory = max(self.report.peak_memory, peak_of_process())
        return self.report

    def _sort(self, readable: Readable) -> None:
        """Sort all pages into groups, and keep those to learn from."""
        workers = Workers(partial(sketch_batch, options=self._options), self._options.jobs, self._options.page_limits)
        for item, answers in self._answered(workers, cut_batches(_numbered(readable.read()), remember=False)):
            captures = {capture.number: capture for capture in _captures(item)}
            for answer in answers:
                if isinstance(answer, InputError | PageError):
                    self._failed(answer)
                    continue
                for number, page in answer.pages.items():
                    self._ledger.sort(captures[number], group_of(page, self._ledger).number)
                for failure in answer.failures:
                    self._failed(failure)
                self.report.unwanted += answer.unwanted
            self._step(len(captures))
            self._keep_sometimes()

    def _learn(self, readable: Readable) -> None:  # noqa: ARG002 - the pages are in the ledger
        """Learn the templates of all groups of which none is known."""
        workers = Workers(partial(mine_batch, options=self._options), self._options.jobs, self._options.page_limits)
        groups: deque[int] = deque()

        def batches() -> Iterator[Batch]:
            for group, captures in self._ledger.unlearned():
                groups.append(group)
                yield Batch(captures)

        for _, answers in self._answered(workers, batches()):
            wrapper, records = None, 0
            for answer in answers:
                if isinstance(answer, InputError | PageError):
                    self._failed(answer)
                else:
                    wrapper, records = answer.wrapper, self._take(answer)
            self._ledger.learned(groups.popleft(), wrapper, records)
            self._keep_sometimes()

    def _apply(self, readable: Readable) -> None:
        """Apply wrappers to the pages that nothing was learned from."""
        if not (self._given or self._ledger.has_others):
            return
        kept = KeptWrappers(self._ledger.path)
        wrappers = GivenWrappers(self._given) if self._given else kept
        work = partial(apply_batch, options=self._options, wrappers=wrappers)
        workers = Workers(work, self._options.jobs, self._options.page_limits)
        items: Iterable[Capture | InputError] = _numbered(readable.read())
        try:
            for item, answers in self._answered(
                workers, cut_batches(items if self._given else self._others(items), remember=False)
            ):
                captures = {capture.number: capture for capture in _captures(item)}
                for answer in answers:
                    if isinstance(answer, InputError | PageError):
                        self._failed(answer)
                        continue
                    self._take(answer)
                    self.report.unwanted += answer.unwanted
                    for number, (fit, nothing) in answer.misfits.items():
                        if self._given:
                            self._ledger.failed(captures[number].source, _MISFIT.format(fit))
                            self._ledger.found(number, nothing)
                        else:
                            self._ledger.set_apart(captures[number])
                if self._given:
                    self._step(len(captures))
                self._keep_sometimes()
        finally:
            kept.close()

    def _others(self, items: Iterable[Capture | InputError]) -> Iterator[Numbered]:
        """Yield the captures that nothing was learned from; what cannot be read was told of before."""
        for item in items:
            if isinstance(item, Numbered) and (group := self._ledger.other(item.number)) is not None:
                yield Numbered.of(item, item.number, group)

    def _answered(
        self, workers: Workers[AnswerT], items: Iterable[Batch | InputError]
    ) -> Iterator[tuple[Batch | InputError, Sequence[AnswerT | InputError | PageError]]]:
        """Yield each item with what became of it; those that were done before are left out."""
        waiting: deque[Batch | InputError] = deque()

        def noted() -> Iterator[Batch | InputError]:
            for number, item in enumerate(items):
                if number >= done:
                    waiting.append(item)
                    yield item

        # Groups that were learned are left out by the ledger itself.
        done = 0 if self._stage.startswith("learn") else self._items
        for answered in workers.answered(noted()):
            self._items += 1
            yield waiting.popleft(), answered.answers
        self.report.peak_memory = max(self.report.peak_memory, peak_of_process() + workers.peak_memory)

    def _take(self, answer: BatchRead) -> int:
        records = 0
        for number, (count, line) in answer.found.items():
            self._ledger.found(number, line)
            records += count
        for failure in answer.failures:
            self._failed(failure)
        self._records += records
        return records

    def _failed(self, error: InputError | PageError) -> None:
        self._ledger.failed(error.subject, error.reason)

    def _keep_sometimes(self) -> None:
        if self._journal is not None:
            if self._journal.is_time():
                self._keep()
                self._journal.kept()
        elif time.monotonic() - self._last > EVERY:
            self._last = time.monotonic()
            self._keep()

    def _keep(self) -> None:
        told = {"stage": self._stage, "items": self._items, "records": self._records, "unwanted": self.report.unwanted}
        self._ledger.keep(told)


_MISFIT: Final = "does not fit the wrapper (fit {:.2f}): a page of another template, or the site has changed"


def _numbered(items: Iterable[Capture | InputError]) -> Iterator[Numbered | InputError]:
    number = 0
    for item in items:
        if isinstance(item, Capture):
            yield Numbered.of(item, number)
            number += 1
        else:
            yield item


def _captures(item: Batch | InputError) -> tuple[Numbered, ...]:
    return cast("tuple[Numbered, ...]", item.captures) if isinstance(item, Batch) else ()
