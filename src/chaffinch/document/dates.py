"""Days of publication: from dates as machines and people write them, to `YYYY-MM-DD`."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

import numpy as np
from dateutil import parser as free_parser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.page.table import Page

_FIRST_YEAR: Final = 1990
_LAST_YEAR: Final = 2100
"""Years outside these are taken for slips; fixed, so that a page gives the same day whenever it is read."""

_LONGEST: Final = 100
"""Characters of a value that may hold a date; longer values are cut."""

_LONGEST_FREE: Final = 48
"""Values up to this length are shown to the free parser."""

# English, German, French, Spanish, Italian, Portuguese, Dutch; Scandinavian, Polish, Czech, Romanian, Turkish,
# Indonesian, Russian and Ukrainian where their names differ. Months end with a semicolon.
_MONTH_NAMES: Final = """
    january jan januar jänner janvier janv enero ene gennaio gen janeiro januari tammikuuta stycznia sty ledna
    led ianuarie ian ocak oca января янв січня;
    february feb februar feber février fevrier févr fevr fév febrero febbraio fevereiro fev februari helmikuuta
    lutego lut února února februarie şubat şub februariu pebruari февраля фев лютого;
    march mar märz maerz mär mrz mars marzo março marco maart mrt maaliskuuta marca března martie mart maret
    марта мар березня;
    april apr avril avr abril abr aprile huhtikuuta kwietnia kwi dubna aprilie nisan nis апреля апр квітня;
    may mai mayo maggio mag maio mei maj toukokuuta maja května mayıs мая май травня;
    june jun juni juin junio giugno giu junho kesäkuuta czerwca cze června iunie haziran haz июня июн червня;
    july jul juli juillet juil julio luglio lug julho heinäkuuta lipca lip července iulie temmuz tem июля июл
    липня;
    august aug août aout agosto ago augustus augusti elokuuta sierpnia sie srpna ağustos ağu agustus августа авг
    серпня;
    september sept sep septembre septiembre setiembre settembre setembro set syyskuuta września wrz září
    septembrie eylül eyl сентября сен вересня;
    october oct oktober okt octobre octubre ottobre ott outubro out lokakuuta października paź října octombrie
    ekim eki октября окт жовтня;
    november nov novembre noviembre novembro marraskuuta listopada lis listopadu noiembrie kasım kas ноября ноя
    листопада;
    december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro joulukuuta grudnia gru
    prosince decembrie aralık ara desember des декабря дек грудня;
"""  # noqa: RUF001 - Turkish has a dotless i


def _month_key(name: str) -> str:
    """Return what a month's spellings have in common; searches that ignore case mix up the letters replaced here."""
    return name.casefold().replace("ı", "i")  # noqa: RUF001


_MONTHS: Final[dict[str, int]] = {
    _month_key(name): number for number, names in enumerate(_MONTH_NAMES.split(";"), start=1) for name in names.split()
}

_YEAR: Final = r"((?:19|20|21)\d\d)(?!\d)"
_MONTH_CHOICE: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
MONTH: Final = rf"\b(?:{_MONTH_CHOICE})\b\.?"
_MONTH: Final = rf"\b({_MONTH_CHOICE})\b\.?"
_NAMED_YEAR: Final = rf"(?: ?, ?| (?:de|del|of) |[ ./-]) ?{_YEAR}"

_YEAR_FIRST: Final = re.compile(rf"(?<![\d.,/-]){_YEAR}([-/.])(\d\d?)\2(\d\d?)(?!\d|\2\d)")
_IDEOGRAPHIC: Final = re.compile(rf"(?<!\d){_YEAR} ?[年년] ?(\d\d?) ?[月월] ?(\d\d?) ?[日일]")
_YEAR_LAST: Final = re.compile(rf"(?<![\d.,/-])(\d\d?)([-/.]) ?(\d\d?)\2 ?{_YEAR}")
_DAY_MONTH: Final = re.compile(
    rf"(?<![\d:.,])(\d\d?)(?:st|nd|rd|th|er|[.ºª])?[ /-](?:(?:de|of|di) )?{_MONTH}{_NAMED_YEAR}", re.IGNORECASE
)
_MONTH_DAY: Final = re.compile(rf"{_MONTH}[ /-](\d\d?)(?:st|nd|rd|th)?{_NAMED_YEAR}", re.IGNORECASE)
_YEAR_MONTH_DAY: Final = re.compile(rf"(?<!\d){_YEAR}[ .,/-] ?{_MONTH}[ -](\d\d?)(?!\d|,? \d{{4}})", re.IGNORECASE)
_COMPACT: Final = re.compile(r"((?:19|20|21)\d\d)(\d\d)(\d\d)(?!\d)")
_EPOCH: Final = re.compile(r"(1\d{9})(?:\d{3})?(?:\.\d+)?")
_HAS_YEAR: Final = re.compile(rf"(?<!\d){_YEAR}")
_SPLIT_PATH: Final = re.compile(
    rf"(?<=[/_-]){_YEAR}([/_-])(0?[1-9]|1[0-2]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\2(\d\d?)(?![\da-z])",
    re.IGNORECASE,
)
_COMPACT_PATH: Final = re.compile(r"(?<=[/_-])(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?![\da-z])", re.IGNORECASE)


def _day(year: str, month: str | int, day: str) -> str | None:
    """Return the day in ISO form if the calendar has it and it is in range."""
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:
        return None
    return found.isoformat() if _FIRST_YEAR <= found.year <= _LAST_YEAR else None


