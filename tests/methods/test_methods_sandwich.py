"""The sandwich method: what the paper promises, in both units, and the raw filter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch.errors import UsageError
from chaffinch.methods import learn_template, make_method
from chaffinch.methods.line_filter import LineFilter, remove_shared_lines
from chaffinch.methods.sandwich import Sandwich
from chaffinch.page import Page, parse

HEAD = "<html>\n<body>\n<ul class=menu>\n<li>Home</li>\n<li>Contact</li>\n</ul>\n"
MIDDLE = "<div>\nAdvertisement in the middle\n</div>\n"
FOOT = "<p>\nAll rights reserved\n</p>\n</body>\n</html>\n"


def page(name: str, first: str, second: str, directory: str = "https://site.example/dir/") -> Page:
    html = f"{HEAD}<p>\n{first}\n</p>\n{MIDDLE}<p>\n{second}\n</p>\n{FOOT}"
    return parse(html, url=directory + name)


def kept(method: Sandwich, scored: Page, others: list[Page]) -> list[str]:
    scores = method.score(scored, learn_template(method, [scored, *others]))
    shown = scored.shown_text_nodes & (scores < 0.5)
    return [scored.texts[position].strip() for position in np.flatnonzero(shown)]


both_units = pytest.mark.parametrize("unit", ["tokens", "lines"])


@both_units
def test_template_in_the_middle_of_the_content_goes(unit: str) -> None:
    one, other = page("a.html", "first of a", "second of a"), page("b.html", "first of b", "second of b")
    assert kept(Sandwich(unit=unit), one, [other]) == ["first of a", "second of a"]  # type: ignore[arg-type]


@both_units
def test_without_a_peer_nothing_goes(unit: str) -> None:
    one = page("a.html", "first of a", "second of a")
    elsewhere = page("b.html", "first of b", "second of b", "https://site.example/other/")
    assert "Home" in kept(Sandwich(unit=unit), one, [elsewhere])  # type: ignore[arg-type]
    assert not Sandwich().knows(one, learn_template(Sandwich(), [one, elsewhere]))
    assert not Sandwich().knows(one, None)


def test_the_peer_is_the_nearest_name() -> None:
    scored = page("item-104.html", "shared with the nearest", "own")
    nearest = page("item-105.html", "shared with the nearest", "other")
    far = page("about.html", "something", "own")
    assert kept(Sandwich(), scored, [far, nearest]) == ["own"]


def test_ties_go_by_name() -> None:
    scored = page("b", "left", "right")
    assert kept(Sandwich(), scored, [page("c", "x", "right"), page("a", "left", "x")]) == ["right"]


def test_a_copy_is_no_peer() -> None:
    scored = page("a1", "the content", "more of it")
    copy = page("a2", "the content", "more of it")
    other = page("zzz", "what it says", "differs")
    assert kept(Sandwich(), scored, [copy, other]) == ["the content", "more of it"]
    assert "Home" in kept(Sandwich(), scored, [copy])


def test_one_long_line_needs_tokens() -> None:
    one = parse("<p>menu</p><p>own of a</p><p>foot</p>", url="https://site.example/a")
    other = parse("<p>menu</p><p>own of b</p><p>foot</p>", url="https://site.example/b")
    assert kept(Sandwich(unit="lines"), one, [other]) == ["menu", "own of a", "foot"]
    assert kept(Sandwich(unit="tokens"), one, [other]) == ["own of a"]


def test_a_node_of_several_lines_goes_by_the_larger_part() -> None:
    common = "<p>same one\nsame two\nsame three\n"
    one = parse(f"{common}own of a\n</p>", url="https://site.example/a")
    other = parse(f"{common}own of b\n</p>", url="https://site.example/b")
    method = Sandwich(unit="lines")
    scores = method.score(one, learn_template(method, [one, other]))
    assert scores[one.shown_text_nodes].tolist() == [0.75]


def test_a_kept_template_serves_pages_never_seen() -> None:
    method = Sandwich()
    template = learn_template(method, [page(f"p{i}", f"first of {i}", f"second of {i}") for i in range(5)])
    fresh = page("p9", "news", "more news")
    assert template is not None
    scores = method.score(fresh, method.load(method.dump(template)))
    assert [fresh.texts[i].strip() for i in np.flatnonzero(fresh.shown_text_nodes & (scores < 0.5))] == [
        "news",
        "more news",
    ]


def test_large_directories_are_sampled_whatever_the_order() -> None:
    method = Sandwich(most_peers=10)
    pages = [parse(f"<p>{i}", url=f"https://site.example/{i}") for i in range(50)]
    template, again = learn_template(method, pages), learn_template(method, pages[::-1])
    assert template is not None
    assert len(template.prints) == 10
    assert [peer.name for peer in template.prints] == [peer.name for peer in again.prints]  # type: ignore[union-attr]


def test_wrong_options_are_named() -> None:
    with pytest.raises(UsageError, match="no option 'units'; its options are: unit, peers, most_peers"):
        make_method("sandwich", {"units": "lines"})
    with pytest.raises(UsageError, match="tokens or lines, not 'words'"):
        make_method("sandwich", {"unit": "words"})
    with pytest.raises(UsageError, match="a number, not 'many'"):
        make_method("sandwich", {"most_peers": "many"})
    with pytest.raises(UsageError, match="no method 'sandwhich'; the methods are: fused, sandwich"):
        make_method("sandwhich")


@pytest.mark.parametrize(
    ("method", "option", "value", "says"),
    [
        ("sandwich", "most_peers", "0", "is 1 or more, not 0"),
        ("chunks", "share", "nan", "is from 0 to 1, not nan"),
        ("chunks", "share", "7", "is from 0 to 1, not 7.0"),
        ("chunks", "most_entries", "-1", "is 1 or more, not -1"),
        ("offsets", "segments", "0", "is from 1 to 64, not 0"),
        ("blocks", "min_characters", "-1", "is 0 or more, not -1"),
        ("blocks", "menus", "inf", "is from 0 to 1, not inf"),
    ],
)
def test_options_out_of_bounds_are_refused(method: str, option: str, value: str, says: str) -> None:
    with pytest.raises(UsageError, match=f"option {option} of method {method} {says}"):
        make_method(method, {option: value})


def test_raw_filter() -> None:
    body = b"<ul>\r\nmenu\r\n</ul>\r\nown \xff line\r\nfoot"
    assert remove_shared_lines(body, b"<ul>\nmenu\n</ul>\nother\nfoot\n") == b"own \xff line\r\n"


lines = st.lists(st.sampled_from([b"a\n", b"b\n", b"\xff\x00\n", b"\n"]), max_size=20).map(b"".join)


@given(lines, lines)
def test_raw_filter_keeps_lines_whole_and_in_order(body: bytes, peer: bytes) -> None:
    rest = iter(body.splitlines(keepends=True))
    assert all(line in rest for line in remove_shared_lines(body, peer).splitlines(keepends=True))
    assert remove_shared_lines(body, body) == b""
    assert remove_shared_lines(body, b"") == body


def test_stream_filter_compares_within_the_directory() -> None:
    stream = LineFilter()
    first = stream.filter("https://site.example/d/1", b"menu\none\n")
    elsewhere = stream.filter("https://site.example/e/1", b"menu\nelsewhere\n")
    second = stream.filter("https://site.example/d/2", b"menu\ntwo\n")
    assert (first.has_peer, elsewhere.has_peer, second.has_peer) == (False, False, True)
    assert (first.body, elsewhere.body, second.body) == (b"menu\none\n", b"menu\nelsewhere\n", b"two\n")


def test_stream_filter_forgets_within_its_bounds() -> None:
    stream = LineFilter(most_directories=2, most_bytes=10**6)
    for directory in "abc":
        stream.filter(f"https://site.example/{directory}/1", b"menu\n")
    assert not stream.filter("https://site.example/a/2", b"menu\nx\n").has_peer
    assert stream.filter("https://site.example/c/2", b"menu\nx\n").has_peer
    small = LineFilter(most_bytes=10)
    small.filter("https://site.example/a/1", b"x" * 100)
    small.filter("https://site.example/b/1", b"y" * 100)
    assert not small.filter("https://site.example/a/2", b"z").has_peer
