"""`chaffinch dedup`: which pages of a crawl are duplicates of an earlier one."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from chaffinch.cli.options import add_inputs, add_jobs, positive, sources_of, urls_of
from chaffinch.cli.progress import Progress
from chaffinch.methods.duplicates import IMatch
from chaffinch.runs import RunOptions
from chaffinch.runs.duplicates import find_duplicates
from chaffinch.runs.report import counted
from chaffinch.sources import estimate_total, open_inputs

if TYPE_CHECKING:
    from chaffinch.cli.clean import Subparsers
    from chaffinch.runs.duplicates import Found, PageName

_EPILOG = """examples:
  chaffinch dedup crawl/                     list the groups of duplicates; the first of each is to keep
  chaffinch dedup crawl.warc.gz --json       the same for a program
  chaffinch dedup crawl/ --kept              the pages that are left, one on each line

exit codes: 0 done, 1 some inputs failed (each is named), 2 wrong usage
"""


def register(commands: Subparsers) -> None:
    """Add the command."""
    usual = IMatch()
    parser = commands.add_parser(
        "dedup",
        help="find duplicate pages",
        description="Find pages that are duplicates of an earlier one (I-Match): those with the same words, words that "
        "are common in the whole input left aside.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_inputs(parser)
    printed = parser.add_mutually_exclusive_group()
    printed.add_argument("--json", action="store_true", help="print JSON")
    printed.add_argument("--kept", action="store_true", help="print the pages that are left instead of the groups")
    terms = parser.add_argument_group("which words tell pages apart")
    terms.add_argument(
        "--most-share",
        type=_share,
        default=usual.most_share,
        metavar="SHARE",
        help="not those on more than this share of the pages (default: %(default)s)",
    )
    terms.add_argument(
        "--rarest", type=positive, default=usual.rarest, metavar="N", help="only the N rarest of a page (default: all)"
    )
    terms.add_argument(
        "--least-pages",
        type=positive,
        default=usual.least_pages,
        metavar="N",
        help="not those on fewer than N pages, such as dates and counters (default: %(default)s)",
    )
    add_jobs(parser)
    parser.set_defaults(run=_run)


def _share(text: str) -> float:
    """Read a number from 0 to 1."""
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError(text)
    return number


def _run(parsed: argparse.Namespace) -> int:
    match = IMatch(most_share=parsed.most_share, rarest=parsed.rarest, least_pages=parsed.least_pages)
    extent = estimate_total(parsed.inputs)
    progress = Progress(extent.total if extent.unit == "pages" else None)

    def step(pages: int) -> None:
        for _ in range(pages):
            progress.step()

    options = RunOptions(
        site_by=parsed.site_by or "domain", urls=urls_of(parsed), sources=sources_of(parsed), jobs=parsed.jobs
    )
    found = find_duplicates(open_inputs(parsed.inputs, options.sources), options, match, step)
    progress.clear()
    for failure in found.failures:
        print(f"chaffinch: {failure.subject}: {failure.reason}", file=sys.stderr)
    _print(parsed, found)
    return 1 if found.failures else 0


def _print(parsed: argparse.Namespace, found: Found) -> None:
    names, duplicates = found.names, set(found.duplicates)
    counts = {"pages": len(names), "kept": len(names) - len(duplicates), "duplicates": len(duplicates)}
    if parsed.json:
        listed = [
            {"kept": _named(names[first]), "duplicates": [_named(names[number]) for number in rest]}
            for first, *rest in found.groups
        ]
        failures = [{"source": failure.subject, "reason": failure.reason} for failure in found.failures]
        whole: dict[str, Any] = {**counts, "groups": listed, "failures": failures}
        print(json.dumps(whole, ensure_ascii=False, indent=2))
        return
    if parsed.kept:
        for number, name in enumerate(names):
            if number not in duplicates:
                print(name.source)
    else:
        for first, *rest in found.groups:
            print(names[first].source)
            for number in rest:
                print(f"    {names[number].source}")
    told = [counted(len(names), "page"), f"{counts['kept']:,} kept", counted(len(duplicates), "duplicate")]
    print(f"{', '.join(told)} in {counted(len(found.groups), 'group')}", file=sys.stderr)


def _named(name: PageName) -> dict[str, str | None]:
    return {"source": name.source, "url": name.url}
