"""Records as tables: one row for each record, one column for each slot."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from chaffinch.errors import MissingExtraError
from chaffinch.records.results import slot_names
from chaffinch.sinks.base import well_formed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from chaffinch.records.results import PageRecords, Record
    from chaffinch.records.wrapper import Wrapper

_BESIDE: Final = ("source", "url", "record", "link", "image")
_BETWEEN: Final = " | "
_MOST_ROWS: Final = 10_000
_BREAKS: Final = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}

Row = dict[str, str | int | None]


def columns_of(pages: Iterable[PageRecords]) -> list[str]:
    """Return the columns of the table: what is told of every record, then the slots."""
    return [*_BESIDE, *map(_column, slot_names(pages))]


def _column(slot: str) -> str:
    return slot if slot not in _BESIDE else f"{slot} (slot)"


def rows_of(pages: Iterable[PageRecords]) -> Iterator[Row]:
    """Yield a row for each record; texts of one slot in one record are joined."""
    for page in pages:
        for number, record in enumerate(page.records, 1):
            row: Row = {
                "source": page.source, "url": page.url, "record": number, "link": record.link, "image": record.image
            }  # fmt: skip
            for unit in record.units:
                name = _column(unit.slot)
                before = row.get(name)
                row[name] = unit.text if before is None else f"{before}{_BETWEEN}{unit.text}"
            yield {name: well_formed(value) if isinstance(value, str) else value for name, value in row.items()}


def json_lines(pages: Iterable[PageRecords]) -> Iterator[str]:
    """Yield one line of JSON for each page."""
    for page in pages:
        yield _line(page.as_json())


def tidy_lines(pages: Iterable[PageRecords]) -> Iterator[str]:
    """Yield one line of JSON for each record."""
    yield from map(_line, rows_of(pages))


def _line(values: object) -> str:
    text = json.dumps(values, ensure_ascii=False).translate(_BREAKS)
    return well_formed(text) + "\n"


def csv_lines(pages: Iterable[PageRecords]) -> Iterator[str]:
    """Yield the lines of a CSV file."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns_of(pages), restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows_of(pages):
        writer.writerow(row)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def arrow_table(pages: Iterable[PageRecords]) -> pa.Table:
    """Return the records as an Arrow table of text columns; `pages` are asked for twice."""
    import pyarrow as pa  # noqa: PLC0415  (slow to import)

    return pa.Table.from_batches(arrow_batches(pages, schema := arrow_schema(pages)), schema)


def arrow_schema(pages: Iterable[PageRecords]) -> pa.Schema:
    """Return the columns of an Arrow table of records."""
    import pyarrow as pa  # noqa: PLC0415  (slow to import)

    kinds: dict[str, pa.DataType] = {
        name: pa.int64() if name == "record" else pa.string() for name in columns_of(pages)
    }
    return pa.schema([pa.field(name, kind) for name, kind in kinds.items()])


def arrow_batches(pages: Iterable[PageRecords], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the records as rows of Arrow batches of bounded size."""
    import pyarrow as pa  # noqa: PLC0415  (slow to import)

    rows = rows_of(pages)
    while held := list(islice(rows, _MOST_ROWS)):
        arrays = [pa.array([row.get(field.name) for row in held], field.type) for field in schema]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


@dataclass(frozen=True, eq=False)
class MinedRecords:
    """The records of several pages, and the wrappers that find more of them."""

    pages: tuple[PageRecords, ...]
    wrappers: tuple[Wrapper, ...]

    def __len__(self) -> int:
        return sum(len(page.records) for page in self.pages)

    def __iter__(self) -> Iterator[Record]:
        for page in self.pages:
            yield from page.records

    def to_arrow(self) -> pa.Table:
        """Return a table with a row for each record and a column for each slot."""
        return arrow_table(self.pages)

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is not needed to install Chaffinch
        """Return the same as a pandas data frame."""
        if find_spec("pandas") is None:
            raise MissingExtraError("to_pandas", "pandas")
        return self.to_arrow().to_pandas()
