"""`chaffinch learn`: from a crawl to the templates of its sites, kept in a database."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from chaffinch.cli.options import (
    add_engine_options,
    add_inputs,
    add_method_options,
    add_run_options,
    engine_of,
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
from chaffinch.runs import Failure, LearnOptions, RunOptions, learn_templates
from chaffinch.runs.learning import learn_journal
from chaffinch.runs.record import changed_inputs, write_record
from chaffinch.sources import estimate_total, input_states
from chaffinch.store import TemplateStore

if TYPE_CHECKING:
    from chaffinch.cli.clean import Subparsers
    from chaffinch.methods import AnyMethod
    from chaffinch.sites import SiteBy

_EPILOG = """examples:
  chaffinch learn crawl/ -o templates.db                  learn every site of a crawl
  chaffinch learn more.warc.gz -o templates.db            learn from more pages, by the same method
  chaffinch learn new/ -o templates.db --relearn          learn redesigned sites anew
  chaffinch clean new.warc.gz --templates templates.db    use it
  chaffinch templates show templates.db                   see what is in it

All is written in one transaction when all pages are read: an interrupted run changes nothing, and --resume goes on
with it.
exit codes: 0 done, 1 some inputs failed (each is named), 2 wrong usage
"""


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "learn",
        help="learn the templates of sites and keep them",
        description="Learn the templates of all sites of a crawl and keep them, to clean pages that come later.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_inputs(parser, dedup=True)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="DB",
        help="the template database; one that is there is updated, by its own method and options",
    )
    fresh = parser.add_mutually_exclusive_group()
    fresh.add_argument("--replace", action="store_true", help="start anew instead of updating")
    fresh.add_argument(
        "--relearn", action="store_true", help="learn the sites of INPUT anew, as after a redesign; other sites stay"
    )
    parser.add_argument("--json", action="store_true", help="print the report at the end as JSON")
    add_method_options(parser, favor=False)
    add_run_options(parser)
    add_engine_options(parser)
    parser.set_defaults(run=_run)


def _options(parsed: argparse.Namespace) -> RunOptions:
    path = Path(parsed.output)
    method: AnyMethod | None = None
    site_by: SiteBy = parsed.site_by or "domain"
    if not parsed.replace and path.exists() and path.stat().st_size:
        try:
            with TemplateStore.open(parsed.output) as store:
                method, site_by = kept_method_of(parsed, store)
        except UsageError as error:
            raise UsageError(f"{error}, or start anew with --replace") from error
    return RunOptions(
        method=method or method_of(parsed),
        site_by=site_by,
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
    extent = estimate_total(parsed.inputs)
    progress = Progress(extent.total if extent.unit == "pages" else None)

    how = LearnOptions(replace=parsed.replace, relearn=parsed.relearn, step=progress.steps, engine=engine_of(parsed))
    states = input_states(parsed.inputs, options.sources)
    try:
        if how.engine is not None:
            report = learn_templates(parsed.inputs, parsed.output, options, how)
        else:
            with learn_journal(
                parsed.output, states, options, how, resume=parsed.resume, every=parsed.checkpoint
            ) as journal:
                tell_of_journal(journal, resume=parsed.resume)
                report = learn_templates(parsed.inputs, parsed.output, options, replace(how, journal=journal))
    finally:
        progress.clear()
    for path in changed_inputs(states, input_states(parsed.inputs, options.sources)):
        report.failures.append(Failure(path, "changed while it was being read"))
    for failure in report.failures:
        print(f"chaffinch: {failure.source}: {failure.reason}", file=sys.stderr)
    if parsed.report is not None:
        write_record(parsed.report, "learn", states, options, report.as_json())
    if parsed.json:
        print(json.dumps(report.as_json(), ensure_ascii=False, indent=2))
    else:
        print(report.as_table(), file=sys.stderr)
    return 1 if report.failures else 0
