"""Other extractors, to compare with. None of them is needed; the extras `bench` and `peers` install them.

Each gets the page as text, decoded as Chaffinch decodes it, and nothing of the site. An error counts as an empty
answer. What a peer of one version makes of the pages of one site is kept on disk: peers are slow and do not change.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import logging
import os
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from xxhash import xxh3_128_hexdigest

from chaffinch.errors import MissingExtraError, UsageError
from chaffinch.evaluation.predictors import Clock, Texts, visible_text
from chaffinch.page.build import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.page.table import Page

Extract: TypeAlias = Callable[[str], str]


def trafilatura_extractor() -> Extract:
    """Return trafilatura's main text, comments and tables included as is its default."""
    extract = optional_module("trafilatura").extract
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

    def text_of(html: str) -> str:
        return extract(html, include_comments=True, include_tables=True) or ""

    return text_of


def resiliparse_extractor() -> Extract:
    """Return resiliparse's main content as plain text, without bullets and alternative texts."""
    extract = optional_module("resiliparse.extract.html2text", package="resiliparse").extract_plain_text
    options: dict[str, Any] = {"main_content": True, "list_bullets": False, "alt_texts": False}
    if "hidden_elements" in _parameters(extract):
        options["hidden_elements"] = True

    def text_of(html: str) -> str:
        return str(extract(html, **options))

    return text_of


def readability_extractor() -> Extract:
    """Return the text of readability-lxml's article."""
    document = optional_module("readability", package="readability-lxml", extra="peers").Document
    logging.getLogger("readability").setLevel(logging.CRITICAL)

    def text_of(html: str) -> str:
        return visible_text(parse(document(html).summary()))

    return text_of


def justext_extractor() -> Extract:
    """Return the paragraphs that jusText keeps, by its English stop words."""
    module = optional_module("justext")
    stop_words = module.get_stoplist("English")

    def text_of(html: str) -> str:
        paragraphs = module.justext(html, stop_words)
        return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)

    return text_of


def newspaper_extractor() -> Extract:
    """Return newspaper4k's text; it is given the page, so it fetches nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that parts of it which are not used here are not installed
        module = optional_module("newspaper", package="newspaper4k", extra="peers")
    logging.getLogger("newspaper").setLevel(logging.CRITICAL)

    def text_of(html: str) -> str:
        article = module.Article("https://example.org/", fetch_images=False)
        article.download(input_html=html)
        article.parse()
        return str(article.text)

    return text_of


def turbohtml_extractor() -> Extract:
    """Return the text of the element that turbohtml takes for the main content."""
    read = optional_module("turbohtml").parse

    def text_of(html: str) -> str:
        found = read(html).main_content()
        return "" if found is None else visible_text(parse(found.html))

    return text_of


PEERS: Final[dict[str, Callable[[], Extract]]] = {
    "trafilatura": trafilatura_extractor,
    "resiliparse": resiliparse_extractor,
    "readability-lxml": readability_extractor,
    "justext": justext_extractor,
    "newspaper4k": newspaper_extractor,
    "turbohtml": turbohtml_extractor,
}

SLOW_PEERS: Final = frozenset({"newspaper4k"})
"""Those that take so long that they are measured only where they are asked for by name."""

_CACHE_VERSION: Final = 1
"""Raised when a peer is called in another way."""


@dataclass(frozen=True)
class PeerPredictor:
    """A peer, page by page."""

    name: str
    cache: Path | None = None
    """The folder that keeps what the peers have answered."""

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
        return {"name": self.name, "cache": self.cache}  # the function itself cannot go to another process

    def predict(self, pages: Sequence[Page]) -> Texts:
        """Return what the peer extracts from each page; seconds are those of the time when it did."""
        kept = self._kept(pages)
        if kept is not None:
            with contextlib.suppress(OSError, ValueError, TypeError):
                return Texts(**json.loads(kept.read_text("utf-8")))
        answer = self._ask(pages)
        if kept is not None:
            with contextlib.suppress(OSError):
                kept.parent.mkdir(parents=True, exist_ok=True)
                unfinished = kept.with_suffix(f".{os.getpid()}")
                unfinished.write_text(json.dumps(asdict(answer)), "utf-8")
                unfinished.replace(kept)
        return answer

    def _kept(self, pages: Sequence[Page]) -> Path | None:
        if self.cache is None:
            return None
        key = xxh3_128_hexdigest("".join(f"{len(page.html)}:{page.html}" for page in pages).encode("utf-8", "replace"))
        return self.cache / f"{self.label.replace(' ', '-')}-{_CACHE_VERSION}" / f"{key}.json"

    def _ask(self, pages: Sequence[Page]) -> Texts:
        extract = self._extract
        clock = Clock()
        texts: list[str] = []
        errors = 0
        for page in pages:
            try:
                with clock.step("extract"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
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


def optional_module(module: str, *, package: str | None = None, extra: str = "bench") -> Any:  # noqa: ANN401 - the peers declare no types
    """Return a module of a peer, or raise `MissingExtraError` if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"the peer {package or module!r}", extra) from error


def _parameters(function: Callable[..., object]) -> frozenset[str]:
    """Return the names of a function's parameters; none for a compiled function that does not tell them."""
    try:
        return frozenset(inspect.signature(function).parameters)
    except ValueError:
        return frozenset()
