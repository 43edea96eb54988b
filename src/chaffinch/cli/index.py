"""`chaffinch index`: from a crawl to a full-text index of its pages' own content."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from chaffinch.cli.options import (
    add_inputs,
    add_jobs,
    add_method_options,
    favor_of,
    kept_method_of,
    method_of,
    sources_of,
    urls_of,
)
from chaffinch.cli.progress import Progress
from chaffinch.errors import UsageError
from chaffinch.methods import DEFAULT_FAVOR, make_method, read_favor
from chaffinch.runs import RunOptions
from chaffinch.sources import estimate_total
from chaffinch.store import TemplateStore

if TYPE_CHECKING:
    from chaffinch.cli.clean import Subparsers
    from chaffinch.index import About, IndexReport
    from chaffinch.methods import AnyMethod
    from chaffinch.runs import Outcome
    from chaffinch.sites import SiteBy

_EPILOG = """examples:
  chaffinch index crawl/ -o INDEX                    build an index, or add to it
  chaffinch search INDEX "sunflower seeds"           and search in it
  chaffinch index new.warc.gz -o INDEX               add pages; those that changed are replaced
  chaffinch index -o INDEX --delete https://example.org/old
  chaffinch index crawl/ -o WHOLE --no-removal       the pages with their template, to compare

Pages are named by their URL, or by where they were read if they have none. Every 2,000 pages are committed: a run
that is stopped, however hard, leaves an index that can be searched, and can be run again.
exit codes: 0 done, 1 some inputs failed (each is named), 2 wrong usage
"""


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "index",
        help="build a search index of the pages' own content",
        description="Build a full-text index of the pages of a crawl. Template is kept apart: it is not searched "
        "unless a query asks for it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_inputs(parser, required=False)
    output = parser.add_argument_group("output")
    output.add_argument("-o", "--output", required=True, metavar="INDEX", help="the index, a folder; made if needed")
    output.add_argument(
        "--stem",
        metavar="LANGUAGE",
        help="find words in all their forms, by the stemmer of one language, such as en (default: as they are written)",
    )
    output.add_argument("--delete", action="append", default=[], metavar="URL", help="delete a page; may be repeated")
    output.add_argument("--delete-site", action="append", default=[], metavar="SITE", help="delete a site's pages")
    output.add_argument("--json", action="store_true", help="print the report at the end as JSON")
    add_method_options(parser)
    parser.add_argument(
        "--templates",
        metavar="DB",
        help="go by the templates that `chaffinch learn` kept, and by its method; every page is read once",
    )
    parser.add_argument("--no-removal", action="store_true", help="index the pages whole, with their template")
    add_jobs(parser)
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from chaffinch.index import delete_pages  # noqa: PLC0415  (the engine is large)

    deletes = bool(parsed.delete or parsed.delete_site)
    if bool(parsed.inputs) == deletes:
        raise UsageError("give either INPUT to index or pages to --delete")
    report = delete_pages(parsed.output, parsed.delete, parsed.delete_site) if deletes else _index(parsed)
    for failure in report.run.failures if deletes else ():
        print(f"chaffinch: {failure.source}: {failure.reason}", file=sys.stderr)
    if parsed.json:
        print(json.dumps(report.as_json(), ensure_ascii=False, indent=2))
    else:
        print(report.as_text(), file=sys.stderr)
    return 1 if report.run.failures else 0


def _index(parsed: argparse.Namespace) -> IndexReport:
    from chaffinch.index import index_inputs, is_index, read_about  # noqa: PLC0415  (the engine is large)

    about = read_about(parsed.output) if is_index(parsed.output) else None
    removal = not parsed.no_removal
    if about and about.whole and not (parsed.method or parsed.option or parsed.templates):
        removal = False
    options = _options(parsed, about, removal=removal)
    extent = estimate_total(parsed.inputs)
    progress = Progress(extent.total if extent.unit == "pages" else None)

    def step(outcome: Outcome) -> None:
        progress.step()
        if outcome.error is not None:
            progress.clear()
            print(f"chaffinch: {outcome.source}: {outcome.error}", file=sys.stderr)

    stem = parsed.stem if parsed.stem or about is None else about.stem
    try:
        return index_inputs(parsed.inputs, parsed.output, options, removal=removal, stem=stem, step=step)
    finally:
        progress.clear()


def _options(parsed: argparse.Namespace, about: About | None, *, removal: bool) -> RunOptions:
    """Return the options of the run: where none are given, those that the index was built with."""
    favor = favor_of(parsed)
    site_by: SiteBy = parsed.site_by or (about.site_by if about else "domain")
    method: AnyMethod | None = None
    if not removal:
        if parsed.method or parsed.option or parsed.templates:
            raise UsageError("--no-removal removes nothing: it does not go with a method")
        method = make_method()
    elif parsed.templates is not None:
        with TemplateStore.open(parsed.templates) as store:
            method, site_by = kept_method_of(parsed, store)
    elif about and not parsed.method and not parsed.option:
        method = about.make_method()
    if about and removal and favor == DEFAULT_FAVOR:
        favor = read_favor(about.favor)
    return RunOptions(
        method=method or method_of(parsed),
        favor=favor,
        site_by=site_by,
        templates=parsed.templates,
        urls=urls_of(parsed),
        sources=sources_of(parsed),
        jobs=parsed.jobs,
    )
