"""The file that labels are written to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from chaffinch.sinks.base import well_formed
from chaffinch.sinks.parquet import ParquetFile

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


class LabelFile(ParquetFile):
    """A Parquet file of labels."""

    def __init__(self, output: str) -> None:
        super().__init__(output, _SCHEMA)
        self._pages: list[LabelledPage] = []
        self._held = 0

    def write(self, labelled: LabelledPage) -> None:
        """Take the labels of a page; a full row group is written."""
        if labelled.labels is not None and len(labelled.labels):
            self._pages.append(labelled)
            self._held += len(labelled.labels)
            if self._held >= _ROWS:
                self.flush()

    def flush(self) -> None:
        """Write the labels that are held."""
        if self._pages:
            self.write_table(_table(self._pages))
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
