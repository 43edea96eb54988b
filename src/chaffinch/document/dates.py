"""Days of publication: from dates as machines and people write them, to `YYYY-MM-DD`."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

from dateutil import parser as free_parser

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIRST_YEAR: Final = 1990
_LAST_YEAR: Final = 2100
"""Years outside these are taken for slips; fixed, so that a page gives the same day whenever it is read."""

LONGEST_DATE: Final = 100
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
MONTH: Final = rf"\b(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
"""A pattern for the name of a month; what is searched much looks words up in `_MONTHS` instead."""

_WORD: Final = r"\b([^\W\d_]{3,12})\b\.?"
_BEFORE_NAMED_YEAR: Final = r"(?: ?, ?| (?:de|del|of) |[ ./-]) ?\Z"

HAS_YEAR: Final = re.compile(r"(?:199|20\d|210)(?<!\d...)\d(?!\d)")
"""A year in range. Patterns that begin with characters are found faster than those that begin with a condition."""

_BEFORE_YEAR: Final = re.compile(
    r"(?<![\d.,/-])(?P<first>\d\d?)(?P<mark>[-/.]) ?(?P<second>\d\d?)(?P=mark) ?\Z"
    rf"|(?<![\d:.,])(\d\d?)(?:st|nd|rd|th|er|[.ºª])?[ /-](?:(?:de|of|di) )?{_WORD}{_BEFORE_NAMED_YEAR}"
    rf"|{_WORD}[ /-](\d\d?)(?:st|nd|rd|th)?{_BEFORE_NAMED_YEAR}",
    re.IGNORECASE,
)
_BEHIND_YEAR: Final = re.compile(
    rf"([-/.])(\d\d?)\1(\d\d?)(?!\d|\1\d)|[ .,/-] ?{_WORD}[ -](\d\d?)(?!\d|,? \d{{4}})"
    r"| ?[年년] ?(\d\d?) ?[月월] ?(\d\d?) ?[日일]"
)
_LONGEST_BEFORE: Final = 36
"""Characters that day and month take before the year, at most."""

_COMPACT: Final = re.compile(r"((?:19|20|21)\d\d)(\d\d)(\d\d)(?!\d)")
_EPOCH: Final = re.compile(r"(1\d{9})(?:\d{3})?(?:\.\d+)?")
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


def find_dates(text: str, *, day_first: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the complete dates in `text` with where they start, in this order.

    Single spaces may stand between a date's parts, line ends may not. The work grows with the length of the text, so
    callers cut it.
    """
    for match in HAS_YEAR.finditer(text):
        at, year = match.start(), match[0]
        before = text[at - 1] if at else ""
        if (
            before in _MARKS
            and (start := _BEFORE_YEAR.search(text, max(0, at - _LONGEST_BEFORE), at))
            and (day := _day_before(start, year, day_first=day_first))
        ):
            yield start.start(), day
        elif (
            text[at + 4 : at + 5] in _MARKS_BEHIND
            and (rest := _BEHIND_YEAR.match(text, at + 4))
            and (day := _day_behind(rest, year, begins=before not in _NUMERIC_MARKS))
        ):
            yield at, day


_MARKS: Final = frozenset(" ,./-")
_MARKS_BEHIND: Final = _MARKS | frozenset("年년")
_NUMERIC_MARKS: Final = frozenset(".,/-")


def _day_before(match: re.Match[str], year: str, *, day_first: bool) -> str | None:
    """Return the day that `year` ends."""
    first, mark, second, day, month, other_month, other_day = match.groups()
    if first:
        # Points stand between day and month all over the world.
        return _numeric_day(first, second, year, day_first=day_first or mark == ".")
    return _day(year, _month(month or other_month), day or other_day)


def _day_behind(match: re.Match[str], year: str, *, begins: bool) -> str | None:
    """Return the day that `year` begins; as the first of three numbers it must not be one of a longer row."""
    mark, month, day, name, named_day, ideographic_month, ideographic_day = match.groups()
    if mark:
        return _day(year, month, day) if begins else None
    if name:
        return _day(year, _month(name), named_day)
    return _day(year, ideographic_month, ideographic_day)


def parse_date(value: str | None, *, day_first: bool = False) -> str | None:
    """Return the day that a value names, None if it names no complete and possible one.

    The day is taken as it is written, in whatever time zone.
    """
    text = " ".join((value or "")[: 2 * LONGEST_DATE].split())[:LONGEST_DATE]
    if not text:
        return None
    if match := _COMPACT.match(text):
        return _day(match[1], match[2], match[3])
    if match := _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(match[1]), UTC).date().isoformat()
    for _, day in find_dates(text, day_first=day_first):
        return day
    return _parse_freely(text, day_first=day_first)


_DEFAULTS: Final = (datetime(2004, 1, 1), datetime(2008, 3, 2))  # noqa: DTZ001 - only the day is used
"""Two dates that differ in every part: what both readings agree on stands in the text itself."""


def _parse_freely(text: str, *, day_first: bool) -> str | None:
    """Read forms such as `Thu Jan 01 10:00:00 UTC 2015`, but only what names day, month and full year."""
    if len(text) > _LONGEST_FREE or not HAS_YEAR.search(text) or not any(map(str.isalpha, text)):
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
    if "20" not in path and "19" not in path and "21" not in path:
        return None
    if match := _SPLIT_PATH.search(path[:2048]):
        month = match[3]
        return _day(match[1], month if month.isdigit() else _month(month), match[4])
    if match := _COMPACT_PATH.search(path[:2048]):
        return _day(match[1], match[2], match[3])
    return None
