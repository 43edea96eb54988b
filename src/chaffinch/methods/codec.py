"""Templates as bytes: named arrays in numpy's own archive format, which never executes anything when read."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chaffinch.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Arrays: TypeAlias = "Mapping[str, NDArray[Any]]"

_FORMAT: Final = 1
_HEADER: Final = "header"


def pack(method: str, version: int, arrays: Arrays) -> bytes:
    """Return the bytes of a method's template; equal arrays give equal bytes."""
    header = json.dumps({"format": _FORMAT, "method": method, "version": version}, sort_keys=True)
    buffer = io.BytesIO()
    columns: dict[str, Any] = {_HEADER: np.frombuffer(header.encode(), dtype=np.uint8), **arrays}
    np.savez_compressed(buffer, **columns)
    return buffer.getvalue()


def unpack(data: bytes, method: str, version: int, names: Sequence[str]) -> list[NDArray[Any]]:
    """Return the arrays called `names` from what `pack` wrote, or raise `ModelError`."""
    subject = f"template of method {method}"
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            header = json.loads(archive[_HEADER].tobytes())
            found = (header["format"], header["method"], header["version"])
            if found != (_FORMAT, method, version):
                raise ModelError(
                    subject,
                    f"was written as format {found[0]}, method {found[1]}, version {found[2]}; "
                    f"this is format {_FORMAT}, version {version}: learn it again",
                )
            return [archive[name] for name in names]
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelError(subject, f"is damaged ({error})") from error


def pack_texts(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return texts as one array. JSON keeps every text apart and every character whole."""
    return np.frombuffer(json.dumps(list(texts), ensure_ascii=True).encode("ascii"), dtype=np.uint8)


def unpack_texts(array: NDArray[Any]) -> tuple[str, ...]:
    """Return what `pack_texts` was given."""
    texts = json.loads(array.tobytes())
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ModelError("template", "is damaged (a list of texts was expected)")
    return tuple(texts)
