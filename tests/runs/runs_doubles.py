"""Methods and crawls made for tests. Here, not in a test module, so that other processes can import them."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from chaffinch.errors import ModelError
from chaffinch.page import FloatArray, Page
from chaffinch.runs.watch import note
from chaffinch.runs.work import Batch
from chaffinch.sources import Capture

KILLS = "this page kills its process"
RAISES = "this page breaks the method"
HANGS = "this page never comes to an end"
EATS = "this page takes all memory"


@dataclass(frozen=True)
class Counts:
    """On how many pages each text stands."""

    pages: int
    texts: tuple[tuple[str, int], ...]

    def of(self, text: str) -> int:
        return dict(self.texts).get(text, 0)


@dataclass(frozen=True)
class Common:
    """Texts that stand on more than half of the pages, and on two at least, are template."""

    deadly: bool = False
    """Whether a page with `KILLS` ends its process, as a crash in native code would."""
    once: str = ""
    """A file; with it, a page ends its process only as long as the file is not there."""
    name: ClassVar[str] = "common"
    summary: ClassVar[str] = "a method for tests"
    version: ClassVar[int] = 1

    @property
    def streams(self) -> bool:
        return False

    def summarise(self, page: Page) -> Counts:
        self._suffer(page)
        return Counts(1, tuple((text, 1) for text in sorted(set(page.blocks.texts))))

    def merge(self, one: Counts, other: Counts) -> Counts:
        texts = Counter(dict(one.texts))
        texts.update(dict(other.texts))
        return Counts(one.pages + other.pages, tuple(sorted(texts.items())))

    def finish(self, summary: Counts) -> Counts:
        return summary

    def reopen(self, template: Counts) -> Counts:
        return template

    def fit(self, page: Page, template: Counts) -> float:
        common = {text for text, count in template.texts if self._is_common(count, template)}
        return len(common & set(page.blocks.texts)) / len(common) if common else 0.0

    def knows(self, page: Page, template: Counts | None) -> bool:
        del page
        return template is not None and template.pages > 1

    def score(self, page: Page, template: Counts | None) -> FloatArray:
        self._suffer(page)
        scores = np.zeros(len(page.text_nodes), dtype=np.float32)
        if template is not None:
            for number, text in enumerate(page.blocks.texts):
                if self._is_common(template.of(text), template):
                    scores[page.blocks.of_text == number] = 1
        return scores

    def dump(self, template: Counts) -> bytes:
        return json.dumps([template.pages, template.texts]).encode()

    def load(self, data: bytes) -> Counts:
        try:
            pages, texts = json.loads(data)
            return Counts(pages, tuple((text, count) for text, count in texts))
        except (ValueError, TypeError) as error:
            raise ModelError("template of method common", f"is damaged ({error})") from error

    def _is_common(self, count: int, template: Counts) -> bool:
        return count > 1 and 2 * count > template.pages

    def _suffer(self, page: Page) -> None:
        if self.deadly and KILLS in page.html:
            if self.once and Path(self.once).exists():
                return
            if self.once:
                Path(self.once).touch()
            os._exit(9)
        if self.deadly and HANGS in page.html:
            time.sleep(600)
        if self.deadly and EATS in page.html:
            bytearray(1 << 30)
        if RAISES in page.html:
            raise ZeroDivisionError(page.url)


def work_for_a_moment(batch: Batch) -> list[str]:
    """Take a moment of CPU for a page, and tell when it is begun."""
    note(0)
    os.write(1, b"begun\n")
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    return [batch.captures[0].source]


def html(site: str, words: str) -> bytes:
    """A page with a menu and a footer."""
    return (
        f"<title>t</title><nav><a href=/>Home of {site}</a></nav><main><p>{words}</p></main>"
        f"<footer><p>All rights of {site} reserved</p></footer>"
    ).encode()


def capture(url: str, words: str, site: str = "") -> Capture:
    """A page of an archive."""
    return Capture(source=f"a.warc#{url}", body=html(site or url.split("/")[2], words), url=url)


def write_rows(captures: Iterable[Capture]) -> bytes:
    """The pages as JSON Lines."""
    return b"".join(
        json.dumps({"url": capture.url, "html": capture.body.decode()}).encode() + b"\n" for capture in captures
    )
