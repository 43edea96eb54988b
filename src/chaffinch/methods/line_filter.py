"""The sandwich method in its raw form: lines of bytes in, lines of bytes out, no HTML understood.

A crawler calls this before it stores a page (Rowlands, Thomas and Wan 2009).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.methods.lcs import in_common
from chaffinch.sites import is_web_url, place_of_url

_MOST_DIRECTORIES: Final = 10_000
_MOST_BYTES: Final = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Filtered:
    """What is left of a page."""

    body: bytes
    has_peer: bool
    """Whether there was another page to compare with; without one, the body is as it was."""


def remove_shared_lines(body: bytes, peer: bytes) -> bytes:
    """Return `body` without the longest common subsequence of lines that it shares with `peer`.

    Lines end at newlines and are compared to the letter; those that remain are not changed.
    """
    lines = body.splitlines(keepends=True)
    shared = in_common(_hashes(lines), _hashes(peer.splitlines(keepends=True)))
    return b"".join(line for line, gone in zip(lines, shared.tolist(), strict=True) if not gone)


class LineFilter:
    """Filters a stream of pages, comparing each with the page before it in its directory.

    Memory is bounded: of the directories seen longest ago, pages are forgotten.
    """

    def __init__(self, most_directories: int = _MOST_DIRECTORIES, most_bytes: int = _MOST_BYTES) -> None:
        self._last: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._most_directories = most_directories
        self._most_bytes = most_bytes

    def filter(self, url: str, body: bytes) -> Filtered:
        """Return what `body` does not share with the page that came before it in the URL's directory."""
        directory = place_of_url(url).directory if is_web_url(url) else url.rpartition("/")[0]
        peer = self._last.pop(directory, None)
        self._bytes += len(body) - len(peer or b"")
        self._last[directory] = body
        while len(self._last) > 1 and (len(self._last) > self._most_directories or self._bytes > self._most_bytes):
            _, forgotten = self._last.popitem(last=False)
            self._bytes -= len(forgotten)
        if peer is None or peer == body:
            return Filtered(body, has_peer=False)
        return Filtered(remove_shared_lines(body, peer), has_peer=True)


def _hashes(lines: list[bytes]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    stripped = (line.rstrip(b"\r\n") for line in lines)
    return np.fromiter(map(xxh3_64_intdigest, stripped), dtype=np.uint64, count=len(lines))
