"""What a method has learned of one site, as an object of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from chaffinch.errors import ModelError, UsageError
from chaffinch.methods import AnyMethod, learned_by, make_method, options_of

_MAGIC: Final = b"chaffinch template 1\n"
_SUBJECT: Final = "template"


@dataclass(frozen=True)
class SiteTemplate:
    """What a method has learned of a site."""

    method: AnyMethod
    template: Any

    def to_bytes(self) -> bytes:
        """Serialise it, the method and its options included."""
        named = {"method": self.method.name, "options": options_of(self.method)}
        return b"".join((_MAGIC, json.dumps(named).encode(), b"\n", self.method.dump(self.template)))

    @classmethod
    def from_bytes(cls, data: bytes, method: AnyMethod | None = None) -> SiteTemplate:
        """Read what `to_bytes` wrote, or raise `ModelError`.

        A method of your own, which Chaffinch does not know by name, has to be given.
        """
        if not data.startswith(_MAGIC):
            raise ModelError(_SUBJECT, "was not written by this version of Chaffinch")
        described, _, dumped = data[len(_MAGIC) :].partition(b"\n")
        try:
            named = json.loads(described)
            name, options = named["method"], named["options"]
        except (ValueError, TypeError, KeyError) as error:
            raise ModelError(_SUBJECT, f"is damaged ({error})") from error
        made = method_as_kept(_SUBJECT, name, options, method)
        return cls(made, load(made, dumped))


def load(method: AnyMethod, dumped: bytes) -> Any:  # noqa: ANN401  (the template of whichever method)
    """Read a dumped template, or raise `ModelError`, whatever the method raises on damaged bytes."""
    try:
        return method.load(dumped)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"template of method {method.name}", f"is damaged ({error})") from error


def method_as_kept(subject: str, name: str, options: Any, given: AnyMethod | None) -> AnyMethod:  # noqa: ANN401
    """Return the method that something was learned by; `given`, if it is that one, or else raise `UsageError`.

    `options` are as read from JSON.
    """
    if not isinstance(options, dict) or not all(isinstance(value, str) for value in options.values()):
        raise ModelError(subject, "is damaged (the options of its method are unreadable)")
    if given is not None:
        if (given.name, learned_by(options_of(given))) != (name, learned_by(options)):
            raise UsageError(f"{subject} was learned by {described(name, options)}, not by {describe(given)}")
        return given
    try:
        return make_method(name, options)
    except UsageError as error:
        raise ModelError(
            subject, f"was learned by {described(name, options)}, which this Chaffinch does not have ({error})"
        ) from error


def describe(method: AnyMethod) -> str:
    """Return a method's name and options as they are written on the command line."""
    return described(method.name, options_of(method))


def described(name: str, options: dict[str, str]) -> str:
    """Return the name and options of a method that need not exist."""
    return " ".join((f"method {name}", *(f"{key}={value}" for key, value in options.items())))
