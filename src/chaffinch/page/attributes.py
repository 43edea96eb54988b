"""The attributes of a page's elements, which become strings when somebody asks for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from operator import methodcaller
from typing import Final, Protocol, TypeAlias, overload

Attributes: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values; an attribute without a value has the empty one."""

_SIGNS: Final = re.compile(r"([^\w-])")


class _Values(Protocol):
    """What the parser's elements have of attributes."""

    def copy(self) -> dict[str, str | list[str] | None]:
        """Return all names and values; those that are lists of words are split."""


class Element(Protocol):
    """What the parser's elements can do."""

    @property
    def attrs(self) -> _Values:
        """All of its attributes."""

    def attr(self, name: str, /) -> str | None:
        """Return an attribute's value, None if it is not there."""


class Document(Protocol):
    """What the parser's documents can do."""

    def select(self, selector: str, /) -> Sequence[Element]:
        """Return the elements that a selector matches, in document order."""


class AttributeTable(Sequence[Attributes]):
    """The attributes of each of a page's elements, in document order.

    The parser's own elements keep them, and never change. Names are asked for in lower case. To look for one on the
    whole page, ask for its `holders` or `values`: elements are then looked at in C.
    """

    def __init__(
        self,
        html: str,
        parse: Callable[[str], Document],
        document: Document,
        elements: Sequence[Element],
        numbers: Sequence[int] | None = None,
    ) -> None:
        """Take the elements of a document, or some of them with their numbers among all."""
        self._html, self._parse, self._document = html, parse, document
        self._elements, self._numbers = elements, numbers

    def __reduce__(self) -> tuple[object, ...]:
        # A copy in another process parses the page again; that is as fast as to copy thousands of strings.
        return _parsed, (self._html, self._parse, self._numbers)

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

    def holders(self, *names: str) -> list[int]:
        """Return the numbers of the elements that have an attribute of one of these names."""
        selector = ",".join(map("[{}]".format, map(_escaped, names)))
        found = self._document.select(selector)
        if self._numbers is not None:
            wanted = set(found)
            return [number for number, element in enumerate(self._elements) if element in wanted]
        place = -1
        index = self._elements.index
        # What is looked for comes in order: together, all searches pass over the elements once.
        return [place := index(element, place + 1) for element in found]

    def values(self, name: str) -> tuple[list[int], list[str]]:
        """Return the numbers of the elements that have an attribute of this name, and its values."""
        numbers = self.holders(name)
        found = map(methodcaller("attr", name), map(self._elements.__getitem__, numbers))
        return numbers, [value or "" for value in found]

    def part(self, numbers: Sequence[int]) -> AttributeTable:
        """Return the table of some of the elements."""
        elements = [self._elements[number] for number in numbers]
        if self._numbers is not None:
            numbers = [self._numbers[number] for number in numbers]
        return AttributeTable(self._html, self._parse, self._document, elements, numbers)


def _escaped(name: str) -> str:
    """Write a name as selectors have it."""
    return _SIGNS.sub(r"\\\1", name)


def _attributes_of(element: Element) -> Attributes:
    # All at once: to ask for one name means to look through them, and hostile elements have a hundred thousand.
    values = element.attrs.copy().items()
    return tuple([(name, (element.attr(name) if isinstance(value, list) else value) or "") for name, value in values])


def _parsed(html: str, parse: Callable[[str], Document], numbers: Sequence[int] | None) -> AttributeTable:
    document = parse(html)
    table = AttributeTable(html, parse, document, document.select("*"))
    return table if numbers is None else table.part(numbers)
