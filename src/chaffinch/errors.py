"""Every error that Chaffinch raises on purpose; each names the input it is about.

ChaffinchError
├── UsageError       the call asks for something that does not exist or does not go together
│   └── QueryError   a search query cannot be understood
├── InputError       an input cannot be found, opened or read
├── PageError        one page cannot be turned into a document
├── MethodError      a method cannot learn or score
├── ModelError       a template or model file is damaged or of another version
├── SearchIndexError  a search index cannot be opened, read or written
├── RunError         a run cannot go on
│   └── OutputError  the output cannot be written
└── MissingExtraError  an optional dependency is not installed
"""

from __future__ import annotations


class ChaffinchError(Exception):
    """The root of all errors raised on purpose."""


class UsageError(ChaffinchError):
    """The call asks for something that does not exist or does not go together."""


class QueryError(UsageError):
    """A search query cannot be understood."""


class _NamedError(ChaffinchError):
    """An error about one named thing."""

    def __init__(self, subject: str, reason: str) -> None:
        super().__init__(subject, reason)
        self.subject = subject
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.subject}: {self.reason}"


class InputError(_NamedError):
    """An input cannot be found, opened or read."""


class PageError(_NamedError):
    """One page cannot be turned into a document."""


class MethodError(_NamedError):
    """A method cannot learn from, or score, what it was given."""


class ModelError(_NamedError):
    """A template or model file is damaged, or was written by another version."""


class SearchIndexError(_NamedError):
    """A search index cannot be opened, read or written."""


class RunError(_NamedError):
    """A run cannot go on."""


class OutputError(RunError):
    """The output cannot be written."""


class MissingExtraError(_NamedError):
    """An optional dependency is not installed."""

    def __init__(self, subject: str, extra: str) -> None:
        super().__init__(subject, f"needs an optional part; install it with: pip install 'chaffinch[{extra}]'")
