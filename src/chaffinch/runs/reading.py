"""How a run reads its inputs: as often as it needs to, and without duplicates if they are not wanted."""

from __future__ import annotations

import pickle
import tempfile
from contextlib import contextmanager
from functools import partial
from typing import IO, TYPE_CHECKING

from chaffinch.runs.duplicates import find_duplicates
from chaffinch.sources import open_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from chaffinch.errors import InputError
    from chaffinch.runs.options import RunOptions
    from chaffinch.sources import Capture

    Items = Iterable[Capture | InputError]
    Read = Callable[[], Items]


@contextmanager
def reading(inputs: Sequence[str], options: RunOptions, *, often: bool) -> Iterator[tuple[Read, list[str]]]:
    """Give a way to read the inputs, more than once if `often`, and the sources of the duplicates it leaves out."""
    with _readable(inputs, options, often=often or options.duplicates is not None) as read:
        if options.duplicates is None:
            yield read, []
        else:
            found = find_duplicates(read(), options, options.duplicates)
            yield lambda: found.without(read()), [found.names[number].source for number in found.duplicates]


@contextmanager
def _readable(inputs: Sequence[str], options: RunOptions, *, often: bool) -> Iterator[Read]:
    """Give a way to read the inputs. Standard input cannot be read again, so it is copied to a file if need be."""
    if "-" not in inputs or not often:
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
