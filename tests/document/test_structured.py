"""Text of pages that show none: where it is taken from, and where it is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import chaffinch
from chaffinch.render import FORMATS, Format
from conftest import Command, read_lines

PROSE = (
    "The night bus to Wend runs until three in the morning from May, and it will stop at the mill, the school and the"
    " old bridge on its way."
)


def shell(*things: Any, body: str = "<div id=root></div>", head: str = "") -> str:
    """Return a page that a script would fill."""
    sources = (json.dumps(thing).replace("</", "<\\/") for thing in things)
    scripts = "".join(f"<script type='application/ld+json'>{source}</script>" for source in sources)
    return f"<html><head><title>Night bus</title>{head}{scripts}</head><body>{body}</body></html>"


@pytest.mark.parametrize("member", ["description", "articleBody", "text", "reviewBody"])
def test_each_member(member: str) -> None:
    document = chaffinch.extract(shell({"@type": "Article", member: PROSE}))
    assert (document.content, document.content_of) == (PROSE, "structured data")
    assert document.words_in == document.words_kept == 29


def test_in_every_format() -> None:
    body = "<p>First of two: " + PROSE + "</p><ul><li>one <b>bold</b></li><li>two</li></ul><script>no()</script>"
    page = shell({"@type": "Product", "description": body})
    contents: dict[Format, str] = {name: chaffinch.extract(page, format=name).content for name in FORMATS}
    assert contents["text"].startswith("First of two: The night bus")
    assert contents["markdown"].endswith("- one **bold**\n- two")
    assert "<li>two</li>" in contents["html"]
    assert all(block["kept"] for block in json.loads(contents["json"])["blocks"])
    assert not any("no()" in content for content in contents.values())


def test_lines_are_paragraphs_and_escapes_are_undone() -> None:
    text = f"{PROSE}\n\n1 < 2 &amp; 3"
    assert chaffinch.extract(shell({"@type": "Article", "text": text})).content == f"{PROSE}\n\n1 < 2 & 3"
    escaped = f"&lt;p&gt;{PROSE}&lt;/p&gt;&lt;p&gt;More.&lt;/p&gt;"
    assert chaffinch.extract(shell({"@type": "Article", "text": escaped})).content == f"{PROSE}\n\nMore."


def test_what_is_about_the_page_and_the_fullest_comes_first() -> None:
    other = {"@type": "Product", "description": f"Other. {PROSE}", "url": "https://a.org/other"}
    own = {"@type": "Product", "description": f"Own. {PROSE}", "url": "https://a.org/own"}
    assert chaffinch.extract(shell(other, own), url="https://a.org/own").content.startswith("Own.")
    both = {"@type": "Article", "articleBody": f"{PROSE} And more.", "description": PROSE}
    assert chaffinch.extract(shell(both)).content == f"{PROSE} And more."


@pytest.mark.parametrize(
    "page",
    [
        shell({"@type": "Article", "text": PROSE}, body="<p>Ten words are shown to every reader of this page."),
        shell({"@type": "Article", "text": PROSE}, body="<p hidden>Ten words are shown to some readers of this page."),
        shell({"@type": "Article", "text": "Too short to be a text."}),
        shell({"@type": "Organization", "description": PROSE}),
        shell({"@type": "WebSite", "description": PROSE}),
        shell({"@type": "Article", "text": [PROSE], "description": {"a": PROSE}}),
        shell(head=f'<meta name="description" content="{PROSE}">'),
        shell(),
    ],
)
def test_where_it_is_not_taken(page: str) -> None:
    document = chaffinch.extract(page)
    assert document.content_of == "page"
    assert "night bus" not in document.content


def test_on_the_command_line_and_in_an_index(chaffinch: Command, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.html").write_text(shell({"@type": "Article", "text": PROSE}), "utf-8")
    (folder / "b.html").write_text(f"<h1>Shown</h1><p>{PROSE}</p>", "utf-8")
    assert chaffinch("clean", folder, "--method", "sandwich", "-o", tmp_path / "o.jsonl").returncode == 0
    assert [row["content_of"] for row in read_lines(tmp_path / "o.jsonl")] == ["structured data", "page"]
    assert chaffinch("clean", folder, "-o", tmp_path / "o.parquet").returncode == 0
    assert pq.read_table(tmp_path / "o.parquet")["content_of"].to_pylist() == ["structured data", "page"]
    for method in ("fused", "offsets"):
        index = tmp_path / method
        assert chaffinch("index", folder, "-o", index, "--method", method).returncode == 0
        assert "a.html" in chaffinch("search", index, "bridge").stdout
