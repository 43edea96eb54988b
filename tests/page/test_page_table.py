"""The flat table of nodes: its invariants on any input, and what it says of visibility, links and places."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chaffinch.page import Page, Visibility, parse, parse_capture
from chaffinch.sources import Capture

TAGS = "a b p div span ul li table tr td script style template noscript svg math pre h1 br hr select option".split()
soup = st.lists(
    st.one_of(
        st.sampled_from(TAGS).map(lambda tag: f"<{tag}>"),
        st.sampled_from(TAGS).map(lambda tag: f"</{tag}>"),
        st.sampled_from(
            ["<a href=x>", "<p hidden>", "<div style='display: none'>", "<!-- c -->", "&amp;", "<![CDATA[x]]>"]
        ),
        st.text(max_size=12),
    ),
    max_size=60,
).map("".join)


@given(soup)
@example("")
@example("<frameset><frame></frameset>")
def test_table_is_consistent(html: str) -> None:
    page = parse(html)
    count = len(page)
    assert page.parent[0] == -1
    assert (page.parent[1:] >= 0).all()
    assert (page.parent[1:] < np.arange(1, count)).all()
    assert (page.depth[1:] == page.depth[page.parent[1:]] + 1).all()
    assert page.end[0] == count
    for node in range(count):
        inside = range(node + 1, int(page.end[node]))
        assert all(page.parent[other] >= node for other in inside)
        assert page.end[node] == count or page.parent[page.end[node]] < node
    assert (np.diff(page.text_offset) >= 0).all()
    assert page.text_offset[-1] == len(page.text)
    assert [page.text_of(node) for node in page.text_nodes.tolist()] == list(page.texts)
    assert page.text_of(0) == page.text


@given(soup)
def test_blocks_hold_all_visible_text_once(html: str) -> None:
    page = parse(html)
    blocks = page.blocks
    shown = [page.texts[i] for i in np.flatnonzero(page.shown_text_nodes)]
    assert "".join(blocks.texts).replace(" ", "") == "".join("".join(shown).split())
    assert (blocks.of_text[page.shown_text_nodes] >= 0).all()
    assert (np.diff(blocks.first) > 0).all()
    assert (blocks.start[1:] >= blocks.stop[:-1]).all()
    assert (blocks.link_words <= blocks.words).all()
    assert blocks.words.sum() == blocks.text_words[blocks.of_text >= 0].sum()


@given(soup)
def test_parsing_twice_gives_the_same(html: str) -> None:
    one, other = parse(html), parse(html)
    for name in ("tag", "parent", "end", "depth", "text_offset", "blank", "visibility", "in_link", "tag_path"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_arrays_are_closed_to_writing() -> None:
    page = parse("<p>text")
    for name in ("tag", "parent", "end", "depth", "text_offset", "blank", "visibility", "in_link", "tag_path"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(page, name)[0] = 1


def visibility_of(html: str, text: str) -> Visibility:
    page = parse(html)
    nodes = [node for node in page.text_nodes.tolist() if text in page.text_of(node)]
    assert len(nodes) == 1
    return Visibility(page.visibility[nodes[0]])


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>X", Visibility.VISIBLE),
        ("<title>X</title>", Visibility.METADATA),
        ("<body><script>X</script>", Visibility.CODE),
        ("<head><script>X</script>", Visibility.CODE),
        ("<style>X</style>", Visibility.CODE),
        ("<div hidden><p>X</p></div>", Visibility.HIDDEN),
        ("<div hidden><script>X</script></div>", Visibility.CODE),
        ("<div style='color:red; DISPLAY : none'>X</div>", Visibility.HIDDEN),
        ("<div style='visibility:hidden'>X</div>", Visibility.HIDDEN),
        ("<div style='display:block'>X</div>", Visibility.VISIBLE),
        ("<body><template><p>X</p></template>", Visibility.INERT),
        ("<div><template shadowrootmode='open'><p>X</p></template></div>", Visibility.VISIBLE),
        ("<div><template id=t\nshadowrootmode=closed><p>X</p></template></div>", Visibility.VISIBLE),
        ("<body><noscript><p>X</p></noscript>", Visibility.INERT),
        ("<svg><text>X</text></svg>", Visibility.GRAPHIC),
        ("<math><mi>X</mi></math>", Visibility.VISIBLE),
        ("<select><option>X</select>", Visibility.VISIBLE),
        ("<video>X</video>", Visibility.INERT),
        ("<textarea>X</textarea>", Visibility.VISIBLE),
    ],
)
def test_visibility(html: str, expected: Visibility) -> None:
    assert visibility_of(html, "X") == expected


def test_shadow_root_named_in_text_is_left_alone() -> None:
    page = parse("<pre>&lt;template shadowrootmode=open></pre>")
    assert page.text == "<template shadowrootmode=open>"


def test_links() -> None:
    page = parse("<a href='/x'>in <b>in</b></a> out <a name=y>out</a>")
    inside = [page.texts[i] for i in np.flatnonzero(page.in_link[page.text_nodes])]
    assert inside == ["in ", "in"]
    assert (page.blocks.words.tolist(), page.blocks.link_words.tolist()) == ([4], [2])


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        ("<p>One <b>two</b>\n three</p><p>four", ["One two three", "four"]),
        ("one<br>two<hr>three", ["one", "two", "three"]),
        ("<ul><li>a<li>b</ul>", ["a", "b"]),
        ("<td>a<td>b", ["ab"]),
        ("<table><tr><td>a<td>b</table>", ["a", "b"]),
        ("<div>before<div>inside</div>after</div>", ["before", "inside", "after"]),
        ("<p>be<script>code</script>fore</p>", ["before"]),
        ("<p> \n </p><p>\u00a0</p>", []),
    ],
)
def test_blocks(html: str, blocks: list[str]) -> None:
    assert list(parse(html).blocks.texts) == blocks


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("one two-three don't x_y", 6),
        ("日本語テキスト", 7),
        ("日本語text日本", 6),
        ("سلام دنیا", 2),
        ("… — ·", 0),
        ("naïve café", 2),
        ("\U0001f600 smile", 1),
        ("\U00020000\U00020001", 2),
    ],
)
def test_words(text: str, words: int) -> None:
    assert parse(f"<p>{text}").blocks.words.tolist() == ([words] if text.strip() else [])


def test_a_block_ends_a_word() -> None:
    page = parse("<p>one</p><p>two</p>three<b>four</b>")
    assert page.blocks.words.tolist() == [1, 1, 1]


@pytest.mark.parametrize("tag", ["div", "b", "ul", "blockquote", "table"])
def test_deep_nesting_is_linear(tag: str) -> None:
    page = parse(f"<{tag}>" * 100_000 + "text")
    assert page.blocks.texts == ("text",)
    # The standard's tree construction may limit depth; whatever it built is walked without recursion.
    assert page.depth.max() < len(page)
    assert sys.getrecursionlimit() < 100_000


def test_a_million_siblings() -> None:
    page = parse("<i></i>" * 1_000_000 + "text")
    assert len(page) > 1_000_000
    assert page.blocks.texts == ("text",)


def located(html: str = "", **fields: object) -> Page:
    return parse_capture(Capture(source="s", body=html.encode(), **fields))  # type: ignore[arg-type]


BASE = "<base href='https://base.example.co.uk/b/page.html'>"
CANONICAL = "<link rel='canonical' href='https://canonical.example/c/page.html'>"


def test_the_containers_url_comes_first() -> None:
    page = located(BASE + CANONICAL, url="https://www.example.org/dir/name.html?id=3")
    assert page.url == "https://www.example.org/dir/name.html?id=3"
    assert page.place == ("example.org", "www.example.org/dir/", "name.html?id=3")


def test_base_comes_before_canonical() -> None:
    assert located(CANONICAL + BASE, folder="crawl").url == "https://base.example.co.uk/b/page.html"
    assert located(BASE, folder="crawl").place.site == "example.co.uk"


def test_canonical_comes_before_the_path() -> None:
    page = located(CANONICAL, folder="crawl", path="sub/x.html", on_disk=True)
    assert page.url == "https://canonical.example/c/page.html"
    # The directory of a file is its folder, whatever the page says of itself.
    assert page.place == ("canonical.example", "crawl/sub/", "x.html")


def test_without_any_url_the_folder_is_the_site() -> None:
    page = located("<link rel=canonical href='/relative'>", folder="crawl", path="sub/x.html", on_disk=True)
    assert page.url is None
    assert page.place == ("crawl", "crawl/sub/", "x.html")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://a.b.example.com/", ("example.com", "a.b.example.com/", "")),
        ("https://example.com", ("example.com", "example.com/", "")),
        ("https://example.com/slug/", ("example.com", "example.com/", "slug/")),
        ("https://example.com/a/slug/?p=1", ("example.com", "example.com/a/", "slug/?p=1")),
        ("http://user@EXAMPLE.com:8080/x", ("example.com", "example.com/", "x")),
        ("http://192.168.1.1/x/y", ("192.168.1.1", "192.168.1.1/x/", "y")),
        ("http://[::1]/x", ("::1", "::1/", "x")),
        ("http://localhost/x", ("localhost", "localhost/", "x")),
        ("https://someone.github.io/x", ("someone.github.io", "someone.github.io/", "x")),
    ],
)
def test_places(url: str, place: tuple[str, str, str]) -> None:
    assert located(url=url).place == place


@pytest.mark.parametrize("url", ["mailto:x@example.com", "http://", "http://[bad", "ftp://x/y", "x", "https:///p"])
def test_what_is_no_web_url_is_not_taken_for_one(url: str) -> None:
    assert located(url=url, folder="f", path="p").place.site == "f"
