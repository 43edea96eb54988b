"""The query language: words, phrases, fields, groups, and what joins them. From text to a tree.

    sunflower seeds            either word, better both
    "sunflower seeds"          the phrase; "sunflower seeds"~2 with up to two words between
    +sunflower -hemp           must stand there, must not
    sunflower AND (hemp OR millet) NOT rye
    title:sunflower            in one field
    date:2024  date:2023-06..2024-01  site:example.org  language:en
    sunflower^2                counts twice
    *                          every page

The engine has a parser of its own; it can be made to overflow the stack and to take exponential time, it takes an
apostrophe for a quotation mark, and it says of a malformed query no more than that it is one.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, TypeAlias

from chaffinch.errors import QueryError
from chaffinch.index.fields import FIELDS, Field
from chaffinch.sinks.base import well_formed

DEEPEST: Final = 50
"""Groups within groups are taken up to here."""
LONGEST: Final = 1_000_000
"""Longer queries (in characters) are refused."""
_MOST_SLOP: Final = 1_000
_MOST_BOOST: Final = 1_000.0


@dataclass(frozen=True, slots=True)
class Words:
    """A word or a phrase as it is written; several words in it stand side by side."""

    text: str
    field: Field | None = None
    quoted: bool = False
    slop: int = 0
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Days:
    """All days from one to another, both included; None leaves an end open."""

    first: date | None
    last: date | None


@dataclass(frozen=True, slots=True)
class Everything:
    """Every page."""


Occurrence: TypeAlias = Literal["should", "must", "must not"]


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a group, and what it is there for."""

    occurrence: Occurrence
    query: Query


@dataclass(frozen=True, slots=True)
class Group:
    """Several clauses."""

    clauses: tuple[Clause, ...]
    boost: float = 1.0


