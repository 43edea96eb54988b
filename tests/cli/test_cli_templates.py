"""`chaffinch templates show` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import CRAWL, Command

SITE = "finchley-gazette.example"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database of the example crawl."""
    import chaffinch

    folder = tmp_path_factory.mktemp("templates")
    options = chaffinch.RunOptions(method=chaffinch.make_method("sandwich"))
    chaffinch.learn_crawl(CRAWL, templates=folder / "t.db", options=options)
    return folder


def test_all_sites(chaffinch: Command, folder: Path) -> None:
    done = chaffinch("templates", "show", "t.db", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "t.db: 6 sites, 44 pages" in done.stdout
    assert "options unit=tokens peers=last" in done.stdout
    assert "sites are registrable domains" in done.stdout
    assert f"{SITE}" in done.stdout
    listed = json.loads(chaffinch("templates", "show", "t.db", "--json", cwd=folder).stdout)
    assert (listed["method"], listed["format"], listed["site_by"]) == ("sandwich", 1, "domain")
    assert [site["pages"] for site in listed["sites"] if site["site"] == SITE] == [8]


def test_one_site_in_words(chaffinch: Command, folder: Path) -> None:
    done = chaffinch("templates", "show", "t.db", SITE, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"{SITE}: learned from 8 pages by method sandwich" in done.stdout
    assert "5 of 5, template on 4  We value your privacy" in done.stdout
    told = json.loads(chaffinch("templates", "show", "t.db", SITE, "--json", cwd=folder).stdout)
    block = next(block for block in told["blocks"] if block["text"] == "We value your privacy")
    assert (block["pages"], block["template_on"]) == (5, 4)
    assert len(told["samples"]) == 5
    assert all(sample in done.stdout for sample in told["samples"])


def test_a_site_that_is_not_there(chaffinch: Command, folder: Path) -> None:
    done = chaffinch("templates", "show", "t.db", "finchly-gazette.example", cwd=folder)
    assert done.returncode == 2
    assert f"did you mean {SITE}?" in done.stderr
    done = chaffinch("templates", "show", "t.db", "zzz", cwd=folder)
    assert (done.returncode, done.stderr) == (2, "chaffinch: t.db has no template of zzz\n")


def test_no_database(chaffinch: Command, tmp_path: Path) -> None:
    done = chaffinch("templates", "show", "t.db", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "chaffinch: t.db: does not exist; `chaffinch learn` makes a template database\n"


def test_text_that_would_steer_a_terminal(chaffinch: Command, tmp_path: Path) -> None:
    rows = [
        json.dumps({"url": f"https://a.example/{n}", "html": f"<nav>Evil \x1b[31m\x07 menu</nav><p>own {n}"})
        for n in range(4)
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows), encoding="utf-8")
    chaffinch("learn", "rows.jsonl", "-o", "t.db", cwd=tmp_path)
    shown = chaffinch("templates", "show", "t.db", "a.example", cwd=tmp_path).stdout
    assert "Evil" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown


@pytest.mark.parametrize("command", [["templates"], ["templates", "show"], ["learn"]], ids=" ".join)
def test_help_on_every_level(chaffinch: Command, command: list[str]) -> None:
    done = chaffinch(*command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: chaffinch")
