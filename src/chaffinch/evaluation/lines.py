"""The measures of the sandwich paper (Rowlands, Thomas, Wan 2009) on lines of the page's source.

Lines that were kept are compared with lines that are content; blank lines and lines of nothing but tags are left out.
The paper's lines were marked by the site's owner. Here they are *derived* from text gold, not marked by hand: a line is
content when at least half of its words are words of the page's gold content. Lines of scripts and style sheets are
never content; comments count as tags.

Why F1 is given twice: the paper's precision of 57 % and recall of 97 % have a harmonic mean of .72, but it reports .59,
which a mean of the pages' own F1 can give.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from chaffinch.evaluation.measures import WordScore, harmonic_mean, words_and_bigrams
from chaffinch.page.lines import unified_newlines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

_MARKUP: Final = re.compile(
    r"<!--.*?-->|(?P<code><(?P<name>script|style)\b[^>]*>)(?P<body>.*?)(?P<close></(?P=name)\s*>)|</?[a-z!?][^>]*>",
    re.IGNORECASE | re.DOTALL,
)
_CODE_MARK: Final = "\0"
"""Stands for what is on a line of a script; the parser allows no such character in text."""
_LINE_TEXT: Final = re.compile(r"[^\s\0]")
_NOT_BREAK: Final = re.compile(r"[^\n]+")


class LineKind(IntEnum):
    """What a line of source is."""

    EMPTY = 0
    """Blank, or nothing but tags: not counted."""
    TEMPLATE = 1
    CONTENT = 2


class LinePage(NamedTuple):
    """What one page's lines are, and which were kept."""

    kinds: Sequence[LineKind]
    kept: Sequence[bool]
    bytes_before: int
    bytes_after: int


@dataclass(frozen=True, slots=True)
class LineReport:
    """The measures of the paper."""

    pages: int
    bytes_before: int
    bytes_after: int
    precision: float
    """Which share of the kept lines is content, all pages pooled."""
    recall: float
    """Which share of the content lines is kept, all pages pooled."""
    f1_pooled: float
    """The harmonic mean of these two."""
    f1_of_pages: float
    """The mean of the pages' own F1."""
    pages_with_peer: float | None
    """The share of pages that had another page to be compared with, if the method tells."""

    @property
    def bytes_saved(self) -> float:
        """The share of bytes that is gone."""
        return 1 - self.bytes_after / self.bytes_before if self.bytes_before else 0.0


def line_kinds(source: str, gold_content: str) -> list[LineKind]:
    r"""Derive from a page's gold what each line of its source is; lines end at `\n`, `\r` or both."""
    wanted = words_and_bigrams(gold_content)
    text = _MARKUP.sub(_without_markup, unified_newlines(source).replace(_CODE_MARK, " "))
    return [_line_kind(line, wanted.keys()) for line in text.split("\n")]


def _without_markup(found: re.Match[str]) -> str:
    """Return what is left of a tag: its line breaks, and marks where it is code."""
    if not found["code"]:
        return "\n" * found[0].count("\n") or " "
    breaks = ["\n" * found[part].count("\n") for part in ("code", "close")]
    return breaks[0] + _NOT_BREAK.sub(_code_mark, found["body"]) + breaks[1]


def _code_mark(line: re.Match[str]) -> str:
    return " " if line[0].isspace() else _CODE_MARK


def _line_kind(line: str, wanted: AbstractSet[str]) -> LineKind:
    text = html.unescape(line)
    if not _LINE_TEXT.search(text):
        return LineKind.TEMPLATE if _CODE_MARK in text else LineKind.EMPTY
    words = words_and_bigrams(text)
    if not words:
        return LineKind.TEMPLATE
    hits = sum(words[word] for word in wanted & words.keys())
    return LineKind.CONTENT if 2 * hits >= words.total() else LineKind.TEMPLATE


def line_score(kinds: Sequence[LineKind], kept: Sequence[bool]) -> WordScore:
    """Return precision, recall and F1 of one page's kept lines; 1 where there is nothing to be wrong about."""
    return _score(*_line_counts(kinds, kept))


class _LineCounts(NamedTuple):
    right: int
    kept: int
    content: int


def _line_counts(kinds: Sequence[LineKind], kept: Sequence[bool]) -> _LineCounts:
    counted = [(kind is LineKind.CONTENT, keep) for kind, keep in zip(kinds, kept, strict=True) if kind]
    return _LineCounts(
        right=sum(content and keep for content, keep in counted),
        kept=sum(keep for _, keep in counted),
        content=sum(content for content, _ in counted),
    )


def _score(right: int, kept: int, content: int) -> WordScore:
    precision = right / kept if kept else float(not content)
    recall = right / content if content else 1.0
    return WordScore(precision, recall, harmonic_mean(precision, recall))


def line_report(pages: Iterable[LinePage], pages_with_peer: float | None = None) -> LineReport:
    """Sum up the pages. `pages_with_peer` comes from the method and is passed on."""
    found = list(pages)
    counts = [_line_counts(page.kinds, page.kept) for page in found]
    pooled = _score(*(sum(column) for column in zip(*counts, strict=True))) if counts else _score(0, 0, 0)
    own = [_score(*count).f1 for count in counts]
    return LineReport(
        pages=len(found),
        bytes_before=sum(page.bytes_before for page in found),
        bytes_after=sum(page.bytes_after for page in found),
        precision=pooled.precision,
        recall=pooled.recall,
        f1_pooled=pooled.f1,
        f1_of_pages=sum(own) / len(own) if own else pooled.f1,
        pages_with_peer=pages_with_peer,
    )
