"""Outputs: where documents are written to."""

from __future__ import annotations

from chaffinch.sinks.sink import Sink, open_sink

__all__ = ["Sink", "open_sink"]
