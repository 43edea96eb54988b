"""The table of methods, and how they are made from what a user writes."""

from __future__ import annotations

from dataclasses import Field, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args, get_origin, get_type_hints

from chaffinch.errors import UsageError
from chaffinch.methods.blocks import FrequentBlocks
from chaffinch.methods.chunks import Chunks
from chaffinch.methods.fused import Fused
from chaffinch.methods.model import SiteIndependent
from chaffinch.methods.offsets import Offsets
from chaffinch.methods.sandwich import Sandwich

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chaffinch.methods.protocol import AnyMethod

METHODS: Final[Mapping[str, type[AnyMethod]]] = {
    method.name: method for method in (Fused, Sandwich, Chunks, Offsets, FrequentBlocks, SiteIndependent)
}

DEFAULT_METHOD: Final = Fused.name


def make_method(name: str = DEFAULT_METHOD, options: Mapping[str, str] | None = None) -> AnyMethod:
    """Return the method called `name`, its options read from text."""
    if name not in METHODS:
        raise UsageError(f"there is no method {name!r}; the methods are: {', '.join(METHODS)}")
    method = METHODS[name]
    known = {field.name: field for field in fields(cast("Any", method))}
    hints = get_type_hints(method)
    values: dict[str, object] = {}
    for key, text in (options or {}).items():
        if key not in known:
            has = f"its options are: {', '.join(known)}" if known else "it has no options"
            raise UsageError(f"method {name} has no option {key!r}; {has}")
        values[key] = _read(f"option {key} of method {name}", text, hints[key])
    return method(**values)


_KEEP_COMMENTS: Final = "keep_comments"


def learned_by(options: Mapping[str, str]) -> dict[str, str]:
    """Return those of a method's options that make a difference to what it learns."""
    return {key: value for key, value in options.items() if key != _KEEP_COMMENTS}


def keeping_comments(method: AnyMethod) -> AnyMethod:
    """Return the method with its option to keep what readers wrote under an article, or raise `UsageError`."""
    if _KEEP_COMMENTS not in options_of(method):
        raise UsageError(f"method {method.name} does not tell comments from other text, so it cannot keep them")
    return cast("AnyMethod", replace(cast("Any", method), keep_comments=True))


def options_of(method: AnyMethod) -> dict[str, str]:
    """Return a method's options as `make_method` reads them."""
    listed: tuple[Field[Any], ...] = fields(cast("Any", method))
    return {field.name: _written(getattr(method, field.name)) for field in listed}


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(subject: str, text: str, kind: object) -> object:
    """Read an option's value."""
    if get_origin(kind) is Literal:
        choices = get_args(kind)
        if text in choices:
            return text
        raise UsageError(f"{subject} is {' or '.join(choices)}, not {text!r}")
    if kind is bool:
        if text.lower() in {"true", "false"}:
            return text.lower() == "true"
        raise UsageError(f"{subject} is true or false, not {text!r}")
    if kind is int or kind is float:
        try:
            return kind(text)
        except ValueError:
            raise UsageError(f"{subject} is a number, not {text!r}") from None
    return text
