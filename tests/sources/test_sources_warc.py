"""Archives, sound and damaged, read from real files."""

from __future__ import annotations

import gzip
import io
import random
import subprocess
import sys
import zipfile
import zlib
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders

from chaffinch.errors import InputError
from chaffinch.sources import Capture, open_inputs
from conftest import Writer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def noise(seed: int, letters: bytes, size: int) -> bytes:
    return bytes(random.Random(seed).choices(letters, k=size))  # noqa: S311 - only noise is wanted


PAGE = b"<html><body><p>" + noise(7, b"abcdefgh \n\r", 3000) + b"</p></body></html>"


def read(path: Path) -> tuple[list[Capture], list[InputError]]:
    found = list(open_inputs([str(path)]))
    return [one for one in found if isinstance(one, Capture)], [one for one in found if isinstance(one, InputError)]


def archive(pages: list[tuple[bytes, list[tuple[str, str]]]], *, packed: bool = True, status: str = "200 OK") -> bytes:
    """Write responses with warcio."""
    out = io.BytesIO()
    writer = Writer(out, gzip=packed)
    writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "test"}))
    for number, (body, fields) in enumerate(pages):
        url = f"http://example.org/{number}"
        http = StatusAndHeaders(status, fields, protocol="HTTP/1.1")
        writer.write_record(
            writer.create_warc_record(
                url,
                "response",
                payload=io.BytesIO(body),
                http_headers=http,
                warc_headers_dict={"WARC-Record-ID": f"<urn:uuid:{number}>", "WARC-Date": "2020-02-03T04:05:06Z"},
            )
        )
        writer.write_record(writer.create_warc_record(url, "request", payload=io.BytesIO(b"GET / HTTP/1.1\r\n\r\n")))
    return out.getvalue()


def record(
    number: int, body: bytes = PAGE, *, length: int | str | None = None, kind: str = "response", status: str = "200 OK"
) -> bytes:
    """Write one response by hand, as wrong as it is wanted."""
    block = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n\r\n".encode() + body
    return (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n"
        f"WARC-Target-URI: http://example.org/{number}\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block) if length is None else length}\r\n\r\n"
    ).encode() + block + b"\r\n\r\n"  # fmt: skip


HTML = [("Content-Type", "text/html; charset=ISO-8859-2")]


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", ["x.warc", "x.warc.gz", "nameless"])
def test_a_page_carries_what_the_record_says(tmp_path: Path, name: str, packed: bool) -> None:  # noqa: FBT001
    path = tmp_path / name
    path.write_bytes(archive([(PAGE, HTML)], packed=packed))
    pages, errors = read(path)
    assert errors == []
    (offset,) = [page.offset for page in pages]
    assert offset is not None
    there = path.read_bytes()[offset:]
    assert (zlib.decompressobj(wbits=31).decompress(there) if packed else there).startswith(b"WARC/1.0\r\n")
    assert b"<urn:uuid:0>" in (zlib.decompressobj(wbits=31).decompress(there) if packed else there)[:500]
    assert pages == [
        Capture(
            source=f"{path}#urn:uuid:0",
            body=PAGE,
            url="http://example.org/0",
            http_charset="ISO-8859-2",
            folder=str(path),
            path="urn:uuid:0",
            captured="2020-02-03T04:05:06Z",
            on_disk=False,
            offset=offset,
        )
    ]


