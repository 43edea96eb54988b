"""The files that hold examples: a row for each labelled block, a column for each feature."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from chaffinch.learning.examples import ExampleReport, PageExamples
from chaffinch.methods.block_features import FEATURES
from chaffinch.methods.text_scores import LISTS
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
    *(pa.field(name, _WORDS, nullable=False) for name in LISTS),
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
    nothing = np.zeros((len(FEATURES), 0), np.float32)
    features = np.concatenate([nothing, *(page.features for page in pages)], axis=1)
    columns: dict[str, Any] = {
        "site": pa.array([well_formed(page.site) for page in pages], pa.string()).take(of_page),
        "page": pa.array([well_formed(page.page) for page in pages], pa.string()).take(of_page),
        "template": pa.array([value for page in pages for value in page.template.tolist()], pa.bool_()),
        "text": pa.array(np.concatenate([page.text for page in pages]) if pages else [], pa.uint64()),
        **{name: pa.array(row) for name, row in zip(FEATURES, features, strict=True)},
        **{name: _words(pages, name) for name in LISTS},
    }
    return pa.Table.from_pydict(columns, _SCHEMA)


def _words(pages: Sequence[PageExamples], name: str) -> pa.Array[Any]:
    """Return the lists of one kind, of all blocks."""
    lists = [words for page in pages for words in page.lists[name]]
    ends = np.cumsum([0, *map(len, lists)])
    joined = pa.array([well_formed(word) for words in lists for word in words], pa.string())
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), joined)
