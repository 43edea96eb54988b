"""`chaffinch clean`: from a crawl to its pages' own content."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeAlias

from chaffinch.api import Cleaning
from chaffinch.cli.options import (
    add_engine_options,
    add_inputs,
    add_method_options,
    add_run_options,
    engine_of,
    favor_of,
    kept_method_of,
    limits_of,
    method_of,
    sources_of,
    tell_of_journal,
    urls_of,
)
from chaffinch.cli.progress import Progress
from chaffinch.errors import UsageError
from chaffinch.methods.duplicates import IMatch
from chaffinch.render.formats import FORMATS
from chaffinch.runs import Journal, RunOptions
from chaffinch.runs.record import write_record
from chaffinch.sinks import check_own, open_sink
from chaffinch.sources import estimate_total
from chaffinch.store import TemplateStore

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from chaffinch.methods import AnyMethod
    from chaffinch.sinks import Sink
    from chaffinch.sites import SiteBy

    Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001  (it has no other name)

Command: TypeAlias = "Callable[[argparse.Namespace], int]"

_EPILOG = """examples:
  chaffinch clean page.html                      print one page's content
  chaffinch clean crawl/ -o clean/               a folder of pages to a folder of text files
  chaffinch clean crawl.warc.gz -o out.jsonl     an archive to one JSON object per page
  chaffinch clean new/ --templates templates.db -o clean/
                                                 by what `chaffinch learn` kept of the sites
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
    add_inputs(parser, dedup=True)
    output = parser.add_argument_group("output")
    output.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="OUT",
        help="a folder, a file that ends in .jsonl, .parquet or .warc.gz, here or remote, or - for standard output "
        "(default)",
    )
    output.add_argument("--format", choices=FORMATS, default="text", help="the format of the content (default: text)")
    output.add_argument(
        "--jsonl", action="store_true", help="with standard output: print whole documents as JSON Lines"
    )
    output.add_argument("--dry-run", action="store_true", help="only report what would be kept; write nothing")
    output.add_argument("--json", action="store_true", help="print the report at the end as JSON")
    add_method_options(parser, comments=True)
    parser.add_argument(
        "--templates",
        metavar="DB",
        help="go by the templates that `chaffinch learn` kept, and by its method: every page is read once, and pages "
        "of sites that are not in it are treated alone",
    )
    parser.add_argument("--page-by-page", action="store_true", help="treat every page alone, whatever else is given")
    add_run_options(parser)
    add_engine_options(parser)
    parser.set_defaults(run=_run)


def _options(parsed: argparse.Namespace) -> RunOptions:
    method: AnyMethod | None = None
    site_by: SiteBy = parsed.site_by or "domain"
    if parsed.templates is not None:
        if parsed.page_by_page:
            raise UsageError("--page-by-page knows nothing of sites: it does not go with --templates")
        with TemplateStore.open(parsed.templates) as store:
            method, site_by = kept_method_of(parsed, store)
    return RunOptions(
        method=method or method_of(parsed),
        format=parsed.format,
        favor=favor_of(parsed),
        page_by_page=parsed.page_by_page,
        site_by=site_by,
        templates=parsed.templates,
        duplicates=IMatch() if parsed.dedup else None,
        urls=urls_of(parsed),
        sources=sources_of(parsed),
        captures=parsed.captures,
        jobs=parsed.jobs,
        memory=parsed.memory,
        limits=limits_of(parsed),
    )


def _run(parsed: argparse.Namespace) -> int:
    options = _options(parsed)
    cleaning = Cleaning(parsed.inputs, options, engine_of(parsed))
    to_standard_output = parsed.output == "-" and not parsed.dry_run
    extent = estimate_total(parsed.inputs, options.sources.leave_out)
    progress = Progress(extent.total if extent.unit == "pages" else None)
    with _journal(parsed, cleaning) as journal, _sink(parsed) as sink:
        for outcome in cleaning.outcomes(journal):
            progress.step()
            if outcome.document is not None and sink is not None:
                sink.write(outcome.document)
            elif outcome.error is not None:
                progress.clear()
                print(f"chaffinch: {outcome.source}: {outcome.error}", file=sys.stderr)
    progress.clear()
    if parsed.report is not None:
        write_record(parsed.report, "clean", cleaning.inputs, options, cleaning.report.as_json())
    _report(cleaning, as_json=parsed.json, beside_content=to_standard_output)
    return 1 if cleaning.report.failures else 0


def _sink(parsed: argparse.Namespace) -> AbstractContextManager[Sink | None]:
    if parsed.dry_run:
        return nullcontext()
    return open_sink(parsed.output, parsed.format, lines=parsed.jsonl)


def _journal(parsed: argparse.Namespace, cleaning: Cleaning) -> AbstractContextManager[Journal | None]:
    """Return where the run keeps what it has done, if its output is one that stays."""
    if parsed.report is not None:
        _ = cleaning.inputs  # from here on, changes of them are told
    if parsed.dry_run or parsed.output == "-":
        if parsed.resume:
            raise UsageError("--resume needs an output that stays: -o FOLDER or FILE")
        return nullcontext()
    check_own(parsed.output, parsed.inputs, parsed.format)
    if parsed.engine != "local":
        return nullcontext()
    journal = cleaning.journal(parsed.output, resume=parsed.resume, every=parsed.checkpoint)
    tell_of_journal(journal, resume=parsed.resume)
    return journal


def _report(cleaning: Cleaning, *, as_json: bool, beside_content: bool) -> None:
    """Print the report; where the content went to standard output, keep out of its way."""
    report = cleaning.report
    if as_json:
        print(json.dumps(report.as_json(), ensure_ascii=False, indent=2), file=sys.stderr if beside_content else None)
    elif not beside_content:
        print(report.as_table(), file=sys.stderr)
    elif report.drifted or not report.total.pages or sys.stderr.isatty():
        for remark in report.remarks():
            print(f"chaffinch: {remark}", file=sys.stderr)
