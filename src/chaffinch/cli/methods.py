"""`chaffinch methods`: which methods there are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from chaffinch.methods import DEFAULT_METHOD, METHODS, make_method, options_of

if TYPE_CHECKING:
    import argparse

    from chaffinch.cli.clean import Subparsers


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "methods", help="list the methods and their options", description="List the methods and their options."
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    made = [make_method(name) for name in METHODS]
    if parsed.json:
        listed: list[dict[str, Any]] = [
            {"name": method.name, "summary": method.summary, "options": options_of(method)} for method in made
        ]
        print(json.dumps(listed, indent=2))
        return 0
    for method in made:
        default = " (default)" if method.name == DEFAULT_METHOD else ""
        print(f"{method.name}{default}: {method.summary}")
        for key, value in options_of(method).items():
            print(f"    --option {key}={value}")
    return 0
