"""Small pages, and what each format makes of them. `CHAFFINCH_REGENERATE=1 pytest` writes the expected files anew."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from chaffinch.page.build import parse
from chaffinch.render import Format, render

GOLDEN = Path(__file__).parent / "golden"
PAGES = sorted(path for path in GOLDEN.glob("*.html") if not path.name.endswith(".pruned.html"))
SUFFIXES: dict[Format, str] = {"text": ".txt", "markdown": ".md", "html": ".pruned.html"}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
@pytest.mark.parametrize("target", SUFFIXES)
def test_rendering_is_as_expected(path: Path, target: Format) -> None:
    page = parse(path.read_text(encoding="utf-8"))
    rendered = render(page, np.ones(len(page.texts), dtype=np.bool_), target) + "\n"
    expected = path.with_name(path.stem + SUFFIXES[target])
    if os.environ.get("CHAFFINCH_REGENERATE"):
        expected.write_text(rendered, encoding="utf-8")
    assert rendered == expected.read_text(encoding="utf-8")


def test_there_are_a_dozen_pages() -> None:
    assert len(PAGES) >= 12
