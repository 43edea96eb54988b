"""File names for documents."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chaffinch.document.document import Document
from chaffinch.sinks import open_sink
from chaffinch.sinks.names import name_of

if TYPE_CHECKING:
    from pathlib import Path

LONG = "http://a.org/" + "/".join(["folder" * 20] * 30) + "/page"


def document(url: str | None, source: str = "in/x.html", site: str = "a.org", content: str = "words") -> Document:
    return Document(
        source=source,
        url=url,
        site=site,
        title=None,
        author=None,
        date=None,
        language=None,
        canonical_url=None,
        description=None,
        content=content,
        content_hash="",
        format="text",
        method="sandwich",
        version="0",
        words_in=1,
        words_kept=1,
    )


def hashed(url: str, source: str = "in/x.html") -> str:
    return hashlib.sha256(f"{url}\n{source}".encode()).hexdigest()[:8]


def path_of(url: str | None, **given_: str) -> str:
    return name_of(document(url, **given_), "text").path(0)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://a.org", "a.org/index.txt"),
        ("http://a.org/", "a.org/index.txt"),
        ("http://a.org/news/", "a.org/news/index.txt"),
        ("http://a.org/news/one", "a.org/news/one.txt"),
        ("http://a.org/one.html", "a.org/one.html.txt"),
        ("http://a.org/one.txt", "a.org/one.txt"),
    ],
)
def test_a_plain_url_gives_a_plain_name(url: str, path: str) -> None:
    assert path_of(url) == path


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://a.org/One", "a.org/One~{}.txt"),
        ("http://a.org/view?id=3", "a.org/view_id=3~{}.txt"),
        ("http://a.org/?id=a/b", "a.org/index_id=a_b~{}.txt"),
        ("http://a.org/caf%C3%A9", "a.org/café~{}.txt"),
        ("http://a.org/../../etc/passwd", "a.org/_/_/etc/passwd~{}.txt"),
        ("http://a.org/%2e%2e/%2Fx", "a.org/_/_/x~{}.txt"),
        ("http://a.org/con", "a.org/_con~{}.txt"),
        ("http://a.org/nul.html", "a.org/_nul.html~{}.txt"),
        ("http://a.org/a:b*c", "a.org/a_b_c~{}.txt"),
        ("http://a.org/a%00b%0Ac", "a.org/a_b_c~{}.txt"),
        ("http://a.org/dots...", "a.org/dots~{}.txt"),
        ("http://a.org/.htaccess", "a.org/_htaccess~{}.txt"),
        ("http://a.org/a.txt/b", "a.org/a.txt_/b~{}.txt"),
        ("http://a.org//b", "a.org/_/b~{}.txt"),
    ],
)
def test_a_name_that_had_to_change_carries_a_hash(url: str, path: str) -> None:
    assert path_of(url) == path.format(hashed(url))


@pytest.mark.parametrize(
    ("source", "site", "path"),
    [
        ("in/news/one.html", "in", "in/news/one.html.txt"),
        ("./in/one.html", "./in", "in/one.html.txt"),
        ("/data/in/one.html", "/data/in", "data/in/one.html.txt"),
        ("../../x/one.html", "../../x", "x/one.html.txt"),
        ("elsewhere/one.html", "in", "in/one.html.txt"),
        ("t.jsonl#17", "t.jsonl", "t.jsonl/17.txt"),
        ("-#17", "-", "-/17.txt"),
        ("-", "-", "-/-.txt"),
        ("..", "..", "_/_~" + hashlib.sha256(b"\n..").hexdigest()[:8] + ".txt"),
    ],
)
def test_a_page_without_url_is_named_by_its_place(source: str, site: str, path: str) -> None:
    assert path_of(None, source=source, site=site) == path


def test_long_urls_are_bounded() -> None:
    for url in (LONG, "http://a.org/" + "é" * 5000, "http://a.org/x?" + "q" * 5000):
        path = path_of(url)
        assert len(path.encode()) <= 900
        assert all(len(part.encode()) <= 200 for part in path.split("/"))
        assert hashed(url) in path


RESERVED = {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))}
PIECES = st.sampled_from(
    [
        "a",
        "A",
        "é",
        "É",
        "ß",
        "..",
        ".",
        "/",
        "//",
        "?",
        "#",
        "%2e",
        "%2F",
        "%00",
        "con",
        "NUL.x",
        " ",
        ":",
        ".txt",
        "~",
        "\ud800",
        "\u202e",
        "\uff21",
        "index",
        "x" * 250,
        "%41",
        "%",
    ]
)
TEXT = st.one_of(st.text(max_size=30), st.lists(PIECES, max_size=8).map("".join), st.lists(PIECES).map("/".join))


@settings(max_examples=300, deadline=None)
@given(
    url=st.one_of(st.none(), TEXT.map("http://a.org/".__add__), TEXT),
    source=TEXT,
    site=TEXT,
    tries=st.integers(0, 200),
)
def test_every_name_is_safe_everywhere(url: str | None, source: str, site: str, tries: int) -> None:
    path = name_of(document(url, source, site), "text").path(tries)
    assert path == name_of(document(url, source, site), "text").path(tries)
    assert len(path.encode()) <= 900
    assert path.endswith(".txt")
    parts = path.split("/")
    for part in parts:
        assert part not in {"", ".", ".."}
        assert 0 < len(part.encode()) <= 200
        assert not set(part) & set('<>:"|?*\\')
        assert all(letter >= " " and not "\x7f" <= letter <= "\x9f" for letter in part)
        assert part == part.strip(" ").rstrip(".")
        assert part.split(".")[0].strip().lower() not in RESERVED
    assert not any(part.lower().endswith((".txt", ".md", ".html", ".json")) for part in parts[:-1])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(urls=st.lists(st.lists(PIECES, min_size=1, max_size=3).map("/".join), max_size=20))
def test_no_document_is_lost_to_another(tmp_path: Path, urls: list[str]) -> None:
    root = tmp_path / hashlib.sha256(repr(urls).encode()).hexdigest()
    with open_sink(str(root), "text") as sink:
        for number, url in enumerate(urls):
            sink.write(document(f"http://a.org/{url}", content=str(number)))
    files = [os.path.relpath(path, root) for path in root.rglob("*") if path.is_file()]
    assert len({name.casefold() for name in files}) == len(urls)
    assert sorted(int((root / name).read_text()) for name in files) == list(range(len(urls)))


def test_a_page_and_a_folder_of_the_same_name_go_together(tmp_path: Path) -> None:
    urls = ["/a", "/a/b", "/a.txt", "/a.txt/b", "/a.txt/b/", "/a/", "/A", "/a?x", "/a?y"]
    for order in (urls, urls[::-1]):
        root = tmp_path / order[0][1:]
        with open_sink(str(root), "text") as sink:
            for url in order:
                sink.write(document(f"http://a.org{url}", content=url))
        assert sorted(path.read_text() for path in root.rglob("*.txt") if path.is_file()) == sorted(urls)


def test_the_same_url_twice_gives_two_files(tmp_path: Path) -> None:
    with open_sink(str(tmp_path), "markdown") as sink:
        for source in ("one", "two", "two", "two"):
            sink.write(document("http://a.org/x", source=source))
    two = hashed("http://a.org/x", "two")
    assert sorted(path.name for path in (tmp_path / "a.org").iterdir()) == [
        "x.md",
        f"x~{two}-2.md",
        f"x~{two}-3.md",
        f"x~{two}.md",
    ]
