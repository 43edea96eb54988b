"""The version, read from the installed package so that it stands in one place."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

VERSION: Final = version("chaffinch")
