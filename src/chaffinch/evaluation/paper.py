"""The sandwich paper's own experiment, repeated on the open sites: lines in, lines out, no HTML understood."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chaffinch.evaluation.datasets import Regions, open_set
from chaffinch.evaluation.lines import LinePage, LineReport, line_kinds, line_report
from chaffinch.methods.line_filter import LineFilter
from chaffinch.page.decoding import decode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SET: Final = "sites"


def evaluate_line_filter(*, limit: int | None = None, root: Path | None = None) -> LineReport:
    """Filter the pages of every site in their order, each by the one before it in its directory."""
    data = open_set(_SET, root)
    pages: list[LinePage] = []
    with_peer = 0
    for name in data.site_names()[:limit]:
        line_filter = LineFilter()
        for page in data.load(name).pages:
            body = page.capture.body
            filtered = line_filter.filter(page.capture.url or page.file, body)
            with_peer += filtered.has_peer
            content = page.gold.content if isinstance(page.gold, Regions) else ""
            kinds = line_kinds(decode(body).text, content)
            kept = kept_lines(body, filtered.body)
            pages.append(LinePage(kinds[: len(kept)], kept, len(body), len(filtered.body)))
    return line_report(pages, with_peer / len(pages) if pages else None)


def kept_lines(before: bytes, after: bytes) -> Sequence[bool]:
    """Tell for each line of `before` whether it is in `after`, which has some of its lines in the same order.

    Where lines are equal to the letter and only some are kept, the first ones are said to be; for counting it makes no
    difference.
    """
    left = iter(after.splitlines())
    waiting = next(left, None)
    result: list[bool] = []
    for line in before.splitlines():
        is_kept = line == waiting
        result.append(is_kept)
        if is_kept:
            waiting = next(left, None)
    return result
