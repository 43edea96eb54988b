"""`chaffinch evaluate`: a method measured on labelled pages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from chaffinch.cli.options import add_method_options, favor_of, method_of, positive
from chaffinch.errors import OutputError
from chaffinch.evaluation.datasets import SET_NAMES
from chaffinch.evaluation.evaluate import Settings, compare
from chaffinch.evaluation.peers import PEERS, SLOW_PEERS
from chaffinch.methods import METHODS, make_method

if TYPE_CHECKING:
    import argparse

    from chaffinch.cli.clean import Subparsers


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "evaluate",
        help="measure a method on labelled pages",
        description="Measure a method on labelled pages, beside the baselines that keep everything and nothing. The "
        "data is not part of Chaffinch: its folder is $CHAFFINCH_DATA, or ~/.cache/chaffinch/data.",
    )
    parser.add_argument("set", choices=SET_NAMES, metavar="SET", help=f"one of {', '.join(SET_NAMES)}")
    parser.epilog = "`--method all` compares all methods, at their defaults, in accuracy and time."
    add_method_options(parser)
    parser.add_argument("--page-by-page", action="store_true", help="tell the method nothing of the pages' sites")
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N sites")
    parser.add_argument(
        "--peers", action="store_true", help="measure every peer on the same pages, but slow newspaper4k"
    )
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        choices=PEERS,
        metavar="NAME",
        help=f"measure this one: {', '.join(PEERS)}; may be repeated. Peers need the extra `bench`; their answers are "
        "kept in the data folder, so the second time is quick",
    )
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="how many processes work (default: 1)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--pages", metavar="FILE", help="write a line of JSON for each page and prediction")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    settings = Settings(favor=favor_of(parsed), limit=parsed.limit, page_by_page=parsed.page_by_page, jobs=parsed.jobs)

    def progress(done: int, total: int, name: str) -> None:
        sys.stderr.write(f"\r\x1b[K{done}/{total} {name}" if done < total else "\r\x1b[K")
        sys.stderr.flush()

    evaluation = compare(
        parsed.set,
        [make_method(name) for name in METHODS] if parsed.method == "all" else [method_of(parsed)],
        peers=_peers(parsed),
        settings=settings,
        progress=progress if sys.stderr.isatty() else None,
    )
    if parsed.pages:
        try:
            with Path(parsed.pages).open("w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in evaluation.page_lines())
        except OSError as error:
            raise OutputError(parsed.pages, error.strerror or str(error)) from error
    print(evaluation.to_json() if parsed.json else evaluation.table())
    return 0


def _peers(parsed: argparse.Namespace) -> list[str]:
    """Return the peers that are asked for, in the order of the table of peers."""
    return [name for name in PEERS if name in parsed.peer or (parsed.peers and name not in SLOW_PEERS)]
