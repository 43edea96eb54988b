"""The rival of `benchmarks/compare.py`: k-grams of tokens that most pages of a site share."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from chaffinch.evaluation.predictors import visible_text
from chaffinch.page import Page, parse
from conftest import ROOT

MENU = "Home News Sport Weather Travel Money Culture Food Health Science Letters Archive Contact"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    """What the script defines."""
    return runpy.run_path(str(ROOT / "benchmarks" / "compare.py"))


def site(count: int, menu: str = MENU) -> list[Page]:
    return [parse(f"<p>{menu}</p><h1>Page {n}</h1><p>Only page {n} says this.</p><p>Read on</p>") for n in range(count)]


def test_long_runs_that_most_pages_share_go(script: dict[str, Any]) -> None:
    found = script["KGrams"]().predict(site(4))
    # The heading's first word follows the menu on every page, so it goes too.
    assert [text.split() for text in found.texts] == [f"{n} Only page {n} says this. Read on".split() for n in range(4)]
    assert set(found.seconds) == {"learn", "score"}


def test_short_and_rare_runs_stay(script: dict[str, Any]) -> None:
    for pages in (
        site(4, "Home News Sport Weather Travel Money Culture"),
        [*site(1), *map(parse, ["a", "b", "", "c"])],
    ):
        found = script["KGrams"]().predict(pages)
        assert list(found.texts) == [visible_text(page) for page in pages]


def test_a_run_is_shared_wherever_it_stands(script: dict[str, Any]) -> None:
    pages = [parse(f"<p>Own words {n} {MENU} {n} more</p>") for n in range(3)]
    assert [text.split() for text in script["KGrams"]().predict(pages).texts] == [
        f"Own words {n} {n} more".split() for n in range(3)
    ]
