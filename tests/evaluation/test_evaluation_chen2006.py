"""The comparison with shingles and the site style tree, on made-up sites."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chaffinch.evaluation import chen2006
from chaffinch.evaluation.chen2006 import Experiment, block_kinds, exactly_similar, filter_facts, index_page, table
from chaffinch.evaluation.datasets import GoldPage, GoldSite, Regions
from chaffinch.evaluation.rivals import Shingles, StyleTree
from chaffinch.methods.conformance import make_site, odd_pages
from chaffinch.methods.offsets import Offsets
from chaffinch.page import Page, parse
from chaffinch.sources.capture import Capture

TEMPLATE = ["Start here", "About the site", "Copyright of the whole site, all rights reserved"]


def marked(page: Page, marks: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[str]:
    return [text for text, mark in zip(page.blocks.texts, marks.tolist(), strict=True) if mark]


def test_shingles_find_what_pages_share() -> None:
    site = make_site(8)
    shingles = Shingles()
    prints = [shingles.fingerprints(page, *index_page(page)) for page in site]
    marks = shingles.template_blocks([found for found, _ in prints])
    for page, mark, (_, of_leaf) in zip(site, marks, prints, strict=True):
        assert marked(page, mark[of_leaf]) == TEMPLATE


def test_shingles_of_nearly_equal_blocks_mostly_agree() -> None:
    words = " ".join(f"w{number}" for number in range(200))
    one, near, far = (parse(f"<p>{text}</p><p>--</p>") for text in (words, f"{words} more", words[::-1]))
    shingles = Shingles(permutations=1)
    prints = [shingles.fingerprints(page, *index_page(page))[0].tolist() for page in (one, near, far)]
    assert prints[0] == prints[1] != prints[2]
    assert prints[0][1] == 0


def test_the_style_tree_finds_what_does_not_vary() -> None:
    site = make_site(30)
    tree = StyleTree(sample=20)
    root = tree.build(site)
    for page in site:
        found = marked(page, tree.template_nodes(page, root)[page.blocks.first])
        assert found == [] or set(found) <= set(TEMPLATE)
    assert any(marked(page, tree.template_nodes(page, root)[page.blocks.first]) == TEMPLATE for page in site)


def test_rivals_take_any_page() -> None:
    pages = odd_pages()
    tree, shingles = StyleTree(), Shingles()
    root = tree.build(pages)
    for page in pages:
        assert tree.template_nodes(page, root).shape == (len(page),)
        prints, of_leaf = shingles.fingerprints(page, *index_page(page))
        assert len(of_leaf) == len(page.blocks)
        assert len(prints) == len(np.unique(of_leaf))


def test_blocks_are_what_the_gold_says() -> None:
    page = parse("<p>home news</p><p>own words of this page</p><p>both</p><p>neither of them</p>")
    kinds = block_kinds(page, Regions(content="own words of this page both", template="Home News both", ignored=""))
    assert kinds.template.tolist() == [True, False, False, False]
    assert kinds.content.tolist() == [False, True, False, False]


def test_exact_similarity() -> None:
    assert exactly_similar(np.array([1, 2, 3]), np.array([3, 2, 9]), 2 / 3)
    assert not exactly_similar(np.array([1, 2, 3]), np.array([3, 8, 9]), 2 / 3)
    assert not exactly_similar(np.array([1]), np.array([1, 1]), 0.6)


def test_what_the_devices_save() -> None:
    facts = filter_facts(Offsets(), make_site(20))
    assert 0 < facts.rare < 1
    assert 0 < facts.exit < 1
    assert all(0 <= error <= 0.2 for error in facts.errors.values())


def gold_site() -> GoldSite:
    pages = []
    for page in make_site(10):
        own = [text for text in page.blocks.texts if text not in TEMPLATE]
        gold = Regions(content="\n".join(own), template="\n".join(TEMPLATE), ignored="")
        pages.append(GoldPage(Capture(source="x", body=page.html.encode(), url=page.url), page.url or "", gold))
    return GoldSite("made-up", "docs", tuple(pages))


def test_the_experiment_prints_the_papers_tables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class OneSite:
        @staticmethod
        def site_names() -> list[str]:
            return ["made-up"]

        @staticmethod
        def load(_: str) -> GoldSite:
            return gold_site()

    monkeypatch.setattr(chen2006, "open_set", lambda *_: OneSite())
    reports = Experiment(sampled=5).run()
    offsets = reports[0].detections[0]
    assert (offsets.method, offsets.accuracy, offsets.lost) == ("offsets", 1.0, 0.0)
    printed = table(reports)
    assert "| made-up | 10 | 1.000 (0.000) |" in printed
    assert "| bit filter errs, 8 integers" in printed
    assert chen2006.main(["--pages", "3"]) == 0
    assert "| macro | | 1.000 (0.000) |" in capsys.readouterr().out


def test_without_data_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHAFFINCH_DATA", str(tmp_path / "none"))
    assert chen2006.main([]) == 2
    assert "no evaluation data here" in capsys.readouterr().err
