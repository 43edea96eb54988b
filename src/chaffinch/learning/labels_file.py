"""The file that labels are written to."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from chaffinch.sinks.base import Ending, well_formed, writing
from chaffinch.sinks.files import PartFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.learning.labels import LabelledPage

_ROWS: Final = 1 << 16
_NAMES: Final = ("content", "template")
_FIELDS: Final[list[pa.Field[Any]]] = [
    pa.field("site", pa.string(), nullable=False),
    pa.field("page", pa.string(), nullable=False),
    pa.field("node", pa.int32(), nullable=False),
    pa.field("label", pa.string(), nullable=False),
    pa.field("count", pa.int64(), nullable=False),
    pa.field("pages", pa.int64(), nullable=False),
]
_SCHEMA: Final = pa.schema(_FIELDS)


class LabelFile(Ending):
    """A Parquet file of labels, which has its name only when it is whole."""

    def __init__(self, output: str) -> None:
        self._part = PartFile(output)
        self._pages: list[LabelledPage] = []
        self._held = 0
        try:
            with writing(output):
                self._writer = pq.ParquetWriter(self._part.file, _SCHEMA, compression="zstd")
        except BaseException:
            self._part.abort()
            raise

    def write(self, labelled: LabelledPage) -> None:
        """Take the labels of a page; a full row group is written."""
        if labelled.labels is not None and len(labelled.labels):
            self._pages.append(labelled)
            self._held += len(labelled.labels)
            if self._held >= _ROWS:
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
        if self._pages:
            with writing(self._part.output):
                self._writer.write_table(_table(self._pages))
            self._pages.clear()
            self._held = 0


def _table(pages: Sequence[LabelledPage]) -> pa.Table:
    parts = [(page, page.labels) for page in pages if page.labels is not None]
    of_page = np.repeat(np.arange(len(parts)), [len(labels) for _, labels in parts])
    label = np.concatenate([labels.template for _, labels in parts]).astype(np.int8)
    columns = {
        "site": pa.array([well_formed(page.site) for page, _ in parts], pa.string()).take(of_page),
        "page": pa.array([well_formed(page.page) for page, _ in parts], pa.string()).take(of_page),
        "node": pa.array(np.concatenate([labels.node for _, labels in parts])),
        "label": pa.array(_NAMES, pa.string()).take(label),
        "count": pa.array(np.concatenate([labels.count for _, labels in parts])),
        "pages": pa.array(np.array([labels.pages for _, labels in parts])[of_page]),
    }
    return pa.Table.from_pydict(columns, _SCHEMA)
