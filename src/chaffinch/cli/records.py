"""`chaffinch records`: from result pages to tables of records."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final

from chaffinch.cli.options import add_inputs, sources_of, urls_of
from chaffinch.cli.progress import Progress
from chaffinch.errors import InputError, UsageError
from chaffinch.page import parse_capture
from chaffinch.records import mine_records
from chaffinch.records.tables import arrow_table, csv_lines, json_lines, tidy_lines
from chaffinch.sinks.base import writing
from chaffinch.sinks.files import PartFile
from chaffinch.sources import estimate_total, open_inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.cli.clean import Subparsers
    from chaffinch.page import Page
    from chaffinch.records import PageRecords

_EPILOG: Final = """examples:
  chaffinch records results-1.html results-2.html -o out.jsonl
  chaffinch records results/ --tidy -o out.csv       a row for each record, a column for each slot

Pages of one site are learned from together: give several result pages of the same search.
A line of JSON for each page: {"source", "url", "records": [{"units": [{"slot", "text", ...}]}]}.
CSV and Parquet are always tidy.
exit codes: 0 done, 1 some inputs failed (each is named), 2 wrong usage
"""


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "records",
        help="turn result pages into tables of records",
        description="Find the records of result lists (of search engines, shops, job boards, forums), cut them into "
        "units, and line the units up in slots.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_inputs(parser)
    parser.add_argument(
        "-o", "--output", default="-", metavar="OUT", help="a .jsonl, .csv or .parquet file, or - (default)"
    )
    parser.add_argument("--tidy", action="store_true", help="one row for each record, with named columns")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    output: str = parsed.output
    if output != "-" and not output.lower().endswith((".jsonl", ".csv", ".parquet")):
        raise UsageError(f"{output}: records are written to .jsonl, .csv or .parquet files")
    pages, failed = _pages(parsed)
    found = _mine(pages)
    _write(found, output, tidy=parsed.tidy)
    return 1 if failed else 0


def _pages(parsed: argparse.Namespace) -> tuple[list[Page], int]:
    """Return the pages that can be read, and how many inputs cannot."""
    extent = estimate_total(parsed.inputs)
    progress = Progress(extent.total if extent.unit == "pages" else None)
    wanted = urls_of(parsed)
    pages: list[Page] = []
    failed = 0
    for capture in open_inputs(parsed.inputs, sources_of(parsed)):
        progress.step()
        if isinstance(capture, InputError):
            failed += 1
            progress.clear()
            print(f"chaffinch: {capture}", file=sys.stderr)
            continue
        page = parse_capture(capture, parsed.site_by or "domain")
        if wanted.wants(page.url or page.source):
            pages.append(page)
    progress.clear()
    return pages, failed


def _mine(pages: Sequence[Page]) -> list[PageRecords]:
    """Return the records of all pages, each site's learned together, in the order of the pages."""
    sites: dict[str, list[int]] = {}
    for number, page in enumerate(pages):
        sites.setdefault(page.place.site, []).append(number)
    found: dict[int, PageRecords] = {}
    for numbers in sites.values():
        found.update(zip(numbers, mine_records([pages[number] for number in numbers]), strict=True))
    return [found[number] for number in range(len(pages))]


def _write(found: Sequence[PageRecords], output: str, *, tidy: bool) -> None:
    name = output.lower()
    if name.endswith(".parquet"):
        import pyarrow.parquet as pq  # noqa: PLC0415  (slow to import)

        part = PartFile(output)
        try:
            with writing(output):
                pq.write_table(arrow_table(found), part.file, compression="zstd")
        except BaseException:
            part.abort()
            raise
        part.commit()
        return
    lines = csv_lines(found) if name.endswith(".csv") else tidy_lines(found) if tidy else json_lines(found)
    if output == "-":
        for line in lines:
            sys.stdout.write(line)
        return
    part = PartFile(output)
    try:
        with writing(output):
            part.file.writelines(line.encode() for line in lines)
    except BaseException:
        part.abort()
        raise
    part.commit()
