"""Template found while the index is built, in the builder's own table."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from chaffinch.errors import UsageError
from chaffinch.index import Entry, SearchIndex, index_inputs, read_about
from chaffinch.methods import make_method
from chaffinch.methods.index_table import IndexTable
from chaffinch.methods.offsets import Offsets
from chaffinch.runs import RunOptions
from chaffinch.runs.limits import Budget
from conftest import CRAWL, Command, write_site


def entries(index: Path) -> dict[str, Entry]:
    return {hit.entry.key: hit.entry for hit in SearchIndex(str(index)).search("*", limit=1_000).hits}


def words(text: str) -> list[str]:
    """The words of a text. Numbers may be those of a list's items, which go with the first block of the item."""
    return re.findall(r"[^\W\d]+", text)


def test_one_pass_finds_what_two_passes_find(tmp_path: Path) -> None:
    options = RunOptions(method=Offsets())
    once = index_inputs([str(CRAWL)], str(tmp_path / "once"), options, one_pass=True)
    twice = index_inputs([str(CRAWL)], str(tmp_path / "twice"), options)
    assert (once.pages, once.changes["added"]) == (44, 44)
    assert once.run.as_json() == {**twice.run.as_json(), "seconds": once.run.as_json()["seconds"]}
    one, two = entries(tmp_path / "once"), entries(tmp_path / "twice")
    assert [(key, words(one[key].content), words(one[key].template)) for key in sorted(two)] == [
        (key, words(entry.content), words(entry.template)) for key, entry in sorted(two.items())
    ]
    assert {key: (entry.title, entry.headings) for key, entry in one.items()} == {
        key: (entry.title, entry.headings) for key, entry in two.items()
    }


def test_favor_moves_the_threshold(tmp_path: Path) -> None:
    kept = []
    for favor in (0.1, 0.5, 0.95):
        options = RunOptions(method=Offsets(), favor=favor)
        kept.append(index_inputs([str(CRAWL)], str(tmp_path / str(favor)), options, one_pass=True).run.total.words_kept)
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > kept[-1]


@pytest.mark.parametrize("jobs", [1, 2])
def test_small_tables_keep_order_and_remember_sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    """Each batch fills the table; the last has one page only, which goes by the words of the tables before."""
    monkeypatch.setattr(Budget, "of", lambda *_: Budget(learning=4))
    write_site(tmp_path / "crawl", [f"Own words of page {number}, only here: w{number}." for number in range(65)])
    seen: list[str] = []
    report = index_inputs(
        [str(tmp_path / "crawl"), str(tmp_path / "none.html")],
        str(tmp_path / "index"),
        RunOptions(method=Offsets(), jobs=jobs),
        one_pass=True,
        step=lambda outcome: seen.append(outcome.source),
    )
    assert seen == [*(str(path) for path in sorted((tmp_path / "crawl").iterdir())), str(tmp_path / "none.html")]
    assert [failure.source for failure in report.run.failures] == [str(tmp_path / "none.html")]
    found = {entry.source: entry for entry in entries(tmp_path / "index").values()}
    last = found[seen[64]]
    assert "w64" in last.content
    assert last.template
    assert last.template == found[seen[3]].template


def test_a_site_that_cannot_be_learned_costs_that_site_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    joined = IndexTable.joined

    def fail(pages: list[object], sites: list[int]) -> object:
        if len(pages) == 8:
            raise ValueError("eight is too many")
        return joined(pages, sites)  # type: ignore[arg-type]

    monkeypatch.setattr(IndexTable, "joined", fail)
    report = index_inputs([str(CRAWL)], str(tmp_path / "index"), one_pass=True)
    failed = {failure.reason for failure in report.run.failures}
    assert failed == {"failed with ValueError: eight is too many"}
    assert 0 < report.pages == 44 - len(report.run.failures)


def test_the_command(chaffinch: Command, tmp_path: Path) -> None:
    index = tmp_path / "index"
    done = chaffinch("index", CRAWL, "-o", index, "--one-pass", "--json", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["added"] == 44
    about = read_about(str(index))
    assert (about.method, about.one_pass) == ("offsets", True)
    found = json.loads(chaffinch("search", index, "template:basket", "--json").stdout)
    assert found["total"] == 8
    again = chaffinch("index", CRAWL, "-o", index)
    assert "44 unchanged" in again.stderr
    other = chaffinch("index", CRAWL, "-o", index, "--method", "offsets")
    assert (other.returncode, "built with one pass true, not false" in other.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--no-removal"], "does not go with --one-pass"),
        (["--method", "chunks"], "by the method offsets"),
        (["--option", "most=3"], "no option 'most'"),
    ],
)
def test_what_does_not_go_with_one_pass(chaffinch: Command, tmp_path: Path, arguments: list[str], says: str) -> None:
    done = chaffinch("index", CRAWL, "-o", tmp_path / "index", "--one-pass", *arguments)
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "index").exists()


def test_learned_templates_do_not_go_with_one_pass(tmp_path: Path) -> None:
    options = RunOptions(method=make_method("offsets"), templates="t.db")
    with pytest.raises(UsageError, match="nor with learned templates"):
        index_inputs([str(CRAWL)], str(tmp_path / "index"), options, one_pass=True)
