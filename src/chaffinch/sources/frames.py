"""Where the records of a WARC begin and end, in sound archives and in damaged ones.

An archive's own word, the Content-Length of each record, is trusted as long as a record, or the end, follows where it
says. Otherwise the next start of a record decides, and the record is handed on with what is wrong with it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from chaffinch.sources.capture import LONGEST_PAGE, TOO_LONG
from chaffinch.sources.tape import RECORD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaffinch.sources.tape import Tape

_LONGEST_HEAD: Final = 1 << 20
_HELD: Final = 1 << 26  # records longer than this are read only if they are pages
_LENGTH: Final = re.compile(rb"(?im)^content-length[ \t]*:[ \t]*([0-9]{1,18})[ \t]*\r?$")
_TYPE: Final = re.compile(rb"(?im)^warc-type[ \t]*:[ \t]*(response|resource)[ \t]*\r?$")
_HTML: Final = re.compile(rb"(?im)^content-type[ \t]*:[^\r\n]*html")
_BREAK: Final = b"\r\n\r\n"
_EDGE: Final = 32


class Frame(NamedTuple):
    """One record: where it starts, its head, its block, and what is wrong with it."""

    offset: int
    """In the file: that of its gzip member, if it is packed."""
    head: bytes
    block: bytes
    problem: str | None


def frames(tape: Tape) -> Iterator[Frame]:
    """Yield the records that may be pages, and any that are damaged. A frame without a head is no record at all."""
    while True:
        tape.skip(_blank(tape))
        offset = tape.place
        if lost := len(tape.take_until_record(_HELD)):
            yield Frame(offset, b"", b"", f"{lost} bytes are not part of any record")
        if not tape.peek(1):
            return
        offset = tape.place
        head = tape.take_head(_LONGEST_HEAD)
        if head is None:
            tape.skip(len(b"WARC/"))
            lost = len(tape.take_until_record(_HELD))
            yield Frame(offset, b"", b"", tape.damage or f"a record's head does not end ({lost} bytes lost)")
            continue
        frame = _frame(tape, offset, head)
        if frame is not None:
            yield frame


def _blank(tape: Tape) -> int:
    ahead = tape.peek(_EDGE)
    return len(ahead) - len(ahead.lstrip(b"\r\n"))


def _frame(tape: Tape, offset: int, head: bytes) -> Frame | None:
    """Take the block that belongs to `head`; None if all is well and it is no page."""
    wanted = _TYPE.search(head) is not None
    match = _LENGTH.search(head)
    if match is None:
        block = tape.take_until_record(_HELD).removesuffix(_BREAK)
        return Frame(offset, head, block, tape.damage or "it has no Content-Length")
    length = int(match[1])
    block = tape.take(min(length, _HELD))
    if length > _HELD and not RECORD.search(block, 1):
        if not (wanted and _HTML.search(head + block[:_LONGEST_HEAD])):
            there = len(block) + tape.skip(length - len(block))
            return None if there == length else Frame(offset, head, b"", _short(tape, there, length))
        if length > LONGEST_PAGE:
            there = len(block) + tape.skip(length - len(block))
            return Frame(offset, head, b"", TOO_LONG if there == length else _short(tape, there, length))
        block += tape.take(length - _HELD)
    problem = None
    if len(block) < length or not _at_boundary(tape):
        block, problem = _mend(tape, block, length)
    return Frame(offset, head, block, problem) if wanted or problem else None


def _at_boundary(tape: Tape) -> bool:
    rest = tape.peek(_EDGE).lstrip(b"\r\n")
    return rest.startswith(b"WARC/") or not rest


def _mend(tape: Tape, block: bytes, length: int) -> tuple[bytes, str | None]:
    """Find out where a block really ends that does not end where it should; return it and what was wrong."""
    inner = RECORD.search(block + tape.peek(_EDGE), 1)
    if inner and inner.start() <= len(block):
        tape.push_back(block[inner.start() :])
        block = block[: inner.start()].removesuffix(_BREAK)
        return block, f"its Content-Length is {length}, but the next record starts after {len(block)} bytes"
    if len(block) < length:
        return block, _short(tape, len(block), length)
    if tape.peek(len(_BREAK)) == _BREAK:
        return block, None  # what is wrong comes after it
    block += tape.take_until_record(_HELD)
    block = block.removesuffix(_BREAK)
    return block, f"its Content-Length is {length}, but it has {len(block)} bytes"


def _short(tape: Tape, there: int, length: int) -> str:
    return tape.damage or f"cut short: the file ends after {there} of its {length} bytes"