Query: TypeAlias = Words | Days | Everything | Group

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<open>[+-]?(?:[a-z]+:)?\()
    | (?P<close>\)(?:\^[0-9.]+)?)
    | (?P<phrase>[+-]?(?:[a-z]+:)?"[^"]*"(?:~[0-9]+)?(?:\^[0-9.]+)?)
    | (?P<unclosed>[+-]?(?:[a-z]+:)?")
    | (?P<word>[^\s()"]+)
    )""",
    re.VERBOSE,
)
_PREFIX: Final = re.compile(r"([+-]?)(?:([a-z]+):)?", re.DOTALL)
_BOOST: Final = re.compile(r"\^([0-9]+(?:\.[0-9]+)?)$")
_DATE: Final = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def parse_query(text: str) -> Query:
    """Read a query, or raise `QueryError` with the place where it cannot be understood."""
    if len(text) > LONGEST:
        raise QueryError(f"the query has {len(text):,} characters; the longest that is taken has {LONGEST:,}")
    text = well_formed(text).replace("“", '"').replace("”", '"').replace("\0", " ")
    found = [(match.lastgroup or "", match) for match in _TOKEN.finditer(text)]
    tokens = [_Token(kind, match[kind], match.start(kind)) for kind, match in found]
    if not tokens:
        raise QueryError("the query is empty")
    parser = _Parser(tokens)
    query = parser.group(0, None)
    left = parser.peek()
    if left is not None:
        raise QueryError(f'the query has a ")" without "(" at character {left.at + 1}')
    return query


class _Parser:
    """Reads tokens from left to right; groups are read by recursion, to a fixed depth."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._next = 0

    def peek(self) -> _Token | None:
        """Return the token that comes next."""
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _at_end(self) -> bool:
        """Tell whether the group ends here, or the query."""
        token = self.peek()
        return token is None or token.kind == "close"

    def group(self, depth: int, field: Field | None) -> Query:
        """Read clauses up to the end of the group. AND binds tighter than OR, and OR than standing side by side."""
        clauses: list[Clause] = []
        while not self._at_end():
            clauses.append(self._either(depth, field))
        return _joined(clauses)

    def _either(self, depth: int, field: Field | None) -> Clause:
        clauses = [self._both(depth, field)]
        while self._takes("OR", "||"):
            clauses.append(self._both(depth, field))
        if len(clauses) == 1:
            return clauses[0]
        return Clause("should", Group(tuple(Clause("should", _alone(clause)) for clause in clauses)))

    def _both(self, depth: int, field: Field | None) -> Clause:
        clauses = [self._one(depth, field)]
        while self._takes("AND", "&&"):
            clauses.append(self._one(depth, field))
        if len(clauses) == 1:
            return clauses[0]
        must: list[Clause] = [
            clause if clause.occurrence == "must not" else Clause("must", clause.query) for clause in clauses
        ]
        return Clause("should", _joined(must))

    def _takes(self, *operators: str) -> bool:
        """Take an operator if it comes next; something must follow it."""
        token = self.peek()
        if token is None or token.text not in operators:
            return False
        self._next += 1
        if self._at_end():
            raise QueryError(f"nothing follows {token.text} in the query; put the word in quotes to search for it")
        return True

    def _one(self, depth: int, field: Field | None) -> Clause:
        excluded = False
        while self._takes("NOT"):
            excluded = not excluded
        token = self._tokens[self._next]
        if token.text in {"AND", "OR", "&&", "||"}:
            raise QueryError(
                f"the query has {token.text} at character {token.at + 1} with nothing before it; "
                "put the word in quotes to search for it"
            )
        self._next += 1
        if token.kind == "unclosed":
            raise QueryError(f"the query has a quotation mark at character {token.at + 1} that is not closed")
        sign, name, rest = _prefix_of(token)
        own = _field_of(name, token) or field
        query: Query
        if token.kind == "open":
            query = self._inner_group(depth, own, token)
        else:
            query = _phrase(rest, own, token) if token.kind == "phrase" else _word(rest, own, token)
        if sign == "-":
            excluded = not excluded
        return Clause("must not" if excluded else "must" if sign == "+" else "should", query)

    def _inner_group(self, depth: int, field: Field | None, token: _Token) -> Query:
        if depth >= DEEPEST:
            raise QueryError(f"the query has more than {DEEPEST} groups within each other")
        query = self.group(depth + 1, field)
        closing = self.peek()
        if closing is None:
            raise QueryError(f'the query has a "(" at character {token.at + 1} that is not closed')
        self._next += 1
        boost = _boost_of(closing.text)[1]
        return query if boost == 1.0 else Group((Clause("must", query),), boost)


def _prefix_of(token: _Token) -> tuple[str, str | None, str]:
    """Split a token into its sign, its field and the rest."""
    match = _PREFIX.match(token.text)
    assert match is not None  # noqa: S101  (it matches the empty text)
    sign, name = match[1], match[2]
    rest = token.text[match.end() :]
    if token.kind == "word" and not rest:  # nothing but "-", or a colon at the end
        return "", None, token.text
    if name is not None and name not in FIELDS and not rest[:1].isalnum() and token.kind == "word":
        return sign, None, token.text.removeprefix(sign)  # such as "std::vector" or "https://…"
    return sign, name, rest


def _field_of(name: str | None, token: _Token) -> Field | None:
    if name is None:
        return None
    if name not in FIELDS:
        raise QueryError(
            f"there is no field {name!r} (at character {token.at + 1}); the fields are: {', '.join(FIELDS)}. "
            "Put the words in quotes if no field is meant"
        )
    return name


def _boost_of(text: str) -> tuple[str, float]:
    match = _BOOST.search(text)
    if match is None:
        return text, 1.0
    return text[: match.start()], min(float(match[1]), _MOST_BOOST)


def _phrase(text: str, field: Field | None, token: _Token) -> Query:
    text, boost = _boost_of(text)
    inside, _, slop = text[1:].rpartition('"')
    if field == "date":
        return _days(inside, token)
    return Words(inside, field, quoted=True, slop=min(int(slop[1:] or 0), _MOST_SLOP), boost=boost)


def _word(text: str, field: Field | None, token: _Token) -> Query:
    if text == "*" and field is None:
        return Everything()
    if field == "date":
        return _days(text, token)
    text, boost = _boost_of(text)
    return Words(text, field, boost=boost)


def _days(text: str, token: _Token) -> Days:
    """Read a year, a month, a day, or a range of these."""
    low, dots, high = text.partition("..")
    first, _ = _span(low, token) if low or not dots else (None, None)
    _, last = _span(high if dots else low, token) if high or not dots else (None, None)
    if first and last and first > last:
        raise QueryError(f"the range {token.text} ends before it begins")
    return Days(first, last)


def _span(text: str, token: _Token) -> tuple[date, date]:
    """Return the first and the last day of a year, a month or a day."""
    match = _DATE.fullmatch(text)
    year, month, day = (int(part or 0) for part in match.groups()) if match else (0, 0, 0)
    try:
        if day:
            return date(year, month, day), date(year, month, day)
        last_month = month or 12
        return date(year, month or 1, 1), date(year, last_month, monthrange(year, last_month)[1])
    except ValueError:
        raise QueryError(
            f"{text!r} in {token.text} is no date; write 2024, 2024-05, 2024-05-31 or a range such as 2023-06..2024-01"
        ) from None


def _alone(clause: Clause) -> Query:
    """Return a clause as a query of its own."""
    return clause.query if clause.occurrence != "must not" else Group((Clause("must", Everything()), clause))


def _joined(clauses: list[Clause]) -> Query:
    if not clauses:
        raise QueryError('the query has "()" with nothing in it')
    if all(clause.occurrence == "must not" for clause in clauses):
        raise QueryError("the query only says what must not stand there; add what is wanted, or * for every page")
    if len(clauses) == 1:
        return clauses[0].query
    return Group(tuple(clauses))
