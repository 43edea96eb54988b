"""What the sinks have in common: how a run ends, and how faults of the system are told."""

from __future__ import annotations

import dataclasses
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from chaffinch.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from chaffinch.document.document import Document

_BREAKS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


class Ending:
    """Commits on a clean exit, and aborts on any other."""

    def commit(self) -> None:
        """Put the output under its final name."""
        raise NotImplementedError

    def abort(self) -> None:
        """Leave nothing unfinished behind."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
        else:
            self.abort()


@contextmanager
def writing(output: str) -> Iterator[None]:
    """Turn what the system raises into an `OutputError` about `output`; a closed pipe stays what it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise OutputError(output, f"cannot be written: {reason[:1].lower()}{reason[1:]}") from error


def well_formed(text: str) -> str:
    """Return `text` with lone surrogates, which no encoding can carry, replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def row_of(document: Document) -> dict[str, Any]:
    """Return the fields of a document, in order, with text that can be encoded.

    In an output every page has something to go by: where nothing tells its URL, that is its source.
    """
    row = {field.name: getattr(document, field.name) for field in dataclasses.fields(document)}
    row["url"] = document.url or document.source
    return {name: well_formed(value) if isinstance(value, str) else value for name, value in row.items()}


def json_line(document: Document) -> bytes:
    """Return a document as one line of JSON; nothing in it is taken for a line break by any reader."""
    return (json.dumps(row_of(document), ensure_ascii=False).translate(_BREAKS) + "\n").encode()
