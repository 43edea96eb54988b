"""The formats in which content can be given out."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Format: TypeAlias = Literal["text", "markdown", "html", "json"]

FORMATS: Final[tuple[Format, ...]] = ("text", "markdown", "html", "json")
