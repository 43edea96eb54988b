"""Runs on a real Spark cluster: two worker JVMs on this machine, and what they give is what this machine gives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import chaffinch
from chaffinch.errors import UsageError
from chaffinch.methods.duplicates import IMatch
from chaffinch.runs import LearnOptions, RunOptions, RunReport, clean_inputs, learn_templates
from chaffinch.runs.limits import PageLimits
from chaffinch.runs.options import UrlFilter
from chaffinch.runs.spark import SparkEngine, clean_outcomes, clean_pages, crawl, crawl_of_inputs, start_session
from chaffinch.runs.spark.stages import MERGED_AT_ONCE, cleaned_pages
from chaffinch.sources import SourceOptions
from chaffinch.store import TemplateStore
from conftest import ROOT, read_lines, site_html

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::ResourceWarning")]
OPTIONS = RunOptions(method=chaffinch.make_method("blocks"))
FILES = 20
PAGES = 12


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    """One session for all tests, on two workers of 1 GB."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    made = builder.config("spark.sql.shuffle.partitions", "3").config("spark.log.level", "ERROR").getOrCreate()
    yield made
    made.stop()


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Many small files, each of which is a part; one site holds half of the pages, and stands in every file."""
    monkeypatch.setattr(crawl, "_SMALLEST", 1)
    monkeypatch.setattr(crawl, "_LARGEST", 1)
    folder = tmp_path / "crawl"
    folder.mkdir()
    for file in range(FILES):
        rows = []
        for number in range(PAGES):
            site = "large" if number % 2 else f"small-{(file + number) % 5}"
            html = site_html(number, f"Words of page {number} in file {file}. {'and more ' * (number % 5)}")
            html = html.replace("All rights reserved", f"All rights reserved by {site}")
            rows.append(f'{{"url": "https://{site}.example/{file}/{number}", "html": {quoted(html)}}}\n')
        (folder / f"part-{file:02}.jsonl").write_text("".join(rows), encoding="utf-8")
    return folder


def quoted(text: str) -> str:
    import json

    return json.dumps(text)


def executors(session: SparkSession) -> list[int]:
    """The processes of this session's workers, and of nobody else's."""
    application = session.sparkContext.applicationId.encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in arguments and application in arguments:
            found.append(int(path.parent.name))
    return found


def kill_one(session: SparkSession, killed: list[int]) -> None:
    """Wait until a stage is half done, and kill a worker."""
    tracker = session.sparkContext.statusTracker()
    end = time.monotonic() + 120
    while time.monotonic() < end:
        for stage in tracker.getActiveStageIds():
            about = tracker.getStageInfo(stage)
            if about is not None and 2 < about.numCompletedTasks < about.numTasks - 2:
                killed.append(executors(session)[0])
                os.kill(killed[0], signal.SIGKILL)
                return
        time.sleep(0.01)


def test_a_cluster_that_loses_a_worker_gives_what_this_machine_gives(session: SparkSession, pages: Path) -> None:
    inputs = [str(pages), str(pages / "missing.html")]
    here = list(clean_inputs(inputs, OPTIONS))
    assert len(executors(session)) == 2
    killed: list[int] = []
    killer = threading.Thread(target=kill_one, args=(session, killed))
    killer.start()
    report = RunReport.of(OPTIONS)
    there = list(SparkEngine(session).clean(inputs, OPTIONS, report))
    killer.join()
    assert killed, "the run was done before a worker could be killed"
    assert there == here
    assert sum(outcome.document is not None for outcome in there) == FILES * PAGES
    assert there[-1].error == "no such file or directory"
    assert set(report.stages) == {"learn", "clean"}


def test_the_default_method_gives_what_it_gives_here(session: SparkSession, pages: Path) -> None:
    inputs = [str(pages / f"part-{file:02}.jsonl") for file in range(4)]
    options = RunOptions(format="markdown")
    here = list(clean_inputs(inputs, options))
    assert list(SparkEngine(session).clean(inputs, options, RunReport.of(options))) == here
    assert sum(outcome.informed for outcome in here) == 4 * PAGES


def test_learning_keeps_what_this_machine_keeps(session: SparkSession, pages: Path, tmp_path: Path) -> None:
    """With so many parts, summaries are merged in two steps."""
    assert crawl_of_inputs(session, [str(pages)], SourceOptions()).parts > MERGED_AT_ONCE
    (pages / "bad.jsonl").write_text("[]\n", encoding="utf-8")
    options = replace(OPTIONS, urls=UrlFilter(exclude=("*/0",)))
    reports = []
    for name, engine in (("here.db", None), ("there.db", SparkEngine(session))):
        reports.append(learn_templates([str(pages)], str(tmp_path / name), options, LearnOptions(engine=engine)))
    here, there = (list(kept_in(tmp_path / name)) for name in ("here.db", "there.db"))
    assert len(here) == 6
    assert there == here
    assert reports[1].sites == reports[0].sites
    assert reports[1].failures == reports[0].failures
    assert reports[1].unwanted == reports[0].unwanted == FILES


def kept_in(path: Path) -> list[object]:
    with TemplateStore.open(path) as store:
        return [store.kept(site.site) for site in store.sites()]


def test_pages_are_never_shuffled(session: SparkSession, pages: Path) -> None:
    found = crawl_of_inputs(session, [str(pages)], SourceOptions())
    plan = cleaned_pages(found, replace(OPTIONS, page_by_page=True), None)
    assert "Exchange" not in plan._jdf.queryExecution().toString()  # noqa: SLF001  (there is no other way to see it)


def test_frames_of_your_own(session: SparkSession, pages: Path) -> None:
    frame = session.read.json(str(pages)).repartition(3)
    documents = clean_pages(frame, OPTIONS)
    here = {outcome.source: outcome.document for outcome in clean_inputs([str(pages)], OPTIONS)}
    rows = documents.collect()
    assert len(rows) == FILES * PAGES
    contents = {document.url: document.content for document in here.values() if document}
    assert {row["url"]: row["content"] for row in rows} == contents
    broken = session.createDataFrame([("https://a.example/", None)], "url string, html string")
    (row,) = clean_outcomes(broken, replace(OPTIONS, page_by_page=True)).collect()
    assert (row["source"], row["content"], row["error"]) == ("https://a.example/", None, "'html' is null")
    with pytest.raises(UsageError, match="no column 'html'"):
        clean_pages(frame.select("url"), OPTIONS)


def test_an_index_is_the_same(session: SparkSession, pages: Path, tmp_path: Path) -> None:
    from chaffinch.index import SearchIndex, index_inputs

    found = []
    for name, engine in (("here", None), ("there", SparkEngine(session))):
        report = index_inputs([str(pages)], str(tmp_path / name), OPTIONS, engine=engine)
        assert (report.pages, report.changes["added"]) == (FILES * PAGES, FILES * PAGES)
        hits = SearchIndex(str(tmp_path / name)).search("words of page 7 in file 3").hits
        found.append([hit.entry for hit in hits])
    assert found[1] == found[0]
    assert len(found[0]) == 10


def test_a_page_that_takes_too_long_costs_itself_only(session: SparkSession, tmp_path: Path) -> None:
    slow = "<table>" + "<tr><td>cell<td>other</tr>" * 400_000
    (tmp_path / "rows.jsonl").write_text(
        "".join(
            f'{{"url": "https://a.example/{n}", "html": {quoted(html)}}}\n' for n, html in enumerate(("a", slow, "b"))
        ),
        encoding="utf-8",
    )
    options = replace(OPTIONS, page_by_page=True, limits=PageLimits(seconds=0.2, memory=None))
    found = list(SparkEngine(session).clean([str(tmp_path)], options, RunReport.of(options)))
    errors = {outcome.source[-1]: outcome.error for outcome in found}
    assert errors["2"] == "took longer than 0.2 seconds"
    assert len(errors) == 3


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (RunOptions(method=chaffinch.make_method("sandwich")), "peers=nearest"),
        (replace(OPTIONS, duplicates=IMatch()), "--dedup"),
        (replace(OPTIONS, captures="latest"), "--captures latest"),
    ],
)
def test_what_does_not_run_on_spark(session: SparkSession, pages: Path, options: RunOptions, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        list(SparkEngine(session).clean([str(pages)], options, RunReport.of(options)))


def test_standard_input_is_refused(session: SparkSession) -> None:
    with pytest.raises(UsageError, match="standard input"):
        list(SparkEngine(session).clean(["-"], OPTIONS, RunReport.of(OPTIONS)))


def test_the_active_session_is_used(session: SparkSession) -> None:
    assert start_session() is session


def on_the_command_line(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chaffinch", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_on_the_command_line(tmp_path: Path) -> None:
    """The example crawl, byte for byte; relative paths are those of this folder."""
    (tmp_path / "crawl").symlink_to(ROOT / "examples" / "crawl")
    arguments = ["clean", "crawl", "--method", "blocks", "--format", "markdown"]
    assert on_the_command_line(tmp_path, *arguments, "-o", "here.jsonl").returncode == 0
    spark = ["--engine", "spark", "--master", "local[2]"]
    done = on_the_command_line(tmp_path, *arguments, "-o", "there.jsonl", *spark)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "there.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    assert len(read_lines(tmp_path / "there.jsonl")) == 44


@pytest.mark.parametrize("home", ["", "/nowhere"])
def test_java_that_is_missing_is_told(tmp_path: Path, home: str) -> None:
    (tmp_path / "page.html").write_text("<p>words", encoding="utf-8")
    arguments = ["clean", "page.html", "--engine", "spark", "--master", "local[1]"]
    done = on_the_command_line(tmp_path, *arguments, PATH=str(tmp_path), JAVA_HOME=home)
    assert done.returncode == 2
    assert "apt-get install default-jre-headless" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--master", "local[1]"], "--master is for --engine spark"),
        (["--engine", "spark", "--resume"], "--resume is for --engine local"),
        (["--engine", "spark", "--jobs", "2"], "--jobs is for --engine local"),
    ],
)
def test_options_that_do_not_go_together(tmp_path: Path, arguments: list[str], told: str) -> None:
    done = on_the_command_line(tmp_path, "clean", "page.html", "-o", "out.jsonl", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
