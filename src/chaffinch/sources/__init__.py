"""Inputs: folders, HTML files, archives and tables, read one page at a time."""

from __future__ import annotations

from chaffinch.sources.capture import Capture
from chaffinch.sources.extent import InputState, input_states
from chaffinch.sources.find import find_capture
from chaffinch.sources.inputs import Extent, estimate_total, open_inputs, read_place
from chaffinch.sources.options import SourceOptions
from chaffinch.sources.places import Place, list_places

__all__ = [
    "Capture",
    "Extent",
    "InputState",
    "Place",
    "SourceOptions",
    "estimate_total",
    "find_capture",
    "input_states",
    "list_places",
    "open_inputs",
    "read_place",
]
