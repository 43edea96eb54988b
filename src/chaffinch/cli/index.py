"""`chaffinch index`: from a crawl to a full-text index of its pages' own content."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from typing import TYPE_CHECKING

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
    urls_of,
)
from chaffinch.cli.progress import Progress
from chaffinch.errors import UsageError
from chaffinch.methods import DEFAULT_FAVOR, DEFAULT_METHOD, make_method, read_favor
from chaffinch.methods.offsets import Offsets
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
  chaffinch index crawl/ -o INDEX --one-pass         read every page once: template is found on the way
  chaffinch index crawl/ -o WHOLE --no-removal       the pages with their template, to compare
  chaffinch index crawl/ --to opensearch https://user@host:9200/pages

Pages are named by their URL, or by where they were read if they have none. Every 2,000 pages are committed: a run
that is stopped, however hard, leaves an index that can be searched, and can be run again. A password for a cluster is
best left out of the URL: it is taken from OPENSEARCH_PASSWORD.
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
    where = output.add_mutually_exclusive_group(required=True)
    where.add_argument("-o", "--output", metavar="INDEX", help="the index, a folder; made if needed")
    where.add_argument(
        "--to",
        nargs=2,
        metavar=("opensearch", "URL"),
        help="write to an index on an OpenSearch or Elasticsearch cluster (needs the extra `opensearch`); its name is "
        "the end of the URL",
    )
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
    parser.add_argument(
        "--one-pass",
        action="store_true",
        help="read every page once, and find template while the index is built (by the method offsets)",
    )
    parser.add_argument("--no-removal", action="store_true", help="index the pages whole, with their template")
    add_run_options(parser, resumable=False)
    add_engine_options(parser)
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    deletes = bool(parsed.delete or parsed.delete_site)
    if bool(parsed.inputs) == deletes:
        raise UsageError("give either INPUT to index or pages to --delete")
    if parsed.to and parsed.to[0] != "opensearch":
        raise UsageError(f"--to takes opensearch and a URL, not {parsed.to[0]!r}")
    # The client would print a line for each answer that it does not like; they are told below, in words.
    logging.getLogger("opensearch").addHandler(logging.NullHandler())
    report = _delete(parsed) if deletes else _index(parsed)
    for failure in report.run.failures if deletes else ():
        print(f"chaffinch: {failure.source}: {failure.reason}", file=sys.stderr)
    if parsed.json:
        print(json.dumps(report.as_json(), ensure_ascii=False, indent=2))
    else:
        print(report.as_text(), file=sys.stderr)
    return 1 if report.run.failures else 0


def _delete(parsed: argparse.Namespace) -> IndexReport:
    from chaffinch.index import delete_pages, delete_remote  # noqa: PLC0415  (the engine is large)

    if parsed.to:
        return delete_remote(parsed.to[1], parsed.delete, parsed.delete_site)
    return delete_pages(parsed.output, parsed.delete, parsed.delete_site)


def _index(parsed: argparse.Namespace) -> IndexReport:
    from chaffinch.index import index_inputs, send_inputs  # noqa: PLC0415  (the engine is large)

    about = _about(parsed)
    removal = not parsed.no_removal
    if about and about.whole and not (parsed.method or parsed.option or parsed.templates):
        removal = False
    if parsed.one_pass and not removal:
        raise UsageError("--no-removal removes nothing: it does not go with --one-pass")
    one_pass = parsed.one_pass or (about is not None and about.one_pass and parsed.method is None)
    options = _options(parsed, about, removal=removal)
    extent = estimate_total(parsed.inputs)
    progress = Progress(extent.total if extent.unit == "pages" else None)

    def step(outcome: Outcome) -> None:
        progress.step()
        if outcome.error is not None:
            progress.clear()
            print(f"chaffinch: {outcome.source}: {outcome.error}", file=sys.stderr)

    stem = parsed.stem if parsed.stem or about is None else about.stem
    fill, where = (send_inputs, parsed.to[1]) if parsed.to else (index_inputs, parsed.output)
    engine = engine_of(parsed)
    try:
        return fill(
            parsed.inputs, where, options, removal=removal, stem=stem, one_pass=one_pass, step=step, engine=engine
        )
    finally:
        progress.clear()


def _about(parsed: argparse.Namespace) -> About | None:
    """Return how the pages of the index were made, None if it is to be begun."""
    from chaffinch.index import RemoteIndex, is_index, read_about  # noqa: PLC0415  (the engine is large)

    if parsed.to:
        return RemoteIndex(parsed.to[1]).read_about()
    return read_about(parsed.output) if is_index(parsed.output) else None


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
    elif about and not parsed.method and not parsed.option and not parsed.one_pass:
        method = about.make_method()
    if about and removal and favor == DEFAULT_FAVOR:
        favor = read_favor(about.favor)
    return RunOptions(
        method=method or method_of(parsed, default=Offsets.name if parsed.one_pass else DEFAULT_METHOD),
        favor=favor,
        site_by=site_by,
        templates=parsed.templates,
        urls=urls_of(parsed),
        sources=sources_of(parsed),
        captures=parsed.captures,
        jobs=parsed.jobs,
        memory=parsed.memory,
        limits=limits_of(parsed),
    )
