from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from chaffinch.cli.main import main
from chaffinch.errors import MissingExtraError, UsageError
from chaffinch.evaluation import peers
from chaffinch.evaluation.evaluate import Settings, compare, evaluate, evaluate_peer, run_evaluation
from chaffinch.evaluation.peers import PeerPredictor
from chaffinch.methods import make_method

if TYPE_CHECKING:
    from pathlib import Path

MENU = "<nav><a href=/>Home</a> <a href=/a>About us</a></nav>"


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sites in the form of `swde`, and three pages in that of `wcxb`."""
    for site in ("bird-a", "bird-b"):
        folder = tmp_path / "swde" / site
        folder.mkdir(parents=True)
        gold = {}
        for number, bird in enumerate(["Wren", "Finch", "Robin"]):
            page = f"<html><body>{MENU}<h1>{bird}</h1><p>The {bird.lower()} sings.</p></body></html>"
            (folder / f"000{number}.htm").write_text(page, "utf-8")
            gold[f"000{number}"] = {"name": [bird], "price": ["$ 1"]}
        (folder / "gold.json").write_text(json.dumps(gold), "utf-8")
    html, truth = tmp_path / "wcxb/dev/html", tmp_path / "wcxb/dev/ground-truth"
    html.mkdir(parents=True)
    truth.mkdir()
    for number in range(3):
        (html / f"000{number}.html").write_text(f"<body>{MENU}<p>Song number {number}", "utf-8")
        labels = {"ground_truth": {"main_content": f"Song number {number}", "with": ["song"], "without": ["about"]}}
        (truth / f"000{number}.json").write_text(json.dumps(labels), "utf-8")
    monkeypatch.setenv("CHAFFINCH_DATA", str(tmp_path))
    return tmp_path


def test_a_method_learns_from_the_whole_site() -> None:
    evaluation = evaluate("swde", make_method("sandwich"))
    assert [result.name for result in evaluation.results] == ["sandwich", "everything", "nothing"]
    assert (evaluation.pages, len(evaluation.sites), len(evaluation.rows)) == (6, 2, 6)
    assert evaluation.macro == {"removed": pytest.approx(3 / 7), "kept": 1.0}
    assert evaluation["everything"].macro == {"removed": 0.0, "kept": 1.0}
    assert evaluation["nothing"].macro == {"removed": 1.0, "kept": 0.0}
    assert evaluation.sites[0].counts == {"values": 4, "never_shown": 1, "not_shown": 3}
    assert set(evaluation.main.seconds) == {"learn", "score", "render"}


def test_page_by_page_nothing_is_known_of_the_site() -> None:
    evaluation = evaluate("swde", make_method("sandwich"), page_by_page=True)
    assert evaluation.macro["removed"] == 0.0
    assert "page by page" in evaluation.table()


def test_what_is_favored_decides_what_is_template() -> None:
    assert evaluate("swde", make_method("sandwich"), favor=0.0).macro["removed"] == 0.0
    assert evaluate("swde", make_method("sandwich"), favor=1.0).macro["removed"] == 1.0


def test_single_pages_are_sites() -> None:
    evaluation = evaluate("wcxb", make_method("sandwich"), limit=2)
    assert evaluation.pages == 2
    row = evaluation.rows[0]
    assert row.measures == {"precision": 3 / 6, "recall": 1.0, "f1": pytest.approx(2 / 3), "with": 1.0, "without": 1.0}
    assert (row.words_in, row.words_kept) == (6, 6)
    assert list(evaluation.main.by_kind) == ["article"]


def test_more_processes_give_the_same() -> None:
    one, two = (compare("swde", [make_method("sandwich")], settings=Settings(jobs=jobs)) for jobs in (1, 2))
    assert one.rows == two.rows
    assert one.sites == two.sites


def test_progress_is_told_after_each_site() -> None:
    told: list[tuple[int, int, str]] = []
    evaluate("swde", make_method("sandwich"), progress=lambda *step: told.append(step))
    assert told == [(1, 2, "bird-a"), (2, 2, "bird-b")]


def test_printing() -> None:
    evaluation = run_evaluation("swde", "sandwich", {"unit": "lines"})
    table = evaluation.table()
    assert "swde: 6 pages of 2 sites" in table
    assert "sandwich unit=lines, by site" in table
    whole = json.loads(evaluation.to_json())
    assert whole["results"][0]["name"] == "sandwich unit=lines"
    assert [site["site"] for site in whole["results"][0]["sites"]] == ["bird-a", "bird-b"]
    pages = [json.loads(line) for line in evaluation.page_lines()]
    assert len(pages) == 18
    assert pages[-1] == {
        "prediction": "nothing",
        "site": "bird-b",
        "file": "0002.htm",
        "kind": "bird",
        "words_in": 7,
        "words_kept": 0,
        "removed": 1.0,
        "kept": 0.0,
        "lost": [["name", "robin"]],
    }


def test_no_sites_at_all() -> None:
    evaluation = evaluate("swde", make_method("sandwich"), limit=0)
    assert evaluation.macro == {}
    assert "0 pages of 0 sites" in evaluation.table()


def test_errors_of_a_peer_are_empty_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def extract(html: str) -> str:
        if "Wren" in html:
            raise RuntimeError
        return html

    monkeypatch.setitem(peers.PEERS, "parrot", lambda: extract)
    monkeypatch.setattr(peers, "version", lambda name: f"of {name}")
    evaluation = evaluate_peer("swde", "parrot")
    assert (evaluation.main.errors, evaluation.main.label) == (2, "parrot of parrot")
    assert [row.words_kept == 0 for row in evaluation.rows] == [True, False, False] * 2


def test_answers_of_peers_are_kept(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    asked: list[str] = []

    def extract(html: str) -> str:
        asked.append(html)
        return html if "Wren" in html else ""

    monkeypatch.setitem(peers.PEERS, "parrot", lambda: extract)
    monkeypatch.setattr(peers, "version", lambda name: f"of {name}")
    first = evaluate_peer("swde", "parrot")
    assert len(asked) == 3  # the two sites have the same pages
    assert first.main.empty == ("bird-a/0001.htm", "bird-a/0002.htm", "bird-b/0001.htm", "bird-b/0002.htm")
    second = evaluate_peer("swde", "parrot")
    assert len(asked) == 3  # the two sites have the same pages
    assert second.main == first.main
    page = root / "swde/bird-a/0000.htm"
    page.write_text(page.read_text("utf-8") + "<p>more", "utf-8")
    evaluate_peer("swde", "parrot")
    assert len(asked) == 6  # the site that changed is asked for anew
    monkeypatch.setattr(peers, "version", lambda name: f"newer than {name}")
    evaluate_peer("swde", "parrot")
    assert len(asked) == 12


def test_damaged_answers_are_asked_for_again(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.setitem(peers.PEERS, "parrot", lambda: lambda html: html)
    monkeypatch.setattr(peers, "version", lambda name: f"of {name}")
    first = evaluate_peer("swde", "parrot")
    kept = sorted((root / ".chaffinch" / "peers").rglob("*.json"))
    assert len(kept) == 1
    for path in kept:
        path.write_text("{", "utf-8")
    assert evaluate_peer("swde", "parrot").main.rows == first.main.rows


def test_a_peer_that_nobody_knows() -> None:
    with pytest.raises(UsageError, match=r"no peer 'parrot'; there are: trafilatura, resiliparse"):
        PeerPredictor("parrot")


@pytest.mark.parametrize("name", list(peers.PEERS))
def test_real_peers(name: str) -> None:
    try:
        label = peers.peer_version(name)
    except MissingExtraError as error:
        pytest.skip(str(error))
    article = "<p>" + "The wren is a small bird that sings all year. " * 20
    assert "small bird" in peers.PEERS[name]()(f"<html><body>{MENU}<article>{article}</article></body></html>")
    assert label.startswith(f"{name} ")


def test_a_peer_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(peers.PEERS, "parrot", lambda: peers.optional_module("no_such_peer"))
    with pytest.raises(MissingExtraError, match=r"the peer 'no_such_peer'.*chaffinch\[bench\]"):
        evaluate_peer("swde", "parrot")


def test_peers_that_are_not_installed_are_left_out_of_all_of_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "version", lambda name: f"of {name}")
    for name in list(peers.PEERS):
        monkeypatch.delitem(peers.PEERS, name)
    monkeypatch.setitem(peers.PEERS, "parrot", lambda: lambda html: html)
    monkeypatch.setitem(peers.PEERS, "dodo", lambda: peers.optional_module("no_such_peer", extra="peers"))
    assert main(["evaluate", "swde", "--peers"]) == 0
    shown = capsys.readouterr()
    assert "parrot" in shown.out
    assert "dodo" not in shown.out
    assert "left out: the peer 'no_such_peer'" in shown.err
    assert "chaffinch[peers]" in shown.err
    assert main(["evaluate", "swde", "--peer", "dodo"]) == 2
