"""`chaffinch labels`: blocks that a crawl shows to be template or content, as a table."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from chaffinch.cli.closing import tell_report
from chaffinch.cli.options import add_inputs, add_jobs, positive, sources_of, urls_of
from chaffinch.cli.progress import Progress
from chaffinch.errors import UsageError
from chaffinch.learning.labels import LABELLING, LEAST_PAGES, LabelOptions, write_labels
from chaffinch.methods import make_method, options_of
from chaffinch.runs import RunOptions
from chaffinch.sources import estimate_total

if TYPE_CHECKING:
    from chaffinch.cli.clean import Subparsers
    from chaffinch.methods import AnyMethod

_EPILOG: Final = f"""examples:
  chaffinch labels crawl/ -o labels.parquet
  chaffinch labels crawl.warc.gz -o labels.parquet --least-pages 200 --option share=0.2

columns: site, page (its URL, or else its source), node (position in the page's table of nodes), label (template or
content), count (pages of the site that show the text), pages (pages of the site)

options of method blocks, as labels use them:
  {" ".join(f"{key}={value}" for key, value in options_of(LABELLING).items())}

exit codes: 0 done, 1 some inputs failed (each is named), 2 wrong usage
"""


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "labels",
        help="label blocks as template or content, by how many pages show them",
        description="Write the blocks of a crawl that are surely template (on a tenth of their site's pages) or surely "
        "content (on one page, with nothing inside that others show) to a Parquet file.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_inputs(parser)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the Parquet file")
    parser.add_argument(
        "--least-pages",
        type=positive,
        default=LEAST_PAGES,
        metavar="N",
        help="only sites of at least so many pages (default: %(default)s)",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of method blocks; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print the report at the end as JSON")
    add_jobs(parser)
    parser.set_defaults(run=_run)


def _method(parsed: argparse.Namespace) -> AnyMethod:
    options = options_of(LABELLING)
    for text in parsed.option:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--option takes KEY=VALUE, not {text!r}")
        options[key] = value
    return make_method(LABELLING.name, options)


def _run(parsed: argparse.Namespace) -> int:
    extent = estimate_total(parsed.inputs)
    progress = Progress(2 * extent.total if extent.unit == "pages" else None)

    def step(pages: int) -> None:
        for _ in range(pages):
            progress.step()

    run = RunOptions(
        method=_method(parsed),
        site_by=parsed.site_by or "domain",
        urls=urls_of(parsed),
        sources=sources_of(parsed),
        jobs=parsed.jobs,
    )
    try:
        report = write_labels(parsed.inputs, parsed.output, LabelOptions(run, parsed.least_pages, step))
    finally:
        progress.clear()
    return tell_report(report, as_json=parsed.json)
