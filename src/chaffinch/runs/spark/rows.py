"""How what the stages give out is written as rows, and read again."""

from __future__ import annotations

import pickle
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from chaffinch.document import Document, Parts
from chaffinch.runs.options import Outcome
from chaffinch.runs.report import Failure
from chaffinch.sinks.base import row_of, well_formed
from chaffinch.sinks.parquet import DOCUMENT_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from chaffinch.store import Samples

DOCUMENT_COLUMNS: Final = tuple(DOCUMENT_SCHEMA.names)
_MADE: Final = tuple(field.name for field in fields(Document))
_BESIDE: Final[list[pa.Field[Any]]] = [
    pa.field("error", pa.string()),
    pa.field("informed", pa.bool_()),
    pa.field("fit", pa.float64()),
    pa.field("fit_learned", pa.float64()),
    pa.field("headings", pa.list_(pa.string())),
    pa.field("template", pa.string()),
]
OUTCOMES: Final = pa.schema([*(field.with_nullable(True) for field in DOCUMENT_SCHEMA), *_BESIDE])  # noqa: FBT003
"""A row for each input: its document, or why there is none."""
_LEARNED: Final[list[pa.Field[Any]]] = [
    pa.field("site", pa.string()),
    pa.field("salt", pa.int64()),
    pa.field("pages", pa.int64()),
    pa.field("template", pa.binary()),
    pa.field("samples", pa.binary()),
    pa.field("source", pa.string()),
    pa.field("reason", pa.string()),
]
LEARNED: Final = pa.schema(_LEARNED)
"""What some pages of a site tell; or, without a site, a failure, or how many pages were not wanted."""
_SPARK_NAMES: Final = {
    pa.string(): "string",
    pa.int64(): "bigint",
    pa.bool_(): "boolean",
    pa.float64(): "double",
    pa.binary(): "binary",
    pa.list_(pa.string()): "array<string>",
}
_MOST_ROWS: Final = 500
_MOST_BYTES: Final = 8 << 20


def spark_schema(schema: pa.Schema) -> str:
    """Return a schema as Spark reads it."""
    return ", ".join(f"`{field.name}` {_SPARK_NAMES[field.type]}" for field in schema)


def batched(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Put rows together to batches of bounded size."""
    held: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        held.append(row)
        size += sum(len(value) for value in row.values() if isinstance(value, str | bytes))
        if len(held) >= _MOST_ROWS or size > _MOST_BYTES:
            yield pa.RecordBatch.from_pylist(held, schema)
            held, size = [], 0
    if held:
        yield pa.RecordBatch.from_pylist(held, schema)


def row_of_outcome(outcome: Outcome) -> dict[str, Any]:
    """Return what became of an input as a row of `OUTCOMES`."""
    row: dict[str, Any] = {"source": well_formed(outcome.source), "site": well_formed(outcome.site)}
    if outcome.document is not None:
        row = row_of(outcome.document)
        row.update(informed=outcome.informed, fit=outcome.fit, fit_learned=outcome.fit_learned)
    if outcome.parts is not None:
        row["headings"] = [well_formed(heading) for heading in outcome.parts.headings]
        row["template"] = well_formed(outcome.parts.template)
    if outcome.error is not None:
        row["error"] = well_formed(outcome.error)
    return row


def outcome_of_row(row: Mapping[str, Any]) -> Outcome:
    """Return what `row_of_outcome` wrote."""
    if row["content"] is None:
        return Outcome(row["source"], row["site"] or "", error=row["error"])
    document = Document(**{name: row[name] for name in _MADE})
    parts = Parts(tuple(row["headings"]), row["template"]) if row["template"] is not None else None
    return Outcome(
        document.source,
        document.site,
        document,
        informed=row["informed"],
        fit=row["fit"],
        fit_learned=row["fit_learned"],
        parts=parts,
    )


def row_of_failure(failure: Failure) -> dict[str, Any]:
    """Return a failure as a row of `LEARNED`."""
    return {"source": well_formed(failure.source), "reason": well_formed(failure.reason)}


def dump_samples(samples: Samples) -> bytes:
    """Write sample pages."""
    return pickle.dumps(samples)


def load_samples(data: bytes) -> Samples:
    """Read what another task of the same run wrote."""
    samples: Samples = pickle.loads(data)  # noqa: S301  (Spark itself sends tasks in the same way)
    return samples
