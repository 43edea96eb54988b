"""Runs over many result pages: templates that are learned from a part, kills, bounds, what a report tells."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path

import pytest
from result_pages import shop

import chaffinch
from chaffinch.records import RecordsRun, group_pages, ledger, mine
from chaffinch.records.ledger import Ledger
from chaffinch.records.tables import json_lines
from chaffinch.runs import Journal, RunOptions
from conftest import Command, read_lines

RANDOM = random.Random(11)  # noqa: S311
PAGES = 40
LEARNED = 4
OPTIONS = RunOptions()


def table(seed: int) -> str:
    """The same shop's other list, of the same menu, which the wrapper of the first does not fit."""
    rng = random.Random(seed)  # noqa: S311
    menu = "".join(f'<li class="nav"><a href="/c/{n}">Category {n}</a></li>' for n in range(40))
    rows = "".join(
        f"<div class=order><b>Order {rng.randrange(9999)}</b><i>{rng.choice(['sent', 'paid'])}</i>"
        f"<em>${rng.randrange(99)}.20</em></div>"
        for _ in range(15)
    )
    return f"<html><body><ul id=menu>{menu}</ul><div class=main>{rows}</div><p>Terms</p></body></html>"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three shops in turn, one of which has another kind of list from its twentieth page on."""
    path = tmp_path_factory.mktemp("records") / "crawl.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(PAGES):
            site = number % 3
            html = table(number) if site == 2 and number > 20 else shop(number)
            url = f"https://shop-{site}.example/{number}"
            file.write(json.dumps({"url": url, "html": html}) + "\n")
    return path


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Templates are learned from few of their pages."""
    monkeypatch.setattr(ledger, "MOST_LEARNED", LEARNED)


def found_in(crawl: Path, journal: Journal | None = None) -> tuple[list[str], int]:
    with RecordsRun([str(crawl)], OPTIONS, journal=journal) as made:
        report = made.do()
        assert report.failures == []
        return list(json_lines(made)), report.templates


def test_what_fits_is_learned_whole(crawl: Path) -> None:
    lines, templates = found_in(crawl)
    pages = [chaffinch.parse(row["html"], url=row["url"]) for row in read_lines(crawl)]
    alone = chaffinch.records(pages)
    assert [json.loads(line)["records"] for line in lines] == [page.as_json()["records"] for page in alone.pages]
    assert templates == len(alone.wrappers) == len(group_pages(pages))


@pytest.mark.usefixtures("few")
def test_templates_are_learned_from_the_first_pages_and_applied(crawl: Path) -> None:
    """Pages that the wrapper does not fit are learned from anew, in groups that are no larger."""
    lines, templates = found_in(crawl)
    rows = [json.loads(line) for line in lines]
    assert [row["url"].rpartition("/")[2] for row in rows] == [str(number) for number in range(PAGES)]
    assert [len(row["records"]) for row in rows] == [15 if n % 3 == 2 and n > 20 else 12 for n in range(PAGES)]
    assert 4 <= templates <= 6
    for site in range(3):
        prices = {
            unit["slot"]
            for row in rows[site:18:3]
            for record in row["records"]
            for unit in record["units"]
            if unit["text"].startswith("$")
        }
        assert len(prices) == 1, "a slot is the same on pages learned from and on the others"


def go_on(crawl: Path, folder: Path) -> None:
    journal = Journal(str(folder / "out.jsonl"), {}, resume=True, every=0.0)
    lines, _ = found_in(crawl, journal)
    (folder / "out.jsonl").write_text("".join(lines), encoding="utf-8")


def ends(crawl: Path, folder: Path, statements: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Go on in a child of this process, which is killed at the so many-th thing it writes; tell whether it was done."""
    child = os.fork()
    if child == 0:
        code, do, left = 1, Ledger._do, statements  # noqa: SLF001

        def counted(kept: Ledger, statement: str, *values: object) -> None:
            nonlocal left
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            do(kept, statement, *values)

        try:
            monkeypatch.setattr(Ledger, "_do", counted)
            go_on(crawl, folder)
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in {0, -signal.SIGKILL}
    return code == 0


@pytest.mark.usefixtures("few")
def test_a_run_that_is_killed_again_and_again(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaffinch.runs.batches.MOST_PAGES", 3)
    whole, _ = found_in(crawl)
    kills, stages = 0, set()
    while not ends(crawl, tmp_path, RANDOM.randrange(1, 20), monkeypatch):
        kills += 1
        with Ledger(tmp_path / ".out.jsonl.chaffinch" / "records.db") as kept:
            stages.add(kept.state.get("stage"))
    assert kills >= 8
    assert {"sort", "learn", "apply"} <= stages
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == "".join(whole)


def test_on_the_command_line(chaffinch: Command, crawl: Path, tmp_path: Path) -> None:
    """One process or two, bounded or not: the same bytes, and a report."""
    assert chaffinch("records", crawl, "-o", "one.csv", "--page-seconds", "0", cwd=tmp_path).returncode == 0
    bounds = ["--jobs", "2", "--memory", "1G", "--report", "report.json", "--json"]
    done = chaffinch("records", crawl, "-o", "two.csv", *bounds, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (report["command"], report["pages"], report["failures"]) == ("records", PAGES, [])
    assert json.loads(done.stdout)["records"] == report["records"] > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.csv", "report.json", "two.csv"]


@pytest.mark.parametrize("arguments", [["-", "-o", "x.jsonl"], ["crawl.jsonl"]])
def test_what_cannot_be_gone_on_with(chaffinch: Command, crawl: Path, arguments: list[str]) -> None:
    done = chaffinch("records", *arguments, "--resume", cwd=crawl.parent)
    assert done.returncode == 2
    assert "standard input" in done.stderr or "--resume needs an output" in done.stderr


def test_pages_that_do_not_fit_a_wrapper_are_named(chaffinch: Command, tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        (tmp_path / f"{seed}.html").write_text(shop(seed), encoding="utf-8")
    learned = chaffinch("records", "1.html", "2.html", "-o", "x.jsonl", "--save-wrapper", "w.json", cwd=tmp_path)
    assert learned.returncode == 0, learned.stderr
    (tmp_path / "4.html").write_text(table(1), encoding="utf-8")
    done = chaffinch("records", "4.html", "3.html", "--wrapper", "w.json", "-o", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert "4.html: does not fit the wrapper" in done.stderr
    assert [len(row["records"]) for row in read_lines(tmp_path / "out.jsonl")] == [0, 12]


def test_a_site_that_cannot_be_learned_costs_its_own_pages(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chaffinch.records import work

    def fail(pages: list[chaffinch.Page]) -> object:
        if pages[0].place.site == "shop-1.example":
            raise ValueError("broken")
        return mine(pages)

    monkeypatch.setattr(work, "mine", fail)
    with RecordsRun([str(crawl)], OPTIONS) as made:
        report = made.do()
        assert {failure.reason for failure in report.failures} == {"failed with ValueError: broken"}
        assert (len(report.failures), len(list(made))) == (13, PAGES - 13)
