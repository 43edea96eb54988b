"""A Parquet file of documents."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from chaffinch.sinks.base import Ending, row_of, writing
from chaffinch.sinks.files import PartFile

if TYPE_CHECKING:
    from chaffinch.document.document import Document

_ROWS: Final = 500
_CHARACTERS: Final = 32 << 20
_FIELDS: Final[list[pa.Field[Any]]] = [
    pa.field("source", pa.string(), nullable=False),
    pa.field("url", pa.string()),
    pa.field("site", pa.string(), nullable=False),
    pa.field("title", pa.string()),
    pa.field("author", pa.string()),
    pa.field("date", pa.string()),
    pa.field("language", pa.string()),
    pa.field("canonical_url", pa.string()),
    pa.field("description", pa.string()),
    pa.field("content", pa.string(), nullable=False),
    pa.field("content_hash", pa.string(), nullable=False),
    pa.field("format", pa.string(), nullable=False),
    pa.field("method", pa.string(), nullable=False),
    pa.field("version", pa.string(), nullable=False),
    pa.field("words_in", pa.int64(), nullable=False),
    pa.field("words_kept", pa.int64(), nullable=False),
    pa.field("captured", pa.string()),
    pa.field("offset", pa.int64()),
]
DOCUMENT_SCHEMA: Final = pa.schema(_FIELDS)


class ParquetSink(Ending):
    """One row for each document, in row groups of bounded size."""

    def __init__(self, output: str) -> None:
        self._part = PartFile(output)
        self._rows: list[dict[str, Any]] = []
        self._held = 0
        try:
            with writing(output):
                self._writer = pq.ParquetWriter(self._part.file, DOCUMENT_SCHEMA, compression="zstd")
        except BaseException:
            self._part.abort()
            raise

    def write(self, document: Document) -> None:
        """Take a document; a full row group is written."""
        self._rows.append(row_of(document))
        self._held += len(document.content)
        if len(self._rows) >= _ROWS or self._held >= _CHARACTERS:
            self._write_rows()

    def commit(self) -> None:
        """Put the file under its name."""
        try:
            self._write_rows()
            with writing(self._part.output):
                self._writer.close()
            self._part.commit()
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        """Remove the file."""
        with suppress(OSError, ValueError, pa.ArrowException):
            self._writer.close()  # writes into a file that goes
        self._part.abort()

    def _write_rows(self) -> None:
        if self._rows:
            with writing(self._part.output):
                self._writer.write_table(pa.Table.from_pylist(self._rows, DOCUMENT_SCHEMA))
            self._rows.clear()
            self._held = 0
