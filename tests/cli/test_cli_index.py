"""`chaffinch index` and `chaffinch search` as a user calls them."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from chaffinch.index import IndexWriter, SearchIndex, read_about
from conftest import CRAWL, Command, site_html, write_site


def search(chaffinch: Command, index: Path, *arguments: str) -> dict[str, Any]:
    done = chaffinch("search", index, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of the example crawl."""
    index = tmp_path_factory.mktemp("built") / "index"
    done = subprocess.run(
        [sys.executable, "-m", "chaffinch", "index", CRAWL, "-o", index, "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    report = json.loads(done.stdout)
    assert (report["added"], report["pages"], report["run"]["total"]["pages"]) == (44, 44, 44)
    return index


def test_search_prints_ranked_results(chaffinch: Command, built: Path) -> None:
    done = chaffinch("search", built, "sunflower", "hearts", "--limit", "2")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("1-2 of ")
    assert lines[2] == "1. Sunflower Hearts, 6 kg"
    assert lines[3].strip() == "https://birdseed-shop.example/p/sunflower-hearts-6kg.html"
    assert "sunflower" in lines[4].lower()
    assert (done.returncode, done.stderr) == (0, "")


def test_search_in_json_by_site_and_page(chaffinch: Command, built: Path) -> None:
    found = search(chaffinch, built, "site:sparrowdb.example", "--limit", "3", "--page", "2")
    assert found["total"] == 7
    assert [row["rank"] for row in found["results"]] == [4, 5, 6]
    row = search(chaffinch, built, "index", "--site", "sparrowdb.example")["results"][0]
    assert row["site"] == "sparrowdb.example"
    assert {"score", "url", "title", "date", "language", "headings", "snippet", "highlights"} <= set(row)
    start, stop = row["highlights"][0]
    assert row["snippet"][start:stop].lower().startswith("index")


def test_template_is_apart(chaffinch: Command, built: Path) -> None:
    """The shop's basket stands in the menu of each page."""
    assert search(chaffinch, built, "template:basket")["total"] == 8
    assert search(chaffinch, built, "basket", "--field", "content", "--site", "birdseed-shop.example")["total"] < 8


def test_no_removal_keeps_everything(chaffinch: Command, tmp_path: Path) -> None:
    done = chaffinch("index", CRAWL, "-o", tmp_path / "whole", "--no-removal")
    assert done.returncode == 0
    assert "stood alone" not in done.stderr
    found = search(chaffinch, tmp_path / "whole", "basket", "--site", "birdseed-shop.example")
    assert found["total"] == 8
    assert search(chaffinch, tmp_path / "whole", "*", "--field", "template")["total"] == 44
    again = chaffinch("index", CRAWL, "-o", tmp_path / "whole")
    assert "44 unchanged" in again.stderr
    other = chaffinch("index", CRAWL, "-o", tmp_path / "whole", "--method", "sandwich")
    assert (other.returncode, "built with method none" in other.stderr) == (2, True)


def test_pages_are_added_replaced_and_deleted(chaffinch: Command, tmp_path: Path) -> None:
    write_site(tmp_path / "crawl", [f"Own words of page {n}." for n in range(6)])
    index = tmp_path / "index"
    base = ["--base-url", "https://site.example/"]
    assert "6 added; 6 pages" in chaffinch("index", tmp_path / "crawl", "-o", index, *base).stderr
    (tmp_path / "crawl" / "page-003.html").write_text(site_html(3, "Fresh phrases instead."), encoding="utf-8")
    (tmp_path / "crawl" / "page-006.html").write_text(site_html(6, "One more."), encoding="utf-8")
    done = chaffinch("index", tmp_path / "crawl", "-o", index, *base, "--json")
    report = json.loads(done.stdout)
    assert (report["added"], report["replaced"], report["unchanged"], report["pages"]) == (1, 1, 5, 7)
    (row,) = search(chaffinch, index, "phrases")["results"]
    assert row["url"] == "https://site.example/page-003.html"
    done = chaffinch("index", "-o", index, "--delete", row["url"], "--delete", "https://site.example/none")
    assert done.returncode == 1
    assert "https://site.example/none: is not in" in done.stderr
    assert "1 deleted; 6 pages" in done.stderr
    assert search(chaffinch, index, "phrases")["total"] == 0
    assert "6 deleted; 0 pages" in chaffinch("index", "-o", index, "--delete-site", "site.example").stderr


def test_bad_inputs_are_told_and_the_rest_is_indexed(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text("<title>One</title><p>Sunflower", encoding="utf-8")
    done = chaffinch("index", tmp_path / "one.html", tmp_path / "missing.html", "-o", tmp_path / "index")
    assert done.returncode == 1
    assert "missing.html: no such file" in done.stderr
    assert search(chaffinch, tmp_path / "index", "sunflower")["total"] == 1


def test_templates_of_a_database(chaffinch: Command, tmp_path: Path) -> None:
    database, index = tmp_path / "t.db", tmp_path / "index"
    assert chaffinch("learn", CRAWL, "-o", database, "--method", "blocks").returncode == 0
    done = chaffinch("index", CRAWL, "-o", index, "--templates", database)
    assert done.returncode == 0, done.stderr
    assert read_about(str(index)).method == "blocks"
    assert search(chaffinch, index, "template:basket")["total"] == 8


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["index", "-o", "i"], "either INPUT to index or pages to --delete"),
        (["index", str(CRAWL), "-o", "i", "--stem", "xx"], "no stemmer for 'xx'"),
        (["index", str(CRAWL), "-o", "i", "--no-removal", "--method", "chunks"], "does not go with a method"),
        (["search", "INDEX", '"open'], "not closed"),
        (["search", "INDEX", ""], "empty"),
        (["search", "INDEX", "a", "--field", "x"], "no field 'x'"),
        (["search", "INDEX", "a", "--page", "2000"], "results 1 to 10,000"),
    ],
)
def test_wrong_usage_exits_2(chaffinch: Command, built: Path, tmp_path: Path, arguments: list[str], says: str) -> None:
    done = chaffinch(*[str(built) if text == "INDEX" else text for text in arguments], cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def _foreign(path: Path) -> None:
    path.mkdir()
    (path / "notes.txt").write_text("mine", encoding="utf-8")


def _file(path: Path) -> None:
    path.write_text("mine", encoding="utf-8")


def _other_version(path: Path) -> None:
    shutil.copytree(path.parent / "built", path)
    about = path / "chaffinch-index.json"
    about.write_text(about.read_text(encoding="utf-8").replace('"format": 2', '"format": 99'), encoding="utf-8")


def _unreadable_about(path: Path) -> None:
    shutil.copytree(path.parent / "built", path)
    (path / "chaffinch-index.json").write_text("{", encoding="utf-8")


def _engine_list_cut(path: Path) -> None:
    shutil.copytree(path.parent / "built", path)
    (path / "meta.json").write_text("{}", encoding="utf-8")


def _segments_lost(path: Path) -> None:
    shutil.copytree(path.parent / "built", path)
    for part in path.glob("*.term"):
        part.unlink()


def _segments_cut(path: Path) -> None:
    shutil.copytree(path.parent / "built", path)
    for part in path.glob("*.store"):
        part.write_bytes(part.read_bytes()[:100])


def _nothing_committed(path: Path) -> None:
    path.mkdir()
    shutil.copy(path.parent / "built" / "chaffinch-index.json", path)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda _: None, "no such index"),
        (_foreign, "no search index of Chaffinch"),
        (_file, "is a file"),
        (_other_version, "has format 99"),
        (_unreadable_about, "chaffinch-index.json is unreadable"),
        (_engine_list_cut, "damaged"),
        (_segments_lost, "damaged"),
        (_segments_cut, "damaged"),
        (_nothing_committed, "holds nothing yet"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_no_whole_index_is_told(chaffinch: Command, built: Path, tmp_path: Path, make: Any, says: str) -> None:
    shutil.copytree(built, tmp_path / "built")
    make(tmp_path / "index")
    done = chaffinch("search", tmp_path / "index", "sunflower")
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("make", [_foreign, _file, _other_version, _engine_list_cut, _segments_lost])
def test_what_is_no_whole_index_is_not_written_to(chaffinch: Command, built: Path, tmp_path: Path, make: Any) -> None:
    shutil.copytree(built, tmp_path / "built")
    make(tmp_path / "index")
    done = chaffinch("index", CRAWL, "-o", tmp_path / "index")
    assert done.returncode == 1
    assert str(tmp_path / "index") in done.stderr
    assert "Traceback" not in done.stderr


def test_an_index_begun_and_stopped_can_be_built(chaffinch: Command, built: Path, tmp_path: Path) -> None:
    shutil.copytree(built, tmp_path / "built")
    _nothing_committed(tmp_path / "index")
    done = chaffinch("index", CRAWL, "-o", tmp_path / "index")
    assert "44 added" in done.stderr


def test_a_second_writer_waits_for_nobody(chaffinch: Command, tmp_path: Path) -> None:
    assert chaffinch("index", CRAWL, "-o", tmp_path / "index").returncode == 0
    with IndexWriter(str(tmp_path / "index"), read_about(str(tmp_path / "index"))):
        done = chaffinch("index", CRAWL, "-o", tmp_path / "index")
    assert done.returncode == 1
    assert "written to by another process" in done.stderr


def test_a_killed_run_leaves_what_was_committed(chaffinch: Command, tmp_path: Path) -> None:
    write_site(tmp_path / "crawl", [f"Own words of page {n}, and a few more." for n in range(2_500)])
    index = tmp_path / "index"
    run = subprocess.Popen(
        [sys.executable, "-m", "chaffinch", "index", "crawl", "-o", "index", "--no-removal"],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
    )
    before = time.monotonic()
    while not (index / "meta.json").exists() or '"max_doc": 2000' not in (index / "meta.json").read_text("utf-8"):
        assert time.monotonic() - before < 100
        assert run.poll() is None
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.wait()
    committed = SearchIndex(str(index)).pages
    assert committed == 2_000
    assert SearchIndex(str(index)).search("page 1999").hits[0].entry.source.endswith("page-1999.html")
    done = chaffinch("index", "crawl", "-o", "index", cwd=tmp_path)
    assert "500 added, 2,000 unchanged; 2,500 pages in the index" in done.stderr


_IN_SMALL_COMMITS = """
import sys
from chaffinch.cli.main import main
from chaffinch.index import writer
writer._COMMIT_PAGES = 20
print("begun", flush=True)
sys.exit(main(["index", "crawl", "-o", sys.argv[1], *sys.argv[2:]]))
"""


@pytest.mark.parametrize("arguments", [["--method", "blocks"], ["--one-pass"]])
def test_an_index_that_is_killed_again_and_again(tmp_path: Path, arguments: list[str]) -> None:
    """The same command once more gives what an uninterrupted one gives, scores and all."""
    write_site(tmp_path / "crawl", [f"Own words of page {n}. {'and more ' * (n % 7)}" for n in range(300)])

    def ends(name: str, seconds: float) -> bool:
        command = [sys.executable, "-c", _IN_SMALL_COMMITS, name, *arguments]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
            assert run.stdout is not None
            assert run.stdout.readline() == b"begun\n"
            try:
                assert run.wait(seconds) == 0
            except subprocess.TimeoutExpired:
                run.kill()
                return False
        return True

    start = time.monotonic()
    assert ends("whole", 100)
    usual = time.monotonic() - start
    kills = [ends("killed", usual * part / 6) for part in range(1, 6)]
    assert not kills[0], "the run was done before it could be killed"
    assert ends("killed", 100)
    found = []
    for name in ("whole", "killed"):
        index = SearchIndex(str(tmp_path / name))
        hits = [index.search(query, limit=300).hits for query in ("*", "page more", "template:rights")]
        found.append([sorted((hit.entry.source, hit.score, hit.entry) for hit in some) for some in hits])
    assert len(found[0][0]) == 300
    assert found[0] == found[1]


def test_a_full_disk_is_told_and_what_was_committed_stays(chaffinch: Command, tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk: the engine meets the same error at the same calls."""
    index = tmp_path / "index"
    assert chaffinch("index", CRAWL, "-o", index).returncode == 0
    write_site(tmp_path / "more", [" ".join(f"w{n}x{k}" for k in range(4_000)) for n in range(60)])

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = subprocess.run(
        [sys.executable, "-m", "chaffinch", "index", tmp_path / "more", "-o", index],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    assert done.returncode == 1, done.stderr
    assert "cannot be written" in done.stderr
    assert SearchIndex(str(index)).pages == 44


def test_control_characters_do_not_reach_a_terminal(chaffinch: Command, tmp_path: Path) -> None:
    page = "<title>Se\x1b]0;owned\x07eds</title><p>Sunflower \x1b[31mred"
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    assert chaffinch("index", tmp_path / "page.html", "-o", tmp_path / "index").returncode == 0
    done = chaffinch("search", tmp_path / "index", "sunflower")
    assert "Sunflower" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout


ODD_PAGES = {
    "empty.html": b"",
    "no-content.html": b"<title>Nothing</title><script>var tail</script>",
    "huge-token.html": b"<p>" + b"x" * 1_000_000 + b" tail",
    "controls.html": b"<p>be\x01fore \x1f\x7f aft\x00er wren&#xD800;s \xed\xa0\x80 hawk",
    "bytes.html": bytes(range(128, 256)) * 20 + b"<p>owl",
}


@pytest.mark.parametrize("mode", [(), ("--one-pass",), ("--no-removal",)])
def test_odd_pages_are_indexed(chaffinch: Command, tmp_path: Path, mode: tuple[str, ...]) -> None:
    (tmp_path / "crawl").mkdir()
    for name, body in ODD_PAGES.items():
        (tmp_path / "crawl" / name).write_bytes(body)
    done = chaffinch("index", tmp_path / "crawl", "-o", tmp_path / "index", "--json", *mode)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pages"] == len(ODD_PAGES)

    def found(query: str) -> list[str]:
        return [Path(row["source"]).name for row in search(chaffinch, tmp_path / "index", query)["results"]]

    assert len(found("*")) == len(ODD_PAGES)
    assert found("+tail nothing") == ["huge-token.html"]
    assert found("+hawk nothing") == ["controls.html"]
    assert found("title:nothing") == ["no-content.html"]


@pytest.mark.parametrize(
    "query",
    [
        " ".join(f"w{number}" for number in range(9_999)) + " nyjer",
        f"({' OR '.join(f'w{number}' for number in range(9_999))}) nyjer",
        os.fsdecode(b"nyjer \xff\xed\xa0\x80"),
        "nyjer \x1b[31m\x7f",
        "nyjer " + "x" * 100_000,
    ],
    ids=["10,000 terms", "a group of 10,000", "no UTF-8", "controls", "a huge word"],
)
def test_odd_queries_are_answered(chaffinch: Command, built: Path, query: str) -> None:
    assert search(chaffinch, built, query)["total"] == search(chaffinch, built, "nyjer")["total"] > 0


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (" ", "empty"),
        ("...", "no words to search for"),
        ("x" * 100_000, "no words to search for"),
        ("a AND", "nothing follows AND"),
        ("(" * 60 + "a" + ")" * 60, "more than 50 groups"),
        ("a)", 'a ")" without "("'),
        ("date:yesterday", "no date"),
        ("colour:red", "no field 'colour'"),
        ("-a", "what must not stand there"),
    ],
)
def test_queries_that_cannot_be_understood(chaffinch: Command, built: Path, query: str, says: str) -> None:
    done = chaffinch("search", built, "--", query)
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr
    assert len(done.stderr) < 500
