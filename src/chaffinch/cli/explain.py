"""`chaffinch explain`: what a method makes of one page, block by block, and why."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from chaffinch import api
from chaffinch.cli.options import (
    add_method_options,
    add_page_options,
    favor_of,
    kept_method_of,
    method_of,
    positive,
    printable,
    sources_of,
)
from chaffinch.errors import InputError, UsageError
from chaffinch.page import parse_capture
from chaffinch.sources import find_capture, open_inputs
from chaffinch.store import SiteTemplate, TemplateStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaffinch.cli.clean import Subparsers
    from chaffinch.methods.explain import ExplainedBlock, Explanation, FeatureEvidence
    from chaffinch.page import Page
    from chaffinch.sites import SiteBy

_EPILOG: Final = """examples:
  chaffinch explain page.html
  chaffinch explain page.html --method blocks --beside crawl/
  chaffinch explain crawl.warc.gz#https://example.org/ --templates templates.db --json

Each block has its score (0 content, 1 template), the decision, and, from methods that can tell, the features that
spoke for template (+) and against it (-), the strongest first.
exit codes: 0 done, 1 the page cannot be read, 2 wrong usage
"""
_FEATURES: Final = 4
_TEXT: Final = 100
_RED, _GREEN, _FAINT, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[0m"


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "explain",
        help="show why a page's blocks are template or content",
        description="Show block by block what a method makes of one page: score, decision, evidence.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "page", metavar="FILE|ARCHIVE#RECORD", help="an HTML file, a record by its id or URL, or - for standard input"
    )
    add_page_options(parser)
    add_method_options(parser, comments=True)
    site = parser.add_argument_group("the page's site")
    site.add_argument("--templates", metavar="DB", help="go by the template that `chaffinch learn` kept of the site")
    site.add_argument(
        "--beside",
        action="append",
        default=[],
        metavar="INPUT",
        help="learn the site from its pages in this input first; may be repeated",
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "--features",
        type=positive,
        default=_FEATURES,
        metavar="N",
        help="show the N strongest features of each block (default: %(default)s)",
    )
    output.add_argument("--json", action="store_true", help="print JSON, with all features")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    if parsed.templates is not None and parsed.beside:
        raise UsageError("--templates and --beside both say what is known of the site; give one of them")
    capture = find_capture(parsed.page, sources_of(parsed))
    favor = favor_of(parsed)
    site_by: SiteBy = parsed.site_by or "domain"
    template: SiteTemplate | None = None
    if parsed.templates is not None:
        with TemplateStore.open(parsed.templates) as store:
            method, site_by = kept_method_of(parsed, store)
            page = parse_capture(capture, site_by)
            template = store.template_of(page.place.site)
    else:
        method = method_of(parsed)
        page = parse_capture(capture, site_by)
        if parsed.beside:
            template = api.learn(_of_site(parsed, page, site_by), method=method)
    explanation = api.explain(page, template=template, method=method, favor=favor)
    if parsed.json:
        print(json.dumps(_as_json(explanation), ensure_ascii=False, indent=2))
    else:
        print("\n".join(_lines(explanation, parsed.features, _Colours.of_terminal())))
    return 0


def _of_site(parsed: argparse.Namespace, page: Page, site_by: SiteBy) -> Iterator[Page]:
    """Yield the pages of the inputs that are of the page's site, and the page itself."""
    yield page
    for item in open_inputs(parsed.beside, sources_of(parsed)):
        if isinstance(item, InputError):
            raise item
        other = parse_capture(item, site_by)
        if other.place.site == page.place.site and other.html != page.html:
            yield other


class _Colours:
    """Words for a terminal, coloured where it can show it."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown

    @classmethod
    def of_terminal(cls) -> _Colours:
        return cls(shown=sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")

    def paint(self, text: str, colour: str) -> str:
        return f"{colour}{text}{_PLAIN}" if self._shown else text


def _lines(explanation: Explanation, features: int, colours: _Colours) -> list[str]:
    threshold = "never" if math.isinf(explanation.threshold) else f"from {explanation.threshold:.2f} on"
    known = "knows the site" if explanation.informed else "knows nothing of the site"
    known = "needs nothing of the site" if explanation.informed and explanation.alone else known
    dropped = sum(block.words for block in explanation.blocks if block.template)
    words = sum(block.words for block in explanation.blocks)
    name = printable(explanation.url or explanation.source)
    lines = [
        f"{name}: {explanation.method}, favor {explanation.favor}: template {threshold}; {known}",
        f"{len(explanation.blocks):,} blocks; {dropped:,} of {words:,} words are template",
    ]
    if any(block.evidence for block in explanation.blocks):
        signs = f"{colours.paint('+', _RED)} speaks for template, {colours.paint('-', _GREEN)} for content"
        lines.append(f"below each block its strongest evidence: {signs}")
    for block in explanation.blocks:
        lines += ["", *_block_lines(block, features, colours)]
    return lines


def _block_lines(block: ExplainedBlock, features: int, colours: _Colours) -> list[str]:
    decision = colours.paint("template", _RED) if block.template else colours.paint("content ", _GREEN)
    lines = [f"{block.score:.2f} {decision} {_short(printable(block.text))}", f"     {_faint(block, colours)}"]
    if block.evidence:
        told = (_feature(row, colours) for row in block.evidence[:features] if row.contribution)
        lines.append(f"     {', '.join(told)}")
    return lines


def _faint(block: ExplainedBlock, colours: _Colours) -> str:
    words = "1 word" if block.words == 1 else f"{block.words:,} words"
    return colours.paint(f"{block.path}, {words}", _FAINT)


def _feature(row: FeatureEvidence, colours: _Colours) -> str:
    colour = _RED if row.contribution > 0 else _GREEN
    value = "" if row.value is None else f"={row.value:g}"
    return f"{colours.paint(f'{row.contribution:+.2f}', colour)} {row.feature}{value}"


def _as_json(explanation: Explanation) -> dict[str, Any]:
    threshold = None if math.isinf(explanation.threshold) else explanation.threshold
    return {**asdict(explanation), "threshold": threshold}


def _short(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"