def chunked(data: bytes) -> bytes:
    parts = [data[at : at + 1000] for at in range(0, len(data), 1000)]
    return b"".join(b"%x;note\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def raw_deflate(data: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-15)
    return deflater.compress(data) + deflater.flush()


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (gzip.compress(PAGE), [("content-encoding", "gzip")]),
        (gzip.compress(PAGE), [("Content-Encoding", "x-gzip")]),
        (zlib.compress(PAGE), [("Content-Encoding", "deflate")]),
        (raw_deflate(PAGE), [("Content-Encoding", "deflate")]),
        (bytes(pa.compress(PAGE, codec="brotli")), [("Content-Encoding", "br")]),
        (bytes(pa.compress(PAGE, codec="zstd")), [("Content-Encoding", "zstd")]),
        (chunked(PAGE), [("Transfer-Encoding", "chunked")]),
        (chunked(gzip.compress(PAGE)), [("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")]),
        (PAGE, [("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")]),  # decoded by the crawler
        (PAGE, [("Content-Encoding", "br")]),
        (PAGE, [("Content-Encoding", "deflate")]),
        (PAGE, [("Content-Encoding", "zstd")]),
        (PAGE, [("Content-Encoding", "something-new")]),
        (PAGE, [("X-Long", "a" * 300_000)]),
    ],
)
def test_codings_are_taken_off(tmp_path: Path, body: bytes, fields: list[tuple[str, str]]) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(archive([(body, [*HTML, *fields])]))
    pages, errors = read(path)
    assert errors == []
    assert [page.body for page in pages] == [PAGE]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (gzip.compress(PAGE)[:-600], [("Content-Encoding", "gzip")]),
        (zlib.compress(PAGE)[:-600], [("Content-Encoding", "deflate")]),
        (chunked(PAGE)[:-600], [("Transfer-Encoding", "chunked")]),
        (chunked(PAGE)[:2500], [("Transfer-Encoding", "chunked")]),
        (gzip.compress(PAGE)[:-600] + b"\xff" * 600, [("Content-Encoding", "gzip")]),
    ],
)
def test_a_body_that_is_cut_short_gives_what_is_there(
    tmp_path: Path, body: bytes, fields: list[tuple[str, str]]
) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(archive([(body, [*HTML, *fields]), (PAGE, HTML)]))
    pages, errors = read(path)
    assert [error.subject for error in errors] == [f"{path}#urn:uuid:0"]
    assert PAGE[:500] == pages[0].body[:500]
    assert pages[1].body == PAGE


@pytest.mark.parametrize(
    "data",
    [
        archive([(b"\x89PNG\r\n", [("Content-Type", "image/png")])]),
        archive([(b"plain words", [])]),
        archive([(b"", [])], status="403 Forbidden"),
        archive([(PAGE, HTML)], status="404 Not Found"),
        archive([(b"", HTML)], status="301 Moved"),
        record(1, kind="revisit"),
        record(1, kind="metadata"),
        record(1, b"", status="403 Forbidden", length=24),
        b"",
        gzip.compress(b"", mtime=0),
        b"\r\n\r\n\r\n",
    ],
)
def test_what_is_no_page_is_passed_over_in_silence(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(data)
    assert [page.body for page in read(path)[0] if page.body] == []
    if b"length=24" not in data:
        assert all("Content-Length" in error.reason for error in read(path)[1])


def test_resources_and_untyped_responses_are_pages_if_they_look_like_it(tmp_path: Path) -> None:
    out = io.BytesIO()
    writer = Writer(out, gzip=True)
    for url, kind in (("http://a.org/1", "text/html"), ("http://a.org/2", "image/png"), ("dns:a.org", "text/dns")):
        writer.write_record(
            writer.create_warc_record(url, "resource", payload=io.BytesIO(PAGE), warc_content_type=kind)
        )
    path = tmp_path / "x.warc.gz"
    path.write_bytes(out.getvalue() + archive([(PAGE, [])]))
    pages, errors = read(path)
    assert [page.url for page in pages] == ["http://a.org/1", "http://example.org/0"]
    assert errors == []


@pytest.mark.parametrize("packed", [True, False])
def test_truncation_anywhere_loses_nothing_before_it_and_is_told_once(
    tmp_path: Path,
    packed: bool,  # noqa: FBT001
) -> None:
    records = [record(number) for number in range(3)]
    parts = [gzip.compress(one) for one in records] if packed else records
    data = b"".join(parts)
    path = tmp_path / "x.warc"
    first_two = len(parts[0]) + len(parts[1])
    for end in range(first_two + 1, len(data) - (4 if not packed else 0), 97):
        path.write_bytes(data[:end])
        pages, errors = read(path)
        assert [page.body for page in pages[:2]] == [PAGE, PAGE], end
        assert all(PAGE.startswith(page.body) for page in pages[2:]), end
        assert len(errors) == 1, end
        assert errors[0].subject.startswith(str(path))
    assert len(pages) == 3


@pytest.mark.parametrize(
    ("length", "count"),
    [(10, 1), (len(PAGE), 1), (len(PAGE) + 47 + 9, 1), (10**6, 1), (10**13, 1), (10**30, 1), (-5, 1), ("?", 1)],
)
def test_a_wrong_content_length_costs_no_record(tmp_path: Path, length: int | str, count: int) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(record(1) + record(2, length=length) + record(3) + record(4))
    pages, errors = read(path)
    assert [(page.url, page.body) for page in pages] == [(f"http://example.org/{one}", PAGE) for one in (1, 2, 3, 4)]
    assert [error.subject for error in errors] == [f"{path}#urn:uuid:2"] * count


def test_rubbish_between_records_is_told_and_skipped(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(record(1) + b"rubbish\r\n" * 20_000 + record(2))
    pages, errors = read(path)
    assert [page.body for page in pages] == [PAGE, PAGE]
    assert [error.subject for error in errors] == [f"{path}#byte-{len(record(1))}"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda part: part[:200] + bytes(100) + part[300:],
        lambda part: part[:200] + part[260:],
        lambda part: part[:-8] + b"wrong!!!",
        lambda part: part[:200],
        lambda part: b"no gzip at all" * 100,  # noqa: ARG005
        lambda part: part + b"rubbish",
    ],
)
def test_a_damaged_gzip_member_costs_no_other(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    parts = [gzip.compress(record(number)) for number in range(4)]
    path = tmp_path / "x.warc.gz"
    path.write_bytes(parts[0] + spoil(parts[1]) + parts[2] + parts[3])
    pages, errors = read(path)
    urls = [page.url for page in pages]
    assert [url for url in urls if url != "http://example.org/1"] == [f"http://example.org/{one}" for one in (0, 2, 3)]
    assert len(errors) == 1
    assert str(len(parts[0])) in errors[0].reason or str(len(parts[0] + parts[1])) in errors[0].reason


def test_a_page_may_quote_a_record(tmp_path: Path) -> None:
    body = b"<pre>\r\n\r\n" + record(9, b"hi") + b"</pre>"
    path = tmp_path / "x.warc"
    path.write_bytes(record(1, body) + record(2))
    pages, errors = read(path)
    assert [page.body for page in pages] == [body, PAGE]
    assert errors == []


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damage_raises(tmp_path: Path, data: st.DataObject) -> None:
    whole = bytearray(record(1) + record(2, b"", status="403 Forbidden") + record(3, kind="resource"))
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=8)):
        whole[at] = data.draw(st.integers(0, 255))
    packed = bytearray(gzip.compress(bytes(whole)))
    for at in data.draw(st.lists(st.integers(0, len(packed) - 1), max_size=3)):
        packed[at] = data.draw(st.integers(0, 255))
    path = tmp_path / "x.warc"
    for content in (whole, packed):
        path.write_bytes(content)
        read(path)


