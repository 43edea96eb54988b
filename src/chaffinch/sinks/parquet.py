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
    pa.field("content_of", pa.string(), nullable=False),
]
DOCUMENT_SCHEMA: Final = pa.schema(_FIELDS)


class ParquetFile(Ending):
    """A Parquet file that is written in pieces and has its name only when it is whole."""

    def __init__(self, output: str, schema: pa.Schema) -> None:
        self._part = PartFile(output)
        try:
            with writing(output):
                self._writer = pq.ParquetWriter(self._part.file, schema, compression="zstd")
        except BaseException:
            self._part.abort()
            raise

    def flush(self) -> None:
        """Write what is held."""
        raise NotImplementedError

    def commit(self) -> None:
        """Put the file under its name."""
        try:
            self.flush()
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

    def write_table(self, table: pa.Table) -> None:
        """Write a row group."""
        with writing(self._part.output):
            self._writer.write_table(table)


class ParquetSink(ParquetFile):
    """One row for each document, in row groups of bounded size."""

    def __init__(self, output: str) -> None:
        super().__init__(output, DOCUMENT_SCHEMA)
        self._rows: list[dict[str, Any]] = []
        self._held = 0

    def write(self, document: Document) -> None:
        """Take a document; a full row group is written."""
        self._rows.append(row_of(document))
        self._held += len(document.content)
        if len(self._rows) >= _ROWS or self._held >= _CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Write the rows that are held."""
        if self._rows:
            self.write_table(pa.Table.from_pylist(self._rows, DOCUMENT_SCHEMA))
            self._rows.clear()
            self._held = 0
