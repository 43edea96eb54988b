"""What is measured: methods, peers and the two baselines, all as ways from the pages of a site to a text for each."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from chaffinch.errors import InputError
from chaffinch.methods import DEFAULT_FAVOR, decide, learn_template, options_of, threshold_of
from chaffinch.render import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chaffinch.methods import AnyMethod, Favor
    from chaffinch.page.table import Page

EVERYTHING: Final = "everything"
"""The baseline that keeps all visible text."""
NOTHING: Final = "nothing"
"""The baseline that keeps none."""


class Clock:
    """Adds up CPU seconds by step. They tell more than wall-clock time where cores are shared."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what happens inside as `name`."""
        begin = time.process_time()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - begin


@dataclass(frozen=True, slots=True)
class Texts:
    """A prediction for the pages of a site."""

    texts: Sequence[str]
    seconds: dict[str, float] = field(default_factory=dict)
    errors: int = 0
    page_bytes: int | None = None
    """What is left of the pages themselves, for a prediction that gives pages and not just their text."""


class Predictor(Protocol):
    """A way from pages to texts."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    @property
    def label(self) -> str:
        """All there is to know of it."""
        ...

    def predict(self, pages: Sequence[Page]) -> Texts:
        """Return a text for each of the pages of one site."""
        ...


def visible_text(page: Page) -> str:
    """Print all visible text of a page as text that was kept is printed."""
    return render(page, np.ones(len(page.text_nodes), dtype=np.bool_), "text")


@dataclass(frozen=True, slots=True)
class MethodPredictor:
    """A method: learns from all pages of the site, then scores each."""

    method: AnyMethod
    favor: Favor = DEFAULT_FAVOR
    page_by_page: bool = False
    """Whether the method is told nothing of the site."""

    @property
    def name(self) -> str:
        """What users call the method, with those of its options that are not the usual ones."""
        usual = options_of(type(self.method)())
        chosen = [f"{key}={value}" for key, value in options_of(self.method).items() if value != usual[key]]
        return " ".join([self.method.name, *chosen])

    @property
    def label(self) -> str:
        """The method with its options."""
        return repr(self.method)

    def predict(self, pages: Sequence[Page]) -> Texts:
        """Return the text that the method keeps of each page."""
        clock = Clock()
        with clock.step("learn"):
            template = None if self.page_by_page else learn_template(self.method, pages)
        threshold = threshold_of(self.method, self.favor)
        texts: list[str] = []
        for page in pages:
            with clock.step("score"):
                scores = self.method.score(page, template)
            with clock.step("render"):
                texts.append(render(*decide(self.method, page, scores, threshold), "text"))
        return Texts(texts, clock.seconds)


@dataclass(frozen=True, slots=True)
class Everything:
    """All visible text."""

    name: str = EVERYTHING
    label: str = "all visible text"

    def predict(self, pages: Sequence[Page]) -> Texts:
        """Return all visible text of each page."""
        return Texts([visible_text(page) for page in pages])


@dataclass(frozen=True, slots=True)
class Nothing:
    """No text at all."""

    name: str = NOTHING
    label: str = "no text"

    def predict(self, pages: Sequence[Page]) -> Texts:
        """Return an empty text for each page."""
        return Texts([""] * len(pages))


@dataclass(frozen=True)
class HeldOut:
    """Texts that were made before, such as by models that were trained without the page's site.

    The file has a line of JSON for each page, with the `source` of the page and the `text` that was kept of it.
    """

    name: str
    path: Path

    @property
    def label(self) -> str:
        """The name with what it stands for."""
        return f"{self.name}: texts made before, {len(self._texts)} pages"

    @cached_property
    def _texts(self) -> dict[str, str]:
        try:
            # Texts may hold line separators of other kinds, which `splitlines` would split at.
            rows = [json.loads(line) for line in self.path.read_text("utf-8").split("\n") if line]
            return {row["source"]: row["text"] for row in rows}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(str(self.path), f"holds no texts of pages: {error}") from error

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "path": self.path}  # every process reads the texts itself

    def predict(self, pages: Sequence[Page]) -> Texts:
        """Return the text that was kept of each page."""
        missing = next((page.source for page in pages if page.source not in self._texts), None)
        if missing is not None:
            raise InputError(str(self.path), f"has no text of {missing}")
        return Texts([self._texts[page.source] for page in pages])
