"""Model files: named arrays and a card that says where they come from, in numpy's archive format.

Reading one never executes anything. Equal arrays and equal cards give equal bytes.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from chaffinch.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Arrays: TypeAlias = Mapping[str, NDArray[Any]]
    Card: TypeAlias = Mapping[str, object]

_FORMAT: Final = 1
_HEADER: Final = "header"
_SUFFIX: Final = ".npz"


@dataclass(frozen=True, eq=False)
class Model:
    """Trained weights of one kind, with their card."""

    kind: str
    """What the weights are for; only the code of that kind reads them."""
    version: int
    """Raised whenever weights of an earlier version no longer fit the code."""
    card: Card
    """Data and its hash, folds, scores, seed, date, training command: plain JSON values."""
    arrays: Arrays


def write_model(path: Path, model: Model) -> None:
    """Write a model file; what stands under its name is always whole."""
    header = json.dumps(
        {"format": _FORMAT, "kind": model.kind, "version": model.version, "card": model.card},
        sort_keys=True,
        ensure_ascii=False,
    )
    buffer = io.BytesIO()
    columns: dict[str, Any] = {_HEADER: np.frombuffer(header.encode(), dtype=np.uint8), **model.arrays}
    np.savez_compressed(buffer, **columns)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(buffer.getvalue())
    part.replace(path)


def read_model(path: Path, kind: str, version: int) -> Model:
    """Read a model file, or raise `ModelError` if it is missing, damaged, or not of this kind and version."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(str(path), f"cannot be read ({error.strerror})") from error
    return _parse(str(path), data, kind, version)


def load_model(name: str, kind: str, version: int) -> Model:
    """Read a model that is shipped with Chaffinch."""
    data = files("chaffinch.models").joinpath("weights", f"{name}{_SUFFIX}").read_bytes()
    return _parse(f"model {name}", data, kind, version)


def _parse(subject: str, data: bytes, kind: str, version: int) -> Model:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            header = json.loads(archive[_HEADER].tobytes())
            found = (header["format"], header["kind"], header["version"])
            if found != (_FORMAT, kind, version):
                raise ModelError(
                    subject,
                    f"is a model of kind {found[1]!r}, version {found[2]}, format {found[0]}; needed is kind {kind!r}, "
                    f"version {version}, format {_FORMAT}: train it again",
                )
            arrays = {name: archive[name] for name in archive.files if name != _HEADER}
            return Model(kind, version, header["card"], arrays)
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelError(subject, f"is not a model file, or is damaged ({error})") from error
