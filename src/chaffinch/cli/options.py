"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chaffinch.errors import UsageError
from chaffinch.methods import DEFAULT_METHOD, DEFAULT_THRESHOLD, METHODS, AnyMethod, make_method

if TYPE_CHECKING:
    import argparse


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a method."""
    group = parser.add_argument_group("method")
    group.add_argument(
        "--method",
        default=DEFAULT_METHOD,
        metavar="NAME",
        help=f"how template is told from content: {', '.join(METHODS)} (default: %(default)s)",
    )
    group.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the method; may be repeated; `chaffinch methods` lists them",
    )
    group.add_argument(
        "--threshold",
        type=float,
        default=DEFAULT_THRESHOLD,
        metavar="SCORE",
        help="drop text that scores at least this much, from 0 to 1 (default: %(default)s)",
    )


def method_of(parsed: argparse.Namespace) -> AnyMethod:
    """Return the method that the options choose."""
    options: dict[str, str] = {}
    for text in parsed.option:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--option takes KEY=VALUE, not {text!r}")
        options[key] = value
    return make_method(parsed.method, options)


def positive(text: str) -> int:
    """Read a whole number from 1 up."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
