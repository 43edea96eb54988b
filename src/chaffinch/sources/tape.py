"""A stream that can be looked ahead in, and wound back: what the search for WARC records needs."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Final

from chaffinch.sources.streams import CHUNK

if TYPE_CHECKING:
    from chaffinch.sources.streams import Stream

RECORD: Final = re.compile(rb"(?:\A|(?<=\n))WARC/\d\.\d+\r?\n[A-Za-z]")
"""How a record starts."""
_LONGEST_START: Final = 16
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")


class Tape:
    """The bytes of a stream, and how many of them were taken."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._held = b""
        self._at = 0
        self.position = 0
        self._read = 0
        self._members: deque[tuple[int, int]] = deque()

    @property
    def damage(self) -> str | None:
        """Why the stream ended before its time, or None."""
        return self._stream.damage

    @property
    def place(self) -> int:
        """Where in the file the record at this position is found: its gzip member, or itself if nothing is packed."""
        while len(self._members) > 1 and self._members[1][0] <= self.position:
            self._members.popleft()
        return self._members[0][1] if self._members else self.position

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, or all there are, and leave them where they are."""
        missing = size - (len(self._held) - self._at)
        if missing > 0:
            parts = [self._held[self._at :]]
            while missing > 0 and (more := self._stream.read(CHUNK)):
                parts.append(more)
                missing -= len(more)
                member = self._stream.member
                if member is not None and (not self._members or self._members[-1][1] != member):
                    self._members.append((self._read, member))
                self._read += len(more)
            self._held, self._at = b"".join(parts), 0
        return self._held[self._at : self._at + size]

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes, or all there are."""
        data = self.peek(size)
        self._at += len(data)
        self.position += len(data)
        return data

    def push_back(self, data: bytes) -> None:
        """Undo the taking of `data`."""
        self._held, self._at = data + self._held[self._at :], 0
        self.position -= len(data)

    def skip(self, size: int) -> int:
        """Pass over `size` bytes without holding them; return how many there were."""
        left = size
        while left > 0 and (data := self.take(min(left, CHUNK))):
            left -= len(data)
        return size - left

    def take_head(self, limit: int) -> bytes | None:
        """Return all up to and with the next empty line; None if there is none in `limit` bytes."""
        size = 1 << 12
        while True:
            ahead = self.peek(size)
            if match := _HEAD_END.search(ahead):
                return self.take(match.end())
            if len(ahead) < size or size >= limit:
                return None
            size *= 2

    def take_until_record(self, limit: int) -> bytes:
        """Pass over everything up to the next start of a record, and return (the first `limit` bytes of) it."""
        found = bytearray()
        while True:
            ahead = self.peek(CHUNK)
            match = RECORD.search(ahead)
            if match:
                size = match.start()
            elif len(ahead) < CHUNK:
                size = len(ahead)
            else:
                # The last line break stays, so that a start across the edge is seen whole.
                size = len(ahead) - _LONGEST_START
            found += self.take(size)[: max(limit - len(found), 0)]
            if match or len(ahead) < CHUNK:
                return bytes(found)
