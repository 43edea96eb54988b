"""What a run is told of by, for machines: all that decides its result, and all that was measured of it."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Final

from chaffinch.methods import options_of
from chaffinch.sinks.files import PartFile
from chaffinch.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.runs.options import RunOptions
    from chaffinch.sources import InputState

_WITHOUT_EFFECT: Final = frozenset({"jobs", "memory", "limits"})
"""Options that a run may change between two attempts."""


def options_as_json(options: RunOptions) -> dict[str, Any]:
    """Return all options as they are written in JSON."""
    shown: dict[str, Any] = {}
    for entry in fields(options):
        value = getattr(options, entry.name)
        shown[entry.name] = asdict(value) if hasattr(value, "__dataclass_fields__") else value
    shown["method"] = {"name": options.method.name, "version": options.method.version, **options_of(options.method)}
    return shown


def identity_of(command: str, states: Sequence[InputState], options: RunOptions, **more: object) -> dict[str, Any]:
    """Return all that decides what a run gives out, to be compared with that of an interrupted one."""
    chosen = {name: value for name, value in options_as_json(options).items() if name not in _WITHOUT_EFFECT}
    del chosen["sources"]["leave_out"]  # the output, which may be written in many ways: `out`, `out/`
    return {"command": command, "version": VERSION, **chosen, **more, "inputs": [asdict(state) for state in states]}


def changed_inputs(before: Sequence[InputState], after: Sequence[InputState]) -> list[str]:
    """Return the inputs that are not what they were."""
    return [one.path for one, other in zip(before, after, strict=True) if one != other]


def write_record(
    path: str, command: str, states: Sequence[InputState], options: RunOptions, report: dict[str, Any]
) -> None:
    """Write the report of a run to a file, which has its name when it is whole."""
    record = {
        "command": command,
        "version": VERSION,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "options": options_as_json(options),
        "inputs": [asdict(state) for state in states],
        **report,
    }
    part = PartFile(path)
    try:
        part.file.write(
            json.dumps(record, ensure_ascii=False, indent=2, default=str).encode("utf-8", "replace") + b"\n"
        )
        part.commit()
    except BaseException:
        part.abort()
        raise
