"""The attributes of a page's elements, which become strings when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, Protocol, TypeAlias, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chaffinch.page.arrays import IndexArray

Attributes: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values; an attribute without a value has the empty one."""


class Element(Protocol):
    """What the parser's elements can do."""

    @property
    def attrs(self) -> Iterable[str]:
        """The names of its attributes."""

    def attr(self, name: str, /) -> str | None:
        """Return an attribute's value, None if it is not there."""


class AttributeTable(Sequence[Attributes]):
    """The attributes of each of a page's elements, in document order.

    The parser's own elements keep them, and never change. Names are asked for in lower case. A copy in another process
    parses the page again.
    """

    def __init__(self, html: str, elements: Sequence[Element], parse: Callable[[str], Sequence[Element]]) -> None:
        self._html, self._elements, self._parse = html, elements, parse

    def __reduce__(self) -> tuple[object, ...]:
        return _parsed, (self._html, self._parse, len(self))

    def __len__(self) -> int:
        return len(self._elements)

    @overload
    def __getitem__(self, place: int) -> Attributes: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Attributes, ...]: ...
    def __getitem__(self, place: int | slice) -> Attributes | tuple[Attributes, ...]:
        if isinstance(place, slice):
            return tuple(map(_attributes_of, self._elements[place]))
        return _attributes_of(self._elements[place])

    def __iter__(self) -> Iterator[Attributes]:
        return map(_attributes_of, self._elements)

    def value(self, number: int, name: str) -> str | None:
        """Return the value of an attribute of one element, None if it is not there."""
        return self._elements[number].attr(name)

    def column(self, name: str) -> list[str | None]:
        """Return the values of one attribute of all elements, None for those that do not have it."""
        return list(map(methodcaller("attr", name), self._elements))

    def values(self, name: str) -> tuple[IndexArray, list[str]]:
        """Return the numbers of the elements that have an attribute of this name, and its values."""
        column = self.column(name)
        numbers = [number for number, value in enumerate(column) if value is not None]
        return np.array(numbers, dtype=np.intp), [value for value in column if value is not None]

    def upto(self, number: int) -> AttributeTable:
        """Return the table of the elements before one."""
        return AttributeTable(self._html, self._elements[:number], self._parse)


def _attributes_of(element: Element) -> Attributes:
    return tuple([(name, element.attr(name) or "") for name in element.attrs])


def _parsed(html: str, parse: Callable[[str], Sequence[Element]], count: int) -> AttributeTable:
    return AttributeTable(html, parse(html)[:count], parse)
