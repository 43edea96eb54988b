"""`chaffinch clean` as a user calls it."""

from __future__ import annotations

import gzip
import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import CRAWL, Command, heed_interrupts, read_lines, site_html, write_site

CONTRACT = ["source", "url", "site", "title", "content", "method"]


def test_one_page_prints_its_content(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<title>T</title><h1>Seeds</h1><p>Sunflower\nand hemp.", encoding="utf-8")
    done = chaffinch("clean", "page.html", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Seeds\n\nSunflower and hemp.\n", "")


def test_no_page_is_told(chaffinch: Command, small_crawl: Path) -> None:
    (small_crawl.parent / "empty").mkdir()
    done = chaffinch("clean", "empty", cwd=small_crawl.parent)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "chaffinch: No page was found.\n")
    done = chaffinch("clean", "crawl", "--include", "*elsewhere*", "--dry-run", cwd=small_crawl.parent)
    assert "6 pages left out by --include and --exclude, and no other found." in done.stderr


def test_a_folder_to_json_lines(chaffinch: Command, small_crawl: Path) -> None:
    done = chaffinch("clean", "crawl", "-o", "out.jsonl", cwd=small_crawl.parent)
    assert done.returncode == 0, done.stderr
    rows = read_lines(small_crawl.parent / "out.jsonl")
    assert [row["source"] for row in rows] == [f"crawl/page-{number:03}.html" for number in range(6)]
    assert all(list(CONTRACT) == [key for key in row if key in CONTRACT] for row in rows)
    assert [row["content"] for row in rows] == [f"Heading {n}\n\nOwn words of page {n}." for n in range(6)]
    assert {(row["url"], row["site"], row["method"]) for row in rows} == {
        (row["source"], "crawl", "fused") for row in rows
    }
    assert [row["title"] for row in rows] == [f"Page {n}" for n in range(6)]
    assert done.stdout == ""
    assert "crawl" in done.stderr


def test_a_folder_to_a_folder(chaffinch: Command, small_crawl: Path) -> None:
    done = chaffinch("clean", "crawl", "-o", "out", "--format", "markdown", cwd=small_crawl.parent)
    assert done.returncode == 0, done.stderr
    files = sorted((small_crawl.parent / "out").rglob("*.md"))
    assert len(files) == 6
    assert files[0].read_text(encoding="utf-8").strip() == "# Heading 0\n\nOwn words of page 0."


def test_a_folder_to_parquet(chaffinch: Command, small_crawl: Path) -> None:
    assert chaffinch("clean", "crawl", "-o", "out.parquet", cwd=small_crawl.parent).returncode == 0
    table = pq.read_table(small_crawl.parent / "out.parquet")
    assert table.num_rows == 6
    assert table.column_names[:3] == ["source", "url", "site"]


def test_standard_input(chaffinch: Command) -> None:
    done = chaffinch("clean", "-", stdin=b"<p>From a pipe")
    assert (done.returncode, done.stdout) == (0, "From a pipe\n")


def test_standard_input_is_read_twice_where_two_passes_need_it(chaffinch: Command) -> None:
    rows = [{"url": f"https://site.example/{n}", "html": site_html(n, f"Own {n}")} for n in range(4)]
    stdin = "".join(json.dumps(row) + "\n" for row in rows).encode()
    for method in (["--method", "fused"], ["--method", "sandwich", "--option", "peers=nearest"]):
        done = chaffinch("clean", "-", *method, "--jsonl", stdin=stdin)
        assert done.returncode == 0, done.stderr
        assert [json.loads(line)["content"] for line in done.stdout.splitlines()] == [
            f"Heading {n}\n\nOwn {n}" for n in range(4)
        ]


@pytest.mark.usefixtures("small_crawl")
def test_mixed_inputs_in_one_run(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text("<p>single", encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text('{"url": "https://a.example/x", "html": "<p>row"}\n', encoding="utf-8")
    pq.write_table(pa.table({"url": ["https://b.example/y"], "html": ["<p>column"]}), tmp_path / "t.parquet")
    warc = CRAWL.parent / "crawl.warc.gz"
    done = chaffinch("clean", "one.html", "rows.jsonl", "t.parquet", "crawl", warc, "-o", "o.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = read_lines(tmp_path / "o.jsonl")
    assert [row["source"] for row in rows[:4]] == ["one.html", "rows.jsonl#1", "t.parquet#0", "crawl/page-000.html"]
    assert rows[-1]["source"].startswith(f"{warc}#urn:uuid:")
    assert rows[-1]["url"].startswith("https://")


def test_columns_are_configurable(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"address": "https://a.example/x", "body": "<p>row"}\n', encoding="utf-8")
    done = chaffinch("clean", "rows.jsonl", "--url-column", "address", "--html-column", "body", "--jsonl", cwd=tmp_path)
    row = json.loads(done.stdout)
    assert (row["url"], row["site"], row["content"]) == ("https://a.example/x", "a.example", "row")


def test_page_by_page_treats_every_page_alone(chaffinch: Command, small_crawl: Path) -> None:
    for method in ("fused", "sandwich"):
        page_by_page = ("clean", "--method", method, "--page-by-page")
        chaffinch(*page_by_page, "crawl", "-o", "out.jsonl", cwd=small_crawl.parent)
        rows = read_lines(small_crawl.parent / "out.jsonl")
        alone = chaffinch(*page_by_page, "crawl/page-003.html", cwd=small_crawl.parent).stdout
        assert rows[3]["content"] == alone.rstrip("\n")
        assert ("All rights reserved" in rows[3]["content"]) == (method == "sandwich"), "it compares, and nothing else"


@pytest.mark.parametrize(
    "extra",
    [
        [],
        ["--method", "sandwich"],
        ["--method", "sandwich", "--option", "peers=nearest"],
        ["--method", "sandwich", "--option", "unit=lines"],
    ],
    ids=str,
)
def test_output_does_not_depend_on_the_number_of_jobs(chaffinch: Command, tmp_path: Path, extra: list[str]) -> None:
    outputs = []
    for jobs in ("1", "2", "3"):
        done = chaffinch("clean", CRAWL, *extra, "--jobs", jobs, "-o", tmp_path / f"{jobs}.jsonl")
        assert done.returncode == 0, done.stderr
        outputs.append((tmp_path / f"{jobs}.jsonl").read_bytes())
    assert outputs[0] == outputs[1] == outputs[2]


def test_a_page_scores_the_same_in_a_batch_of_many(chaffinch: Command, tmp_path: Path) -> None:
    """Batches are cut every 32 pages; the page before comes along."""
    write_site(tmp_path / "crawl", [f"Own words of page {n}." for n in range(80)])
    chaffinch("clean", "crawl", "--method", "sandwich", "-o", "out.jsonl", cwd=tmp_path)
    rows = read_lines(tmp_path / "out.jsonl")
    assert [row["content"] for row in rows] == [f"Heading {n}\n\nOwn words of page {n}." for n in range(80)]


def test_include_and_exclude(chaffinch: Command) -> None:
    done = chaffinch(
        "clean", CRAWL, "--include", "https://finchley-gazette.example/*", "--exclude", "*/sport/*", "--jsonl"
    )
    urls = [json.loads(line)["url"] for line in done.stdout.splitlines()]
    assert len(urls) > 3
    assert all(url.startswith("https://finchley-gazette.example/news/") for url in urls)


def test_base_url_places_a_folder(chaffinch: Command, small_crawl: Path) -> None:
    done = chaffinch("clean", small_crawl, "--base-url", "https://www.site.example/a", "--jsonl")
    row = json.loads(done.stdout.splitlines()[0])
    assert (row["url"], row["site"]) == ("https://www.site.example/a/page-000.html", "site.example")


def test_urls_tsv_comes_before_base_url(chaffinch: Command, small_crawl: Path) -> None:
    (small_crawl / "urls.tsv").write_text("page-001.html\thttps://other.example/one\n", encoding="utf-8")
    done = chaffinch("clean", small_crawl, "--base-url", "https://site.example/", "--jsonl")
    urls = [json.loads(line)["url"] for line in done.stdout.splitlines()]
    assert urls[:3] == [
        "https://site.example/page-000.html",
        "https://other.example/one",
        "https://site.example/page-002.html",
    ]


@pytest.mark.usefixtures("small_crawl")
def test_json_report(chaffinch: Command, tmp_path: Path) -> None:
    done = chaffinch("clean", "crawl", "missing.html", "-o", "out.jsonl", "--json", cwd=tmp_path)
    assert done.returncode == 1
    report: dict[str, Any] = json.loads(done.stdout)
    (site,) = report["sites"]
    assert (site["site"], site["pages"], site["informed"], site["failures"]) == ("crawl", 6, 6, 0)
    assert 0 < site["words_kept"] < site["words_in"]
    assert site["template_share"] == pytest.approx(1 - site["words_kept"] / site["words_in"], abs=1e-3)
    assert [failure["source"] for failure in report["failures"]] == ["missing.html"]


def test_dry_run_writes_nothing(chaffinch: Command, small_crawl: Path) -> None:
    done = chaffinch("clean", "crawl", "-o", "out", "--dry-run", cwd=small_crawl.parent)
    assert done.returncode == 0
    assert "crawl" in done.stderr
    assert done.stdout == ""
    assert not (small_crawl.parent / "out").exists()


def test_a_second_run_replaces_the_first(chaffinch: Command, small_crawl: Path) -> None:
    for _ in range(2):
        assert chaffinch("clean", "crawl", "-o", "out", cwd=small_crawl.parent).returncode == 0
        assert chaffinch("clean", "crawl", "-o", "out.jsonl", cwd=small_crawl.parent).returncode == 0
    assert len([path for path in (small_crawl.parent / "out").rglob("*") if path.is_file()]) == 6
    assert len(read_lines(small_crawl.parent / "out.jsonl")) == 6


@pytest.mark.parametrize("output", ["out", "out.jsonl", "out.parquet"])
def test_a_run_does_not_read_what_it_writes(chaffinch: Command, small_crawl: Path, output: str) -> None:
    """The output may lie in the folder that is read; a second run of the same command then gives the same."""
    outputs = []
    for _ in range(2):
        done = chaffinch("clean", ".", "-o", output, "--format", "html", "--json", cwd=small_crawl)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["total"]["pages"] == 6
        target = small_crawl / output
        files = [path for path in sorted(target.rglob("*")) if path.is_file()] if target.is_dir() else [target]
        outputs.append([path.read_bytes() for path in files])
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["crawl", "-o", "crawl"], "crawl is an input too"),
        (["crawl", "-o", ".", "--format", "html"], ". holds the input crawl, whose pages might be overwritten"),
        (["crawl/page-000.html", "-o", "out.txt"], "out.txt: give a folder"),
        (["crawl", "--base-url", "site.example"], "starts with http:// or https://, not 'site.example'"),
        (["crawl", "--method", "chunks", "--option", "share=nan"], "option share of method chunks is from 0 to 1"),
    ],
)
def test_inputs_are_never_written_to(chaffinch: Command, small_crawl: Path, arguments: list[str], says: str) -> None:
    folder = small_crawl.parent
    before = {path: path.read_bytes() for path in folder.rglob("*.html")}
    done = chaffinch("clean", *arguments, cwd=folder)
    assert done.returncode == 2
    assert says in done.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_other_files_in_the_folder_may_change(small_crawl: Path) -> None:
    """Such as a log of the run itself."""
    command = f"{sys.executable} -m chaffinch clean . -o out.jsonl --report r.json 2> log.txt"
    done = subprocess.run(["bash", "-c", command], cwd=small_crawl, check=False)
    assert (done.returncode, "changed" in (small_crawl / "log.txt").read_text("utf-8")) == (0, False)


def test_standard_input_has_the_base_url_itself(chaffinch: Command) -> None:
    done = chaffinch("clean", "-", "--base-url", "https://www.site.example/a?b=c", "--jsonl", stdin=b"<p>Piped")
    row = json.loads(done.stdout)
    assert (row["source"], row["url"], row["site"]) == ("-", "https://www.site.example/a?b=c", "site.example")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["clean", "x", "--method", "nope"], "the methods are: fused, sandwich"),
        (["clean", "x", "--option", "unit"], "KEY=VALUE"),
        (["clean", "x", "--option", "a=b"], "no option 'a'"),
        (["clean", "x", "--jobs", "0"], "--jobs"),
        (["clean", "x", "--format", "pdf"], "--format"),
        (["clean"], "INPUT"),
        (["nonsense"], "nonsense"),
        ([], "COMMAND"),
    ],
)
def test_wrong_usage_exits_2(chaffinch: Command, arguments: list[str], says: str) -> None:
    done = chaffinch(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [[], ["clean"], ["evaluate"], ["methods"]], ids=str)
