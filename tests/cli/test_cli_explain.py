"""`chaffinch explain` and `--favor` as a user calls them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import CRAWL, EXAMPLES, Command

PAGE = CRAWL / "finchley-gazette.example" / "news" / "night-bus-trial.html"
SITE = CRAWL / "finchley-gazette.example"


def test_a_page_alone(chaffinch: Command) -> None:
    done = chaffinch("explain", PAGE, "--method", "sandwich")
    assert (done.returncode, done.stderr) == (0, "")
    assert "knows nothing of the site" in done.stdout
    assert "0.00 content " in done.stdout
    assert "\x1b" not in done.stdout


def test_beside_its_site(chaffinch: Command) -> None:
    done = chaffinch("explain", PAGE, "--method", "blocks", "--beside", SITE, "--json")
    found = json.loads(done.stdout)
    assert found["informed"] is True
    assert (found["method"], found["favor"], found["threshold"]) == ("blocks", "balanced", 0.5)
    decisions = {block["text"]: block["template"] for block in found["blocks"]}
    assert decisions["Skip to content"]
    assert not all(decisions.values())


def test_by_kept_templates(chaffinch: Command, tmp_path: Path) -> None:
    database = tmp_path / "templates.db"
    assert chaffinch("learn", SITE, "--method", "blocks", "-o", database).returncode == 0
    done = chaffinch("explain", PAGE, "--templates", database)
    assert "knows the site" in done.stdout
    assert "1.00 template Skip to content" in done.stdout
    assert chaffinch("explain", PAGE, "--templates", database, "--beside", SITE).returncode == 2


def test_a_record_of_an_archive_by_id_and_by_url(chaffinch: Command) -> None:
    archive = EXAMPLES / "crawl.warc.gz"
    several = chaffinch("explain", archive)
    assert several.returncode == 2
    named = several.stderr.strip().rpartition(" ")[2]
    by_id = json.loads(chaffinch("explain", named, "--json").stdout)
    by_url = json.loads(chaffinch("explain", f"{archive}#{by_id['url']}", "--json").stdout)
    assert by_id == by_url
    missing = chaffinch("explain", f"{archive}#nothing")
    assert (missing.returncode, missing.stderr) == (1, f"chaffinch: {archive}: has no record 'nothing'\n")


def test_a_file_with_the_sign_in_its_name(chaffinch: Command, tmp_path: Path) -> None:
    path = tmp_path / "a#b.html"
    path.write_text("<p>words", encoding="utf-8")
    assert "words" in chaffinch("explain", path).stdout
    assert "words" in chaffinch("explain", "-", stdin=b"<p>words").stdout


@pytest.mark.parametrize(("name", "code"), [("nowhere.html", 1), (".", 1)])
def test_no_page(chaffinch: Command, tmp_path: Path, name: str, code: int) -> None:
    done = chaffinch("explain", name, cwd=tmp_path)
    assert done.returncode == code
    assert done.stderr.startswith("chaffinch: ")


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_on_a_terminal(variables: dict[str, str], *, coloured: bool) -> None:
    ours, theirs = pty.openpty()
    plain = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    subprocess.run(
        [sys.executable, "-m", "chaffinch", "explain", "-"],
        input=b"<p>one",
        stdout=theirs,
        env={**plain, "TERM": "xterm", **variables},
        check=True,
    )
    os.close(theirs)
    shown = os.read(ours, 10_000)
    os.close(ours)
    assert b"one" in shown
    assert (b"\x1b[32m" in shown) is coloured


def test_what_is_favored(chaffinch: Command, tmp_path: Path) -> None:
    kept = []
    for favor in ("0", "recall", "balanced", "precision", "1"):
        done = chaffinch("clean", SITE, "--method", "blocks", "--favor", favor, "--dry-run", "--json")
        kept.append(json.loads(done.stdout)["total"]["words_kept"])
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > kept[2] > kept[4] == 0
    wrong = chaffinch("clean", SITE, "--favor", "much", "-o", tmp_path / "out.jsonl")
    assert (wrong.returncode, "precision, balanced, recall or a number from 0 to 1" in wrong.stderr) == (2, True)
