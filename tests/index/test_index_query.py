"""The query language: what is understood, what is refused, and that nothing else happens."""

from __future__ import annotations

from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch.errors import QueryError
from chaffinch.index.query import Clause, Days, Everything, Group, Words, parse_query


def test_words_stand_side_by_side() -> None:
    query = parse_query("sunflower seeds")
    assert query == Group((Clause("should", Words("sunflower")), Clause("should", Words("seeds"))))


def test_signs_fields_phrases_and_boosts() -> None:
    query = parse_query('+title:"black seed"~2^3 -hemp^0.5')
    title = Words("black seed", "title", quoted=True, slop=2, boost=3.0)
    assert query == Group((Clause("must", title), Clause("must not", Words("hemp", boost=0.5))))


def test_and_binds_tighter_than_or() -> None:
    query = parse_query("a OR b AND NOT c")
    both = Group((Clause("must", Words("b")), Clause("must not", Words("c"))))
    assert query == Group((Clause("should", Words("a")), Clause("should", both)))


def test_a_field_goes_for_a_whole_group() -> None:
    query = parse_query("title:(a content:b)")
    assert query == Group((Clause("should", Words("a", "title")), Clause("should", Words("b", "content"))))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("date:2024", Days(date(2024, 1, 1), date(2024, 12, 31))),
        ("date:2024-02", Days(date(2024, 2, 1), date(2024, 2, 29))),
        ('date:"2024-02-03"', Days(date(2024, 2, 3), date(2024, 2, 3))),
        ("date:2023-06..2024", Days(date(2023, 6, 1), date(2024, 12, 31))),
        ("date:..2024-05", Days(None, date(2024, 5, 31))),
        ("date:2024..", Days(date(2024, 1, 1), None)),
    ],
)
def test_dates(text: str, days: Days) -> None:
    assert parse_query(text) == days


@pytest.mark.parametrize(
    "text", ["l'été", "std::vector", "https://example.org/a?b=c", "C:", "12:30", "a-b", "C++", "-"]
)
def test_words_as_people_write_them(text: str) -> None:
    assert parse_query(text) == Words(text)


def test_everything() -> None:
    assert parse_query("*") == Everything()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        (" \n ", "is empty"),
        ('a "b', "character 3 that is not closed"),
        ("(a", "character 1 that is not closed"),
        ("a) b", '")" without "(" at character 2'),
        ("()", "nothing in it"),
        ("a AND", "nothing follows AND"),
        ("(a OR) b", "nothing follows OR"),
        ("OR a", "OR at character 1"),
        ("a AND AND b", "AND at character 7"),
        ("-a -b", "only says what must not"),
        ("titel:a", "no field 'titel'"),
        ("date:soon", "'soon' in date:soon is no date"),
        ("date:2024-13", "no date"),
        ("date:2025..2024", "ends before it begins"),
        ("(" * 51 + "a" + ")" * 51, "more than 50 groups"),
        ("(" * 100_000, "more than 50 groups"),
        ("a" * 1_000_001, "1,000,001 characters"),
    ],
)
def test_what_cannot_be_understood(text: str, says: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert says in str(caught.value)


@given(st.text(st.sampled_from("ab \"()+-~^:*.0129\\/'東\ud800\0")))
def test_every_text_is_a_query_or_refused(text: str) -> None:
    with suppress(QueryError):
        parse_query(text)


def test_many_terms_and_operators() -> None:
    query = parse_query(" ".join(f"w{number}" for number in range(10_000)))
    assert isinstance(query, Group)
    assert len(query.clauses) == 10_000
    parse_query("a " + "NOT " * 10_001 + "b")
    parse_query(" AND ".join(["a"] * 10_000))
