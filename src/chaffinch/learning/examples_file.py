"""The files that hold examples: a row for each labelled block, a column for each feature."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from chaffinch.learning.examples import ExampleReport, PageExamples
from chaffinch.methods.block_features import FEATURES
from chaffinch.runs import Failure
from chaffinch.sinks.base import well_formed, writing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_WORDS: Final = pa.list_(pa.string())
_FIELDS: Final[list[pa.Field[Any]]] = [
    pa.field("site", pa.string(), nullable=False),
    pa.field("page", pa.string(), nullable=False),
    pa.field("template", pa.bool_(), nullable=False),
    pa.field("text", pa.uint64(), nullable=False),
    *(pa.field(name, pa.float32(), nullable=False) for name in FEATURES),
    pa.field("tokens", _WORDS, nullable=False),
    pa.field("names", _WORDS, nullable=False),
    pa.field("names_around", _WORDS, nullable=False),
]
_SCHEMA: Final = pa.schema(_FIELDS)
_REPORT: Final = b"chaffinch.report"


def write_part(path: Path, pages: Sequence[PageExamples], report: ExampleReport) -> None:
    """Write examples, and how far the run has come; what stands under the name is whole."""
    told = {
        "pages": report.pages,
        "sites": report.sites,
        "failures": [(failure.source, failure.reason) for failure in report.failures],
    }
    schema = _SCHEMA.with_metadata({_REPORT: json.dumps(told).encode()})
    beside = path.with_name(f"{path.name}.part")
    with writing(str(path)):
        pq.write_table(_table(pages).cast(schema), beside, compression="zstd")
        beside.replace(path)


def read_report(path: Path, report: ExampleReport) -> None:
    """Go on with the report of a run that had come as far as this part."""
    told = json.loads((pq.read_schema(path).metadata or {})[_REPORT])
    report.pages, report.sites = told["pages"], told["sites"]
    report.failures[:] = [Failure(source, reason) for source, reason in told["failures"]]


def join_parts(parts: Sequence[Path], output: Path) -> None:
    """Write all parts as one file."""
    beside = output.with_name(f".{output.name}.part")
    with writing(str(output)):
        with pq.ParquetWriter(beside, _SCHEMA, compression="zstd") as writer:
            for part in parts:
                writer.write_table(pq.read_table(part).cast(_SCHEMA))
        beside.replace(output)


def _table(pages: Sequence[PageExamples]) -> pa.Table:
    of_page = np.repeat(np.arange(len(pages)), [len(page.template) for page in pages])
    features = np.concatenate([page.features for page in pages]) if pages else np.zeros((0, len(FEATURES)), np.float32)
    columns: dict[str, Any] = {
        "site": pa.array([well_formed(page.site) for page in pages], pa.string()).take(of_page),
        "page": pa.array([well_formed(page.page) for page in pages], pa.string()).take(of_page),
        "template": pa.array([value for page in pages for value in page.template.tolist()], pa.bool_()),
        "text": pa.array(np.concatenate([page.text for page in pages]) if pages else [], pa.uint64()),
        **{name: pa.array(features[:, column]) for column, name in enumerate(FEATURES)},
        "tokens": _words(pages),
        "names": pa.array([list(names) for page in pages for names in page.names], _WORDS),
        "names_around": pa.array([list(names) for page in pages for names in page.around], _WORDS),
    }
    return pa.Table.from_pydict(columns, _SCHEMA)


def _words(pages: Sequence[PageExamples]) -> pa.Array[Any]:
    """Return each block's words."""
    different = [well_formed(word) for page in pages for word in page.words]
    base = np.cumsum([0, *(len(page.words) for page in pages)])
    places = [tokens + start for page, start in zip(pages, base.tolist(), strict=False) for tokens in page.tokens]
    ends = np.cumsum([0, *map(len, places)])
    joined = np.concatenate(places) if places else np.zeros(0, dtype=np.int64)
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(different, pa.string()).take(joined))
