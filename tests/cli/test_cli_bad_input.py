"""Bad input never hurts: a clear error names it, the rest of the run goes on, nothing is lost."""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from warcio.statusandheaders import StatusAndHeaders

from conftest import Command, Writer, read_lines, write_site

GOOD = b"<title>Good</title><p>A good page stands here."


def clean(chaffinch: Command, folder: Path, *inputs: str) -> tuple[int, list[dict[str, Any]], str]:
    """Clean inputs together with a good page, and check what holds for every bad input."""
    (folder / "zz-good.html").write_bytes(GOOD)
    done = chaffinch("clean", *inputs, "zz-good.html", "-o", "out.jsonl", cwd=folder)
    rows = read_lines(folder / "out.jsonl")
    assert "Traceback" not in done.stderr
    assert rows[-1]["content"] == "A good page stands here.", "the good page behind the bad input is lost"
    return done.returncode, rows[:-1], done.stderr


def warc(*records: tuple[str, str, bytes], compress: bool = False, status: str = "200 OK") -> bytes:
    """A WARC of (record type, content type, body)."""
    buffer = BytesIO()
    writer = Writer(buffer, gzip=compress)
    for number, (kind, content_type, body) in enumerate(records):
        headers = StatusAndHeaders(status, [("Content-Type", content_type)], protocol="HTTP/1.1")
        if kind == "request":
            headers = StatusAndHeaders("GET / HTTP/1.1", [("Host", "site.example")], is_http_request=True)
        if kind in {"warcinfo", "metadata"}:
            record = writer.create_warc_record("urn:x", kind, payload=BytesIO(body), warc_content_type="text/plain")
        else:
            url = f"https://site.example/{number}"
            record = writer.create_warc_record(url, kind, payload=BytesIO(body), http_headers=headers)
        writer.write_record(record)
    return buffer.getvalue()


PAGES = [("response", "text/html; charset=utf-8", f"<p>Page number {n} {'x' * 300}".encode()) for n in range(4)]


@pytest.mark.parametrize("compress", [False, True], ids=["plain", "gzip"])
def test_truncated_warc(chaffinch: Command, tmp_path: Path, *, compress: bool) -> None:
    whole = warc(*PAGES, compress=compress)
    name = "cut.warc.gz" if compress else "cut.warc"
    (tmp_path / name).write_bytes(whole[:-200])
    code, rows, stderr = clean(chaffinch, tmp_path, name)
    assert code == 1
    assert [row["url"] for row in rows][:3] == [f"https://site.example/{n}" for n in range(3)]
    assert name in stderr


def test_warc_with_other_records(chaffinch: Command, tmp_path: Path) -> None:
    records = [
        ("warcinfo", "", b"software: x"),
        ("request", "", b""),
        ("response", "image/png", b"\x89PNG\r\n"),
        ("revisit", "text/html", b""),
        ("response", "text/html", b"<p>the only page"),
        ("metadata", "", b"x: y"),
    ]
    (tmp_path / "mixed.warc").write_bytes(warc(*records))
    code, rows, _ = clean(chaffinch, tmp_path, "mixed.warc")
    assert code == 0
    assert [row["content"] for row in rows] == ["the only page"]


def test_empty_403_answers(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "refused.warc").write_bytes(warc(("response", "text/html", b""), status="403 Forbidden"))
    code, rows, _ = clean(chaffinch, tmp_path, "refused.warc")
    assert (code, rows) == (0, [])


def test_wrong_content_length(chaffinch: Command, tmp_path: Path) -> None:
    whole = warc(*PAGES)
    first_length = whole.split(b"Content-Length: ", 2)[1].split(b"\r\n", 1)[0]
    wrong = whole.replace(b"Content-Length: " + first_length, b"Content-Length: 999999", 1)
    (tmp_path / "wrong.warc").write_bytes(wrong)
    code, _, stderr = clean(chaffinch, tmp_path, "wrong.warc")
    assert code == 1
    assert "wrong.warc" in stderr


def test_truncated_gzip(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(b'{"html": "<p>row"}\n' * 2000)[:-15])
    code, rows, stderr = clean(chaffinch, tmp_path, "rows.jsonl.gz")
    assert code == 1
    assert len(rows) > 1000
    assert "rows.jsonl.gz" in stderr


