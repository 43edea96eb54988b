"""Which numbers an option may be. An option says so in its type, and the method checks itself when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Annotated, TypeAlias, get_type_hints

from chaffinch.errors import UsageError


@dataclass(frozen=True, slots=True)
class Between:
    """The least and the largest number that an option may be."""

    least: float
    most: float = inf

    def __str__(self) -> str:
        return f"{self.least:g} or more" if self.most == inf else f"from {self.least:g} to {self.most:g}"


Share: TypeAlias = Annotated[float, Between(0, 1)]
Count: TypeAlias = Annotated[int, Between(1)]
Amount: TypeAlias = Annotated[int, Between(0)]


def check_bounds(method: object) -> None:
    """Raise `UsageError` if an option of `method` is out of its bounds, or no number."""
    for name, bounds in _bounds_of(type(method)).items():
        value = getattr(method, name)
        if not bounds.least <= value <= bounds.most:  # false for what is no number, too
            raise UsageError(f"option {name} of method {getattr(method, 'name', '?')} is {bounds}, not {value}")


def _bounds_of(kind: type) -> dict[str, Between]:
    return {
        name: bounds
        for name, hint in get_type_hints(kind, include_extras=True).items()
        for bounds in getattr(hint, "__metadata__", ())
        if isinstance(bounds, Between)
    }
