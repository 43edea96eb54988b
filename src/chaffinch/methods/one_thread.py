"""Matrices are multiplied on one core, whichever threads of a program do it."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Final

from threadpoolctl import LibController, ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Iterator


class _OneThread:
    """Multiplies on one core as long as any thread is inside."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before: list[int] = []

    def enter(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = [library.get_num_threads() for library in _libraries()]
                for library in _libraries():
                    _limit(library, 1)

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, threads in zip(_libraries(), self._before, strict=True):
                    _limit(library, threads)


def _limit(library: LibController, threads: int) -> None:
    # Newer versions let one thread of a program have a say, so that no two are at odds; here they take turns.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(threads)


_ONE_THREAD: Final = _OneThread()


@contextmanager
def one_thread() -> Iterator[None]:
    """Multiply on one core: the matrices of a page are too small to share out, and runs use the cores page by page.

    Besides, sums over several cores are rounded otherwise, and scores would depend on the machine.
    """
    _ONE_THREAD.enter()
    try:
        yield
    finally:
        _ONE_THREAD.leave()


@cache
def _libraries() -> list[LibController]:
    """Return what multiplies matrices in this process."""
    found: list[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    return found