def test_wacz_reads_its_archives(tmp_path: Path) -> None:
    path = tmp_path / "x.wacz"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("pages/pages.jsonl", "{}")
        package.writestr("archive/b.warc", archive([(PAGE, HTML)], packed=False))
        package.writestr("archive/a.warc.gz", archive([(PAGE, HTML)]))
    pages, errors = read(path)
    assert errors == []
    assert [page.source for page in pages] == [
        f"{path}/archive/a.warc.gz#urn:uuid:0",
        f"{path}/archive/b.warc#urn:uuid:0",
    ]


def test_a_damaged_wacz_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("archive/a.warc", b"".join(record(number) for number in range(9)))
        package.writestr("archive/b.warc", record(10))
    whole = path.read_bytes()
    path.write_bytes(whole[:-50])
    assert len(read(path)[1]) == 1
    path.write_bytes(whole[:1500] + bytes(60) + whole[1560:])
    pages, errors = read(path)
    assert pages[-1].url == "http://example.org/10"
    assert errors
    path.write_bytes(b"PK\x05\x06" + bytes(18))
    assert [error.subject for error in read(path)[1]] == [str(path)]


@pytest.mark.parametrize("packed", [True, False])
def test_memory_does_not_grow_with_the_archive(tmp_path: Path, packed: bool) -> None:  # noqa: FBT001
    body = b"<html>" + noise(1, b"abcdefgh", 200_000)
    path = tmp_path / "x.warc"
    with path.open("wb") as out:
        for number in range(400):
            out.write(gzip.compress(record(number, body), 1) if packed else record(number, body))
    script = (
        "import resource, sys\nfrom chaffinch.sources import open_inputs\n"
        "pages = open_inputs([sys.argv[1]])\nnext(pages)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "count = 1 + sum(1 for _ in pages)\n"
        "print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, check=True, text=True)
    count, grown = map(int, done.stdout.split())
    assert count == 400
    assert grown < 20_000  # kilobytes, of 80 000


@pytest.mark.parametrize("packed", [True, False])
def test_standard_input_may_be_an_archive(packed: bool) -> None:  # noqa: FBT001
    script = "from chaffinch.sources import open_inputs\nfor page in open_inputs(['-']): print(page.source, page.url)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=archive([(PAGE, HTML), (PAGE, HTML)], packed=packed),
        capture_output=True,
        check=True,
    )
    assert done.stdout.split() == [
        b"-#urn:uuid:0",
        b"http://example.org/0",
        b"-#urn:uuid:1",
        b"http://example.org/1",
    ]
