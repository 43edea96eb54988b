"""Write `crawl.warc.gz`: two sites of the example crawl once more, as an archive.

Dates and record ids are fixed, so that the same pages give the same bytes (as long as zlib is the same).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from io import BytesIO
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

HERE: Final = Path(__file__).parent
SITES: Final = ("docs.sparrowdb.example", "finchley-gazette.example")
START: Final = datetime(2024, 4, 2, 6, 30, tzinfo=UTC)


def warc_headers(name: str, when: datetime) -> dict[str, str]:
    """Return the headers that warcio would otherwise make up from the clock and at random."""
    return {
        "WARC-Record-ID": f"<urn:uuid:{uuid5(NAMESPACE_URL, name)}>",
        "WARC-Date": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def http_headers(body: bytes, when: datetime) -> StatusAndHeaders:
    """Return what a server might have said."""
    fields = [
        ("Date", format_datetime(when, usegmt=True)),
        ("Server", "nest/1.4"),
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Connection", "close"),
    ]
    return StatusAndHeaders("200 OK", fields, protocol="HTTP/1.1")


def write(target: Path) -> None:
    """Write one response record for each page of `SITES`, in the order of `urls.tsv`."""
    crawl = HERE / "crawl"
    lines = (crawl / "urls.tsv").read_text(encoding="utf-8").splitlines()
    pages = [(path, url) for path, url in (line.split("\t") for line in lines) if path.split("/")[0] in SITES]
    with target.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)  # it leaves the time in each gzip header at zero
        writer.write_record(
            writer.create_warc_record(
                None,  # a warcinfo record has no address
                "warcinfo",
                payload=BytesIO(b"software: examples/make_warc.py\r\nformat: WARC File Format 1.0\r\n"),
                warc_content_type="application/warc-fields",
                warc_headers_dict=warc_headers("crawl.warc.gz", START),
            )
        )
        for seconds, (path, url) in enumerate(pages, start=1):
            when = START + timedelta(seconds=2 * seconds)
            body = (crawl / path).read_bytes()
            record = writer.create_warc_record(
                url,
                "response",
                payload=BytesIO(body),
                http_headers=http_headers(body, when),
                warc_headers_dict=warc_headers(url, when),
            )
            writer.write_record(record)


if __name__ == "__main__":
    write(HERE / "crawl.warc.gz")
