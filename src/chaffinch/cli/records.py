"""`chaffinch records`: from result pages to tables of records."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chaffinch.cli.options import add_inputs, printable, sources_of, urls_of
from chaffinch.cli.progress import Progress
from chaffinch.errors import InputError, OutputError, UsageError
from chaffinch.page import parse_capture
from chaffinch.records import Wrapper, apply_wrapper, draw, mine_all, read_wrappers, write_wrappers
from chaffinch.records.results import PageRecords
from chaffinch.records.tables import arrow_table, csv_lines, json_lines, tidy_lines
from chaffinch.sinks.base import writing
from chaffinch.sinks.files import PartFile
from chaffinch.sources import estimate_total, open_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chaffinch.cli.clean import Subparsers
    from chaffinch.page import Page

_EPILOG: Final = """examples:
  chaffinch records results-1.html results-2.html -o out.jsonl
  chaffinch records results/ --tidy -o out.csv       a row for each record, a column for each slot
  chaffinch records results/ -o out.jsonl --save-wrapper shop.json --graph shop.svg
  chaffinch records --wrapper shop.json new/ -o new.jsonl

Pages that share a template are learned from together: give several result pages of the same search. Pages of
different sites may be mixed; they are told apart by their URLs and their tags.
A line of JSON for each page: {"source", "url", "records": [{"units": [{"slot", "text", ...}]}]}.
CSV and Parquet are always tidy.
exit codes: 0 done, 1 some inputs failed or do not fit the wrapper (each is named), 2 wrong usage
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
    parser.add_argument("--wrapper", metavar="FILE", help="learn nothing: apply the wrappers of this file")
    parser.add_argument("--save-wrapper", metavar="FILE", help="keep what was learned, to be applied to other pages")
    parser.add_argument(
        "--graph",
        metavar="FILE",
        help="write the template graph as .svg or .json; of several templates, the one with most records",
    )
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    output: str = parsed.output
    if output != "-" and not output.lower().endswith((".jsonl", ".csv", ".parquet")):
        raise UsageError(f"{output}: records are written to .jsonl, .csv or .parquet files")
    if parsed.graph and not parsed.graph.lower().endswith((".svg", ".json")):
        raise UsageError(f"{parsed.graph}: graphs are written to .svg or .json files")
    if parsed.wrapper and parsed.save_wrapper:
        raise UsageError("--wrapper applies what was learned, and --save-wrapper keeps what is learned: give one")
    reading = _Reading(parsed)
    if parsed.wrapper:
        wrappers = read_wrappers(parsed.wrapper)
        found = [reading.applied(wrappers, page) for page in reading]
    else:
        pages = list(reading)
        found, wrappers = mine_all(pages)
    if parsed.save_wrapper:
        write_wrappers(parsed.save_wrapper, wrappers)
    if parsed.graph:
        _write_graph(parsed.graph, wrappers)
    _write(found, output, tidy=parsed.tidy)
    return 1 if reading.failed else 0


class _Reading:
    """The pages that can be read, one after the other, and how many inputs failed."""

    def __init__(self, parsed: argparse.Namespace) -> None:
        self.failed = 0
        self._parsed = parsed
        extent = estimate_total(parsed.inputs)
        self._progress = Progress(extent.total if extent.unit == "pages" else None)

    def __iter__(self) -> Iterator[Page]:
        wanted = urls_of(self._parsed)
        for capture in open_inputs(self._parsed.inputs, sources_of(self._parsed)):
            self._progress.step()
            if isinstance(capture, InputError):
                self._fail(str(capture))
                continue
            page = parse_capture(capture, self._parsed.site_by or "domain")
            if wanted.wants(page.url or page.source):
                yield page
        self._progress.clear()

    def applied(self, wrappers: Sequence[Wrapper], page: Page) -> PageRecords:
        """Return what the wrapper that fits best finds; say so if none does."""
        best = max((apply_wrapper(wrapper, page) for wrapper in wrappers), key=lambda applied: applied.fit)
        if not best.fits:
            self._fail(
                f"{page.source}: does not fit the wrapper (fit {best.fit:.2f}): a page of another template, or the "
                "site has changed"
            )
        return best.page

    def _fail(self, why: str) -> None:
        self.failed += 1
        self._progress.clear()
        print(f"chaffinch: {printable(why)}", file=sys.stderr)


def _write_graph(path: str, wrappers: Sequence[Wrapper]) -> None:
    """Write the graph of the template with most records."""
    if not wrappers:
        raise UsageError(f"{path}: there is no page to learn a graph from")
    wrapper = max(wrappers, key=lambda wrapper: wrapper.graph.records)
    name = Path(wrapper.site.rstrip("/")).name if "/" in wrapper.site else wrapper.site
    is_svg = path.lower().endswith(".svg")
    text = draw(wrapper.graph, name) if is_svg else json.dumps(wrapper.graph.as_json(), ensure_ascii=False, indent=1)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from error


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