def _month(name: str) -> int:
    """Return the number of a month, 0 (which no calendar has) for a spelling that only looks like one."""
    return _MONTHS.get(_month_key(name), 0)


def _numeric_day(first: str, second: str, year: str, *, day_first: bool) -> str | None:
    """Return the day of two numbers and a year; `day_first` decides where both could be the month."""
    if int(first) > 12 or (day_first and int(second) <= 12):
        return _day(year, second, first)
    return _day(year, first, second)


def find_dates(text: str, *, day_first: bool = False) -> list[tuple[int, str]]:
    """Return all complete dates in `text`, with where they start, in this order.

    Single spaces may stand between a date's parts, line ends may not. The work grows with the length of the text, so
    callers cut it.
    """
    found: dict[int, str | None] = {}
    for match in _YEAR_FIRST.finditer(text):
        found[match.start()] = _day(match[1], match[3], match[4])
    for match in _YEAR_LAST.finditer(text):
        # Points stand between day and month all over the world.
        found[match.start()] = _numeric_day(match[1], match[3], match[4], day_first=day_first or match[2] == ".")
    if _HAS_YEAR.search(text):
        for match in _DAY_MONTH.finditer(text):
            found[match.start()] = _day(match[3], _month(match[2]), match[1])
        for match in _MONTH_DAY.finditer(text):
            found.setdefault(match.start(), _day(match[3], _month(match[1]), match[2]))
        for match in _YEAR_MONTH_DAY.finditer(text):
            found.setdefault(match.start(), _day(match[1], _month(match[2]), match[3]))
        for match in _IDEOGRAPHIC.finditer(text):
            found[match.start()] = _day(match[1], match[2], match[3])
    return [(start, day) for start, day in sorted(found.items()) if day]


def parse_date(value: str | None, *, day_first: bool = False) -> str | None:
    """Return the day that a value names, None if it names no complete and possible one.

    The day is taken as it is written, in whatever time zone.
    """
    text = " ".join((value or "")[: 2 * _LONGEST].split())[:_LONGEST]
    if not text:
        return None
    if match := _COMPACT.match(text):
        return _day(match[1], match[2], match[3])
    if match := _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(match[1]), UTC).date().isoformat()
    dates = find_dates(text, day_first=day_first)
    return dates[0][1] if dates else _parse_freely(text, day_first=day_first)


_DEFAULTS: Final = (datetime(2004, 1, 1), datetime(2008, 3, 2))  # noqa: DTZ001 - only the day is used
"""Two dates that differ in every part: what both readings agree on stands in the text itself."""


def _parse_freely(text: str, *, day_first: bool) -> str | None:
    """Read forms such as `Thu Jan 01 10:00:00 UTC 2015`, but only what names day, month and full year."""
    if len(text) > _LONGEST_FREE or not _HAS_YEAR.search(text) or not any(map(str.isalpha, text)):
        return None
    try:
        first, second = (
            free_parser.parse(text, default=default, dayfirst=day_first, ignoretz=True).date() for default in _DEFAULTS
        )
    except (ValueError, OverflowError, TypeError, AttributeError, IndexError, ArithmeticError):
        return None  # the free parser promises only the first two, and keeps no promise on odd input
    in_range = _FIRST_YEAR <= first.year <= _LAST_YEAR and str(first.year) in text
    return first.isoformat() if first == second and in_range else None


def days_between(day: str, other: str) -> int:
    """Return how many days lie between two days."""
    return abs((date.fromisoformat(day) - date.fromisoformat(other)).days)


def date_of_path(path: str) -> str | None:
    """Return the day that a URL's path names, as in `/2019/03/27/`."""
    if match := _SPLIT_PATH.search(path[:2048]):
        month = match[3]
        return _day(match[1], month if month.isdigit() else _month(month), match[4])
    if match := _COMPACT_PATH.search(path[:2048]):
        return _day(match[1], match[2], match[3])
    return None


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


def date_of_times(page: Page, times: Sequence[int], headline: int, *, day_first: bool) -> str | None:
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
        if day := day or parse_date(page.text_of(node)[:_LONGEST], day_first=day_first):
            best = rank, day
    return best[1] if best else None


def date_near(page: Page, headline: int, *, day_first: bool) -> str | None:
    """Return the day that readers see: next to the headline, else the first that stands in a short line behind it."""
    blocks = page.blocks
    at = int(np.searchsorted(blocks.first, headline))
    behind = np.arange(at, min(len(blocks), at + _BLOCKS_BEHIND))
    before = np.arange(max(0, at - _BLOCKS_BEFORE), at)
    lengths = blocks.stop[at:] - blocks.start[at:]
    short = np.flatnonzero(lengths <= _SHORT_BLOCK)[:_MOST_SHORT_BLOCKS] + at
    for numbers in (behind, before, short):
        spans = zip(blocks.start[numbers].tolist(), blocks.stop[numbers].tolist(), strict=True)
        lines = [blocks.visible_text[start : min(stop, start + _READ_OF_BLOCK)] for start, stop in spans]
        text = "\n".join(" ".join(line.split()) for line in lines if _HAS_YEAR.search(line))
        dates = find_dates(text, day_first=day_first)
        published = (day for start, day in dates if not _UPDATED.search(text[max(0, start - 25) : start]))
        if dates:
            return next(published, dates[0][1])
    return None
