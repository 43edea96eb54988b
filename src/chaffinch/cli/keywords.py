"""`chaffinch keywords`: the keywords of each page, with scores."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chaffinch.cli.options import add_inputs, add_method_options, favor_of, method_of, positive, sources_of, urls_of
from chaffinch.cli.progress import Progress
from chaffinch.errors import InputError, PageError, UsageError
from chaffinch.keywords import DocumentFrequencies, extract_keywords, find_candidates
from chaffinch.keywords.candidates import key_of
from chaffinch.keywords.frequencies import read_frequencies, shipped_frequencies
from chaffinch.keywords.scoring import shipped_keyword_model
from chaffinch.methods import threshold_of
from chaffinch.page import parse_capture
from chaffinch.runs.work import reason_of
from chaffinch.sinks.base import writing
from chaffinch.sinks.files import PartFile
from chaffinch.sources import estimate_total, open_inputs
from chaffinch.store import TemplateStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chaffinch.cli.clean import Subparsers
    from chaffinch.keywords import Keyword
    from chaffinch.methods import AnyMethod
    from chaffinch.page import Page
    from chaffinch.page.arrays import BoolArray, HashArray
    from chaffinch.sources import Capture

_EPILOG: Final = """examples:
  chaffinch keywords page.html
  chaffinch keywords crawl/ --beside crawl/ -o keywords.jsonl
  chaffinch keywords page.html --method model --favor 0.5      without what the method takes for template

A line for each page: its name, then keywords with scores from 0 to 1; JSON Lines with --json or to a file.
How rare a phrase is follows from the collection that comes with Chaffinch, or from --beside or --frequencies.
exit codes: 0 done, 1 some inputs failed (each is named), 2 wrong usage
"""
_TOP: Final = 10


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "keywords",
        help="list the keywords of each page",
        description="List the words and phrases that tell best what a page is about.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_inputs(parser)
    parser.add_argument("-o", "--output", default="-", metavar="OUT", help="a .jsonl file, or - (default)")
    parser.add_argument("--top", type=positive, default=_TOP, metavar="N", help="so many (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON Lines")
    group = parser.add_argument_group("how rare phrases are")
    group.add_argument(
        "--beside",
        action="append",
        default=[],
        metavar="INPUT",
        help="count the pages of this input, together with those of all --beside; may be repeated",
    )
    group.add_argument("--frequencies", metavar="FILE", help="go by a collection that was counted before")
    group.add_argument("--queries", metavar="FILE", help="what people search for: lines of query, tab, count")
    add_method_options(parser)
    parser.add_argument("--templates", metavar="DB", help="remove template by what `chaffinch learn` kept of the sites")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    output: str = parsed.output
    if output != "-" and not output.lower().endswith(".jsonl"):
        raise UsageError(f"{output}: keywords are written to .jsonl files")
    if parsed.beside and parsed.frequencies:
        raise UsageError("--beside and --frequencies both say how rare phrases are; give one of them")
    queries = _queries(parsed.queries)
    failures: list[str] = []
    frequencies = _frequencies(parsed, failures)
    model = shipped_keyword_model()
    lines = []
    for page, kept in _pages(parsed, failures):
        found = find_candidates(page, kept)
        keywords = extract_keywords(found, model, frequencies, top=parsed.top, queries=queries)
        lines.append(_json_line(page, keywords) if parsed.json or output != "-" else _line(page, keywords))
        if output == "-":
            print(lines.pop())
    if output != "-":
        _write(output, lines)
    for failure in failures:
        print(f"chaffinch: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _pages(parsed: argparse.Namespace, failures: list[str]) -> Iterator[tuple[Page, BoolArray | None]]:
    """Yield each page and which of its text nodes count."""
    keeping = _keeping(parsed)
    extent = estimate_total(parsed.inputs)
    progress = Progress(extent.total if extent.unit == "pages" else None)
    wanted = urls_of(parsed)
    try:
        for item in open_inputs(parsed.inputs, sources_of(parsed)):
            progress.step()
            found = _parsed(item, parsed, keeping)
            if isinstance(found, str):
                failures.append(found)
            elif wanted.wants(found[0].url or found[0].source):
                progress.clear()
                yield found
    finally:
        progress.clear()


def _parsed(
    item: Capture | InputError, parsed: argparse.Namespace, keeping: Callable[[Page], BoolArray | None]
) -> tuple[Page, BoolArray | None] | str:
    if isinstance(item, InputError):
        return str(item)
    try:
        page = parse_capture(item, parsed.site_by or "domain")
        return page, keeping(page)
    except Exception as error:  # noqa: BLE001  (whatever goes wrong with a page costs that page only, and is told)
        return str(PageError(item.source, reason_of(error)))


def _keeping(parsed: argparse.Namespace) -> Callable[[Page], BoolArray | None]:
    """Return how the text that counts is told from template."""
    if parsed.method is None and parsed.templates is None:
        return lambda _: None
    favor = favor_of(parsed)
    if parsed.templates is not None:
        store = TemplateStore.open(parsed.templates)
        method: AnyMethod = store.method
    else:
        method = method_of(parsed)

    def keep(page: Page) -> BoolArray:
        kept = store.template_of(page.place.site) if parsed.templates is not None else None
        template = kept.template if kept is not None else None
        if not method.knows(page, template):
            raise PageError(page.source, f"method {method.name} knows nothing of its site; --templates says what is")
        kept_texts: BoolArray = method.score(page, template) < threshold_of(method, favor)
        return kept_texts

    return keep


def _frequencies(parsed: argparse.Namespace, failures: list[str]) -> DocumentFrequencies:
    if parsed.frequencies:
        return read_frequencies(Path(parsed.frequencies))
    if not parsed.beside:
        return shipped_frequencies()

    def keys() -> Iterator[HashArray]:
        for item in open_inputs(parsed.beside, sources_of(parsed)):
            found = _parsed(item, parsed, lambda _: None)
            if isinstance(found, str):
                failures.append(found)
            else:
                yield find_candidates(found[0]).key

    return DocumentFrequencies.of(keys())


def _queries(path: str | None) -> dict[int, float]:
    """Read how often phrases are searched for."""
    if path is None:
        return {}
    result: dict[int, float] = {}
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE), 1):
                if row:
                    result[key_of(row[0])] = result.get(key_of(row[0]), 0.0) + _count(path, number, row)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"cannot be read ({error})") from error
    return result


def _count(path: str, number: int, row: list[str]) -> float:
    try:
        (_, count) = row
        return max(0.0, float(count))
    except ValueError:
        raise InputError(path, f"line {number} is not a query, a tab and a count") from None


def _json_line(page: Page, keywords: tuple[Keyword, ...]) -> str:
    found = {"source": page.source, "url": page.url, "keywords": [asdict(keyword) for keyword in keywords]}
    return json.dumps(found, ensure_ascii=False)


def _line(page: Page, keywords: tuple[Keyword, ...]) -> str:
    shown = ", ".join(f"{keyword.text} {keyword.score:.2f}" for keyword in keywords)
    return f"{page.url or page.source}: {shown}"


def _write(output: str, lines: list[str]) -> None:
    part = PartFile(output)
    try:
        with writing(output):
            for line in lines:
                part.file.write(f"{line}\n".encode("utf-8", "replace"))
        part.commit()
    except BaseException:
        part.abort()
        raise