def test_help_on_every_level(chaffinch: Command, command: list[str]) -> None:
    done = chaffinch(*command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: chaffinch")


def test_version(chaffinch: Command) -> None:
    assert chaffinch("--version").stdout.startswith("chaffinch 0.")


def test_methods_are_listed(chaffinch: Command) -> None:
    assert "fused (default)" in chaffinch("methods").stdout
    listed = {method["name"]: method["options"] for method in json.loads(chaffinch("methods", "--json").stdout)}
    assert listed["fused"]["keep_comments"] == "false"
    assert listed["sandwich"]["unit"] == "tokens"


def test_a_closed_pipe_is_no_error(small_crawl: Path) -> None:
    write_site(small_crawl, ["words " * 3000] * 60)
    command = f"{sys.executable} -m chaffinch clean {small_crawl} | head -c 10"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stderr == b""


def test_progress_on_a_terminal_only(small_crawl: Path, tmp_path: Path) -> None:
    write_site(small_crawl, [f"words {n} " * 2000 for n in range(400)])
    primary, secondary = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "chaffinch", "clean", small_crawl, "-o", tmp_path / "out.jsonl"], stderr=secondary
    )
    os.close(secondary)
    shown = b""
    while True:
        try:
            piece = os.read(primary, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    assert done.wait() == 0
    assert b"pages/s" in shown
    assert b"left" in shown


def test_an_interrupt_leaves_whole_files(tmp_path: Path) -> None:
    write_site(tmp_path / "crawl", [f"words {n} " * 500 for n in range(4000)])
    (tmp_path / "out.jsonl").write_text("from the run before\n", encoding="utf-8")
    run = subprocess.Popen(
        [sys.executable, "-m", "chaffinch", "clean", "crawl", "-o", "out.jsonl"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509  (nothing here has threads)
    )
    while not list(tmp_path.glob(".out.jsonl*")):
        time.sleep(0.01)
    time.sleep(0.2)
    run.send_signal(2)
    _, stderr = run.communicate(timeout=60)
    assert run.returncode == 130
    assert b"interrupted" in stderr
    assert b"Traceback" not in stderr
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == "from the run before\n"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["out.jsonl"]


def test_gzipped_page(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "page.html.gz").write_bytes(gzip.compress(b"<p>packed"))
    assert chaffinch("clean", "page.html.gz", cwd=tmp_path).stdout == "packed\n"


_COMMENTED = """<title>Oak finches - Garden News</title><article><h1>Oak finches return</h1><p>After many years of
absence, a small group of finches was seen in the old oak near the mill, as the warden told our reporter.</p>
<p>The birds have been counted every spring since 1970, and never before were there so few of them.</p></article>
<section id="comments" class="comments"><h3>1 comment</h3><ol class="commentlist"><li class="comment"><p>I saw three of
these birds in my own garden last week, and they ate all of my sunflower seeds.</p></li></ol></section>
<footer>All rights reserved.</footer>"""


def test_comments_are_kept_on_demand(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(_COMMENTED, encoding="utf-8")
    without = chaffinch("clean", "page.html", cwd=tmp_path).stdout
    kept = chaffinch("clean", "page.html", "--keep-comments", cwd=tmp_path).stdout
    assert "counted every spring" in without
    assert "sunflower" in kept
    assert "rights reserved" not in kept
    assert kept == chaffinch("clean", "page.html", "--option", "keep_comments=true", cwd=tmp_path).stdout
    assert "0.2" in chaffinch("explain", "page.html", "--keep-comments", cwd=tmp_path).stdout


def test_comments_with_learned_templates(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(_COMMENTED, encoding="utf-8")
    (tmp_path / "other.html").write_text(_COMMENTED.replace("finches", "bees"), encoding="utf-8")
    assert chaffinch("learn", "page.html", "other.html", "-o", "kept.db", cwd=tmp_path).returncode == 0
    done = chaffinch("clean", "page.html", "--templates", "kept.db", "--keep-comments", cwd=tmp_path)
    assert (done.returncode, "sunflower" in done.stdout) == (0, True), done.stderr


def test_comments_that_a_method_does_not_know(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(_COMMENTED, encoding="utf-8")
    done = chaffinch("clean", "page.html", "--method", "sandwich", "--keep-comments", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("chaffinch: --keep-comments: method sandwich does not tell comments")
