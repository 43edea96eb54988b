"""Within-site block frequency: what counts as a block, when it is template, and what breaks it."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch.errors import ModelError
from chaffinch.methods import learn_template, words
from chaffinch.methods.blocks import MODERN_TAGS, BlockCounts, FrequentBlocks
from chaffinch.methods.words import Words
from chaffinch.page import Page, parse

PAPER = FrequentBlocks(modern=False, leaves=False, min_characters=40, min_words=3, share=0.1, menus=1)
LONG = "a text of more than forty characters that is shown"


def page(*parts: str, name: str = "page") -> Page:
    return parse("".join(parts), url=f"https://site.example/{name}")


def learned(method: FrequentBlocks, pages: list[Page]) -> BlockCounts:
    template = learn_template(method, pages)
    assert template is not None
    return template


def texts_of(method: FrequentBlocks, of: Page) -> list[str]:
    """Return the texts of the candidate elements."""
    found = method.candidates(of)
    return [" ".join(of.text_of(node).split()) for node in found.node[: found.elements].tolist()]


def kept(method: FrequentBlocks, scored: Page, template: BlockCounts) -> list[str]:
    shown = scored.shown_text_nodes & (method.score(scored, template) < 0.5)
    return [scored.texts[position].strip() for position in np.flatnonzero(shown)]


def scores_of(method: FrequentBlocks, scored: Page, template: BlockCounts) -> dict[str, float]:
    scores = method.score(scored, template)
    return {scored.texts[n]: float(scores[n]) for n in np.flatnonzero(scored.shown_text_nodes)}


# What is a candidate


def test_candidates_of_the_paper_are_its_tags_with_enough_text() -> None:
    of = page(f"<section>{LONG} 1</section><div>{LONG} 2</div><p>{LONG} 3</p><ul><li>short</ul><small>{LONG} 4</small>")
    assert texts_of(PAPER, of) == [f"{LONG} 2", f"{LONG} 4"]
    modern = replace(PAPER, modern=True)
    assert texts_of(modern, of) == [f"{LONG} {n}" for n in (1, 2, 3, 4)]


def test_forty_characters_and_three_different_words() -> None:
    exactly = "aaaaaaaaaa bbbbbbbbbb cccccccccc ddddddd"
    assert len(exactly) == 40
    bodies = [exactly, exactly[:-1], "go " * 40, "go stop " * 40, "go stop " * 40 + "wait", "x" * 100]
    of = page(*(f"<div>{body}</div>" for body in bodies))
    assert texts_of(PAPER, of) == [exactly, ("go stop " * 40 + "wait")]


def test_white_space_is_folded_before_counting() -> None:
    spread = f"<div>{' ' * 50}one{' ' * 50}two\n\n\n{' ' * 50}three</div>"
    assert texts_of(PAPER, page(spread)) == []


def test_ideographs_are_words() -> None:
    text = "これは日本語で書かれた文章であり単語のあいだに空白がないため一文字ずつ数えられることになっている"
    assert len(text) > 40
    assert texts_of(PAPER, page(f"<div>{text}</div><div>{'文' * 50}</div>")) == [text]


def test_hidden_text_is_no_text() -> None:
    of = page(f"<div><script>{LONG}</script><span hidden>{LONG}</span>brief</div>")
    assert texts_of(PAPER, of) == []


def test_leaf_blocks_see_text_beside_other_blocks() -> None:
    pages = [page(f"<div>Shared words<ul><li>own {n}</ul>Shared tail</div>") for n in range(10)]
    both = FrequentBlocks(leaves=True, min_characters=1, min_words=1)
    assert kept(both, pages[0], learned(both, pages)) == ["own 0"]
    elements = replace(both, leaves=False)
    assert len(kept(elements, pages[0], learned(elements, pages))) == 3


def test_other_markup_with_the_same_text_is_the_same() -> None:
    one = page("<div>All <b>rights</b> reserved, by the whole of the company</div>")
    other = page("<table><tr><td>All\nrights&#32;<i>reserved</i>,   by the whole of the <a href=/>company</a></table>")
    assert set(PAPER.candidates(one).text) == set(PAPER.candidates(other).text)


def test_words_end_where_blocks_do() -> None:
    joined = PAPER.candidates(page("<div><div>one</div><div>two three and many more words to make it long</div></div>"))
    apart = PAPER.candidates(page("<div>one two three and many more words to make it long</div>"))
    glued = PAPER.candidates(page("<div>onetwo three and many more words to make it long</div>"))
    assert joined.text[0] == apart.text[0] != glued.text[0]


# Counting and scoring


def test_a_page_counts_once_however_often_it_repeats_a_text() -> None:
    pages = [page(f"<div>{LONG}</div>" * 10_000), *(page(f"<div>own words of page {n}</div>") for n in range(9))]
    method = FrequentBlocks(min_pages=2)
    template = learned(method, pages)
    assert int(template.counts.counts.max()) == 1
    assert set(kept(method, pages[0], template)) == {LONG}


@pytest.mark.parametrize(("pages", "least"), [(1, 2), (2, 2), (20, 2), (21, 3), (30, 3), (100, 10), (101, 11)])
def test_a_tenth_of_the_pages_but_at_least_two(pages: int, least: int) -> None:
    assert PAPER.least_pages(pages) == least


def test_scores_rise_with_the_pages_and_are_a_half_at_the_threshold() -> None:
    method = FrequentBlocks(share=0.5)
    pages = [page("".join(f"<p>shown on {n + 1} pages</p>" for n in range(number, 10))) for number in range(10)]
    template = learned(method, pages)
    found = scores_of(method, pages[0], template)
    values = [found[f"shown on {n} pages"] for n in range(1, 11)]
    assert values == sorted(values)
    assert len(set(values)) == 10
    assert (values[0], values[4], values[9]) == (0.0, 0.5, 1.0)


def test_a_text_shares_the_fate_of_the_most_frequent_candidate_around_it() -> None:
    menu = "<ul><li>Home<li>About us<li>How to find our shop and garden</ul>"
    pages = [page(f"<div>{menu}<div>{LONG} {n}</div></div>") for n in range(10)]
    template = learned(PAPER, pages)
    assert kept(PAPER, pages[0], template) == [f"{LONG} 0"]
    other_markup = page(f"<div><ol><li><div>{LONG} 3</div></ol></div>")
    assert kept(PAPER, other_markup, template) == [f"{LONG} 3"]


def test_the_highest_grade_above_is_inherited_through_rarer_nodes() -> None:
    text = "words of the frequent block are more than forty characters long"
    pages = [page(f"<div>{text} and this</div>") for _ in range(10)]
    pages[0] = page(f"<div><ul><li>{text}</li></ul> and this</div>")
    method = replace(PAPER, share=0.5)
    assert kept(method, pages[0], learned(method, pages)) == []


def test_a_text_never_seen_is_content() -> None:
    pages = [page("<p>shared</p>", f"<p>own {n}</p>") for n in range(5)]
    method = FrequentBlocks()
    assert kept(method, page("<p>shared</p><p>new</p>"), learned(method, pages)) == ["new"]


def test_beyond_its_bound_counting_goes_on_in_fixed_memory() -> None:
    pages = [page(f"<p>shared</p><p>own {n}</p>") for n in range(40)]
    method = FrequentBlocks(most_entries=10)
    template = learned(method, pages)
    assert not template.counts.exact
    assert kept(method, pages[0], template) == ["own 0"]
    assert 0 < method.fit(pages[0], template) < 1
    again = method.load(method.dump(template))
    assert kept(method, pages[0], again) == ["own 0"]


def test_fit_falls_when_the_site_is_redesigned() -> None:
    method = FrequentBlocks()
    pages = [page(f"<nav>Old menu</nav><p>own {n}</p><footer>Old foot</footer>") for n in range(10)]
    template = learned(method, pages)
    assert method.fit(pages[3], template) == 1.0
    assert method.fit(page("<nav>Old menu</nav><footer>New foot"), template) == pytest.approx(0.5)
    assert method.fit(page("<nav>New menu</nav><footer>New foot"), template) == 0.0
    assert method.fit(page(""), template) == 0.0


def test_what_is_known() -> None:
    method = FrequentBlocks()
    one = page("<p>alone")
    assert not method.knows(one, None)
    assert not method.knows(one, learned(method, [one]))
    assert method.knows(one, learned(method, [one, one]))


# Sites that are not as one would wish


def test_identical_pages_are_all_template_and_disjoint_ones_all_content() -> None:
    method = FrequentBlocks()
    same = [page("<p>the same</p>") for _ in range(5)]
    assert kept(method, same[0], learned(method, same)) == []
    disjoint = [page(f"<p>words of page {n}</p>") for n in range(5)]
    assert kept(method, disjoint[0], learned(method, disjoint)) == ["words of page 0"]


def test_languages_and_encodings_mix() -> None:
    method = FrequentBlocks()
    foot = "© Müller — 著作権所有"
    encodings = ["utf-8", "utf-16", "gb18030"]
    pages = [
        parse(f"<p>Seite {n}</p><footer>{foot}</footer>".encode(encodings[n % 3]), charset=encodings[n % 3])
        for n in range(9)
    ]
    template = learned(method, pages)
    assert [kept(method, pages[n], template) for n in range(3)] == [[f"Seite {n}"] for n in range(3)]


def test_two_sites_may_share_a_template() -> None:
    method = FrequentBlocks()
    one, two = ([page(f"<nav>Shared menu</nav><p>own {site} {n}</p>") for n in range(5)] for site in "ab")
    assert kept(method, one[0], learned(method, two)) == ["own a 0"]


def test_a_damaged_template_is_told() -> None:
    method = FrequentBlocks()
    template = learned(method, [page("<p>one</p>")])
    odd = replace(template, counts=replace(template.counts, counts=np.zeros(7, dtype=np.int64)))
    with pytest.raises(ModelError, match="do not belong together"):
        method.load(method.dump(odd))


# Hashes


def test_the_thue_morse_attack_on_polynomial_hashes_fails() -> None:
    """Modulo 2^64, these two texts have the same hash at every point, whatever the hashes of the two words are."""
    bits = [n.bit_count() % 2 for n in range(1 << 12)]
    one, other = (" ".join("ab"[bit ^ flip] for bit in bits) for flip in (0, 1))
    method = FrequentBlocks(leaves=False)
    first, second = (method.candidates(page(f"<div>{text}</div>")).text[0] for text in (one, other))
    assert first != second


def test_order_repetition_and_length_count() -> None:
    method = FrequentBlocks(leaves=False)
    texts = ["a b c", "a c b", "b a c", "a b", "a b c c", "a b c a b c", "b c", "a", "ab c", "a bc", "A b c"]
    found = method.candidates(page(*(f"<div>{text}</div>" for text in texts)))
    assert len(set(found.text.tolist())) == len(texts)


def test_a_text_has_one_hash_wherever_it_stands() -> None:
    method = FrequentBlocks(leaves=False)
    filler = "".join(f"<p>filler {n}</p>" for n in range(20_000))
    near = method.candidates(page(f"<div>{LONG}</div>")).text[0]
    far = method.candidates(page(f"{filler}<div>{LONG}</div>")).text[-1]
    assert near == far


numbers = st.lists(st.integers(0, (1 << 61) - 2), min_size=1, max_size=20)


@given(numbers, numbers)
def test_products_modulo_the_prime(one: list[int], other: list[int]) -> None:
    length = min(len(one), len(other))
    found = words._product(np.array(one[:length], np.uint64), np.array(other[:length], np.uint64))  # noqa: SLF001
    expected = [a * b % ((1 << 61) - 1) for a, b in zip(one, other, strict=False)]
    assert found.tolist() == expected


@given(st.lists(st.sampled_from("abcdef"), max_size=60), st.data())
def test_hashes_and_counts_of_runs_are_those_of_the_plain_definition(drawn: list[str], data: st.DataObject) -> None:
    of = page(*(f"<p>{word}</p>" for word in drawn))
    found = Words.of(of, MODERN_TAGS)
    start = data.draw(st.integers(0, len(drawn)))
    stop = data.draw(st.integers(start, len(drawn)))
    bounds = np.array([start], np.int32), np.array([stop], np.int32)
    different = words._count_different(found.before, *bounds)  # noqa: SLF001
    assert different.tolist() == [len(set(drawn[start:stop]))]
    alone = page(*(f"<p>{word}</p>" for word in drawn[start:stop]))
    plain = Words.of(alone, MODERN_TAGS)
    whole = np.array([0], np.int32), np.array([stop - start], np.int32)
    assert found.hashes(*bounds).tolist() == plain.hashes(*whole).tolist()


# Hostile pages


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + LONG,
        "".join(f"<div>word{n}" for n in range(20_000)),
        "".join(f"<div>block number {n} has its own words</div>" for n in range(100_000)),
        f"<div>{LONG}</div>" * 10_000,
        "<div>" * 5_000 + "a " * 200_000,
    ],
    ids=["deep", "deep with text", "100,000 blocks", "repeated", "few words, often"],
)
@pytest.mark.parametrize("method", [FrequentBlocks(), replace(PAPER, leaves=True)], ids=["default", "paper"])
def test_no_page_takes_long(method: FrequentBlocks, html: str) -> None:
    scored = page(html)
    start = time.process_time()
    template = learned(method, [scored, page("<p>other")])
    assert method.score(scored, template).shape == scored.text_nodes.shape
    assert time.process_time() - start < 10


def test_the_order_of_a_crawl_does_not_matter() -> None:
    method = FrequentBlocks()
    pages = [page(f"<nav>Menu</nav><p>own {n % 7}</p>") for n in range(30)]
    expected = method.dump(learned(method, pages))
    random.Random(3).shuffle(pages)  # noqa: S311
    assert method.dump(learned(method, pages)) == expected


def test_menus_that_show_each_page_its_own_part_go_as_a_whole() -> None:
    def html(number: int) -> str:
        own = f"<li><a href=/{number}>Part {number}</a>"
        return f"<ul><li><a href=/>Home</a><li><a href=/a>All about this site</a>{own}</ul><p>own {number}"

    pages = [page(html(number)) for number in range(10)]
    template = learned(FrequentBlocks(), pages)
    assert kept(FrequentBlocks(), pages[0], template) == ["own 0"]
    assert kept(FrequentBlocks(menus=1), pages[0], template) == ["Part 0", "own 0"]
    unlinked = page(html(11).replace("<a href=/11>", "<a>"))
    assert kept(FrequentBlocks(), unlinked, template) == ["Part 11", "own 11"]
