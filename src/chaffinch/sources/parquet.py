"""Pages in Parquet files."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from chaffinch.errors import InputError
from chaffinch.sources.capture import Capture
from chaffinch.sources.streams import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaffinch.sources.options import SourceOptions

_ROWS: Final = 64
_BUFFER: Final = 1 << 20
_FAULTS: Final = (OSError, ValueError, pa.ArrowException)


def read_parquet(file: IO[bytes], path: str, options: SourceOptions) -> Iterator[Capture | InputError]:
    """Yield the page of each row; a row group that cannot be read costs no more than itself."""
    try:
        file.seek(0)
        table = pq.ParquetFile(file, buffer_size=_BUFFER)
    except _FAULTS as error:
        yield InputError(path, f"cannot be read as Parquet: {reason_of(error)}")
        return
    with table:
        schema = table.schema_arrow
        if fault := _fault_of(schema, options.html_column):
            yield InputError(path, fault)
            return
        columns = [options.html_column]
        if options.url_column != options.html_column and _fault_of(schema, options.url_column) is None:
            columns.append(options.url_column)
        as_text = not _is_binary(schema.field(options.html_column).type)
        row = 0
        for group in range(table.num_row_groups):
            end = row + table.metadata.row_group(group).num_rows
            try:
                for batch in table.iter_batches(_ROWS, row_groups=[group], columns=columns):
                    urls = _bytes_of(batch, options.url_column) if len(columns) > 1 else [None] * batch.num_rows
                    for html, url in zip(_bytes_of(batch, options.html_column), urls, strict=True):
                        yield _page_of(f"{path}", row, html, url, options, as_text=as_text)
                        row += 1
            except _FAULTS as error:
                yield InputError(f"{path}#{row}", f"rows {row} to {end - 1} cannot be read: {reason_of(error)}")
            row = end


def _page_of(
    path: str, row: int, html: bytes | None, url: bytes | None, options: SourceOptions, *, as_text: bool
) -> Capture | InputError:
    name = f"{path}#{row}"
    if html is None:
        return InputError(name, f"{options.html_column!r} is null")
    address = url.decode("utf-8", "replace").strip() if url is not None else ""
    return Capture(
        source=name,
        body=html,
        url=address or options.url_of(str(row)),
        http_charset="utf-8" if as_text else None,
        folder=path,
        path=str(row),
    )


def _fault_of(schema: pa.Schema, column: str) -> str | None:
    """Return why a column cannot be read as text or bytes, or None."""
    if column not in schema.names:
        return f"there is no column {column!r}; the columns are: {', '.join(schema.names)}"
    kind = _plain(schema.field(column).type)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return None
    return None if _is_binary(kind) else f"column {column!r} holds {kind}, not text or bytes"


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if isinstance(kind, pa.DictionaryType) else kind


def _is_binary(kind: pa.DataType) -> bool:
    kind = _plain(kind)
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)


def _bytes_of(batch: pa.RecordBatch, column: str) -> list[bytes | None]:
    """Return a column's values as bytes, so that text which is not UTF-8 raises nothing."""
    values = batch.column(column)
    if isinstance(values, pa.DictionaryArray):
        values = values.dictionary_decode()
    return values.cast(pa.large_binary()).to_pylist()
