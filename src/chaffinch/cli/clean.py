"""`chaffinch clean`: from a crawl to its pages' own content."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeAlias

from chaffinch.api import Cleaning
from chaffinch.cli.options import add_method_options, method_of, positive
from chaffinch.cli.progress import Progress
from chaffinch.render.formats import FORMATS
from chaffinch.runs import RunOptions, UrlFilter
from chaffinch.sinks import open_sink
from chaffinch.sources import SourceOptions, estimate_total

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from chaffinch.sinks import Sink

    Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001  (it has no other name)

Command: TypeAlias = "Callable[[argparse.Namespace], int]"

_EPILOG = """examples:
  chaffinch clean page.html                      print one page's content
  chaffinch clean crawl/ -o clean/               a folder of pages to a folder of text files
  chaffinch clean crawl.warc.gz -o out.jsonl     an archive to one JSON object per page
  curl -s URL | chaffinch clean - --format markdown

A folder may hold a file urls.tsv with lines of "relative path, tab, URL".
exit codes: 0 done, 1 some inputs failed (each is named), 2 wrong usage
"""


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "clean",
        help="return the pages' own content",
        description="Return the pages' own content, without the template of their site.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="HTML files, folders, WARC, WACZ, JSON Lines or Parquet files, or - for standard input",
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="OUT",
        help="a folder, a file that ends in .jsonl or .parquet, or - for standard output (default)",
    )
    output.add_argument("--format", choices=FORMATS, default="text", help="the format of the content (default: text)")
    output.add_argument(
        "--jsonl", action="store_true", help="with standard output: print whole documents as JSON Lines"
    )
    output.add_argument("--dry-run", action="store_true", help="only report what would be kept; write nothing")
    output.add_argument("--json", action="store_true", help="print the report at the end as JSON")
    chosen = parser.add_argument_group("input")
    chosen.add_argument(
        "--include", action="append", default=[], metavar="PATTERN", help="only URLs like this, with * and ?"
    )
    chosen.add_argument("--exclude", action="append", default=[], metavar="PATTERN", help="no URLs like this")
    chosen.add_argument("--base-url", metavar="URL", help="the URL that a folder's pages stand below")
    chosen.add_argument("--url-column", default="url", metavar="NAME", help="the tables' column of URLs (default: url)")
    chosen.add_argument(
        "--html-column", default="html", metavar="NAME", help="the tables' column of pages (default: html)"
    )
    add_method_options(parser)
    parser.add_argument("--page-by-page", action="store_true", help="treat every page alone, whatever else is given")
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="how many processes work (default: 1)")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    options = RunOptions(
        method=method_of(parsed),
        format=parsed.format,
        threshold=parsed.threshold,
        page_by_page=parsed.page_by_page,
        urls=UrlFilter(tuple(parsed.include), tuple(parsed.exclude)),
        sources=SourceOptions(parsed.url_column, parsed.html_column, parsed.base_url),
        jobs=parsed.jobs,
    )
    cleaning = Cleaning(parsed.inputs, options)
    to_standard_output = parsed.output == "-" and not parsed.dry_run
    sink: AbstractContextManager[Sink | None] = (
        nullcontext() if parsed.dry_run else open_sink(parsed.output, parsed.format, lines=parsed.jsonl)
    )
    extent = estimate_total(parsed.inputs)
    progress = Progress(extent.total if extent.unit == "pages" else None)
    with sink as opened:
        for outcome in cleaning.outcomes():
            progress.step()
            if outcome.document is not None and opened is not None:
                opened.write(outcome.document)
            elif outcome.error is not None:
                progress.clear()
                print(f"chaffinch: {outcome.source}: {outcome.error}", file=sys.stderr)
    progress.clear()
    _report(cleaning, as_json=parsed.json, beside_content=to_standard_output)
    return 1 if cleaning.report.failures else 0


def _report(cleaning: Cleaning, *, as_json: bool, beside_content: bool) -> None:
    """Print the report; where the content went to standard output, keep out of its way."""
    report = cleaning.report
    if as_json:
        print(json.dumps(report.as_json(), ensure_ascii=False, indent=2), file=sys.stderr if beside_content else None)
    elif not beside_content:
        print(report.as_table(), file=sys.stderr)
    elif report.total.pages > report.total.informed and sys.stderr.isatty():
        print(report.as_table().splitlines()[-1], file=sys.stderr)
