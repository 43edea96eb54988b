"""What an output is, and which one a name stands for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, Self

from chaffinch.errors import UsageError
from chaffinch.sinks.files import JsonLinesSink
from chaffinch.sinks.folder import FolderSink
from chaffinch.sinks.stream import StreamSink
from chaffinch.sinks.warc import WarcSink
from chaffinch.sources.remote import is_remote

if TYPE_CHECKING:
    from types import TracebackType

    from chaffinch.document.document import Document
    from chaffinch.render.formats import Format


class Sink(Protocol):
    """Takes documents. As a context manager it commits at the end, or aborts if there was an exception."""

    def write(self, document: Document) -> None:
        """Write one document, or raise `OutputError`."""
        ...

    def commit(self) -> None:
        """Put the output under its final name, whole, or raise `OutputError`."""
        ...

    def abort(self) -> None:
        """Leave nothing unfinished behind. Raises nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


_FILES: Final = (
    ".txt",
    ".md",
    ".htm",
    ".html",
    ".json",
    ".csv",
    ".tsv",
    ".xml",
    ".pdf",
    ".gz",
    ".wacz",
    ".db",
)
"""Endings of files that somebody may expect; who wants a folder of such a name can make it before."""


def open_sink(output: str, format: Format, *, lines: bool = False) -> Sink:  # noqa: A002 - as the option is called
    """Return the sink for `output`, by its name.

    `-` is standard output, `*.jsonl` and `*.jsonl.gz` are JSON Lines, `*.parquet` is Parquet, `*.warc`, `*.warc.gz`,
    `*.wet` and `*.wet.gz` are WARC; all else is a folder. Files may be remote. With `lines`, standard output gets
    whole documents as JSON Lines rather than their contents.
    """
    name = output.lower()
    if output == "-":
        return StreamSink(format, lines=lines)
    if name.endswith((".jsonl", ".jsonl.gz")):
        return JsonLinesSink(output)
    if name.endswith(".parquet"):
        from chaffinch.sinks.parquet import ParquetSink  # noqa: PLC0415  (Arrow is slow to import)

        return ParquetSink(output)
    if name.endswith((".warc", ".warc.gz", ".wet", ".wet.gz")):
        return WarcSink(output, format)
    if is_remote(output):
        raise UsageError(f"{output}: a remote output is one file: .jsonl, .jsonl.gz, .parquet or .warc.gz")
    if name.endswith(_FILES) and not Path(output).is_dir():
        raise UsageError(
            f"{output}: give a folder, or a name that ends in .jsonl, .parquet or .warc.gz; for one page, use -o -"
        )
    return FolderSink(output, format)
