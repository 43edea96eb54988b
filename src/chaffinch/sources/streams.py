"""Byte streams that end, rather than raise, where their file is damaged, and that tell why."""

from __future__ import annotations

import zipfile
import zlib
from typing import IO, Final, Protocol

CHUNK: Final = 1 << 16
_REMEMBERED: Final = 1 << 24  # of a damaged gzip member, so much is searched for the next member
_GZIP: Final = b"\x1f\x8b\x08"
_TRIAL: Final = 512


class Stream(Protocol):
    """A stream of bytes that never raises."""

    @property
    def damage(self) -> str | None:
        """Why the stream ended before its time, or None."""
        ...

    @property
    def member(self) -> int | None:
        """Where in the file the gzip member begins that was read from last; None in a file that is not packed."""
        ...

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes; none at the end and at damage."""
        ...

    def resume(self) -> bool:
        """Go on behind the damage, if there is anything to go on with."""
        ...


def reason_of(error: BaseException) -> str:
    """Return what an error says, without the file's name and number."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    return str(error) or type(error).__name__


class Plain:
    """A file as it is. `head` is what was already read of it."""

    def __init__(self, file: IO[bytes], head: bytes = b"") -> None:
        self._file = file
        self._head = head
        self.damage: str | None = None
        self.member: int | None = None

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes."""
        if self._head:
            data, self._head = self._head[:size], self._head[size:]
            return data
        if self.damage is not None:
            return b""
        try:
            return self._file.read(size)
        except (OSError, ValueError, EOFError, zlib.error, zipfile.BadZipFile) as error:
            self.damage = reason_of(error)
            return b""

    def resume(self) -> bool:
        """Files that cannot be read on stay so."""
        return False


class Gunzip:
    """The contents of all gzip members of a stream, one after the other.

    A member that is damaged gives all that can be had of it; `resume` goes on with the next one that is sound.
    """

    def __init__(self, inner: Stream) -> None:
        self._inner = inner
        self._input = b""
        self._start = 0  # of the member in hand, in the compressed stream
        self._used = 0  # of its bytes up to now
        self._member = bytearray()  # the first of those, for a search behind damage
        self._inflater: zlib._Decompress | None = None
        self.damage: str | None = None
        self.member: int | None = 0

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes."""
        while self.damage is None:
            if self._inflater is None and (inflater := self._begin()) is not None:
                self._inflater = inflater
            if self._inflater is None:
                return b""
            if not self._input and not self._fill():
                self._fail(self._inner.damage or "the gzip data is cut short")
            else:
                self.member = self._start
                if data := self._inflate(self._inflater, size):
                    return data
        return b""

    def resume(self) -> bool:
        """Go on with the next member that starts well."""
        whole = self._used == len(self._member)
        data = bytes(self._member[1:]) + self._input if whole else self._input
        base = self._start + (min(1, self._used) if whole else self._used)
        while True:
            at = data.find(_GZIP)
            if at < 0:
                at = max(len(data) - len(_GZIP) + 1, 0)
            base, data = base + at, data[at:]
            if len(data) < _TRIAL:
                more = self._inner.read(CHUNK)
                data += more
                if not more and not data.startswith(_GZIP):
                    return False
            if _starts_well(data):
                break
            if data.startswith(_GZIP):
                base, data = base + 1, data[1:]
        self.damage, self._inflater = None, None
        self._input, self._start, self._used = data, base, 0
        self._member.clear()
        return True

    def _fill(self) -> bool:
        self._input += self._inner.read(CHUNK)
        return bool(self._input)

    def _begin(self) -> zlib._Decompress | None:
        """Start the next member, if there is one."""
        self._start, self._used = self._start + self._used, 0
        self._member.clear()
        while not self._input.strip(b"\x00"):
            self._drop(len(self._input))  # padding
            if not self._fill():
                break
        self._drop(len(self._input) - len(self._input.lstrip(b"\x00")))
        if not self._input:
            self.damage = self._inner.damage
            return None
        while len(self._input) < len(_GZIP) and (more := self._inner.read(CHUNK)):
            self._input += more
        if not self._input.startswith(_GZIP):
            self._fail("bytes that are not gzip data follow")
            return None
        return zlib.decompressobj(wbits=31)

    def _drop(self, count: int) -> None:
        self._start += count
        self._input = self._input[count:]

    def _inflate(self, inflater: zlib._Decompress, size: int) -> bytes:
        before = inflater.copy()
        given = self._input
        try:
            data = inflater.decompress(given, size)
        except zlib.error:
            data = salvage(before, given)
            self._count(given)
            self._input = b""
            self._fail("the gzip data is damaged")
            return data
        self._input = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
        self._count(given[: len(given) - len(self._input)])
        if inflater.eof:
            self._inflater = None
        return data

    def _count(self, used: bytes) -> None:
        if len(self._member) == self._used < _REMEMBERED:
            self._member += used
        self._used += len(used)

    def _fail(self, reason: str) -> None:
        self.damage = f"{reason}, in the gzip member at byte {self._start}"


def salvage(inflater: zlib._Decompress, data: bytes) -> bytes:
    """Return what can be inflated before the byte that raises; zlib itself drops it."""
    found = bytearray()
    for at in range(len(data)):
        try:
            found += inflater.decompress(data[at : at + 1])
        except zlib.error:
            break
    return bytes(found)


def _starts_well(data: bytes) -> bool:
    """Tell whether gzip data starts here, going by the first bytes of it."""
    if not data.startswith(_GZIP) or data[3:4] > b"\x1f":
        return False
    try:
        return zlib.decompressobj(wbits=31).decompress(data[:_TRIAL], _TRIAL) != b""
    except zlib.error:
        return False
