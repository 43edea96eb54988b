"""`chaffinch dedup`: which pages of a crawl are duplicates of an earlier one."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from chaffinch.cli.options import positive
from chaffinch.cli.progress import Progress
from chaffinch.errors import InputError
from chaffinch.methods.duplicates import IMatch, TermStatistics, groups_of, terms_of
from chaffinch.page import parse_capture
from chaffinch.sources import SourceOptions, estimate_total, open_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaffinch.cli.clean import Subparsers

_EPILOG = """examples:
  chaffinch dedup crawl/                     list the groups of duplicates; the first of each is to keep
  chaffinch dedup crawl.warc.gz --json       the same for a program
  chaffinch dedup crawl/ --kept              the pages that are left, one on each line

exit codes: 0 done, 1 some inputs failed (each is named), 2 wrong usage
"""


def register(commands: Subparsers) -> None:
    """Add the command."""
    usual = IMatch()
    parser = commands.add_parser(
        "dedup",
        help="find duplicate pages",
        description="Find pages that are duplicates of an earlier one (I-Match): those with the same words, words that "
        "are common in the whole input left aside.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="HTML files, folders, WARC, WACZ, JSON Lines or Parquet files, or - for standard input",
    )
    printed = parser.add_mutually_exclusive_group()
    printed.add_argument("--json", action="store_true", help="print JSON")
    printed.add_argument("--kept", action="store_true", help="print the pages that are left instead of the groups")
    terms = parser.add_argument_group("which words tell pages apart")
    terms.add_argument(
        "--most-share",
        type=_share,
        default=usual.most_share,
        metavar="SHARE",
        help="not those on more than this share of the pages (default: %(default)s)",
    )
    terms.add_argument(
        "--rarest", type=positive, default=usual.rarest, metavar="N", help="only the N rarest of a page (default: all)"
    )
    terms.add_argument(
        "--least-pages",
        type=positive,
        default=usual.least_pages,
        metavar="N",
        help="not those on fewer than N pages, such as dates and counters (default: %(default)s)",
    )
    parser.add_argument("--url-column", default="url", metavar="NAME", help="the tables' column of URLs (default: url)")
    parser.add_argument(
        "--html-column", default="html", metavar="NAME", help="the tables' column of pages (default: html)"
    )
    parser.set_defaults(run=_run)


def _share(text: str) -> float:
    """Read a number from 0 to 1."""
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError(text)
    return number


@dataclass
class _Collection:
    """The pages that were read; their terms lie in a file, so that every page is parsed once."""

    spool: IO[bytes]
    names: list[dict[str, str | None]] = field(default_factory=list)
    """Source and URL of each page."""
    wordless: set[int] = field(default_factory=set)
    """The numbers of pages without any word: not duplicates of each other, as nothing tells that they are."""
    failures: list[dict[str, str]] = field(default_factory=list)

    def read(self, parsed: argparse.Namespace) -> Iterator[list[str]]:
        """Yield the terms of each page, and keep them."""
        extent = estimate_total(parsed.inputs)
        progress = Progress(extent.total if extent.unit == "pages" else None)
        for item in open_inputs(parsed.inputs, SourceOptions(parsed.url_column, parsed.html_column)):
            progress.step()
            if isinstance(item, InputError):
                progress.clear()
                self._fail(item.subject, item.reason)
                continue
            try:
                page = parse_capture(item)
            except Exception as error:  # noqa: BLE001 - one bad page, or a fault of ours, costs that page only
                progress.clear()
                self._fail(item.source, f"failed with {type(error).__name__}: {error}")
                continue
            terms = sorted(terms_of(page))
            if not terms:
                self.wordless.add(len(self.names))
            self.names.append({"source": page.source, "url": page.url})
            self.spool.write(" ".join(terms).encode("utf-8", "surrogatepass") + b"\n")
            yield terms
        progress.clear()

    def read_again(self) -> Iterator[tuple[int, list[str]]]:
        """Yield number and terms of each page that has words."""
        self.spool.seek(0)
        for number, line in enumerate(self.spool):
            if number not in self.wordless:
                yield number, line.decode("utf-8", "surrogatepass").split()

    def _fail(self, source: str, reason: str) -> None:
        self.failures.append({"source": source, "reason": reason})
        print(f"chaffinch: {source}: {reason}", file=sys.stderr)


def _run(parsed: argparse.Namespace) -> int:
    match = IMatch(most_share=parsed.most_share, rarest=parsed.rarest, least_pages=parsed.least_pages)
    with tempfile.TemporaryFile(prefix="chaffinch-") as spool:
        collection = _Collection(spool)
        statistics = TermStatistics.of_pages(collection.read(parsed))
        groups = groups_of((number, match.fingerprint(terms, statistics)) for number, terms in collection.read_again())
    _print(parsed, collection, groups)
    return 1 if collection.failures else 0


def _print(parsed: argparse.Namespace, collection: _Collection, groups: list[list[int]]) -> None:
    names = collection.names
    duplicates = {number for group in groups for number in group[1:]}
    counts = {"pages": len(names), "kept": len(names) - len(duplicates), "duplicates": len(duplicates)}
    if parsed.json:
        listed = [{"kept": names[first], "duplicates": [names[number] for number in rest]} for first, *rest in groups]
        whole: dict[str, Any] = {**counts, "groups": listed, "failures": collection.failures}
        print(json.dumps(whole, ensure_ascii=False, indent=2))
        return
    if parsed.kept:
        for number, name in enumerate(names):
            if number not in duplicates:
                print(name["source"])
    else:
        for first, *rest in groups:
            print(names[first]["source"])
            for number in rest:
                print(f"    {names[number]['source']}")
    told = f"{counts['pages']:,} pages, {counts['kept']:,} kept, {counts['duplicates']:,} duplicates"
    print(f"{told} in {len(groups):,} groups", file=sys.stderr)
