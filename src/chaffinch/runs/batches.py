"""From a stream of captures to batches, cut in the same places whatever the number of processes."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from chaffinch.runs.work import Batch
from chaffinch.sites import is_web_url, place_of_file, place_of_url
from chaffinch.sources import Capture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chaffinch.errors import InputError

MOST_PAGES: Final = 32
MOST_BYTES: Final = 8 * 1024 * 1024
"""A batch is closed when it holds this much; one larger page makes a batch of its own."""

_MOST_DIRECTORIES: Final = 10_000
_MOST_REMEMBERED: Final = 64 * 1024 * 1024


class LastPages:
    """Remembers the last capture of each directory, within bounds: the directories seen longest ago are forgotten."""

    def __init__(self) -> None:
        self._last: OrderedDict[str, Capture] = OrderedDict()
        self._bytes = 0

    def put(self, capture: Capture) -> None:
        """Remember a capture as the last of its directory."""
        directory = _directory(capture)
        before = self._last.pop(directory, None)
        self._bytes += len(capture.body) - (len(before.body) if before else 0)
        self._last[directory] = capture
        while len(self._last) > 1 and (len(self._last) > _MOST_DIRECTORIES or self._bytes > _MOST_REMEMBERED):
            _, forgotten = self._last.popitem(last=False)
            self._bytes -= len(forgotten.body)

    def get(self, captures: Iterable[Capture]) -> tuple[Capture, ...]:
        """Return the last captures of the directories that `captures` belong to."""
        directories = dict.fromkeys(map(_directory, captures))
        return tuple(self._last[directory] for directory in directories if directory in self._last)


def _directory(capture: Capture) -> str:
    """Return the directory as far as it can be told without looking into the page."""
    if capture.url and is_web_url(capture.url):
        return place_of_url(capture.url).directory
    return place_of_file(capture.folder, capture.path)[0]


def cut_batches(items: Iterable[Capture | InputError], *, remember: bool) -> Iterator[Batch | InputError]:
    """Cut captures into batches; inputs that could not be read pass through in their place.

    With `remember`, each batch carries the last page before it of every directory in it.
    """
    last = LastPages()
    captures: list[Capture] = []
    size = 0

    def batch() -> Batch:
        made = Batch(tuple(captures), last.get(captures) if remember else ())
        if remember:
            for capture in captures:
                last.put(capture)
        captures.clear()
        return made

    for item in items:
        if not isinstance(item, Capture):
            if captures:
                yield batch()
                size = 0
            yield item
            continue
        if captures and (len(captures) >= MOST_PAGES or size + len(item.body) > MOST_BYTES):
            yield batch()
            size = 0
        captures.append(item)
        size += len(item.body)
    if captures:
        yield batch()
