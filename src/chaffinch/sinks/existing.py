"""What stands under an output's name already: a run replaces the documents of another run, and nothing else."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, cast

from chaffinch.errors import UsageError

_FIELDS: Final = frozenset({"source", "content"})
"""Every version's documents have these."""
_LONGEST_LINE: Final = 1 << 26


def check_own(output: str) -> None:
    """Raise `UsageError` if a table of something else than documents stands there, such as another command's output."""
    path = Path(output)
    name = output.lower()
    fields: frozenset[str] | None = None
    if path.is_file() and path.stat().st_size:
        with suppress(OSError, EOFError, ValueError):
            if name.endswith((".jsonl", ".jsonl.gz")):
                fields = _fields_of_lines(path)
            elif name.endswith(".parquet"):
                fields = _fields_of_parquet(path)
    if fields is not None and not fields >= _FIELDS:
        raise UsageError(
            f"{output} exists and holds no documents, but rows of {', '.join(sorted(fields)[:8]) or 'nothing'}: "
            "give another name, or remove it first"
        )


def _fields_of_lines(path: Path) -> frozenset[str] | None:
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        row = json.loads(cast("IO[bytes]", file).readline(_LONGEST_LINE))
    return frozenset(row) if isinstance(row, dict) else None


def _fields_of_parquet(path: Path) -> frozenset[str] | None:
    import pyarrow as pa  # noqa: PLC0415  (Arrow is slow to import)
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        return frozenset(pq.read_schema(path).names)
    except pa.ArrowException:
        return None
