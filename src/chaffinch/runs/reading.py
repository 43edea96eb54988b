"""How a run reads its inputs: as often as it needs to, and without duplicates if they are not wanted."""

from __future__ import annotations

import pickle
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from chaffinch.runs.captures import UrlChoice
from chaffinch.runs.duplicates import find_duplicates
from chaffinch.sources import open_inputs

STDIN: Final = "-"

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from chaffinch.errors import InputError
    from chaffinch.runs.options import RunOptions
    from chaffinch.sources import Capture

    Items = Iterable[Capture | InputError]
    Read = Callable[[], Items]


@dataclass(frozen=True, slots=True)
class Readable:
    """Inputs that can be read as often as was asked for, always the same."""

    read: Read
    duplicates: tuple[str, ...] = ()
    """The sources of pages that are left out as duplicates of an earlier one."""
    superseded: int = 0
    """How many captures are left out for another one of the same URL."""


@contextmanager
def reading(inputs: Sequence[str], options: RunOptions, *, often: bool) -> Iterator[Readable]:
    """Give a way to read the inputs, more than once if `often`."""
    again = often or options.duplicates is not None or options.captures != "all"
    with _readable(inputs, options, often=again) as read, _chosen(read, options) as readable:
        if options.duplicates is None:
            yield readable
        else:
            found = find_duplicates(readable.read(), options, options.duplicates)
            sources = tuple(found.names[number].source for number in found.duplicates)
            yield replace(readable, read=lambda: found.without(readable.read()), duplicates=sources)


@contextmanager
def _chosen(read: Read, options: RunOptions) -> Iterator[Readable]:
    """Leave out all but one capture of each URL, if that is asked for; to know which, the inputs are read before."""
    if options.captures == "all":
        yield Readable(read)
        return
    with (
        tempfile.TemporaryDirectory(prefix="chaffinch-") as folder,
        UrlChoice(options.captures, Path(folder, "urls.db")) as choice,
    ):
        choice.make(read())
        yield Readable(lambda: choice.chosen(read()), superseded=choice.superseded)


@contextmanager
def _readable(inputs: Sequence[str], options: RunOptions, *, often: bool) -> Iterator[Read]:
    """Give a way to read the inputs. Standard input cannot be read again, so it is copied to a file if need be."""
    if STDIN not in inputs or not often:
        yield partial(open_inputs, inputs, options.sources)
        return
    with tempfile.TemporaryFile(prefix="chaffinch-") as spool:
        for item in open_inputs(inputs, options.sources):
            pickle.dump(item, spool)
        yield partial(_read_again, spool)


def _read_again(spool: IO[bytes]) -> Iterator[Capture | InputError]:
    spool.seek(0)
    while True:
        try:
            yield pickle.load(spool)  # noqa: S301  (an unnamed file of ours, which nobody else can open)
        except EOFError:
            return
