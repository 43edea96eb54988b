"""`chaffinch records`: from result pages to tables of records."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chaffinch.cli.options import (
    add_inputs,
    add_run_options,
    limits_of,
    printable,
    sources_of,
    tell_of_journal,
    urls_of,
)
from chaffinch.cli.progress import Progress
from chaffinch.errors import OutputError, UsageError
from chaffinch.methods.duplicates import IMatch
from chaffinch.records import RecordsRun, Wrapper, draw, read_wrappers, write_wrappers
from chaffinch.records.tables import arrow_batches, arrow_schema, csv_lines, json_lines, tidy_lines
from chaffinch.runs import Failure, Journal, RunOptions
from chaffinch.runs.reading import STDIN
from chaffinch.runs.record import changed_inputs, identity_of, write_record
from chaffinch.sinks.base import writing
from chaffinch.sinks.files import PartFile
from chaffinch.sources import estimate_total, input_states

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from chaffinch.cli.clean import Subparsers
    from chaffinch.records import RecordsReport
    from chaffinch.sources import InputState

_EPILOG: Final = """examples:
  chaffinch records results-1.html results-2.html -o out.jsonl
  chaffinch records results/ --tidy -o out.csv       a row for each record, a column for each slot
  chaffinch records results/ -o out.jsonl --save-wrapper shop.json --graph shop.svg
  chaffinch records --wrapper shop.json new/ -o new.jsonl

Pages that share a template are learned from together: give several result pages of the same search. Pages of
different sites may be mixed; they are told apart by their URLs and their tags. A template is learned from the first 50
of its pages, and applied to the others.
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
    add_inputs(parser, dedup=True)
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
    parser.add_argument("--json", action="store_true", help="print a report at the end as JSON")
    add_run_options(parser)
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    output: str = parsed.output
    if output != "-" and not output.lower().endswith((".jsonl", ".csv", ".parquet")):
        raise UsageError(f"{output}: records are written to .jsonl, .csv or .parquet files")
    if parsed.graph and not parsed.graph.lower().endswith((".svg", ".json")):
        raise UsageError(f"{parsed.graph}: graphs are written to .svg or .json files")
    if parsed.wrapper and parsed.save_wrapper:
        raise UsageError("--wrapper applies what was learned, and --save-wrapper keeps what is learned: give one")
    options = _options(parsed)
    states = input_states(parsed.inputs, options.sources)
    extent = estimate_total(parsed.inputs)
    progress = Progress(extent.total if extent.unit == "pages" else None)
    wrappers = read_wrappers(parsed.wrapper) if parsed.wrapper else ()
    with (
        _journal(parsed, states, options) as journal,
        RecordsRun(parsed.inputs, options, wrappers=wrappers, journal=journal, step=progress.steps) as run,
    ):
        report = run.do()
        progress.clear()
        for path in changed_inputs(states, input_states(parsed.inputs, options.sources)):
            report.failures.append(Failure(path, "changed while it was being read"))
        if parsed.save_wrapper:
            write_wrappers(parsed.save_wrapper, run.wrappers)
        if parsed.graph:
            _write_graph(parsed.graph, _largest(wrappers) or run.largest_wrapper)
        _write(run, output, tidy=parsed.tidy)
    _tell(parsed, states, options, report)
    return 1 if report.failures else 0


def _options(parsed: argparse.Namespace) -> RunOptions:
    return RunOptions(
        site_by=parsed.site_by or "domain",
        duplicates=IMatch() if parsed.dedup else None,
        urls=urls_of(parsed),
        sources=sources_of(parsed),
        captures=parsed.captures,
        jobs=parsed.jobs,
        memory=parsed.memory,
        limits=limits_of(parsed),
    )


def _journal(
    parsed: argparse.Namespace, states: Sequence[InputState], options: RunOptions
) -> AbstractContextManager[Journal | None]:
    """Return where the run keeps what it has done, if its output is one that stays."""
    if parsed.output == "-":
        if parsed.resume:
            raise UsageError("--resume needs an output that stays: -o FILE")
        return nullcontext()
    if parsed.resume and STDIN in parsed.inputs:
        raise UsageError("standard input cannot be read again, so its run cannot be gone on with")
    given = input_states([parsed.wrapper])[0].listing if parsed.wrapper else None
    identity = identity_of("records", states, options, wrapper=given)
    journal = Journal(parsed.output, identity, resume=parsed.resume, every=parsed.checkpoint)
    tell_of_journal(journal, resume=parsed.resume)
    return journal


def _tell(parsed: argparse.Namespace, states: Sequence[InputState], options: RunOptions, report: RecordsReport) -> None:
    """Name what failed, and write the reports that are asked for."""
    for failure in report.failures:
        print(f"chaffinch: {printable(f'{failure.source}: {failure.reason}')}", file=sys.stderr)
    if parsed.report is not None:
        write_record(parsed.report, "records", states, options, report.as_json())
    if parsed.json:
        where = sys.stderr if parsed.output == "-" else None
        print(json.dumps(report.as_json(), ensure_ascii=False, indent=2), file=where)


def _largest(wrappers: Sequence[Wrapper]) -> Wrapper | None:
    return max(wrappers, key=lambda wrapper: wrapper.graph.records, default=None)


def _write_graph(path: str, wrapper: Wrapper | None) -> None:
    """Write the graph of a template."""
    if wrapper is None:
        raise UsageError(f"{path}: there is no page to learn a graph from")
    name = Path(wrapper.site.rstrip("/")).name if "/" in wrapper.site else wrapper.site
    is_svg = path.lower().endswith(".svg")
    text = draw(wrapper.graph, name) if is_svg else json.dumps(wrapper.graph.as_json(), ensure_ascii=False, indent=1)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from error


def _write(found: RecordsRun, output: str, *, tidy: bool) -> None:
    name = output.lower()
    if name.endswith(".parquet"):
        import pyarrow.parquet as pq  # noqa: PLC0415  (slow to import)

        part = PartFile(output)
        try:
            with writing(output):
                schema = arrow_schema(found)
                with pq.ParquetWriter(part.file, schema, compression="zstd") as table:
                    for batch in arrow_batches(found, schema):
                        table.write_batch(batch)
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
