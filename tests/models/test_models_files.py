"""Model files: whole, equal for equal input, and refused with a clear word where they do not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chaffinch.errors import ModelError
from chaffinch.models import Model, read_model, write_model


def _model() -> Model:
    arrays = {"weights": np.arange(6, dtype=np.float32).reshape(2, 3), "names": np.array(["a", "b"])}
    return Model("test", 3, {"data": "none", "seed": 7, "scores": {"f1": 0.5}}, arrays)


def test_round_trip(tmp_path: Path) -> None:
    write_model(tmp_path / "m.npz", _model())
    back = read_model(tmp_path / "m.npz", "test", 3)
    assert back.card == _model().card
    for name, array in _model().arrays.items():
        assert np.array_equal(back.arrays[name], array)
    assert [path.name for path in tmp_path.iterdir()] == ["m.npz"]


def test_equal_models_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_model(tmp_path / name, _model())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(("kind", "version"), [("test", 2), ("other", 3)])
def test_another_kind_or_version(tmp_path: Path, kind: str, version: int) -> None:
    write_model(tmp_path / "m.npz", _model())
    with pytest.raises(ModelError, match="train it again"):
        read_model(tmp_path / "m.npz", kind, version)


def test_damaged_missing_or_foreign(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    write_model(path, _model())
    whole = path.read_bytes()
    for data in (b"", b"PK", whole[:-40], whole[: len(whole) // 2], b"<html>", whole.replace(b"header", b"hxader")):
        path.write_bytes(data)
        with pytest.raises(ModelError, match=r"m\.npz"):
            read_model(path, "test", 3)
    with pytest.raises(ModelError, match="cannot be read"):
        read_model(tmp_path / "none", "test", 3)


def test_nothing_is_executed(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    with path.open("wb") as file:
        np.savez(file, header=np.array([{"format": 1}], dtype=object))
    with pytest.raises(ModelError):
        read_model(path, "test", 3)
