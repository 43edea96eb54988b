"""Runs that are killed and gone on with, outputs that are refused, bounds, duplicates, and what a report tells."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import chaffinch
from chaffinch.runs import RunOptions
from chaffinch.runs.options import CapturesTaken
from chaffinch.sinks import open_sink
from chaffinch.store import TemplateStore
from conftest import CRAWL, Command, read_lines, site_html, write_site

RANDOM = random.Random(8)  # noqa: S311
PAGES = 200


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One site that takes about a second."""
    folder = tmp_path_factory.mktemp("resume") / "crawl"
    write_site(folder, [f"Own words of page {n}. {'and more ' * (n % 7)}" for n in range(PAGES)])
    return folder


def files_of(output: Path) -> dict[str, bytes]:
    files = [output] if output.is_file() else sorted(path for path in output.rglob("*") if path.is_file())
    return {str(path.relative_to(output.parent)): path.read_bytes() for path in files}


def go_on(crawl: Path, output: Path, options: RunOptions) -> None:
    """What `chaffinch clean --resume` does, with marks every few pages."""
    run = chaffinch.clean(crawl, options=options)
    with run.journal(str(output), resume=True, every=0.01) as journal, open_sink(str(output), "text") as sink:
        for outcome in run.outcomes(journal):
            if outcome.document is not None:
                sink.write(outcome.document)


