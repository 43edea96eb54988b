"""Other extractors, to compare with. None of them is needed; the extra `bench` installs them.

Each gets the page as text, decoded as Chaffinch decodes it, and nothing of the site. An error counts as an empty
answer.
"""

from __future__ import annotations

import importlib
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from chaffinch.errors import MissingExtraError, UsageError
from chaffinch.evaluation.predictors import Clock, Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.page.table import Page

Extract: TypeAlias = Callable[[str], str]


def trafilatura_extractor() -> Extract:
    """Return trafilatura's main text, comments and tables included as is its default."""
    extract = _import("trafilatura").extract
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

    def text_of(html: str) -> str:
        return extract(html, include_comments=True, include_tables=True) or ""

    return text_of


def resiliparse_extractor() -> Extract:
    """Return resiliparse's main content as plain text, without bullets and alternative texts."""
    extract = _import("resiliparse.extract.html2text", package="resiliparse").extract_plain_text
    options: dict[str, Any] = {"main_content": True, "list_bullets": False, "alt_texts": False}
    if "hidden_elements" in _parameters(extract):
        options["hidden_elements"] = True

    def text_of(html: str) -> str:
        return str(extract(html, **options))

    return text_of


PEERS: Final[dict[str, Callable[[], Extract]]] = {
    "trafilatura": trafilatura_extractor,
    "resiliparse": resiliparse_extractor,
}


@dataclass(frozen=True)
class PeerPredictor:
    """A peer, page by page."""

    name: str

    def __post_init__(self) -> None:
        if self.name not in PEERS:
            raise UsageError(f"there is no peer {self.name!r}; there are: {', '.join(PEERS)}")

    @property
    def label(self) -> str:
        """The peer with its version."""
        return peer_version(self.name)

    @cached_property
    def _extract(self) -> Extract:
        return PEERS[self.name]()

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name}  # the function itself cannot go to another process

    def predict(self, pages: Sequence[Page]) -> Texts:
        """Return what the peer extracts from each page."""
        extract = self._extract
        clock = Clock()
        texts: list[str] = []
        errors = 0
        for page in pages:
            try:
                with clock.step("extract"):
                    text = extract(page.html)
            except Exception:  # noqa: BLE001 - whatever another library raises is its empty answer
                errors += 1
                text = ""
            texts.append(text)
        return Texts(texts, clock.seconds, errors)


def peer_version(name: str) -> str:
    """Return a peer's name and version."""
    PEERS[name]()  # says how to install it, if it is missing
    return f"{name} {version(name)}"


def _import(module: str, *, package: str | None = None) -> Any:  # noqa: ANN401 - the peers declare no types
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"the peer {package or module!r}", "bench") from error


def _parameters(function: Callable[..., object]) -> frozenset[str]:
    """Return the names of a function's parameters; none for a compiled function that does not tell them."""
    try:
        return frozenset(inspect.signature(function).parameters)
    except ValueError:
        return frozenset()
