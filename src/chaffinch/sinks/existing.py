"""What stands under an output's name already: a run replaces the documents of another run, and nothing else."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from chaffinch.errors import UsageError
from chaffinch.sources.kinds import Kind, is_gzip, kind_by_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.render.formats import Format

_FIELDS: Final = frozenset({"source", "content"})
"""Every version's documents have these."""
_LONGEST_LINE: Final = 1 << 26
_WARC_HEAD: Final = 4096
_STDIN: Final = "-"


def check_own(output: str, inputs: Sequence[str], format: Format) -> None:  # noqa: A002 - as the option is called
    """Raise `UsageError` if writing to `output` would overwrite an input, or a table that another command wrote."""
    _check_apart(output, inputs, format)
    path = Path(output)
    name = output.lower()
    fields: frozenset[str] | None = None
    if path.is_file() and path.stat().st_size:
        with suppress(OSError, EOFError, ValueError):
            if name.endswith((".jsonl", ".jsonl.gz")):
                fields = _fields_of_lines(path)
            elif name.endswith(".parquet"):
                fields = _fields_of_parquet(path)
    if path.is_file() and kind_by_name(name) is Kind.WARC and not _is_own_warc(path):
        raise UsageError(f"{output} exists and was not written by Chaffinch: give another name, or remove it first")
    if fields is not None and not fields >= _FIELDS:
        raise UsageError(
            f"{output} exists and holds no documents, but rows of {', '.join(sorted(fields)[:8]) or 'nothing'}: "
            "give another name, or remove it first"
        )


def _check_apart(output: str, inputs: Sequence[str], format: Format) -> None:  # noqa: A002 - see above
    """An input is not the output, and pages do not lie where pages are written."""
    target = os.path.realpath(output)
    for path in inputs:
        given = os.path.realpath(path)
        if path == _STDIN:
            continue
        if given == target:
            raise UsageError(f"{output} is an input too: write to another place")
        of_pages = os.path.isdir(path) or kind_by_name(path) is Kind.HTML  # noqa: PTH112 - paths stay as they were typed
        if format == "html" and of_pages and given.startswith(os.path.join(target, "")):  # noqa: PTH118
            raise UsageError(
                f"{output} holds the input {path}, whose pages might be overwritten: write to another place"
            )


def _fields_of_lines(path: Path) -> frozenset[str] | None:
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        row = json.loads(cast("IO[bytes]", file).readline(_LONGEST_LINE))
    return frozenset(row) if isinstance(row, dict) else None


def _is_own_warc(path: Path) -> bool:
    """Tell whether a WARC begins as ours do; one that is empty or unreadable may be anything."""
    with suppress(OSError, EOFError, zlib.error), path.open("rb") as file:
        data = file.read(_WARC_HEAD)
        head = zlib.decompressobj(wbits=31).decompress(data) if is_gzip(data) else data
        return not data or b"software: Chaffinch/" in head
    return False


def _fields_of_parquet(path: Path) -> frozenset[str] | None:
    import pyarrow as pa  # noqa: PLC0415  (Arrow is slow to import)
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        return frozenset(pq.read_schema(path).names)
    except pa.ArrowException:
        return None
