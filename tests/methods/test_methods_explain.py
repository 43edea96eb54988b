"""A page explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import chaffinch
from chaffinch.methods.blocks import FrequentBlocks
from chaffinch.methods.conformance import make_site, odd_pages
from chaffinch.methods.explain import Evidence, ExplainedBlock, explain_page
from chaffinch.page import Page


@dataclass(frozen=True)
class Telling(FrequentBlocks):
    """A method that tells why."""

    def evidence(self, page: Page, template: Any) -> Evidence:  # noqa: ARG002
        words = page.blocks.words.astype(np.float32)
        values = np.column_stack((words, np.full(len(words), np.nan, dtype=np.float32), words))
        values = np.column_stack((values, values[:, 1]))
        contributions = np.column_stack((-words / 100, 0 * words, words / 10, words)).astype(np.float32)
        return Evidence(("few", "none", "many", "no number"), values, contributions)


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
        ("no number", None, 2.0),
        ("many", 2.0, 0.2),
        ("few", 2.0, -0.02),
    ]


def test_odd_pages_are_explained() -> None:
    for page in odd_pages():
        explained = explain_page(Telling(), page)
        assert len(explained.blocks) == len(page.blocks)
        assert all(len(block.path) < 200 for block in explained.blocks)


_ARTICLE = """<title>Finches return - Garden News</title><nav><a href="/">Home</a> <a href="/a">Archive</a></nav>
<article><h1>Finches return</h1><p>After many years of absence, a small group of finches was seen in the old oak near
the mill, as the warden told our reporter on Tuesday morning.</p><p>The birds have been counted every spring since 1970,
and never before were there so few of them.</p></article>
<footer>All rights reserved. <a href="/i">Imprint</a></footer>"""


def test_signs_of_the_default_method() -> None:
    explained = chaffinch.explain(_ARTICLE)
    home, _, prose, _, footer = explained.blocks
    assert (home.template, prose.template, footer.template) == (True, False, True)

    def contribution(block: ExplainedBlock, feature: str) -> float:
        return next(row.contribution for row in block.evidence if row.feature == feature)

    assert contribution(home, "in nav") > 0
    assert contribution(footer, "in footer") > 0
    assert contribution(footer, "words of the block") > 0
    for block in (home, prose, footer):
        assert (sum(row.contribution for row in block.evidence) > 0) is block.template, block.text
        sizes = [abs(row.contribution) for row in block.evidence]
        assert sizes == sorted(sizes, reverse=True)


def test_what_a_site_shows_is_evidence() -> None:
    pages = make_site(6)
    site = chaffinch.learn(pages)
    alone = {row.feature for row in chaffinch.explain(pages[0]).blocks[0].evidence}
    informed = chaffinch.explain(pages[0], template=site)
    more = {row.feature for row in informed.blocks[0].evidence} - alone
    assert more
    by_site = [row.contribution for row in informed.blocks[0].evidence if row.feature in more]
    assert informed.blocks[0].template
    assert sum(by_site) > 0
