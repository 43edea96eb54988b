"""Folders and files on disk."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from chaffinch.errors import InputError
from chaffinch.sources import Capture, Extent, SourceOptions, estimate_total, open_inputs
from chaffinch.sources.kinds import Kind, kind_by_name, looks_like_html, not_html


def read(*inputs: str | Path, base_url: str | None = None) -> list[Capture | InputError]:
    return list(open_inputs([str(one) for one in inputs], SourceOptions(base_url=base_url)))


def put(root: Path, *paths: str, body: bytes = b"<p>hello") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(body)


def sources(found: list[Capture | InputError]) -> list[str]:
    return [one.source if isinstance(one, Capture) else f"! {one}" for one in found]


def test_a_folder_is_read_in_the_order_of_path_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "in", "b.html", "a/z.htm", "a/y/index.php?id=3", "a-b/x.XHTML", "B.html", "index.html.1", "c.aspx")
    put(tmp_path / "in", "style.css", "a/pic.png", ".hidden/x.html", ".h.html", "notes.txt", "data.json")
    put(tmp_path / "in", "plain", body=b"just words")
    put(tmp_path / "in", "page", body=b"<!DOCTYPE html><title>x")
    found = read("in/")
    assert sources(found) == [
        "in/B.html",
        "in/a/y/index.php?id=3",
        "in/a/z.htm",
        "in/a-b/x.XHTML",
        "in/b.html",
        "in/c.aspx",
        "in/index.html.1",
        "in/page",
    ]
    assert found[1] == Capture(
        source="in/a/y/index.php?id=3", body=b"<p>hello", folder="in", path="a/y/index.php?id=3", on_disk=True
    )


def test_archives_and_tables_in_a_folder_are_read(tmp_path: Path) -> None:
    put(tmp_path, "t.jsonl", body=json.dumps({"html": "a"}).encode())
    put(tmp_path, "u.html.gz", body=gzip.compress(b"<p>packed"))
    found = read(tmp_path)
    assert sources(found) == [f"{tmp_path}/t.jsonl#1", f"{tmp_path}/u.html.gz"]
    assert isinstance(found[0], Capture)
    assert (found[0].folder, found[0].path, found[0].on_disk) == (f"{tmp_path}/t.jsonl", "1", False)
    assert isinstance(found[1], Capture)
    assert found[1].body == b"<p>packed"


def test_a_named_file_is_read_whatever_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "notes.txt", "sub/x.html", body=b"words")
    put(tmp_path, "lines.txt", body=b'{"html": "a"}')
    found = read("notes.txt", "sub/x.html", "lines.txt")
    assert found[0] == Capture(source="notes.txt", body=b"words", folder=".", path="notes.txt", on_disk=True)
    assert found[1] == Capture(source="sub/x.html", body=b"words", folder="sub", path="x.html", on_disk=True)
    assert sources(found)[2] == "lines.txt#1"


def test_urls_come_from_the_list_then_from_the_base(tmp_path: Path) -> None:
    put(tmp_path, "a.html", "b c/é?.html", "d.html")
    lines = "# a list\n\na.html\thttp://x.org/a\nbad line\nmissing.html\thttp://x.org/m\n\thttp://x.org/\n"
    (tmp_path / "urls.tsv").write_text(lines)
    found = read(tmp_path, base_url="http://b.org/r")
    assert [str(one) for one in found if isinstance(one, InputError)] == [
        f"{tmp_path}/urls.tsv:4: not a path and a URL with a tab between",
        f"{tmp_path}/urls.tsv:6: not a path and a URL with a tab between",
    ]
    urls = [one.url for one in found if isinstance(one, Capture)]
    assert urls == ["http://x.org/a", "http://b.org/r/b%20c/%C3%A9%3F.html", "http://b.org/r/d.html"]
    assert [one.url for one in read(tmp_path / "a.html") if isinstance(one, Capture)] == [None]


def test_what_cannot_be_read_is_told_and_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "a.html", "z.html")
    (tmp_path / "dangling.html").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop.html").symlink_to(tmp_path / "loop.html")
    os.mkfifo(tmp_path / "fifo.html")
    found = read(tmp_path, tmp_path / "missing", "", "\0", "x" * 5000)
    subjects = [one.subject if isinstance(one, InputError) else Path(one.source).name for one in found]
    assert subjects == [
        "a.html",
        f"{tmp_path}/dangling.html",
        f"{tmp_path}/loop.html",
        "z.html",
        f"{tmp_path}/missing",
        "",
        "\0",
        "x" * 5000,
    ]


def test_faults_of_the_system_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a.html", "sub/b.html", "z.html")
    pages = open_inputs([str(tmp_path)])
    assert isinstance(next(pages), Capture)
    (tmp_path / "z.html").unlink()
    assert sources(list(pages)) == [f"{tmp_path}/sub/b.html", f"! {tmp_path}/z.html: no such file or directory"]

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert sources(read(tmp_path)) == [f"! {tmp_path}: permission denied"]


def test_links_are_followed_once_and_out_of_the_tree_only(tmp_path: Path) -> None:
    put(tmp_path / "in", "a/b.html")
    put(tmp_path / "out", "c.html")
    (tmp_path / "in" / "a" / "up").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "again").symlink_to(tmp_path / "in" / "a")
    (tmp_path / "in" / "out").symlink_to(tmp_path / "out")
    (tmp_path / "out" / "back").symlink_to(tmp_path)
    assert sources(read(tmp_path / "in")) == [f"{tmp_path}/in/a/b.html", f"{tmp_path}/in/out/c.html"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n", "not HTML: looks like a PNG image"),
        (b"\xff\xd8\xff\xe0", "not HTML: looks like a JPEG image"),
        (b"%PDF-1.4", "not HTML: looks like a PDF file"),
        (b"PK\x03\x04", "not HTML: looks like a ZIP archive"),
        (b"AB\x00\x01\x02\x03 and so on", "not HTML: looks like binary data"),
    ],
)
def test_other_files_under_an_html_name_are_told(tmp_path: Path, body: bytes, reason: str) -> None:
    put(tmp_path, "x.html", body=body)
    assert sources(read(tmp_path)) == [f"! {tmp_path}/x.html: {reason}"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfeplain",
        "<p>hello".encode("utf-16"),
        "<p>hello".encode("utf-16-le"),
        "<p>hello".encode("utf-16-be"),
        "<p>hello".encode("utf-32"),
        b"\xfc\xfd\xfe odd bytes",
        b"x" * 2000 + b"\x00",
    ],
)
def test_odd_pages_are_pages(tmp_path: Path, body: bytes) -> None:
    put(tmp_path, "x.html", body=body)
    assert [one.body for one in read(tmp_path) if isinstance(one, Capture)] == [body]
    assert not_html(body) is None


def test_a_packed_page_that_is_cut_gives_what_is_there(tmp_path: Path) -> None:
    put(tmp_path, "x.html.gz", body=gzip.compress(b"<p>hello " + bytes(range(32, 127)) * 5)[:-20])
    found = read(tmp_path)
    assert isinstance(found[0], Capture)
    assert found[0].body.startswith(b"<p>hello")
    assert isinstance(found[1], InputError)


def test_a_named_pipe_is_read_if_the_user_names_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'w').write('<p>hello')"]):
        assert [one.body for one in read(pipe) if isinstance(one, Capture)] == [b"<p>hello"]


def test_names_that_are_not_utf8_are_read(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.html", "wb") as out:  # noqa: PTH123
        out.write(b"<p>hello")
    (found,) = read(tmp_path, base_url="http://b.org")
    assert isinstance(found, Capture)
    assert found.url == "http://b.org/%FF.html"


def test_the_extent_counts_pages_or_bytes(tmp_path: Path) -> None:
    put(tmp_path, "a.html", "sub/b.html", "c.css")
    assert estimate_total([str(tmp_path)]) == Extent("pages", 2)
    assert estimate_total([str(tmp_path / "c.css"), str(tmp_path)]) == Extent("pages", 3)
    put(tmp_path, "t.jsonl", body=b"{}")
    assert estimate_total([str(tmp_path)]) == Extent("bytes", 18)
    assert estimate_total(["-", str(tmp_path / "missing")]) == Extent("bytes", 0)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.html", Kind.HTML),
        ("a.HTM", Kind.HTML),
        ("a.shtml", Kind.HTML),
        ("index.html@page=2.css", Kind.HTML),
        ("my.html.notes.html", Kind.HTML),
        ("a.htmlx", None),
        ("html", None),
        ("a.warc.gz", Kind.WARC),
        ("a.wacz", Kind.WACZ),
        ("a.ndjson.gz", Kind.JSONL),
        ("a.parquet", Kind.PARQUET),
        ("a.parquet.crc", None),
    ],
)
def test_names_tell_kinds(name: str, kind: Kind | None) -> None:
    assert kind_by_name(name) is kind


def test_content_tells_html() -> None:
    assert looks_like_html(b"<!doctype HTML >")
    assert looks_like_html("<p>x".encode("utf-16-le") * 4)
    assert not looks_like_html(b"a < b > c")
