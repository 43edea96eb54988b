"""Many processes: order, processes that die, methods that raise."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from runs_doubles import EATS, HANGS, KILLS, RAISES, Common, capture, write_rows

import chaffinch
from chaffinch.page.collector import uncollected
from chaffinch.runs import Outcome, PageLimits, RunOptions


def outcomes(folder: Path, words: list[str], options: RunOptions) -> list[Outcome]:
    """Clean a file with one page for each of `words`, through the Python API."""
    pages = [capture(f"https://site.example/{number}", text) for number, text in enumerate(words)]
    (folder / "rows.jsonl").write_bytes(write_rows(pages))
    return list(chaffinch.clean(folder / "rows.jsonl", options=options).outcomes())


def test_a_page_that_kills_its_process_is_named_and_all_others_come_out(tmp_path: Path) -> None:
    words = [f"own words {number}" for number in range(100)]
    words[50] = KILLS
    found = outcomes(tmp_path, words, RunOptions(method=Common(deadly=True), jobs=2))
    failed = [outcome for outcome in found if outcome.error]
    assert [outcome.source.rpartition("#")[2] for outcome in failed] == ["51"]
    assert "died" in str(failed[0].error)
    contents = [outcome.document.content for outcome in found if outcome.document]
    assert contents == [text for text in words if text != KILLS], "pages are lost, or their order is"


def test_a_page_that_kills_every_batch_costs_only_itself(tmp_path: Path) -> None:
    words = [KILLS if number % 40 == 0 else f"own words {number}" for number in range(100)]
    found = outcomes(tmp_path, words, RunOptions(method=Common(deadly=True), jobs=2))
    assert [outcome.document.content for outcome in found if outcome.document] == [w for w in words if w != KILLS]
    assert sum(outcome.error is not None for outcome in found) == 3


def test_a_page_that_hangs_is_given_up(tmp_path: Path) -> None:
    words = [f"own words {number}" for number in range(40)]
    words[11] = HANGS
    options = RunOptions(method=Common(deadly=True), limits=PageLimits(seconds=8))
    found = outcomes(tmp_path, words, options)
    assert [(one.source.rpartition("#")[2], one.error) for one in found if one.error] == [
        ("12", "took longer than 8 seconds")
    ]
    assert [outcome.document.content for outcome in found if outcome.document] == [w for w in words if w != HANGS]


def test_a_page_that_needs_too_much_memory_is_given_up(tmp_path: Path) -> None:
    words = [f"own words {number}" for number in range(40)]
    words[11] = EATS
    options = RunOptions(method=Common(deadly=True), limits=PageLimits(memory=256 << 20))
    found = outcomes(tmp_path, words, options)
    assert [(one.source.rpartition("#")[2], one.error) for one in found if one.error] == [
        ("12", "needs more memory than there is")
    ]
    assert sum(outcome.document is not None for outcome in found) == 39


def test_a_killed_process_costs_no_page(tmp_path: Path) -> None:
    """Somebody else, such as the system when memory is short, may end a process in the middle of a good page."""
    once = tmp_path / "once"
    words = [f"own words {number}" for number in range(40)]
    words[20] = KILLS
    found = outcomes(tmp_path, words, RunOptions(method=Common(deadly=True, once=str(once)), jobs=2))
    assert once.exists()
    assert [outcome.document.content for outcome in found if outcome.document] == words


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_page_that_breaks_the_method_is_named_in_its_place(tmp_path: Path, jobs: int) -> None:
    words = [f"own words {number}" for number in range(40)]
    words[7] = RAISES
    found = outcomes(tmp_path, words, RunOptions(method=Common(), jobs=jobs))
    assert len(found) == 40
    assert found[7].error == "failed with ZeroDivisionError: https://site.example/7"
    assert found[7].site == "site.example"
    assert found[7].document is None
    assert all(outcome.document for number, outcome in enumerate(found) if number != 7)


def test_the_number_of_processes_changes_nothing(tmp_path: Path) -> None:
    words = [f"own words {number}" for number in range(80)]
    one, other = (outcomes(tmp_path, words, RunOptions(method=Common(), jobs=jobs)) for jobs in (1, 3))
    assert one == other
    assert all(outcome.informed for outcome in one)


_PAUSED = """
from runs_doubles import capture, work_for_a_moment
from chaffinch.runs.limits import PageLimits
from chaffinch.runs.pool import Workers
from chaffinch.runs.work import Batch

for seconds in (3.0, 0.1):
    workers = Workers(work_for_a_moment, 1, PageLimits(seconds))
    batch = Batch((capture("https://site.example/1", "words"),))
    print(list(workers.answers([batch])), flush=True)
"""


def test_time_in_which_nothing_runs_does_not_count() -> None:
    """As on a laptop that sleeps, or in a container that is paused."""
    command = [sys.executable, "-c", _PAUSED]
    folder = Path(__file__).parent
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, start_new_session=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"begun\n"
        os.killpg(run.pid, signal.SIGSTOP)
        time.sleep(4)
        os.killpg(run.pid, signal.SIGCONT)
        assert run.stdout.readline() == b"[['a.warc#https://site.example/1']]\n"
        assert b"took longer than 0.1 seconds" in run.stdout.read()


def test_a_run_that_is_left_early_ends_its_processes(tmp_path: Path) -> None:
    pages = [capture(f"https://site.example/{number}", f"words {number}") for number in range(200)]
    (tmp_path / "rows.jsonl").write_bytes(write_rows(pages))
    run = chaffinch.clean(tmp_path / "rows.jsonl", options=RunOptions(method=Common(), jobs=2)).outcomes()
    assert next(run).document
    assert isinstance(run, Generator)
    run.close()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_before_when_work_is_done(*, enabled: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with uncollected():
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
        with pytest.raises(KeyError), uncollected():
            raise KeyError
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()
