"""`chaffinch learn` and `chaffinch clean --templates` as a user calls them."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from chaffinch.store import TemplateStore
from conftest import CRAWL, Command, heed_interrupts, read_lines, site_html, write_site

BASE = ("--base-url", "https://site.example/")


def redesigned(number: int, content: str) -> str:
    """A page of the same site with another design."""
    rows = "".join(f"<tr><td><font>Box {row} of the new design</font></td></tr>" for row in range(8))
    return (
        f"<title>Page {number}</title><center><table>{rows}</table><h3>Heading {number}</h3><blockquote>{content}"
        "</blockquote><dl><dt>Follow our channels<dd>Every day</dl></center>"
    )


def sites_of(path: Path) -> dict[str, int]:
    with TemplateStore.open(path) as store:
        return {summary.site: summary.pages for summary in store.sites()}


@pytest.fixture
def learned(chaffinch: Command, small_crawl: Path) -> Path:
    """The folder of a crawl with the templates learned from it."""
    done = chaffinch("learn", "crawl", *BASE, "-o", "t.db", cwd=small_crawl.parent)
    assert done.returncode == 0, done.stderr
    return small_crawl.parent


def test_learn_once_and_apply_to_pages_never_seen(chaffinch: Command, learned: Path) -> None:
    (learned / "new").mkdir()
    (learned / "new" / "news.html").write_text(site_html(77, "Never seen before."), encoding="utf-8")
    done = chaffinch("clean", "new", *BASE, "--templates", "t.db", "-o", "out.jsonl", cwd=learned)
    assert done.returncode == 0, done.stderr
    (row,) = read_lines(learned / "out.jsonl")
    assert row["content"] == "Heading 77\n\nNever seen before."
    assert "stood alone" not in done.stderr
    alone = chaffinch("clean", "new/news.html", "--method", "sandwich", cwd=learned).stdout
    assert "All rights reserved" in alone


def test_learn_reports_sites(chaffinch: Command, tmp_path: Path) -> None:
    done = chaffinch("learn", CRAWL, "missing.html", "-o", "t.db", cwd=tmp_path)
    assert done.returncode == 1
    assert "missing.html" in done.stderr
    assert "t.db: fused learned 6 sites from 44 pages." in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.db"]
    done = chaffinch("learn", CRAWL, "-o", "u.db", "--json", "--site-by", "host", "--jobs", "2", cwd=tmp_path)
    report: dict[str, Any] = json.loads(done.stdout)
    assert (report["method"], report["pages"], report["failures"]) == ("fused", 44, [])
    assert {site["site"]: site["pages"] for site in report["sites"]}["docs.sparrowdb.example"] == 7
    assert sum(sites_of(tmp_path / "u.db").values()) == 44


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_result_does_not_depend_on_the_number_of_jobs(chaffinch: Command, tmp_path: Path, jobs: str) -> None:
    for number in (jobs, "1"):
        assert chaffinch("learn", CRAWL, "-o", f"{number}.db", "--jobs", number, cwd=tmp_path).returncode == 0
        done = chaffinch("clean", CRAWL, "--templates", f"{number}.db", "--jobs", number, "--jsonl", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        (tmp_path / f"{number}.jsonl").write_text(done.stdout, encoding="utf-8")
    assert (tmp_path / f"{jobs}.db").read_bytes() == (tmp_path / "1.db").read_bytes()
    assert (tmp_path / f"{jobs}.jsonl").read_bytes() == (tmp_path / "1.jsonl").read_bytes()


def test_updating_adds_pages_and_sites(chaffinch: Command, learned: Path) -> None:
    write_site(learned / "more", ["More words."])
    assert (
        chaffinch("learn", "more", "--base-url", "https://site.example/b/", "-o", "t.db", cwd=learned).returncode == 0
    )
    assert sites_of(learned / "t.db") == {"site.example": 7}
    chaffinch("learn", "more", "--base-url", "https://other.example/", "-o", "t.db", cwd=learned)
    assert sites_of(learned / "t.db") == {"other.example": 1, "site.example": 7}
    chaffinch("learn", "more", *BASE, "-o", "t.db", "--relearn", cwd=learned)
    assert sites_of(learned / "t.db") == {"other.example": 1, "site.example": 1}
    chaffinch("learn", "more", *BASE, "-o", "t.db", "--replace", "--option", "most_entries=5000", cwd=learned)
    assert sites_of(learned / "t.db") == {"site.example": 1}


def test_updating_goes_by_the_method_of_the_database(chaffinch: Command, small_crawl: Path) -> None:
    folder = small_crawl.parent
    asked = ("--method", "sandwich", "--option", "unit=lines")
    chaffinch("learn", "crawl", *asked, "--site-by", "host", *BASE, "-o", "t.db", cwd=folder)
    done = chaffinch("learn", "crawl", *BASE, "-o", "t.db", cwd=folder)
    assert done.returncode == 0, done.stderr
    done = chaffinch("learn", "crawl", *asked, *BASE, "-o", "t.db", cwd=folder)
    assert done.returncode == 0, done.stderr
    with TemplateStore.open(folder / "t.db") as store:
        assert store.site_by == "host"
        assert "unit='lines'" in repr(store.method)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["learn", "crawl", "-o", "t.db", "--option", "keep_comments=true"],
            "learned with keep_comments=false, not true",
        ),
        (["learn", "crawl", "-o", "t.db", "--site-by", "host"], "start anew with --replace"),
        (["learn", "crawl", "-o", "t.db", "--method", "nope"], "learned by method fused, not nope"),
        (["learn", "crawl", "-o", "t.db", "--replace", "--relearn"], "not allowed with"),
        (["learn", "crawl"], "-o"),
        (["clean", "crawl", "--templates", "t.db", "--option", "most_entries=9"], "most_entries=262144, not 9"),
        (["clean", "crawl", "--templates", "t.db", "--method", "nope"], "learned by method fused, not nope"),
        (["clean", "crawl", "--templates", "t.db", "--site-by", "prefix"], "--site-by domain, not prefix"),
        (["clean", "crawl", "--templates", "t.db", "--page-by-page"], "does not go with --templates"),
        (["clean", "crawl", "--site-by", "page"], "--site-by"),
    ],
)
def test_wrong_usage_exits_2(chaffinch: Command, learned: Path, arguments: list[str], says: str) -> None:
    before = (learned / "t.db").read_bytes()
    done = chaffinch(*arguments, cwd=learned)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert (learned / "t.db").read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [["clean", "crawl", "--templates"], ["learn", "crawl", "-o"], ["learn", "crawl", "--replace", "-o"]],
    ids=" ".join,
)
@pytest.mark.parametrize("spoil", ["html", "folder", "no folder"])
@pytest.mark.usefixtures("small_crawl")
def test_databases_that_are_no_good(chaffinch: Command, tmp_path: Path, command: list[str], spoil: str) -> None:
    name = "none/t.db" if spoil == "no folder" else "t.db"
    if spoil == "html":
        (tmp_path / name).write_text("<p>precious", encoding="utf-8")
    elif spoil == "folder":
        (tmp_path / name).mkdir()
    done = chaffinch(*command, name, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert name in done.stderr
    assert "Traceback" not in done.stderr
    if spoil == "html":
        assert (tmp_path / name).read_text(encoding="utf-8") == "<p>precious"


def test_a_locked_database(chaffinch: Command, learned: Path) -> None:
    holder = sqlite3.connect(learned / "t.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    done = chaffinch("learn", "crawl", *BASE, "-o", "t.db", cwd=learned)
    assert chaffinch("clean", "crawl", *BASE, "--templates", "t.db", cwd=learned).returncode == 0
    holder.close()
    assert done.returncode == 1
    assert "t.db: is locked: another process writes to it" in done.stderr


def test_a_database_that_may_only_be_read(chaffinch: Command, learned: Path) -> None:
    (learned / "kept").mkdir()
    (learned / "t.db").rename(learned / "kept" / "t.db")
    (learned / "kept" / "t.db").chmod(0o400)
    (learned / "kept").chmod(0o500)
    before = (learned / "kept" / "t.db").read_bytes()
    done = chaffinch("clean", "crawl", *BASE, "--templates", "kept/t.db", cwd=learned, powerless=True)
    assert (done.returncode, done.stderr) == (0, "")
    for extra in ([], ["--replace"]):
        done = chaffinch("learn", "crawl", *BASE, "-o", "kept/t.db", *extra, cwd=learned, powerless=True)
        assert done.returncode == 1
        assert done.stderr.startswith("chaffinch: kept/t.db: ")
        assert "Traceback" not in done.stderr
    assert (learned / "kept" / "t.db").read_bytes() == before
    assert [path.name for path in (learned / "kept").iterdir()] == ["t.db"]


def test_a_damaged_template_costs_its_own_site_only(chaffinch: Command, tmp_path: Path) -> None:
    chaffinch("learn", CRAWL, "-o", "t.db", cwd=tmp_path)
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.execute("UPDATE sites SET template = x'00' WHERE site = 'toritomo.example'")
    connection.commit()
    connection.close()
    done = chaffinch("clean", CRAWL, "--templates", "t.db", "-o", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("t.db: site toritomo.example: template of method fused: is damaged") == 7
    assert len(read_lines(tmp_path / "out.jsonl")) == 37


def test_unknown_sites_are_treated_alone_and_counted(chaffinch: Command, learned: Path) -> None:
    other = ("--base-url", "https://other.example/")
    done = chaffinch("clean", "crawl", *other, "--templates", "t.db", "-o", "out.jsonl", "--json", cwd=learned)
    report = json.loads(done.stdout)
    assert report["total"]["informed"] == 0
    assert (report["templates"], report["drifted"], report["sites"][0]["fit"]) == ("t.db", [], None)
    alone = chaffinch("clean", "crawl", *other, "--page-by-page", "--jsonl", cwd=learned)
    assert [row["content"] for row in read_lines(learned / "out.jsonl")] == [
        json.loads(line)["content"] for line in alone.stdout.splitlines()
    ]
    done = chaffinch("clean", "crawl", *other, "--templates", "t.db", "--dry-run", cwd=learned)
    assert "6 of 6 pages stood alone: fused found nothing to compare them with in t.db." in done.stderr


def test_standard_input_needs_one_pass(chaffinch: Command, learned: Path) -> None:
    row = json.dumps({"url": "https://site.example/9.html", "html": site_html(9, "Piped.")}).encode()
    done = chaffinch("clean", "-", "--templates", "t.db", stdin=row, cwd=learned)
    assert (done.returncode, done.stdout) == (0, "Heading 9\n\nPiped.\n")


def test_a_redesigned_site_is_told_of(chaffinch: Command, learned: Path) -> None:
    (learned / "new").mkdir()
    for number in range(4):
        (learned / "new" / f"new-{number}.html").write_text(redesigned(number, f"Text {number}"), encoding="utf-8")
    clean = ("clean", "new", *BASE, "--templates", "t.db", "-o", "out.jsonl")
    done = chaffinch(*clean, cwd=learned)
    assert done.returncode == 0
    assert "site.example looks redesigned: its pages show" in done.stderr
    report = json.loads(chaffinch(*clean, "--json", cwd=learned).stdout)
    assert report["drifted"] == ["site.example"]
    assert report["sites"][0]["fit"] < 0.5 * report["sites"][0]["fit_learned"]
    # The site as it was is not told of, nor is the new design when it has been learned.
    assert "redesigned" not in chaffinch("clean", "crawl", *clean[2:], cwd=learned).stderr
    assert chaffinch("learn", "new", *BASE, "-o", "t.db", "--relearn", cwd=learned).returncode == 0
    assert "redesigned" not in chaffinch(*clean, cwd=learned).stderr


def test_a_killed_run_changes_nothing_or_is_whole(chaffinch: Command, learned: Path) -> None:
    write_site(learned / "large", [f"words {n} " * 2000 for n in range(300)])
    before = sites_of(learned / "t.db")
    kept = (learned / "t.db").read_bytes()
    for wait in (0.3, 0.8, 1.3):
        for extra in ([], ["--replace"]):
            (learned / "t.db").write_bytes(kept)
            command = [sys.executable, "-m", "chaffinch", "learn", "large", *BASE, "-o", "t.db", *extra]
            with subprocess.Popen(command, cwd=learned, stderr=subprocess.DEVNULL) as run:
                time.sleep(wait)
                run.send_signal(signal.SIGKILL)
            # The kill may come a moment after the last transaction; nothing lies between before and after.
            whole = {"site.example": 300 if extra else 300 + before["site.example"]}
            assert sites_of(learned / "t.db") in (before, whole)
            for rest in learned.glob("t.db-*"):
                rest.unlink()
    done = chaffinch("learn", "large", *BASE, "-o", "t.db", "--replace", cwd=learned)
    assert done.returncode == 0, done.stderr
    assert sites_of(learned / "t.db") == {"site.example": 300}
    assert [path.name for path in learned.iterdir() if path.is_file()] == ["t.db"], "what killed runs left is swept"


def test_an_interrupt_changes_nothing(learned: Path) -> None:
    write_site(learned / "large", [f"words {n} " * 500 for n in range(4000)])
    before = (learned / "t.db").read_bytes()
    command = [sys.executable, "-m", "chaffinch", "learn", "large", *BASE, "-o", "t.db", "--replace"]
    with subprocess.Popen(
        command,
        cwd=learned,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509  (nothing here has threads)
    ) as run:
        while not list(learned.glob(".t.db.*")):
            time.sleep(0.01)
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
        _, stderr = run.communicate(timeout=60)
    assert run.returncode == 130
    assert b"interrupted" in stderr
    assert (learned / "t.db").read_bytes() == before
    assert [path.name for path in learned.iterdir() if path.is_file()] == ["t.db"]