def test_broken_lines(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(
        b'{"html": "<p>one"}\n{"html": \n[]\n{"url": "x"}\n\xff\n{"html": "<p>two"}\n'
    )
    code, rows, stderr = clean(chaffinch, tmp_path, "rows.jsonl")
    assert code == 1
    assert [row["content"] for row in rows] == ["one", "two"]
    assert [number for number in range(1, 7) if f"rows.jsonl#{number}" in stderr] == [2, 3, 4, 5]


def test_broken_archives(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "broken.wacz").write_bytes(b"PK\x03\x04 not really")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really")
    code, _, stderr = clean(chaffinch, tmp_path, "broken.wacz", "broken.parquet")
    assert code == 1
    assert "broken.wacz" in stderr
    assert "broken.parquet" in stderr


@pytest.mark.parametrize(
    ("name", "body", "content"),
    [
        ("nul.html", b"<p>one\x00two", "onetwo"),
        ("utf16.html", "<p>Grüße".encode("utf-16"), "Grüße"),
        ("empty.html", b"", ""),
        ("unknown.html", b"<meta charset=x-nobody-knows><p>gr\xc3\xbc\xc3\x9fe", "grüße"),
        ("attribute.html", b"<p title='" + b"x" * 3_000_000 + b"'>after", "after"),
        ("deep.html", b"<div>" * 100_000 + b"deep", "deep"),
        ("wide.html", b"<i></i>" * 1_000_000 + b"wide", "wide"),
        ("colspan.html", b"<table><tr><td colspan=9007199254740991>a<td>b</table>", "a\tb"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.endswith(".html") else "",
)
@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_odd_pages_come_through(
    chaffinch: Command, tmp_path: Path, name: str, body: bytes, content: str, form: str
) -> None:
    (tmp_path / name).write_bytes(body)
    done = chaffinch("clean", name, "-o", "out.jsonl", "--format", form, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (row,) = read_lines(tmp_path / "out.jsonl")
    if form == "text":
        assert row["content"] == content
    else:
        assert content.split("\t", maxsplit=1)[0] in row["content"]


def test_a_page_of_50_megabytes(chaffinch: Command, tmp_path: Path) -> None:
    row = b"<tr><td>" + b"cell " * 14 + b"<td>" + b"other " * 14 + b"</tr>\n"
    (tmp_path / "large.html").write_bytes(b"<table>" + row * 300_000)
    assert (tmp_path / "large.html").stat().st_size > 50_000_000
    code, rows, _ = clean(chaffinch, tmp_path, "large.html")
    assert code == 0
    assert rows[0]["words_in"] == 28 * 300_000


def test_a_binary_file_named_html(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "picture.html").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    code, rows, stderr = clean(chaffinch, tmp_path, "picture.html")
    assert (code, rows) == (1, [])
    assert "picture.html" in stderr


def test_missing_and_unreadable_files(chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "dangling.html").symlink_to("nowhere")
    code, rows, stderr = clean(chaffinch, tmp_path, "missing.html", "missing-folder/", "dangling.html")
    assert (code, rows) == (1, [])
    assert all(name in stderr for name in ("missing.html", "missing-folder", "dangling.html"))


def test_files_and_folders_without_permission(chaffinch: Command, tmp_path: Path) -> None:
    write_site(tmp_path / "in", ["One.", "Two."])
    write_site(tmp_path / "in" / "closed", ["Never read."])
    for name in ("in/page-000.html", "in/closed"):
        (tmp_path / name).chmod(0)
    done = chaffinch("clean", "in", "-o", "out.jsonl", cwd=tmp_path, powerless=True)
    (tmp_path / "in" / "closed").chmod(0o700)
    assert done.returncode == 1
    assert "in/page-000.html: permission denied" in done.stderr
    assert "in/closed: permission denied" in done.stderr
    assert [row["source"] for row in read_lines(tmp_path / "out.jsonl")] == ["in/page-001.html"]


@pytest.mark.usefixtures("small_crawl")
@pytest.mark.parametrize("output", ["locked/out", "locked/out.jsonl", "locked/out.parquet", "locked"])
def test_an_output_folder_that_may_not_be_written(chaffinch: Command, tmp_path: Path, output: str) -> None:
    (tmp_path / "locked").mkdir(0o500)
    done = chaffinch("clean", "crawl", "-o", output, cwd=tmp_path, powerless=True)
    assert done.returncode == 1
    assert f"{output}: cannot be written: permission denied" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("output", ["file/below.jsonl", "file/out", "folder.jsonl", "/proc/nowhere/out.jsonl"])
@pytest.mark.usefixtures("small_crawl")
def test_output_that_cannot_be_written(chaffinch: Command, tmp_path: Path, output: str) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "folder.jsonl").mkdir()
    done = chaffinch("clean", "crawl", "-o", output, cwd=tmp_path)
    assert done.returncode == 1
    assert output.removesuffix("/below.jsonl") in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("output", ["out.jsonl", "out.parquet", "out"])
def test_a_full_disk(small_crawl: Path, output: str) -> None:
    """No file of this process may grow beyond 20 kB, which the system reports as it does a full disk."""
    write_site(small_crawl, [f"{os.urandom(15_000).hex()}" for _ in range(6)])
    (small_crawl.parent / output).with_suffix(".kept").write_text("beside", encoding="utf-8")
    limit = 20_000

    done = subprocess.run(
        [sys.executable, "-m", "chaffinch", "clean", "crawl", "-o", output],
        cwd=small_crawl.parent,
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 1, done.stderr
    assert output.encode() in done.stderr
    assert b"Traceback" not in done.stderr
    target = small_crawl.parent / output
    assert not target.exists() or target.is_dir()
    assert not [path for path in small_crawl.parent.rglob(".*") if path.is_file()], "a part file is left"


def test_names_that_clash_or_lead_astray(chaffinch: Command, tmp_path: Path) -> None:
    urls = [
        "https://site.example/../../../etc/passwd",
        "https://site.example/a",
        "https://site.example/A",
        "https://site.example/a",
        "https://site.example/a.txt/b",
        "https://site.example/" + "x" * 3000,
        "https://site.example/%2e%2e/%00/x",
        "https://site.example/",
        "https://site.example/?q=1",
        "not a url at all/../../x",
    ]
    rows = [f'{{"url": "{url}", "html": "<p>Text number {number}"}}' for number, url in enumerate(urls)]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "inside").mkdir()
    done = chaffinch("clean", "../rows.jsonl", "-o", "out", cwd=tmp_path / "inside")
    assert done.returncode == 0, done.stderr
    files = [path for path in tmp_path.rglob("*.txt") if path.is_file()]
    assert all((tmp_path / "inside" / "out") in path.parents for path in files)
    assert len({str(path).casefold() for path in files}) == len(urls)
    assert sorted(path.read_text(encoding="utf-8").strip()[-1] for path in files) == sorted("0123456789")
    assert [path for path in tmp_path.iterdir() if path.is_file()] == [tmp_path / "rows.jsonl"]


def test_a_folder_that_holds_itself(chaffinch: Command, small_crawl: Path) -> None:
    (small_crawl / "loop").symlink_to(small_crawl)
    code, rows, _ = clean(chaffinch, small_crawl.parent, "crawl")
    assert (code, len(rows)) == (0, 6)


def test_a_site_of_very_many_tiny_pages(chaffinch: Command, tmp_path: Path) -> None:
    """What a site takes does not grow with its pages: five times as many, in the least memory that a run asks for."""
    peaks = []
    for pages in (1_000, 5_000):
        with (tmp_path / "rows.jsonl").open("w", encoding="utf-8") as rows:
            for number in range(pages):
                rows.write(f'{{"url": "https://tiny.example/{number}", "html": "<p>Menu<p>Own words {number}"}}\n')
        arguments = ["clean", "rows.jsonl", "-o", "out.jsonl", "--method", "blocks", "--report", "report.json"]
        done = chaffinch(*arguments, "--memory", "640M", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
        assert report["total"]["pages"] == pages
        peaks.append(report["peak_memory"])
    assert peaks[1] < 1.2 * peaks[0] < 640 << 20


@pytest.mark.parametrize("kind", ["application/octet-stream", "text/html"])
def test_a_record_that_is_longer_than_any_page(tmp_path: Path, kind: str) -> None:
    """Neither it nor the memory of this machine is lost on it: the process may not hold as much as the record has."""
    size = (256 << 20) + (8 << 20)
    good = warc(PAGES[0])
    http = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode()
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://site.example/long\r\n"
        "WARC-Record-ID: <urn:uuid:long>\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {size + len(http)}\r\n\r\n"
    )
    with (tmp_path / "long.warc").open("wb") as file:
        file.write(good + head.encode() + http)
        file.seek(size, os.SEEK_CUR)  # a hole
        file.write(b"\r\n\r\n" + good)
    limit = 500 << 20

    done = subprocess.run(
        [sys.executable, "-m", "chaffinch", "clean", "long.warc", "-o", "out.jsonl", "--page-seconds", "0"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
    )
    assert "Traceback" not in done.stderr
    assert len(read_lines(tmp_path / "out.jsonl")) == 2
    if kind == "text/html":
        assert done.returncode == 1
        assert "long.warc#urn:uuid:long: it is longer than 256 MB" in done.stderr
    else:
        assert done.returncode == 0, done.stderr


def test_a_file_that_is_longer_than_any_page(chaffinch: Command, tmp_path: Path) -> None:
    with (tmp_path / "long.html").open("wb") as file:
        file.write(b"<p>words")
        file.truncate((256 << 20) + 1)
    code, rows, stderr = clean(chaffinch, tmp_path, "long.html")
    assert (code, rows) == (1, [])
    assert "long.html: it is longer than 256 MB" in stderr


@pytest.mark.parametrize("choice", ["all", "first", "latest"])
def test_one_url_in_several_inputs_with_clocks_that_are_wrong(chaffinch: Command, tmp_path: Path, choice: str) -> None:
    """Dates from the future are believed, those that are missing or unreadable are the oldest, and nothing fails."""
    dates = ["2020-01-01T00:00:00Z", "2199-12-31T23:59:59Z", "", "yesterday", "2020-01-01T00:00:00Z"]
    for number, date in enumerate(dates):
        http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Capture {number}".encode()
        dated = f"WARC-Date: {date}\r\n" if date else ""
        head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://site.example/\r\n{dated}"
        head += f"WARC-Record-ID: <urn:uuid:{number}>\r\nContent-Length: {len(http)}\r\n\r\n"
        (tmp_path / f"{number}.warc").write_bytes(head.encode() + http + b"\r\n\r\n")
    inputs = [f"{number}.warc" for number in range(len(dates))]
    done = chaffinch("clean", *inputs, "-o", "out.jsonl", "--captures", choice, "--page-by-page", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    kept = [row["content"][-1] for row in read_lines(tmp_path / "out.jsonl")]
    assert kept == {"all": ["0", "1", "2", "3", "4"], "first": ["0"], "latest": ["1"]}[choice]


def test_an_input_that_changes_while_it_is_read(tmp_path: Path) -> None:
    """The run goes on to its end and says so."""
    write_site(tmp_path / "crawl", [f"Own words of page {n}." for n in range(40)])
    os.mkfifo(tmp_path / "crawl-2.html")
    command = [sys.executable, "-m", "chaffinch", "clean", "crawl", "crawl-2.html", "-o", "out.jsonl"]
    run = subprocess.Popen([*command, "--method", "sandwich"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    # The run has read the folder when it opens what comes behind it.
    with (tmp_path / "crawl-2.html").open("wb") as pipe:
        (tmp_path / "crawl" / "page-000.html").write_text("<p>something else", encoding="utf-8")
        pipe.write(GOOD)
    _, stderr = run.communicate(timeout=120)
    assert run.returncode == 1
    assert "crawl: changed while it was being read" in stderr
    assert len(read_lines(tmp_path / "out.jsonl")) == 41


def test_what_another_version_left_behind(chaffinch: Command, small_crawl: Path) -> None:
    """An interrupted run of another version is not gone on with, and not in the way of a new one."""
    folder = small_crawl.parent
    left = folder / ".out.jsonl.chaffinch"
    left.mkdir()
    (left / "run.json").write_text('{"command": "clean", "version": "0.0.1"}', encoding="utf-8")
    done = chaffinch("clean", "crawl", "-o", "out.jsonl", "--resume", cwd=folder)
    assert done.returncode == 2
    assert "another one (its version has changed since)" in done.stderr
    assert chaffinch("clean", "crawl", "-o", "out.jsonl", cwd=folder).returncode == 0
    assert not left.exists()
    assert len(read_lines(folder / "out.jsonl")) == 6
