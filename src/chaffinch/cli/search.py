"""`chaffinch search`: ranked pages of an index."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from chaffinch.cli.options import positive

if TYPE_CHECKING:
    from chaffinch.cli.clean import Subparsers
    from chaffinch.index import Hit, Results

_EPILOG = """queries:
  sunflower seeds            either word; pages with both come first
  "sunflower seeds"          the phrase ("sunflower seeds"~2: up to two words between)
  +sunflower -hemp           must stand there, must not; also AND, OR, NOT and ( )
  title:sunflower            in one field: content, title, headings, url, template, site, date, language
  date:2024  date:2023-06..  a year, month or day; from … to
  sunflower^2                counts twice
  *                          every page
Put "--" before a query that begins with a minus sign.
exit codes: 0 done (even if nothing was found), 1 the index cannot be searched, 2 wrong usage or a malformed query
"""


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "search",
        help="search an index",
        description="Search an index that `chaffinch index` built: in content, titles and headings, never in template "
        "unless asked to.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("index", metavar="INDEX", help="the index")
    parser.add_argument("query", nargs="+", metavar="QUERY", help="what to search for, see below")
    parser.add_argument("--site", help="only pages of this site")
    parser.add_argument(
        "--field",
        action="append",
        default=[],
        metavar="FIELD",
        help="search here instead of in content, title and headings; may be repeated",
    )
    parser.add_argument("--limit", type=positive, default=10, metavar="N", help="results on a page (default: 10)")
    parser.add_argument("--page", type=positive, default=1, metavar="N", help="which page of results (default: 1)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from chaffinch.index import SearchIndex  # noqa: PLC0415  (the engine is large)

    offset = (parsed.page - 1) * parsed.limit
    results = SearchIndex(parsed.index).search(
        " ".join(parsed.query), site=parsed.site, fields=parsed.field, limit=parsed.limit, offset=offset
    )
    if parsed.json:
        print(json.dumps(_as_json(results, offset), ensure_ascii=False, indent=2))
    else:
        print(_as_text(results, offset, marked=sys.stdout.isatty()))
    return 0


def _as_json(results: Results, offset: int) -> dict[str, Any]:
    return {
        "total": results.total,
        "results": [{"rank": offset + rank, **_row(hit)} for rank, hit in enumerate(results.hits, 1)],
    }


def _row(hit: Hit) -> dict[str, Any]:
    entry = asdict(hit.entry)
    for text in ("content", "template"):
        del entry[text]
    return {
        "score": round(hit.score, 4),
        **entry,
        "snippet": hit.snippet,
        "highlights": [list(span) for span in hit.highlights],
    }


def _as_text(results: Results, offset: int, *, marked: bool) -> str:
    if not results.hits:
        return "Nothing was found." if not results.total else f"There are only {results.total:,} results."
    last = offset + len(results.hits)
    span = f"{last}" if len(results.hits) == 1 else f"{offset + 1}-{last}"
    lines = [f"{span} of {results.total:,}"]
    for rank, hit in enumerate(results.hits, offset + 1):
        entry = hit.entry
        lines += ["", f"{rank}. {_harmless(entry.title or '(no title)')}", f"   {_harmless(entry.key)}"]
        if hit.snippet:
            lines.append(f"   {_marked(hit) if marked else _harmless(hit.snippet)}")
    return "\n".join(lines)


_CONTROLS: Final = dict.fromkeys((*range(32), *range(127, 160)), " ")


def _harmless(text: str) -> str:
    """Return text of a page so that a terminal shows it and does nothing else with it, on one line."""
    return text.translate(_CONTROLS)


def _marked(hit: Hit) -> str:
    """Return the snippet with what was searched for in bold."""
    pieces, at = [], 0
    for start, stop in hit.highlights:
        pieces += [_harmless(hit.snippet[at:start]), "\x1b[1m", _harmless(hit.snippet[start:stop]), "\x1b[22m"]
        at = stop
    return "".join([*pieces, _harmless(hit.snippet[at:])])