def ends_within(seconds: float, crawl: Path, output: Path, options: RunOptions) -> bool:
    """Go on in a child of this process, which is warm, and kill it after so long; tell whether it was done before."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            go_on(crawl, output, options)
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            return True
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


@pytest.mark.parametrize("method", ["sandwich", "blocks"])
@pytest.mark.parametrize("output", ["out.jsonl", "out", "out.parquet"])
def test_a_run_that_is_killed_again_and_again(crawl: Path, tmp_path: Path, output: str, method: str) -> None:
    """In one pass and in two, thirty times in all."""
    options = RunOptions(method=chaffinch.make_method(method))
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    start = time.monotonic()
    chaffinch.clean(crawl, options=options).write(tmp_path / "whole" / output)
    usual = time.monotonic() - start
    target = tmp_path / "killed" / output
    kills = 0
    while not ends_within(RANDOM.uniform(0, usual / 6) if kills < 5 else 100, crawl, target, options):
        kills += 1
        assert target.is_dir() or not target.exists(), "half an output has the final name"
    assert kills == 5, "the run was done before it could be killed"
    assert files_of(target) == files_of(tmp_path / "whole" / output)
    assert [path.name for path in target.parent.iterdir()] == [output], "something is left of the run"


def killed_run(folder: Path, crawl: Path, *arguments: str) -> None:
    """Start the command line, and kill it when it has kept something."""
    command = [sys.executable, "-m", "chaffinch", "clean", str(crawl), "-o", "out.jsonl", "--checkpoint", "0"]
    run = subprocess.Popen([*command, *arguments], cwd=folder, stderr=subprocess.DEVNULL)
    while not list(folder.glob(".out.jsonl.chaffinch/part-*.gz")):
        assert run.poll() is None
        time.sleep(0.005)
    run.kill()
    run.wait()


def test_resume_on_the_command_line(chaffinch: Command, crawl: Path, tmp_path: Path) -> None:
    assert chaffinch("clean", crawl, "-o", "whole.jsonl", cwd=tmp_path).returncode == 0
    killed_run(tmp_path, crawl, "--jobs", "2")
    other = chaffinch("clean", crawl, "-o", "out.jsonl", "--resume", "--format", "markdown", cwd=tmp_path)
    assert other.returncode == 2
    assert "another one (its format has changed since)" in other.stderr
    done = chaffinch("clean", crawl, "-o", "out.jsonl", "--resume", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert json.loads(done.stdout)["total"]["pages"] == PAGES


def test_an_interrupted_run_is_forgotten_without_resume(chaffinch: Command, crawl: Path, tmp_path: Path) -> None:
    killed_run(tmp_path, crawl)
    done = chaffinch("clean", crawl, "-o", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 0
    assert "out.jsonl: begun anew; --resume would have gone on" in done.stderr
    again = chaffinch("clean", crawl, "-o", "out.jsonl", "--resume", cwd=tmp_path)
    assert "begun anew: there is no interrupted run" in again.stderr
    assert len(read_lines(tmp_path / "out.jsonl")) == PAGES
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_inputs_that_changed_are_not_gone_on_with(chaffinch: Command, tmp_path: Path) -> None:
    write_site(tmp_path / "crawl", [f"Own words of page {n}." for n in range(200)])
    killed_run(tmp_path, tmp_path / "crawl")
    (tmp_path / "crawl" / "page-000.html").write_text(site_html(0, "Other words."), encoding="utf-8")
    done = chaffinch("clean", tmp_path / "crawl", "-o", "out.jsonl", "--resume", cwd=tmp_path)
    assert done.returncode == 2
    assert "the inputs have changed since" in done.stderr


def test_a_damaged_part_is_told(chaffinch: Command, crawl: Path, tmp_path: Path) -> None:
    killed_run(tmp_path, crawl)
    part = next(tmp_path.glob(".out.jsonl.chaffinch/part-00000-*"))
    part.write_bytes(part.read_bytes()[:-20])
    done = chaffinch("clean", crawl, "-o", "out.jsonl", "--resume", cwd=tmp_path)
    assert done.returncode == 1
    assert "run again without --resume" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["-", "-o", "x.jsonl"], ["crawl"], ["crawl", "-o", "x.jsonl", "--dry-run"]])
@pytest.mark.usefixtures("small_crawl")
def test_what_cannot_be_gone_on_with(chaffinch: Command, tmp_path: Path, arguments: list[str]) -> None:
    done = chaffinch("clean", *arguments, "--resume", cwd=tmp_path)
    assert done.returncode == 2
    assert "standard input" in done.stderr or "--resume needs an output" in done.stderr


def test_a_report_tells_all_there_is_to_know(chaffinch: Command, small_crawl: Path, tmp_path: Path) -> None:
    arguments = ["clean", small_crawl, "missing.html", "-o", "out.jsonl", "--method", "blocks"]
    done = chaffinch(*arguments, "--report", "report.json", "--memory", "2G", cwd=tmp_path)
    assert done.returncode == 1
    report: dict[str, Any] = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (report["command"], report["version"]) == ("clean", chaffinch_version())
    assert report["options"]["method"]["name"] == "blocks"
    assert report["options"]["memory"] == 2 << 30
    assert [(one["files"], one["bytes"] > 0) for one in report["inputs"]] == [(6, True), (0, False)]
    assert report["failures"] == [{"source": "missing.html", "reason": "no such file or directory"}]
    assert report["total"]["pages"] == 6
    assert set(report["stages"]) == {"learn", "clean"}
    assert 30 << 20 < report["peak_memory"] < 2 << 30


def chaffinch_version() -> str:
    return chaffinch.__version__


def test_inputs_that_change_while_they_are_read(tmp_path: Path) -> None:
    write_site(tmp_path / "crawl", [f"Own words of page {n}." for n in range(100)])
    run = chaffinch.clean(tmp_path / "crawl")
    assert run.inputs[0].files == 100
    outcomes = run.outcomes()
    assert next(outcomes).document
    (tmp_path / "crawl" / "page-050.html").write_text("<p>other", encoding="utf-8")
    last = list(outcomes)[-1]
    assert (last.source, last.error) == (str(tmp_path / "crawl"), "changed while it was being read")
    assert len(run.report.failures) == 1


def test_memory_that_is_too_little_is_refused(chaffinch: Command, tmp_path: Path) -> None:
    done = chaffinch("clean", CRAWL, "-o", "out.jsonl", "--memory", "100M", cwd=tmp_path)
    assert done.returncode == 2
    assert "is too little" in done.stderr
    assert chaffinch("clean", CRAWL, "-o", "out.jsonl", "--memory", "lots", cwd=tmp_path).returncode == 2


def test_memory_does_not_change_the_output(chaffinch: Command, tmp_path: Path) -> None:
    for name, extra in (("one", []), ("two", ["--memory", "1G", "--jobs", "2", "--page-seconds", "60"])):
        done = chaffinch("clean", CRAWL, "-o", f"{name}.jsonl", "--method", "blocks", *extra, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_output_of_another_kind_is_refused(chaffinch: Command, small_crawl: Path) -> None:
    folder = small_crawl.parent
    (folder / "out.jsonl").write_text('{"record": 1, "units": []}\n', encoding="utf-8")
    pq.write_table(pq.read_table(write_labels(folder)), folder / "out.parquet")
    for name in ("out.jsonl", "out.parquet"):
        before = (folder / name).read_bytes()
        done = chaffinch("clean", "crawl", "-o", name, cwd=folder)
        assert done.returncode == 2
        assert f"{name} exists and holds no documents, but rows of" in done.stderr
        assert (folder / name).read_bytes() == before


def write_labels(folder: Path) -> Path:
    import pyarrow as pa

    pq.write_table(pa.table({"site": ["a"], "label": ["template"]}), folder / "labels.parquet")
    return folder / "labels.parquet"


DATED = [
    ("https://a.example/x", "2020-01-01T00:00:00Z", "first"),
    ("https://a.example/x", "2030-01-01T00:00:00+02:00", "latest"),
    ("https://a.example/x#part", "2025-01-01T00:00:00Z", "later in the input"),
    ("https://a.example/x", "soon", "without a date"),
    ("https://a.example/y", "", "once"),
    ("https://a.example/y", "", "twice"),
    ("", "2020-01-01T00:00:00Z", "no URL"),
    ("", "2020-01-01T00:00:00Z", "no URL either"),
]


@pytest.mark.parametrize(
    ("choice", "kept"),
    [
        ("all", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("first", [0, 4, 6, 7]),
        ("latest", [1, 5, 6, 7]),
    ],
)
@pytest.mark.parametrize("method", ["sandwich", "blocks"])
def test_several_captures_of_one_url(tmp_path: Path, choice: CapturesTaken, kept: list[int], method: str) -> None:
    records = []
    for number, (url, date, words) in enumerate(DATED):
        body = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>{number}</title><p>{words}".encode()
        target = f"WARC-Target-URI: {url}\r\n" if url else ""
        head = (
            f"WARC/1.0\r\nWARC-Type: response\r\n{target}WARC-Date: {date}\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n"
        )
        records.append(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body + b"\r\n\r\n")
    (tmp_path / "one.warc").write_bytes(b"".join(records[:3]))
    (tmp_path / "two.warc").write_bytes(b"".join(records[3:]))
    options = RunOptions(method=chaffinch.make_method(method), captures=choice)
    run = chaffinch.clean(tmp_path / "one.warc", tmp_path / "two.warc", options=options)
    assert [document.title for document in run] == [str(number) for number in kept]
    assert run.report.superseded == len(DATED) - len(kept)


def test_captures_on_the_command_line(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"url": "https://a.example/", "html": "<p>x"}\n' * 3, encoding="utf-8")
    done = chaffinch("clean", "-", "--captures", "first", "--jsonl", stdin=(tmp_path / "rows.jsonl").read_bytes())
    assert [json.loads(line)["content"] for line in done.stdout.splitlines()] == ["x"]


def test_learning_is_gone_on_with(chaffinch: Command, crawl: Path, tmp_path: Path) -> None:
    command = ["learn", str(crawl), "--method", "blocks"]
    assert chaffinch(*command, "-o", "whole.db", cwd=tmp_path).returncode == 0
    started = [sys.executable, "-m", "chaffinch", *command, "-o", "out.db", "--checkpoint", "0"]
    run = subprocess.Popen(started, cwd=tmp_path, stderr=subprocess.DEVNULL)
    while not (tmp_path / ".out.db.chaffinch" / "learning.db").exists():
        assert run.poll() is None
        time.sleep(0.005)
    run.kill()
    run.wait()
    done = chaffinch(*command, "-o", "out.db", "--resume", "--report", "report.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "begun anew" not in done.stderr
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (report["command"], report["pages"]) == ("learn", PAGES)
    kept = []
    for name in ("whole.db", "out.db"):
        with TemplateStore.open(tmp_path / name) as store:
            kept.append([store.kept(site.site) for site in store.sites()])
    assert kept[0] == kept[1]
