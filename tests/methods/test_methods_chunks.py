"""The method `chunks`: where chunks end, what is template, copies, clusters, and odd sites."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch.errors import ModelError
from chaffinch.methods import learn_template
from chaffinch.methods.chunks import DELIMITERS, Chunks, Delimiters, find_chunks
from chaffinch.methods.clustering import jaccard_distances, min_max_clusters
from chaffinch.methods.conformance import make_site
from chaffinch.page import Page, parse


def page(html: str, name: str = "a") -> Page:
    return parse(html, url=f"https://site.example/{name}")


def article(number: int, menu: str = "<ul><li>Home</li><li>News</li></ul>") -> Page:
    return page(f"{menu}<p>Own words of page {number}</p><p>All rights reserved</p>", f"page-{number}")


def dropped(method: Chunks, scored: Page, learned: list[Page]) -> list[str]:
    gone = method.score(scored, learn_template(method, learned)) >= 0.5
    return [scored.texts[place].strip() for place in np.flatnonzero(gone & scored.shown_text_nodes)]


LAYOUT = (
    "<div>One <b>bold</b> \n word<p>two</p></div><h1>three</h1><script>no()</script>"
    "<table><caption>four</caption><tr><td>five<td>six<br>seven</table>eight<map><area></map>nine<ul><li>ten<li>el</ul>"
)


@pytest.mark.parametrize(
    ("delimiters", "expected"),
    [
        ("tables", ["One bold wordtwothree", "fourfivesixseven", "eight", "ninetenel"]),
        ("cells", ["One bold wordtwothree", "four", "five", "sixseven", "eight", "ninetenel"]),
        ("containers", ["One bold wordtwo", "three", "four", "five", "sixseven", "eight", "nine", "tenel"]),
        ("blocks", ["One bold word", "two", "three", "four", "five", "sixseven", "eight", "nine", "ten", "el"]),
        ("lines", ["One bold word", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "el"]),
    ],
)
def test_chunks_end_at_the_delimiters(delimiters: Delimiters, expected: list[str]) -> None:
    assert list(find_chunks(page(LAYOUT), delimiters).texts) == expected


@pytest.mark.parametrize("delimiters", DELIMITERS)
def test_every_shown_text_is_in_one_chunk(delimiters: Delimiters) -> None:
    whole = page(LAYOUT)
    found = find_chunks(whole, delimiters)
    assert (found.of_text[whole.shown_text_nodes] >= 0).all()
    assert sorted(set(found.of_text[found.of_text >= 0].tolist())) == list(range(len(found.texts)))


def test_markup_and_white_space_do_not_tell_chunks_apart() -> None:
    one, other = (
        find_chunks(page(html), "lines").hashes() for html in ("<p>a <b>bold</b>\nword", "<p>\ta bold  <i>word</i>")
    )
    assert one.tolist() == other.tolist()


def test_a_chunk_on_enough_pages_is_template() -> None:
    pages = [article(number) for number in range(8)]
    assert dropped(Chunks(), pages[3], pages) == ["Home", "News", "All rights reserved"]
    assert dropped(Chunks(), article(99), pages) == ["Home", "News", "All rights reserved"]


def test_the_score_is_half_at_the_threshold_and_grows_with_the_count() -> None:
    method = Chunks(share=0.3, least_count=2)
    pages = [page("".join(f"<p>on {n}</p>" for n in range(10) if number < n), f"p{number}") for number in range(10)]
    scores = method.score(pages[0], learn_template(method, pages))
    assert (np.diff(scores) > 0).all()
    assert scores[2] == 0.5
    assert [round(float(score), 3) for score in (scores[0], scores[1], scores[8])] == [0.206, 0.37, 0.875]


def test_a_chunk_counts_once_a_page() -> None:
    pages = [page("<p>again</p>" * 10_000, "many"), *(page(f"<p>own {n}</p>", f"p{n}") for n in range(3))]
    assert dropped(Chunks(), pages[0], pages) == []


def test_a_site_of_one_page_is_not_known() -> None:
    template = learn_template(Chunks(), [article(1)])
    assert not Chunks().knows(article(1), template)
    assert not Chunks().knows(article(1), None)
    assert not Chunks().score(article(1), template).any()
    assert not Chunks(min_pages=5).knows(
        article(1), learn_template(Chunks(min_pages=5), [article(n) for n in range(4)])
    )


def test_copies_of_a_page_tell_nothing() -> None:
    copies = [parse("<p>menu</p><p>the same</p>", url=f"https://site.example/{n}") for n in range(50)]
    template = learn_template(Chunks(), copies)
    assert not Chunks().knows(copies[0], template)
    assert not Chunks().score(copies[0], template).any()
    other = page("<p>menu</p><p>something else</p>", "other")
    few = [*copies[:2], other]
    assert dropped(Chunks(), copies[0], few) == ["menu"]
    assert Chunks().knows(copies[0], learn_template(Chunks(), few))


def test_pages_with_nothing_in_common_keep_everything() -> None:
    pages = [page(f"<p>own {n}</p><p>more {n}</p>", f"p{n}") for n in range(20)]
    assert all(dropped(Chunks(), one, pages) == [] for one in pages)
    template = learn_template(Chunks(), pages)
    assert template is not None
    assert Chunks().fit(pages[0], template) == 0


def test_a_page_that_lost_half_its_template_fits_less() -> None:
    method = Chunks()
    template = learn_template(method, [article(number) for number in range(9)])
    assert template is not None
    half = page("<p>All rights reserved</p><p>Home</p>")
    assert method.fit(article(50), template) == 1
    assert method.fit(half, template) == pytest.approx(2 / 3)
    assert method.fit(page("<h1>new</h1>"), template) == 0


def test_beyond_the_bound_the_template_is_still_found() -> None:
    method = Chunks(most_entries=10)
    pages = [article(number) for number in range(40)]
    template = learn_template(method, pages)
    assert template is not None
    assert not template.counts.frequencies.exact
    assert dropped(method, pages[3], pages) == ["Home", "News", "All rights reserved"]
    assert method.fit(pages[0], template) == 1


def test_clusters_have_templates_of_their_own() -> None:
    shop = "".join(f"<p>shop {n}</p>" for n in range(10))
    blog = "".join(f"<p>blog {n}</p>" for n in range(10))
    pages = [page(f"{shop}<p>own {n}</p>", f"shop-{n}") for n in range(36)]
    pages += [page(f"{blog}<p>post {n}</p>", f"blog-{n}") for n in range(4)]
    together, apart = Chunks(), Chunks(cluster=True)
    assert dropped(together, pages[-1], pages) == []
    assert dropped(apart, pages[-1], pages) == [f"blog {n}" for n in range(10)]
    assert dropped(apart, pages[0], pages) == [f"shop {n}" for n in range(10)]
    template = learn_template(apart, pages)
    assert template is not None
    assert len({apart.cluster_of(one, template) for one in pages}) == 2
    assert together.cluster_of(pages[0], learn_template(together, pages)) == -1  # type: ignore[arg-type]
    again = apart.load(apart.dump(template))
    assert [cluster.pages for cluster in again.clusters] == [cluster.pages for cluster in template.clusters]


def test_a_site_with_one_template_is_one_cluster() -> None:
    template = learn_template(Chunks(cluster=True), [article(number) for number in range(9)])
    assert template is not None
    assert template.clusters == ()


def test_the_sample_is_bounded() -> None:
    template = learn_template(Chunks(cluster=True, most_sampled=5), make_site(40))
    assert template is not None
    assert len(template.counts.sample) == 5
    assert template.counts.pages == 40
    plain = learn_template(Chunks(), make_site(40))
    assert plain is not None
    assert len(plain.counts.sample) == 32


def test_parts_that_differ_in_length_are_damage() -> None:
    method = Chunks()
    template = learn_template(method, [article(number) for number in range(3)])
    assert template is not None
    damaged = template.counts.frequencies.counts[:-1]
    object.__setattr__(template.counts.frequencies, "counts", damaged)
    with pytest.raises(ModelError, match="differ in length"):
        method.load(method.dump(template))


def test_a_page_of_very_many_chunks_takes_little_time() -> None:
    wide = page("".join(f"<p>block {n}" for n in range(100_000)), "wide")
    begin = time.process_time()
    method = Chunks(cluster=True)
    template = learn_template(method, [wide, article(1), article(2)])
    assert method.score(wide, template).shape == wide.text_nodes.shape
    assert time.process_time() - begin < 5


sets = st.lists(
    st.lists(st.integers(0, 12), max_size=8).map(lambda found: np.unique(np.array(found, dtype=np.uint64))),
    min_size=1,
    max_size=12,
)


@given(sets)
def test_distances_are_jaccards(found: list[Any]) -> None:
    other = found[-1]
    expected = [1 - len({*a} & {*other}) / len({*a} | {*other}) if {*a} | {*other} else 0.0 for a in map(set, found)]
    assert jaccard_distances(found, other).tolist() == pytest.approx(expected)


@given(sets, st.sampled_from([0.3, 0.6, 0.9]))
def test_no_set_is_far_from_its_centre_and_centres_are_apart(found: list[Any], spread: float) -> None:
    clusters = min_max_clusters(found, spread)
    assert (clusters.distance <= spread).all()
    for place, centre in enumerate(clusters.centres):
        assert clusters.of_set[centre] == place
        others = [found[other] for other in clusters.centres if other != centre]
        assert (jaccard_distances(others, found[centre]) > spread).all()
    assert len(min_max_clusters(found, 0.0, most_centres=2)) <= 2
    assert len(min_max_clusters([], spread)) == 0
