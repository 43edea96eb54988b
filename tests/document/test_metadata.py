"""What a page says of itself, from small pages."""

from __future__ import annotations

import pytest

from chaffinch.document.metadata import Metadata, language_tag, read_metadata
from chaffinch.page import parse
from chaffinch.page.language import language_of

URL = "https://www.thicket-times.example/garden/finches-return.html"

ENGLISH = (
    "The finches came back to the hedges behind the station this week, and the children of the school counted them. "
    "There were more than last year, the teacher said, because the winter was mild and the farmers left the seeds."
)
GERMAN = (
    "Die Finken sind in dieser Woche zu den Hecken hinter dem Bahnhof zurückgekehrt, und die Kinder der Schule haben "
    "sie gezählt. Es waren mehr als im letzten Jahr, weil der Winter mild war und die Bauern die Samen stehen ließen."
)
JAPANESE = (
    "今週、駅の裏の生け垣に小鳥たちが戻ってきました。学校の子どもたちがその数を数えました。"
    "去年よりも多かったそうです。冬が暖かかったからです。"
)


def read(head: str = "", body: str = "", *, url: str | None = URL, html: str = "<html>") -> Metadata:
    return read_metadata(parse(f"<!doctype html>{html}<head>{head}</head><body>{body}</body></html>", url=url))


def test_empty_page_says_nothing() -> None:
    assert read_metadata(parse("")) == Metadata()
    assert read_metadata(parse(b"")) == Metadata()


# Title


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Finches return</title>", "", "Finches return"),
        ("<title> Finches\n  return </title>", "", "Finches return"),
        ("<title>Finches return | Thicket Times</title>", "", "Finches return"),
        ("<title>Finches return - Thicket Times</title>", "", "Finches return"),
        ("<title>Seeds - Manual</title>", "<h1>Seeds<a href=#x>\u00b6</a></h1>", "Seeds"),
        ("<title>Written in C#</title>", "", "Written in C#"),
        ("<title>Finches return \u2013 Thicket Times</title>", "", "Finches return"),
        ("<title>Finches return :: Thicket Times</title>", "", "Finches return"),
        ("<title>Thicket Times » Finches return</title>", "", "Finches return"),
        ("<title>Thicket Times</title>", "", "Thicket Times"),
        ("<title>Seeds - what to plant</title>", "", "Seeds - what to plant"),
        (
            '<title>Finches - The Hedge</title><meta property="og:site_name" content="The Hedge">',
            "",
            "Finches",
        ),
        # A heading that the title repeats is the headline, the site's own heading is not.
        ("<title>Finches return to town - News</title>", "<h1>Finches return to town</h1>", "Finches return to town"),
        (
            '<title>Finches return | Whistle</title><meta property="og:site_name" content="Whistle">',
            "<h1>Whistle</h1><h1>Finches return</h1>",
            "Finches return",
        ),
        # A heading with other words is an advertisement, one with most of the words is the headline.
        (
            "<title>Bird feeders for small gardens</title>",
            "<h1>Buy two, get one</h1>",
            "Bird feeders for small gardens",
        ),
        (
            "<title>Best bird feeders for small gardens</title>",
            "<h1>The best feeders for small gardens</h1>",
            "The best feeders for small gardens",
        ),
        ("", "<h1>Finches<br>return</h1>", "Finches return"),
        ("", "<h1></h1>", None),
        ("<title></title>", "", None),
        ('<meta property="og:title" content="Finches &amp;amp; wrens">', "", "Finches & wrens"),
        ('<meta name="twitter:title" content="Finches">', "", "Finches"),
        ('<meta name="citation_title" content="On finches">', "", "On finches"),
        ('<meta name="DC.title" content="On finches">', "", "On finches"),
        ("", '<div itemprop="headline">On finches</div>', "On finches"),
        ('<script type="application/ld+json">{"@type":"Article","headline":"On finches"}</script>', "", "On finches"),
        # The title of a drawing is not the page's.
        ("", "<svg><title>Menu</title></svg><p>Text</p>", None),
    ],
)
def test_title(head: str, body: str, title: str | None) -> None:
    assert read(head, body).title == title


