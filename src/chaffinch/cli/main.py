"""The command `chaffinch`: its parts, and the one place where errors become exit codes.

0: done. 1: some inputs failed, each is named. 2: the call was wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Final

from chaffinch.cli import (
    clean,
    dedup,
    evaluate,
    explain,
    index,
    keywords,
    labels,
    learn,
    methods,
    records,
    search,
    templates,
    train,
)
from chaffinch.errors import ChaffinchError, MissingExtraError, UsageError
from chaffinch.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130

_COMMANDS: Final = (
    clean,
    records,
    explain,
    learn,
    templates,
    index,
    search,
    dedup,
    keywords,
    labels,
    train,
    evaluate,
    methods,
)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="chaffinch",
        description="Keeps the grain of web pages and drops the chaff: learns what is template on each site of a crawl "
        "and gives back every page's own content.",
        epilog="Start with: chaffinch clean page.html",
    )
    parser.add_argument("--version", action="version", version=f"chaffinch {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.register(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parsed = build_parser().parse_args(arguments)
    try:
        run: clean.Command = parsed.run
        return run(parsed)
    except (UsageError, MissingExtraError) as error:
        print(f"chaffinch: {error}", file=sys.stderr)
        return USAGE
    except ChaffinchError as error:
        print(f"chaffinch: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("chaffinch: interrupted; what stands under a final name is whole", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
