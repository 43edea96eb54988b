"""`chaffinch evaluate`: a method measured on labelled pages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chaffinch.cli.options import add_method_options, favor_of, method_of, positive
from chaffinch.errors import MissingExtraError, OutputError, UsageError
from chaffinch.evaluation.corpora import COLLECTIONS
from chaffinch.evaluation.datasets import SET_NAMES
from chaffinch.evaluation.evaluate import Settings, compare
from chaffinch.evaluation.peers import PEERS, SLOW_PEERS, peer_version
from chaffinch.evaluation.predictors import HeldOut, MethodPredictor
from chaffinch.evaluation.records_report import measure_records
from chaffinch.evaluation.retrieval import measure_retrieval
from chaffinch.evaluation.retrieval_report import query_lines, tables, to_json
from chaffinch.evaluation.retrieval_rivals import RawLines, ShingleBlocks
from chaffinch.methods import METHODS, make_method

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from chaffinch.cli.clean import Subparsers
    from chaffinch.evaluation.evaluate import Progress
    from chaffinch.evaluation.predictors import Predictor
    from chaffinch.methods import AnyMethod

_RETRIEVAL: Final = "retrieval"
_RECORDS: Final = "records"


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "evaluate",
        help="measure a method on labelled pages",
        description="Measure a method on labelled pages, beside the baselines that keep everything and nothing. The "
        "data is not part of Chaffinch: its folder is $CHAFFINCH_DATA, or ~/.cache/chaffinch/data.",
    )
    parser.add_argument(
        "set",
        choices=(*SET_NAMES, _RETRIEVAL, _RECORDS),
        metavar="SET",
        help=f"one of {', '.join(SET_NAMES)}; or {_RETRIEVAL}: what a method does to search in real collections; or "
        f"{_RECORDS}: how well records are found, cut and lined up",
    )
    parser.epilog = (
        "`--method all` compares all methods, at their defaults, in accuracy and time. `retrieval` needs the extra of "
        "this name; with `--method all` it also measures the papers' rivals."
    )
    add_method_options(parser)
    parser.add_argument(
        "--shipped",
        action="store_true",
        help=f"with {_RECORDS}, measure the shipped weights on what they were learned from, instead of learning anew "
        "for each fold of sites",
    )
    parser.add_argument(
        "--ablations", action="store_true", help=f"with {_RECORDS}, also measure with each part turned off in turn"
    )
    parser.add_argument("--page-by-page", action="store_true", help="tell the method nothing of the pages' sites")
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N sites")
    parser.add_argument(
        "--collection",
        action="append",
        default=[],
        choices=COLLECTIONS,
        metavar="NAME",
        help=f"with {_RETRIEVAL}, only this one of {', '.join(COLLECTIONS)}; may be repeated",
    )
    parser.add_argument(
        "--peers", action="store_true", help="measure every peer that is installed, but slow newspaper4k"
    )
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        choices=PEERS,
        metavar="NAME",
        help=f"measure this one: {', '.join(PEERS)}; may be repeated. Peers need the extras `bench` and `peers`; their "
        "answers are kept in the data folder, so the second time is quick",
    )
    parser.add_argument(
        "--held-out",
        metavar="FILE",
        help="also measure texts made before by networks that were not trained on the page's site, as training writes "
        "them",
    )
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="how many processes work (default: 1)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--pages", metavar="FILE", help="write a line of JSON for each page and prediction, or query")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    def tell(done: int, total: int, name: str) -> None:
        sys.stderr.write(f"\r\x1b[K{done}/{total} {name}" if done < total else "\r\x1b[K")
        sys.stderr.flush()

    progress = tell if sys.stderr.isatty() else None
    methods = [make_method(name) for name in METHODS] if parsed.method == "all" else [method_of(parsed)]
    if parsed.set == _RECORDS:
        report = measure_records(
            cross=not parsed.shipped, ablations=parsed.ablations, limit=parsed.limit, progress=progress
        )
        print(report.to_json() if parsed.json else report.tables())
        return 0
    if parsed.set == _RETRIEVAL:
        return _run_retrieval(parsed, methods, progress)
    if parsed.collection:
        raise UsageError(f"--collection is for {_RETRIEVAL}")
    settings = Settings(favor=favor_of(parsed), limit=parsed.limit, page_by_page=parsed.page_by_page, jobs=parsed.jobs)
    held = [HeldOut("held out", Path(parsed.held_out))] if parsed.held_out else []
    evaluation = compare(parsed.set, methods, peers=_peers(parsed), rivals=held, settings=settings, progress=progress)
    _write(parsed.pages, evaluation.page_lines())
    print(evaluation.to_json() if parsed.json else evaluation.table())
    return 0


def _run_retrieval(parsed: argparse.Namespace, methods: list[AnyMethod], progress: Progress | None) -> int:
    if parsed.peers or parsed.peer:
        raise UsageError(f"{_RETRIEVAL} compares methods with the papers' rivals, not with peers")
    rivals: list[Predictor] = [ShingleBlocks(), RawLines()] if parsed.method == "all" else []
    found = measure_retrieval(
        [*(MethodPredictor(method, favor_of(parsed), parsed.page_by_page) for method in methods), *rivals],
        collections=[name for name in COLLECTIONS if name in parsed.collection] or COLLECTIONS,
        limit=parsed.limit,
        jobs=parsed.jobs,
        progress=progress,
    )
    _write(parsed.pages, query_lines(found))
    print(to_json(found) if parsed.json else tables(found))
    return 0


def _write(path: str | None, lines: Iterable[str]) -> None:
    """Write lines to the file that was named, if one was."""
    if path is None:
        return
    try:
        with Path(path).open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from error


def _peers(parsed: argparse.Namespace) -> list[str]:
    """Return the peers that are asked for, in the order of the table of peers; of all of them, those there are."""
    asked = [name for name in PEERS if name in parsed.peer or (parsed.peers and name not in SLOW_PEERS)]
    return [name for name in asked if name in parsed.peer or _is_there(name)]


def _is_there(peer: str) -> bool:
    """Tell whether a peer is installed, and say so if it is not."""
    try:
        peer_version(peer)
    except MissingExtraError as error:
        print(f"chaffinch: left out: {error}", file=sys.stderr)
        return False
    return True