# Author


@pytest.mark.parametrize(
    ("head", "body", "author"),
    [
        ('<meta name="author" content="Robin Finch">', "", "Robin Finch"),
        ('<meta name="author" content="By Robin Finch">', "", "Robin Finch"),
        ('<meta name="author" content="Von Alder">', "", "Von Alder"),
        ('<meta name="author" content="admin">', "", None),
        ('<meta name="author" content="{{ page.author }}">', "", None),
        ('<meta name="author" content="https://hedge.example/robin">', "", None),
        ('<meta name="author" content="@robin">', "", None),
        ('<meta name="author" content>', "", None),
        ('<meta name="author">', "", None),
        ('<meta property="article:author" content="https://social.example/hedge">', "", None),
        (
            '<meta name="citation_author" content="Finch, Robin"><meta name="citation_author" content="Alder, Wren">',
            "",
            "Finch, Robin, Alder, Wren",
        ),
        ('<meta name="author" content="Robin Finch and Wren Alder">', "", "Robin Finch, Wren Alder"),
        ('<meta name="author" content="Robin Finch; Wren Alder">', "", "Robin Finch, Wren Alder"),
        ('<meta name="author" content="Robin Finch; robin finch">', "", "Robin Finch"),
        ('<meta name="author" content="Robin Finch"><meta name="author" content="ROBIN FINCH">', "", "Robin Finch"),
        (
            '<meta name="twitter:label1" content="Written by"><meta name="twitter:data1" content="Robin Finch">',
            "",
            "Robin Finch",
        ),
        ('<meta name="twitter:creator" content="@robin">', "", None),
        # What a site calls itself counts only if nobody else is named.
        (
            '<meta name="author" content="The Hedge"><meta property="og:site_name" content="The Hedge">',
            '<h1>Finches</h1><p class="byline">By Robin Finch</p>',
            "Robin Finch",
        ),
        ('<meta name="author" content="The Hedge"><meta property="og:site_name" content="The Hedge">', "", "The Hedge"),
        ("", '<h1>Finches</h1><p class="byline">By <b>Robin Finch</b> on 3 May 2020</p>', "Robin Finch"),
        ("", '<p class="post-author">Robin Finch | Hedge desk</p>', "Robin Finch"),
        ("", '<span class="byline">Robin Finch, <i>Wren Alder</i></span>', "Robin Finch, Wren Alder"),
        ("", '<div class="ArticleAuthorName">Robin Finch</div>', "Robin Finch"),
        ("", '<div class="hero__author-box"><p>About us</p></div>', None),
        ("", '<div class="author-bio">Robin Finch keeps birds.</div>', None),
        ("", '<a rel="author" href="/who">Robin Finch</a>', "Robin Finch"),
        ("", '<a href="/authors/robin">Robin Finch</a>', "Robin Finch"),
        ("", '<div itemprop="author" itemscope><span itemprop="name">Robin Finch</span>, editor</div>', "Robin Finch"),
        ("", "<h1>Finches</h1><p>By Robin Finch</p><p>They are back.</p>", "Robin Finch"),
        ("", "<h1>Finken</h1><p>Von Robin Finch</p>", "Robin Finch"),
        ("", "<h1>Finches</h1><p>By the river, everything was calm and they sang.</p>", None),
        ("", "<h1>Finches</h1><p>Partners</p>", None),
        # The first behind the headline, not the one in the list of older articles before it.
        (
            "",
            '<p class="author">Wren Alder</p><h1>Finches</h1><p class="author">Robin Finch</p>',
            "Robin Finch",
        ),
        # Names on a product's page are those of its buyers.
        ('<meta property="og:type" content="product">', '<p class="author">Robin Finch</p>', None),
    ],
)
def test_author(head: str, body: str, author: str | None) -> None:
    assert read(head, body).author == author


