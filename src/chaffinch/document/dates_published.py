"""The day of publication of a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.document.dates import HAS_YEAR, LONGEST_DATE, date_of_path, days_between, find_dates, parse_date
from chaffinch.document.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from chaffinch.page.blocks import Blocks
    from chaffinch.page.table import Page

_PUBLISHED: Final = (
    "article:published_time", "og:article:published_time", "og:published_time", "article:published", "datepublished",
    "itemprop:datepublished", "publishdate", "publish_date", "publish-date", "pubdate", "publication_date",
    "published_time", "published_at", "parsely-pub-date", "sailthru.date", "citation_publication_date", "citation_date",
    "citation_online_date", "dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date.created", "dc.date",
    "dcterms.date", "date", "article.published", "article_date_original", "cxenseparse:recs:publishtime",
    "originalpublicationdate", "displaydate", "itemprop:datecreated", "created", "og:pubdate", "rnews:datepublished",
)  # fmt: skip
_MODIFIED: Final = (
    "article:modified_time", "og:updated_time", "og:article:modified_time", "itemprop:datemodified",
    "dcterms.modified", "dc.date.modified", "lastmod", "last-modified", "revised", "datemodified",
)  # fmt: skip
_PUBLISHED_NAME: Final = re.compile(
    r"publi(?:sh|cation).{0,9}(?:date|time)|pub-?date|date.{0,3}(?:publi|created|issued)"
)


def read_date(evidence: Evidence, *, day_first: bool) -> str | None:
    """Return the day of publication, or of the last change if only that is told.

    Where JSON-LD and `<meta>` differ, the earlier one is the publication. An address that is a day off has the day at
    the writer's place, not in Greenwich.
    """

    def first(values: Iterable[str | None]) -> str | None:
        return next((day for value in values if (day := parse_date(value, day_first=day_first))), None)

    stated = (
        first([evidence.jsonld.published]),
        first(evidence.all(_PUBLISHED)),
    )
    in_path = date_of_path(evidence.path)
    if published := min(filter(None, stated), default=None):
        return in_path if in_path and days_between(in_path, published) <= 1 else published
    page, headline = evidence.page, evidence.headline
    return (
        in_path
        or first(evidence.first(name) for name in evidence.meta_names if _PUBLISHED_NAME.search(name))
        or first(page.attribute(node, "content") or evidence.text(node) for node in evidence.items("datepublished"))
        or _date_of_times(page, evidence.nodes("time"), headline, day_first=day_first)
        or _date_near(page, headline, day_first=day_first)
        or first([evidence.jsonld.modified, *evidence.all(_MODIFIED)])
    )


_MOST_TIMES: Final = 40
_BLOCKS_BEFORE: Final = 6
_BLOCKS_BEHIND: Final = 16
"""How far from the headline a date may stand among other text, in leaf blocks."""

_SHORT_BLOCK: Final = 60
_MOST_SHORT_BLOCKS: Final = 200
"""Behind that, only blocks up to this many characters are searched, and only so many of them."""

_READ_OF_BLOCK: Final = 300

_UPDATED: Final = re.compile(
    r"updat|modif|edit|revis|review|last|aktualisiert|geändert|mis à jour|actualizad|aggiornat|atualizad|bijgewerkt",
    re.IGNORECASE,
)


def _date_of_times(page: Page, times: Sequence[int], headline: int, *, day_first: bool) -> str | None:
    """Return the day of the most telling `<time>`: one marked as publication, else the first behind the headline."""
    best: tuple[int, str] | None = None
    for node in times[:_MOST_TIMES]:
        attributes = dict(page.attributes_of(node))
        marks = f"{attributes.get('class') or ''} {attributes.get('itemprop') or ''}".lower()
        rank = 0 if "pubdate" in attributes or "published" in marks else 1
        rank += 2 * bool(_UPDATED.search(marks)) + 4 * (node < headline)
        if best and best[0] <= rank:
            continue
        day = parse_date(attributes.get("datetime"), day_first=day_first)
        if day := day or parse_date(page.text_of(node)[:LONGEST_DATE], day_first=day_first):
            best = rank, day
    return best[1] if best else None


def _date_near(page: Page, headline: int, *, day_first: bool) -> str | None:
    """Return the day that readers see: next to the headline, else the first that stands in a short line behind it."""
    blocks = page.blocks
    at = int(np.searchsorted(blocks.first, headline))
    before, behind = slice(max(0, at - _BLOCKS_BEFORE), at), slice(at, at + _BLOCKS_BEHIND)
    near = _first_date(blocks, behind, day_first=day_first) or _first_date(blocks, before, day_first=day_first)
    if near:
        return near
    lengths = blocks.stop[behind.stop :] - blocks.start[behind.stop :]
    short = np.flatnonzero(lengths <= _SHORT_BLOCK)[:_MOST_SHORT_BLOCKS] + behind.stop
    return _first_date(blocks, short, day_first=day_first)


def _first_date(blocks: Blocks, where: slice | NDArray[np.intp], *, day_first: bool) -> str | None:
    """Return the first day that is named in some of the blocks; days of changes only where there is no other."""
    start = blocks.start[where]
    stop = np.minimum(blocks.stop[where], start + _READ_OF_BLOCK)
    text = blocks.visible_text
    lines = "".join([f"{text[low:high]}\0" for low, high in zip(start.tolist(), stop.tolist(), strict=True)])
    text = "\n".join(_lines_with_years(lines))
    changed = None
    for at, day in find_dates(text, day_first=day_first):
        if not _UPDATED.search(text[max(0, at - 25) : at]):
            return day
        changed = changed or day
    return changed


def _lines_with_years(lines: str) -> Iterator[str]:
    """Yield those of the lines that hold a year, white space folded; each line ends with NUL."""
    stop = 0
    for year in HAS_YEAR.finditer(lines):
        if year.start() >= stop:
            start = lines.rfind("\0", 0, year.start()) + 1
            stop = lines.index("\0", year.end())
            yield " ".join(lines[start:stop].split())
