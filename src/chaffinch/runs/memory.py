"""How much memory things take."""

from __future__ import annotations

import resource
import sys
from dataclasses import fields, is_dataclass
from typing import Final

import numpy as np

_UNITS: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_OBJECT: Final = 64


def peak_of_process() -> int:
    """Return the most memory that this process has held, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def bytes_of(value: object) -> int:
    """Return about how many bytes a summary takes: its arrays and texts, and something for each object."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes) + 2 * _OBJECT
    if isinstance(value, str | bytes):
        return len(value) + _OBJECT
    if isinstance(value, tuple | list | set | frozenset):
        return _OBJECT + sum(map(bytes_of, value))
    if isinstance(value, dict):
        return _OBJECT + sum(bytes_of(key) + bytes_of(entry) for key, entry in value.items())
    if is_dataclass(value) and not isinstance(value, type):
        return _OBJECT + sum(bytes_of(getattr(value, entry.name)) for entry in fields(value))
    return _OBJECT


def read_bytes(text: str) -> int:
    """Read a number of bytes such as `512M` or `1.5G`; raises `ValueError`."""
    lower = text.strip().lower().removesuffix("ib").removesuffix("b")
    unit = _UNITS.get(lower[-1:], 1)
    number = float(lower.rstrip("kmgt") if unit > 1 else lower)
    if not 0 < number < 1 << 40:
        raise ValueError(text)
    return int(number * unit)


def shown_bytes(number: int) -> str:
    """Return a number of bytes as a person writes it."""
    for unit in ("", "k", "M", "G"):
        if number < 10_240 or unit == "G":
            return f"{number:,} {unit}B" if unit else f"{number:,} bytes"
        number //= 1024
    raise AssertionError
