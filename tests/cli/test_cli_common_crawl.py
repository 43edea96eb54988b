"""Crawls in the layout of Common Crawl: a list of archives in, a WARC of conversions out, and the way back."""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders

from conftest import Command, Writer, read_lines, site_html

DATE = "2026-10-01T12:00:00Z"


def write_archive(path: Path, first: int, pages: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = BytesIO()
    writer = Writer(buffer, gzip=True)
    writer.write_record(writer.create_warcinfo_record(path.name, {"software": "test"}))
    for number in range(first, first + pages):
        record = writer.create_warc_record(
            f"https://site.example/{number}",
            "response",
            payload=BytesIO(site_html(number, f"Own words of page {number}.").encode()),
            http_headers=StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1"),
            warc_headers_dict={"WARC-Date": DATE},
        )
        writer.write_record(record)
    path.write_bytes(buffer.getvalue())


@pytest.fixture
def month(tmp_path: Path) -> Path:
    """Two archives of a month, and their list."""
    names = [f"crawl-data/CC-MAIN-2026-40/segments/1/warc/part-{number}.warc.gz" for number in range(2)]
    for number, name in enumerate(names):
        write_archive(tmp_path / name, 5 * number, 5)
    paths = tmp_path / "crawl-data" / "CC-MAIN-2026-40" / "warc.paths.gz"
    paths.write_bytes(gzip.compress("".join(f"{name}\n" for name in names).encode()))
    return paths


def test_a_list_of_archives(chaffinch: Command, month: Path, tmp_path: Path) -> None:
    """The files are found below the folder that holds them, or below the one that is given."""
    found = chaffinch("clean", month, "-o", "one.jsonl", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    plain = tmp_path / "elsewhere.paths"
    plain.write_bytes(gzip.decompress(month.read_bytes()))
    (tmp_path / "work").mkdir()
    given = chaffinch("clean", plain, "--paths-base", tmp_path, "-o", "two.jsonl", cwd=tmp_path / "work")
    assert given.returncode == 0, given.stderr
    urls = [f"https://site.example/{number}" for number in range(10)]
    assert [row["url"] for row in read_lines(tmp_path / "one.jsonl")] == urls
    assert [row["url"] for row in read_lines(tmp_path / "work" / "two.jsonl")] == urls


def test_a_document_leads_to_its_capture(chaffinch: Command, month: Path, tmp_path: Path) -> None:
    assert chaffinch("clean", month, "-o", "out.wet.gz", cwd=tmp_path).returncode == 0
    with (tmp_path / "out.wet.gz").open("rb") as file:
        records = [
            (record.rec_type, dict(record.rec_headers.headers), record.content_stream().read().decode())
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    assert [kind for kind, _, _ in records] == ["warcinfo"] + 10 * ["conversion"]
    for number, (_, fields, content) in enumerate(records[1:]):
        assert (fields["WARC-Target-URI"], fields["WARC-Date"]) == (f"https://site.example/{number}", DATE)
        assert fields["Content-Type"] == "text/plain"
        assert f"Own words of page {number}." in content
        assert "All rights reserved" not in content
        name, _, identity = fields["Chaffinch-Source"].partition("#")
        assert fields["WARC-Refers-To"] == f"<{identity}>"
        member = (tmp_path / name).read_bytes()[int(fields["Chaffinch-Offset"]) :]
        capture = zlib.decompressobj(wbits=31).decompress(member)
        assert f"WARC-Target-URI: https://site.example/{number}\r\n".encode() in capture
        assert identity.encode() in capture


def test_the_same_in_json(chaffinch: Command, month: Path, tmp_path: Path) -> None:
    assert chaffinch("clean", month, "-o", "out.jsonl", cwd=tmp_path).returncode == 0
    for row in read_lines(tmp_path / "out.jsonl"):
        member = (tmp_path / row["source"].partition("#")[0]).read_bytes()[row["offset"] :]
        assert row["url"].encode() in zlib.decompressobj(wbits=31).decompress(member)
        assert row["captured"] == DATE


def test_lists_that_lead_nowhere(chaffinch: Command, month: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.paths.gz").write_bytes(month.read_bytes()[:-12])
    (tmp_path / "wrong.paths").write_text("gone.warc.gz\n# a remark\n\n", encoding="utf-8")
    done = chaffinch("clean", "cut.paths.gz", "wrong.paths", "none.paths", "-o", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert all(
        name in done.stderr for name in ("cut.paths.gz: the gzip data is cut short", "gone.warc.gz", "none.paths")
    )


def test_a_list_in_a_folder_is_not_read_as_well(chaffinch: Command, month: Path, tmp_path: Path) -> None:
    done = chaffinch("clean", month.parent, "-o", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(read_lines(tmp_path / "out.jsonl")) == 10


def test_an_archive_is_not_overwritten(chaffinch: Command, month: Path, tmp_path: Path) -> None:
    """Its own conversions are, as any output is by a second run."""
    crawl = next((tmp_path / "crawl-data").rglob("part-0.warc.gz"))
    (tmp_path / "mine.warc.gz").write_bytes(crawl.read_bytes())
    done = chaffinch("clean", month, "-o", "mine.warc.gz", cwd=tmp_path)
    assert done.returncode == 2
    assert "mine.warc.gz exists and was not written by Chaffinch" in done.stderr
    assert (tmp_path / "mine.warc.gz").read_bytes() == crawl.read_bytes()
    outputs = []
    for _ in range(2):
        assert chaffinch("clean", month, "-o", "out.warc", cwd=tmp_path).returncode == 0
        outputs.append((tmp_path / "out.warc").read_bytes())
    assert outputs[0] == outputs[1]
