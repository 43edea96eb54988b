"""Outputs: where documents are written to."""

from __future__ import annotations

from chaffinch.sinks.existing import check_own
from chaffinch.sinks.sink import Sink, open_sink

__all__ = ["Sink", "check_own", "open_sink"]
