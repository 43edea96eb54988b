"""Sites that are hard to learn, under the methods that compare pages: files on disk, as a crawl brings them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import chaffinch
from chaffinch.methods import make_method
from chaffinch.runs import RunOptions

COMPARING = ["sandwich", "chunks", "offsets", "blocks"]
LEARNING = COMPARING[1:]
MENU = "<ul><li><a href=/>Start of the site</a><li><a href=/news>All the news</a></ul>"
FOOT = "<div><p>Everybody may copy these pages as they are</p></div>"


def write(folder: Path, pages: list[bytes | str], start: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, page in enumerate(pages, start):
        body = page if isinstance(page, bytes) else page.encode()
        (folder / f"{number:03}.html").write_bytes(body)
    return folder


def story(number: int, language: int = 0) -> str:
    """Words that no other page has, in one of several scripts."""
    generator = random.Random(f"{number}/{language}")  # noqa: S311
    first, last = [(0x61, 0x7A), (0x4E00, 0x9FA0), (0x430, 0x44F), (0xE0, 0xFC), (0x3042, 0x3093)][language % 5]
    return " ".join("".join(chr(generator.randint(first, last)) for _ in range(9)) for _ in range(30))


def page(content: str) -> str:
    return f"<title>t</title><body>{MENU}<div><h1>{content[:20]}</h1><p>{content}</p></div>{FOOT}"


def cleaned(method: str, *inputs: Path) -> tuple[dict[str, str], chaffinch.Cleaning]:
    run = chaffinch.clean(*inputs, options=RunOptions(method=make_method(method)))
    contents = {Path(document.source).name: document.content for document in run}
    assert not run.report.failures
    return contents, run


@pytest.mark.parametrize("method", COMPARING)
def test_a_site_of_one_page_keeps_it_and_says_why(method: str, tmp_path: Path) -> None:
    contents, run = cleaned(method, write(tmp_path / "one", [page(story(1))]))
    assert "All the news" in contents["000.html"]
    assert f"1 of 1 pages stood alone: {method} found no other page" in run.report.as_table()


@pytest.mark.parametrize("method", COMPARING)
def test_pages_with_nothing_in_common_keep_all(method: str, tmp_path: Path) -> None:
    stories = [story(number) for number in range(8)]
    contents, _ = cleaned(method, write(tmp_path / "disjoint", [f"<p>{text}" for text in stories]))
    assert [contents[name] for name in sorted(contents)] == stories


@pytest.mark.parametrize("method", COMPARING)
def test_identical_pages_do_no_harm(method: str, tmp_path: Path) -> None:
    contents, _ = cleaned(method, write(tmp_path / "same", [page(story(1))] * 5))
    assert len(contents) == 5
    assert len(set(contents.values())) == 1


@pytest.mark.parametrize("method", COMPARING)
def test_languages_and_encodings_mix(method: str, tmp_path: Path) -> None:
    encodings = ["utf-8", "shift_jis", "windows-1251", "windows-1252", "utf-16"]
    scripts = [0, 4, 2, 3, 1]
    pages, texts = [], []
    for number in range(15):
        encoding, script = encodings[number % 5], scripts[number % 5]
        texts.append(story(number, script))
        head = "" if encoding == "utf-16" else f"<meta charset={encoding}>"
        pages.append((head + page(texts[-1])).encode(encoding))
    contents, _ = cleaned(method, write(tmp_path / "mixed", list(pages)))
    for number, text in enumerate(texts):
        content = contents[f"{number:03}.html"]
        assert text in content
        assert "All the news" not in content


@pytest.mark.parametrize("method", LEARNING)
def test_two_sites_that_share_a_template_are_learned_apart(method: str, tmp_path: Path) -> None:
    """What one site shows does not count for the other: each learns the same alone and together."""
    rows = {
        host: [{"url": f"https://{host}.example/{n}", "html": page(story(n))} for n in range(6)]
        for host in ("one", "two")
    }
    found = []
    for hosts in (["one"], ["two"], ["one", "two"]):
        mixed = [row for pair in zip(*(rows[host] for host in hosts), strict=True) for row in pair]
        path = tmp_path / f"{'-'.join(hosts)}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in mixed), "utf-8")
        run = chaffinch.clean(path, options=RunOptions(method=make_method(method)))
        found.append({document.url: document.content for document in run})
    assert {**found[0], **found[1]} == found[2]
    assert not any("All the news" in content for content in found[2].values())
    # The stories are the same on both sites, page by page, and stay.
    assert all(story(n) in found[2][f"https://{host}.example/{n}"] for host in rows for n in range(6))


@pytest.mark.parametrize("method", COMPARING)
def test_a_block_ten_thousand_times_on_one_page_is_its_own(method: str, tmp_path: Path) -> None:
    pages = [page(story(number)) for number in range(7)]
    pages[3] = page(story(3)).replace("<h1>", "<p>Again and again the same words</p>" * 10_000 + "<h1>")
    contents, _ = cleaned(method, write(tmp_path / "site", list(pages)))
    assert contents["003.html"].count("Again and again the same words") == 10_000
    assert story(3) in contents["003.html"]
    assert "All the news" not in contents["003.html"]


@pytest.mark.parametrize("method", LEARNING)
def test_the_order_of_the_crawl_changes_nothing(method: str, tmp_path: Path) -> None:
    rows = [
        {"url": f"https://{host}.example/{n}", "html": page(story(n))} for host in ("one", "two") for n in range(10)
    ]
    found = []
    for seed in range(2):
        random.Random(seed).shuffle(rows)  # noqa: S311
        path = tmp_path / f"{seed}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        run = chaffinch.clean(path, options=RunOptions(method=make_method(method)))
        found.append({document.url: document.content for document in run})
    assert found[0] == found[1]
