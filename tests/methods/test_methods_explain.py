"""A page explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import chaffinch
from chaffinch.methods.blocks import FrequentBlocks
from chaffinch.methods.conformance import make_site, odd_pages
from chaffinch.methods.explain import Evidence, explain_page
from chaffinch.page import Page


@dataclass(frozen=True)
class Telling(FrequentBlocks):
    """A method that tells why."""

    def evidence(self, page: Page, template: Any) -> Evidence:  # noqa: ARG002
        words = page.blocks.words.astype(np.float32)
        values = np.column_stack((words, np.full(len(words), np.nan, dtype=np.float32), words))
        contributions = np.column_stack((-words / 100, words, words / 10)).astype(np.float32)
        return Evidence(("few", "none", "many"), values, contributions)


def test_decisions_are_those_of_clean() -> None:
    pages = make_site(6)
    site = chaffinch.learn(pages, method="blocks")
    explained = chaffinch.explain(pages[0], template=site)
    content = chaffinch.extract(pages[0], template=site).content
    assert [block.text for block in explained.blocks] == list(pages[0].blocks.texts)
    for block in explained.blocks:
        assert (block.text in content) is not block.template
        assert block.evidence == ()
    assert explained.informed
    assert explained.blocks[0].path == "html/body/nav/ul/li/a"
    assert all(block.template for block in chaffinch.explain(pages[0], template=site, favor=1.0).blocks)
    assert not chaffinch.explain(pages[0]).informed


def test_evidence_comes_strongest_first_and_without_what_says_nothing() -> None:
    page = make_site(1)[0]
    block = explain_page(Telling(), page).blocks[0]
    assert [(row.feature, row.value, row.contribution) for row in block.evidence] == [
        ("many", 2.0, 0.2),
        ("few", 2.0, -0.02),
    ]


def test_odd_pages_are_explained() -> None:
    for page in odd_pages():
        explained = explain_page(Telling(), page)
        assert len(explained.blocks) == len(page.blocks)
        assert all(len(block.path) < 200 for block in explained.blocks)