# Date


@pytest.mark.parametrize(
    ("head", "body", "date"),
    [
        ('<meta property="article:published_time" content="2021-03-04T23:30:00-05:00">', "", "2021-03-04"),
        ('<meta name="DC.date.issued" content="2021-03-04">', "", "2021-03-04"),
        ('<meta name="x-publish-date" content="4 March 2021">', "", "2021-03-04"),
        ('<meta property="article:modified_time" content="2021-03-04">', "", "2021-03-04"),
        # The day of publication comes before that of the last change, the earlier statement before the later one.
        (
            (
                '<meta property="article:modified_time" content="2021-03-04">'
                '<meta property="article:published_time" content="2020-01-02">'
            ),
            "",
            "2020-01-02",
        ),
        (
            (
                '<meta property="article:published_time" content="2021-03-04">'
                '<script type="application/ld+json">{"@type":"Article","datePublished":"2020-01-02"}</script>'
            ),
            "",
            "2020-01-02",
        ),
        ('<meta property="article:published_time" content="2023-13-45">', "", None),
        ('<meta property="article:published_time" content>', "", None),
        ("", "<h1>Finches</h1><time datetime='2021-03-04'>long ago</time>", "2021-03-04"),
        ("", "<h1>Finches</h1><time>4. März 2021</time>", "2021-03-04"),
        (
            "",
            "<h1>Finches</h1><time class='updated' datetime='2022-01-01'></time><time datetime='2021-03-04'></time>",
            "2021-03-04",
        ),
        ("", "<time datetime='2022-01-01'></time><h1>Finches</h1><time datetime='2021-03-04'></time>", "2021-03-04"),
        ("", '<h1>Finches</h1><span itemprop="datePublished" content="2021-03-04">spring</span>', "2021-03-04"),
        ("", "<h1>Finches of 2020</h1><p>Mar 4, 2021</p><p>They are back.</p>", "2021-03-04"),
        ("", "<p>March 4, 2021</p><h1>Finches</h1><p>They are back.</p>", "2021-03-04"),
        ("", "<h1>Finches</h1><p>Last updated: 5 May 2022</p><p>Published: 4 March 2021</p>", "2021-03-04"),
        ("", "<h1>Finches</h1>" + "<p>They are back.</p>" * 30 + "<p>4 March 2021</p>", "2021-03-04"),
        ("", "<h1>Finches</h1><p>Copyright 2021</p>", None),
    ],
)
def test_date(head: str, body: str, date: str | None) -> None:
    assert read(head, body).date == date


@pytest.mark.parametrize(
    ("url", "published", "date"),
    [
        ("https://hedge.example/2019/03/27/finches", None, "2019-03-27"),
        ("https://hedge.example/news/2019-03-27-finches.html", None, "2019-03-27"),
        ("https://hedge.example/news/20190327.html", None, "2019-03-27"),
        ("https://hedge.example/2019/13/27/finches", None, None),
        ("https://hedge.example/2019/02/30/finches", None, None),
        # An address that is a day off has the writer's day; one that is further off belongs to something else.
        ("https://hedge.example/2019/03/27/finches", "2019-03-28T02:00:00Z", "2019-03-27"),
        ("https://hedge.example/2019/03/27/finches", "2018-01-01", "2018-01-01"),
        (None, None, None),
    ],
)
def test_date_of_address(url: str | None, published: str | None, date: str | None) -> None:
    head = f'<meta property="article:published_time" content="{published}">' if published else ""
    assert read(head, url=url).date == date


