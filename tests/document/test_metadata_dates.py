"""Dates as machines and people write them."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaffinch.document.dates import date_of_path, days_between, find_dates, parse_date


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2021-03-04", "2021-03-04"),
        ("2021-03-04T10:00:00Z", "2021-03-04"),
        ("2021-3-4", "2021-03-04"),
        ("2021/03/04", "2021-03-04"),
        ("2021.03.04", "2021-03-04"),
        ("20210304", "2021-03-04"),
        ("20210304T101500", "2021-03-04"),
        ("1614816000", "2021-03-04"),
        ("1614816000000", "2021-03-04"),
        ("March 4, 2021", "2021-03-04"),
        ("Mar. 4th, 2021", "2021-03-04"),
        ("Thursday, 4 March 2021, 10:15", "2021-03-04"),
        ("4th of March 2021", "2021-03-04"),
        ("04-Mar-2021", "2021-03-04"),
        ("2021 March 4", "2021-03-04"),
        ("4. März 2021", "2021-03-04"),
        ("4 mars 2021", "2021-03-04"),
        ("1er août 2021", "2021-08-01"),
        ("4 de marzo de 2021", "2021-03-04"),
        ("4 marzo 2021", "2021-03-04"),
        ("4 de março de 2021", "2021-03-04"),
        ("4 maart 2021", "2021-03-04"),
        ("4 марта 2021", "2021-03-04"),
        ("4 mart 2021", "2021-03-04"),
        ("5 KASIM 2021", "2021-11-05"),
        ("2021年3月4日", "2021-03-04"),
        ("2021년 3월 4일", "2021-03-04"),
        ("04.03.2021", "2021-03-04"),
        ("4. 3. 2021", "2021-03-04"),
        ("Thu Mar 04 10:00:00 UTC 2021", "2021-03-04"),
        ("25/12/2021", "2021-12-25"),
        ("12/25/2021", "2021-12-25"),
        ("2023-13-45", None),
        ("2023-02-29", None),
        ("February 30, 2021", None),
        ("1", None),
        ("2021", None),
        ("2021-03", None),
        ("March 2021", None),
        ("10:30", None),
        ("today", None),
        ("0001-01-01", None),
        ("1970-01-01", None),
        ("1989-12-31", None),
        ("2101-01-01", None),
        ("9999999999999999999999", None),
        ("1.2.3.2021", None),
        ("v2021.03.04.5", None),
        ("4 \u017fept 2021", "2021-09-04"),
        ("", None),
        (None, None),
        ("x" * 100_000, None),
    ],
)
def test_parse_date(text: str | None, day: str | None) -> None:
    assert parse_date(text) == day


def test_order_decides_only_what_is_open() -> None:
    assert parse_date("03/04/2021") == "2021-03-04"
    assert parse_date("03/04/2021", day_first=True) == "2021-04-03"
    assert parse_date("12/25/2021", day_first=True) == "2021-12-25"


def test_find_dates_in_order() -> None:
    text = "Posted 4 March 2021, changed on 2022-05-06.\nIn 2023\nApr 5, 2024"
    assert [day for _, day in find_dates(text)] == ["2021-03-04", "2022-05-06", "2024-04-05"]


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("/2019/03/27/finches", "2019-03-27"),
        ("/2019/mar/27/finches", "2019-03-27"),
        ("/a/finches-2019-3-27", "2019-03-27"),
        ("/a/20190327_finches", "2019-03-27"),
        ("/2019/03/finches", None),
        ("/p/1234567890123", None),
        ("/2019/03/275/", None),
        ("", None),
    ],
)
def test_date_of_path(path: str, day: str | None) -> None:
    assert date_of_path(path) == day


def test_days_between() -> None:
    assert days_between("2021-03-01", "2021-02-27") == 2


@settings(deadline=None)
@given(st.dates(min_value=date(1990, 1, 1), max_value=date(2100, 12, 31)), st.booleans())
def test_written_dates_are_read(day: date, day_first: bool) -> None:  # noqa: FBT001
    expected = day.isoformat()
    month = "January February March April May June July August September October November December".split()
    numbers = f"{day.day}/{day.month}/{day.year}" if day_first else f"{day.month}/{day.day}/{day.year}"
    for text in (expected, f"{day.day} {month[day.month - 1]} {day.year}", f"{day:%Y%m%d}", numbers):
        assert parse_date(text, day_first=day_first) == expected


DATE_LIKE = st.text(alphabet="0123456789 -/.:,TZ+junemayMärz年月日\u0131\u017f", max_size=60)


@settings(max_examples=300, deadline=None)
@given(st.one_of(DATE_LIKE, st.text(max_size=200)))
def test_never_raises(text: str) -> None:
    day = parse_date(text)
    assert day is None or re.fullmatch(r"(199\d|20\d\d|2100)-\d\d-\d\d", day)
    assert parse_date(text) == day
    date_of_path(text)
