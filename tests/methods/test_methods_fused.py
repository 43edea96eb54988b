"""The method fused: what it makes of pages that users have, and what its parts promise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chaffinch
from chaffinch.errors import ModelError
from chaffinch.methods import fused, learn_template
from chaffinch.methods.conformance import make_site, odd_pages
from chaffinch.methods.explain import explain_page
from chaffinch.methods.fused import KIND, VERSION, Fused, shipped
from chaffinch.methods.fused_network import Surroundings, best_cut, judge_inputs
from chaffinch.methods.judge_numbers import JUDGE_NAMES, SITE_NAMES, judge_numbers
from chaffinch.methods.page_evidence import LEVELS, NUMBER_NAMES, find_evidence
from chaffinch.methods.site_evidence import PLACE_NAMES, Places, SiteEvidence
from chaffinch.models import read_model, write_model
from chaffinch.models.files import load_model
from chaffinch.page import Page, parse
from conftest import CRAWL

NEWS = CRAWL / "finchley-gazette.example" / "news"
BAKERY = NEWS / "bakery-after-the-flood.html"
SITE = sorted((CRAWL / "finchley-gazette.example").rglob("*.html"))
METHOD = Fused()

STORY = [
    "The bakery on Mill Lane opened its doors again on Tuesday, eleven weeks after the river had filled its cellar.",
    "Neighbours had carried flour, mixers and two ovens up the stairs by hand, and most of what was saved works.",
    "The owners say that they mean to stay, whatever the insurers decide about the cellar in the spring.",
    "On the first morning the queue reached the corner, and the last loaf was sold before nine.",
]


def paragraphs(texts: list[str]) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def page_of(body: str) -> str:
    return (
        "<!doctype html><html lang=en><head><title>The bakery is back</title></head><body>"
        "<nav class=menu><ul><li><a href=/>Home</a><li><a href=/news>News</a><li><a href=/sport>Sport</a></ul></nav>"
        f"<main><article><h1>The bakery is back</h1>{body}</article></main>"
        "<footer><p><a href=/imprint>Imprint</a> · <a href=/privacy>Privacy</a> · © All rights reserved</p></footer>"
        "</body></html>"
    )


# What users see.


def test_a_page_alone_is_cleaned() -> None:
    content = chaffinch.extract(page_of(paragraphs(STORY))).content
    assert content == "The bakery is back\n\n" + "\n\n".join(STORY)


def test_hidden_tabs_are_shown_if_they_are_content() -> None:
    body = (
        f"<div class=tab-content><div class=tab-pane>{paragraphs(STORY[:2])}</div>"
        f"<div class=tab-pane hidden>{paragraphs(STORY[2:])}</div></div>"
    )
    kept = chaffinch.extract(page_of(body))
    assert all(text in kept.content for text in STORY)
    assert kept.words_in >= kept.words_kept
    markdown = chaffinch.extract(page_of(body), format="markdown").content
    assert all(text in markdown for text in STORY)


def test_hidden_menus_stay_away() -> None:
    menu = "<div hidden class='mobile menu'><ul>" + "<li><a href=/x>Shop now</a>" * 8 + "</ul></div>"
    content = chaffinch.extract(page_of(menu + paragraphs(STORY))).content
    assert "Shop now" not in content
    assert STORY[-1] in content


def test_a_page_that_stands_in_noscript() -> None:
    html = (
        "<title>The bakery is back</title><body><div id=root></div>"
        f"<noscript><h1>The bakery is back</h1>{paragraphs(STORY)}</noscript>"
    )
    assert all(text in chaffinch.extract(html).content for text in STORY)
    ordinary = page_of(paragraphs(STORY)) + "<noscript><p>Please turn on JavaScript</p></noscript>"
    assert "JavaScript" not in chaffinch.extract(ordinary).content


def test_the_consent_banner_goes() -> None:
    run = {document.source: document.content for document in chaffinch.clean(CRAWL)}
    assert len(run) == 44
    assert not any("We value your privacy" in content for content in run.values())


def test_comments_by_option() -> None:
    comment, article = "Queue was past our door by six. Worth it.", "bakery"
    html = BAKERY.read_bytes()
    dropped = chaffinch.extract(html).content
    kept = chaffinch.extract(html, method=Fused(keep_comments=True)).content
    assert comment not in dropped
    assert comment in kept
    assert article in dropped
    assert set(dropped.split()) <= set(kept.split())


@pytest.mark.parametrize("html", ["", "<html></html>", "<script>1</script>", "<p>  </p>", "<img src=a>"])
def test_pages_without_text_give_nothing(html: str) -> None:
    page = parse(html)
    assert METHOD.score(page, None).shape == page.text_nodes.shape
    assert chaffinch.extract(page).content == ""
    assert explain_page(METHOD, page, None).blocks == ()


def test_a_million_siblings() -> None:
    page = parse("<p>word</p>" * 1_000_000)
    scores = METHOD.score(page, None)
    assert len(scores) == 1_000_000
    assert (scores[fused._MOST_BLOCKS :] == 0).all()  # noqa: SLF001


def test_what_stands_behind_the_judged_part_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    page = parse(page_of(paragraphs([*STORY, "<span hidden>unseen</span>"])))
    whole = METHOD.score(page, None)
    monkeypatch.setattr(fused, "_MOST_BLOCKS", 6)
    part = METHOD.score(page, None)
    behind = np.flatnonzero(page.text_nodes >= page.unrolled.blocks.first[6])
    assert (whole[behind] >= 0.5).any()
    assert (part[behind] == np.where(page.shown_text_nodes[behind], 0, 1)).all()
    blocks = explain_page(METHOD, page, None).blocks
    assert len(blocks) == len(page.unrolled.blocks)
    assert not blocks[-1].template


def block_score(page: Page, text: str, template: SiteEvidence | None) -> float:
    scores = METHOD.score(page, template)
    return float(scores[[node for node, found in enumerate(page.texts) if found == text]].max())


# The cut.

logits = st.lists(st.floats(-20, 20, width=32), min_size=1, max_size=30)


def expected_f1(logits: np.ndarray, words: np.ndarray, warmth: float, kept: np.ndarray) -> float:
    likely = 1 / (1 + np.exp(-logits.astype(np.float64) / warmth))
    return float(2 * (likely * words)[kept].sum() / max(words[kept].sum() + (likely * words).sum(), 1e-9))


@given(logits, st.data(), st.sampled_from([0.5, 1.0, 1.2, 2.0]))
def test_the_best_cut_is_best(values: list[float], data: st.DataObject, warmth: float) -> None:
    scores = np.array(values, dtype=np.float32)
    words = np.array(data.draw(st.lists(st.integers(1, 300), min_size=len(values), max_size=len(values))))
    cut = best_cut(scores, words, warmth)
    assert np.isfinite(cut)
    assert cut <= 0, "what is more likely content than not is always kept"
    reached = expected_f1(scores, words, warmth, scores > cut)
    for lowest in scores:
        assert expected_f1(scores, words, warmth, scores >= lowest) <= reached + 1e-6


@given(logits)
def test_blocks_without_words_do_no_harm(values: list[float]) -> None:
    cut = best_cut(np.array(values, dtype=np.float32), np.zeros(len(values), dtype=np.int32), 1.0)
    assert np.isfinite(cut)
    assert cut <= 0


def test_no_blocks_no_cut() -> None:
    assert best_cut(np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.int32), 1.0) == 0


# What the networks look at.


@pytest.mark.parametrize("page", [make_site(1)[0], *odd_pages()], ids=repr)
def test_evidence_has_a_row_for_each_block(page: Page) -> None:
    evidence = find_evidence(page)
    count = len(page.unrolled.blocks)
    assert len(evidence) == len(evidence.texts) == len(evidence.near_path) == len(evidence.group) == count
    assert evidence.numbers.shape == (count, len(NUMBER_NAMES))
    assert np.isfinite(evidence.numbers).all()
    assert evidence.first.shape == evidence.stop.shape == evidence.element.shape == (count, LEVELS + 1)
    here = np.arange(count)[:, None]
    assert (evidence.first <= here).all()
    assert (evidence.stop > here).all()
    assert (evidence.first >= 0).all()
    assert (evidence.stop <= count).all()
    assert evidence.word_start[-1] == len(evidence.words)


@pytest.mark.parametrize(
    "page", [make_site(1)[0], *(page for page in odd_pages() if len(page.unrolled.blocks))], ids=repr
)
def test_what_the_judge_sees(page: Page) -> None:
    evidence = find_evidence(page)
    first = shipped().page.views(evidence, Surroundings.of(evidence))
    about_site = len(JUDGE_NAMES) - len(SITE_NAMES)
    alone = judge_numbers(evidence, first, None)
    assert alone.shape == (len(evidence), len(JUDGE_NAMES))
    assert alone.dtype == np.float32
    assert np.isfinite(alone[:, :about_site]).all()
    assert np.isnan(alone[:, about_site:]).all(), "nothing is known of the site"
    known = judge_numbers(evidence, first, learn_template(METHOD, make_site(4)))
    assert np.isfinite(known).all()
    assert np.array_equal(known[:, :about_site], alone[:, :about_site])
    for numbers, told in ((alone, 0), (known, 1)):
        inputs = judge_inputs(numbers, shipped().judge.mean, shipped().judge.spread)
        assert inputs.shape == (len(evidence), len(JUDGE_NAMES) + 1)
        assert np.isfinite(inputs).all()
        assert (inputs[:, -1] == told).all()


# What a site tells.

HASH = st.integers(0, 2**64 - 1)
a_page = st.lists(
    st.tuples(st.sampled_from([3, 5, 8, 2**63, 2**64 - 1]) | HASH, HASH, st.floats(0, 1, width=32)), max_size=12
)


def places_of(rows: list[tuple[int, int, float]], most: int) -> Places:
    places, texts, scores = zip(*rows, strict=True) if rows else ((), (), ())
    return Places.of_page(
        np.array(places, dtype=np.uint64), np.array(texts, dtype=np.uint64), np.array(scores, dtype=np.float32), most
    )


@given(st.lists(a_page, min_size=1, max_size=6), st.integers(1, 8), st.randoms(use_true_random=False))
def test_places_add_up_in_any_order(site: list[list[tuple[int, int, float]]], most: int, chance: object) -> None:
    parts = [places_of(rows, most) for rows in site]
    while len(parts) > 1:
        one = parts.pop(chance.randrange(len(parts)))  # type: ignore[attr-defined]
        other = parts.pop(chance.randrange(len(parts)))  # type: ignore[attr-defined]
        parts.append(one.merge(other))
    (found,) = parts
    different = sorted({place for rows in site for place, _, _ in rows})[:most]
    assert found.keys.tolist() == different, "of too many places those with the lowest hashes are kept"
    for key, (pages, blocks, score) in zip(different, found.sums.tolist(), strict=True):
        rows = [row for page in site for row in page if row[0] == key]
        assert pages == sum(any(row[0] == key for row in page) for page in site)
        assert blocks == len(rows)
        assert score == sum(round(row[2] * 1024) for row in rows)
    numbers = found.numbers(np.array([*different, 1], dtype=np.uint64), len(site))
    assert numbers.shape == (len(different) + 1, len(PLACE_NAMES))
    assert np.isfinite(numbers).all()
    assert ((numbers[:, 0] >= 0) & (numbers[:, 0] <= 1)).all()


def test_a_text_counts_once_for_a_place() -> None:
    same = places_of([(7, 100, 0.5)] * 9, 10)
    other = places_of([(7, text * 3 + 1, 0.5) for text in range(9)], 10)
    place = np.array([7], dtype=np.uint64)
    variety = PLACE_NAMES.index("variety")
    assert same.numbers(place, 1)[0, variety] < 0.2
    assert other.numbers(place, 1)[0, variety] > 0.9


# Files.


def test_networks_of_another_version_are_refused(tmp_path: Path) -> None:
    model = load_model("fused", KIND, VERSION)
    assert {"command", "data", "held_out", "page_plan", "judge_plan"} <= set(model.card)
    write_model(tmp_path / "fused.npz", replace(model, version=VERSION + 1))
    with pytest.raises(ModelError, match="train it again"):
        read_model(tmp_path / "fused.npz", KIND, VERSION)


def test_templates_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as later:
        later.setattr(Fused, "version", Fused.version + 1)
        template = learn_template(METHOD, make_site(3))
        assert template is not None
        data = METHOD.dump(template)
    with pytest.raises(ModelError):
        METHOD.load(data)


# Explanations.


def test_evidence_speaks_for_the_side_that_it_moves_the_score_to() -> None:
    """Taking away what spoke for template makes a block more like content, and the other way round."""
    pages = [parse(path.read_bytes(), url=f"https://finchley-gazette.example/{path.name}") for path in SITE]
    template = learn_template(METHOD, pages)
    page = next(page for page in pages if page.url and page.url.endswith(BAKERY.name))
    found = explain_page(METHOD, page, template)
    blocks = {block.text: block for block in found.blocks}
    footer = next(block for text, block in blocks.items() if text.startswith("© 2024 Wend Valley Newspapers"))
    assert footer.template
    for_template = {item.feature for item in footer.evidence if item.contribution > 0}
    assert for_template & set(SITE_NAMES), "that all pages have it speaks for template"
    paragraph = max(found.blocks, key=lambda block: block.words)
    assert not paragraph.template
    assert sum(item.contribution for item in footer.evidence) > sum(item.contribution for item in paragraph.evidence)


def test_without_a_site_only_the_page_speaks() -> None:
    page = parse(BAKERY.read_bytes())
    features = {item.feature for block in explain_page(METHOD, page, None).blocks for item in block.evidence}
    assert features
    assert not features & set(SITE_NAMES)