@pytest.mark.parametrize(
    ("language", "url", "date"),
    [
        ("en-US", URL, "2020-03-04"),
        ("en-GB", URL, "2020-04-03"),
        ("fr", URL, "2020-04-03"),
        ("en", URL, "2020-03-04"),
        ("en", "https://hedge.co.uk/", "2020-04-03"),
    ],
)
def test_order_of_day_and_month_follows_the_language(language: str, url: str, date: str) -> None:
    assert read(body="<h1>Finches</h1><p>03/04/2020</p>", html=f'<html lang="{language}">', url=url).date == date


# Language


@pytest.mark.parametrize(
    ("value", "tag"),
    [
        ("en", "en"),
        ("EN_us", "en-US"),
        ("pt-br", "pt-BR"),
        ("zh-hant", "zh-Hant"),
        ("ZH-hans-cn", "zh-Hans-CN"),
        ("es-419", "es-419"),
        ("de-DE-1996", "de-DE-1996"),
        ("eng", "en"),
        ("iw", "he"),
        ("gsw", "gsw"),
        ("en_US.UTF-8", "en-US"),
        ("de, en", "de"),
        ("English", None),
        ("xx", None),
        ("und", None),
        ("x-default", None),
        ("{{lang}}", None),
        ("K\u212a", None),
        ("", None),
        (None, None),
    ],
)
def test_language_tag(value: str | None, tag: str | None) -> None:
    assert language_tag(value) == tag


def test_declared_language_comes_first() -> None:
    locale = '<meta property="og:locale" content="nl_BE">'
    assert read(locale, html='<html lang="fr">').language == "fr"
    assert read(locale, html='<html xml:lang="fr">').language == "fr"
    assert read(locale, html='<html lang="??">').language == "nl-BE"
    assert read('<meta http-equiv="Content-Language" content="sv">').language == "sv"
    assert read('<script type="application/ld+json">{"@type":"Article","inLanguage":"da"}</script>').language == "da"


@pytest.mark.parametrize(("text", "language"), [(ENGLISH, "en"), (GERMAN, "de"), (JAPANESE, "ja"), ("Hedge", None)])
def test_language_of_text(text: str, language: str | None) -> None:
    assert language_of(text) == language
    assert read(body=f"<nav>Home Contact</nav><p>{text}</p>").language == language


# Address and description


@pytest.mark.parametrize(
    ("head", "url", "canonical"),
    [
        ('<link rel="canonical" href="/finches">', URL, "https://www.thicket-times.example/finches"),
        ('<link rel="Canonical nofollow" href="finches">', URL, "https://www.thicket-times.example/garden/finches"),
        ('<link rel="canonical" href="https://hedge.example/a">', None, "https://hedge.example/a"),
        ('<link rel="canonical" href="/finches">', None, None),
        ('<base href="/b/"><link rel="canonical" href="c">', URL, "https://www.thicket-times.example/b/c"),
        ('<meta property="og:url" content="https://hedge.example/og">', URL, "https://hedge.example/og"),
        (
            '<script type="application/ld+json">{"@type":"WebPage","url":"https://hedge.example/ld"}</script>',
            URL,
            "https://hedge.example/ld",
        ),
        ('<link rel="canonical" href="javascript:void(0)">', URL, None),
        ('<link rel="canonical" href="http://[::1">', URL, None),
        (
            '<base href="http://[::1"><link rel="canonical" href="/finches">',
            URL,
            "https://www.thicket-times.example/finches",
        ),
        ('<link rel="canonical">', URL, None),
        ("", URL, None),
    ],
)
def test_canonical_url(head: str, url: str | None, canonical: str | None) -> None:
    assert read(head, url=url).canonical_url == canonical


def test_description() -> None:
    assert read('<meta name="description" content=" They are\n back. ">').description == "They are back."
    assert read('<meta property="og:description" content="Back">').description == "Back"
    assert read('<meta name="description" content="">').description is None
    script = (
        '<script type="application/ld+json">{"@type":"Article","description":"<p>They are &amp; were</p>"}</script>'
    )
    assert read(script).description == "They are & were"
