"""Outputs as WARC, in the way of Common Crawl's WET files: a `conversion` record for each document."""

from __future__ import annotations

import gzip
import io
import uuid
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from fastwarc.warc import WarcRecord, WarcRecordType

from chaffinch.sinks.base import Ending, well_formed, writing
from chaffinch.sinks.files import PartFile
from chaffinch.version import VERSION

if TYPE_CHECKING:
    from chaffinch.document.document import Document
    from chaffinch.render.formats import Format

_TYPES: Final[dict[Format, str]] = {
    "text": "text/plain",
    "markdown": "text/markdown",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
}
_UNKNOWN_DATE: Final = "1970-01-01T00:00:00Z"
"""A WARC record must have a date; this one says that nobody knows."""
_ID: Final = "urn:uuid:"
_KINDS: Final = {"warcinfo": WarcRecordType.warcinfo, "conversion": WarcRecordType.conversion}


class WarcSink(Ending):
    """One record for each document, each packed on its own if the name ends in `.gz`.

    What refers to the capture: `WARC-Target-URI`, `WARC-Date` and `WARC-Refers-To` are the capture's own;
    `Chaffinch-Source` is the file and record, and `Chaffinch-Offset` where the record begins in the file.
    """

    def __init__(self, output: str, format: Format) -> None:  # noqa: A002 - as the option is called
        self._part = PartFile(output)
        self._packed = output.lower().endswith(".gz")
        self._format = format
        about = f"software: Chaffinch/{VERSION}\r\nformat: WARC File Format 1.1\r\n"
        try:
            self._write("warcinfo", "warcinfo", {"Content-Type": "application/warc-fields"}, about)
        except BaseException:
            self._part.abort()
            raise

    def write(self, document: Document) -> None:
        """Write a document."""
        _, _, record = document.source.partition("#")
        fields = {
            "WARC-Target-URI": document.url or f"file:{quote(document.source, errors='replace')}",
            "WARC-Date": document.captured or _UNKNOWN_DATE,
            "WARC-Refers-To": f"<{record}>" if record.startswith(_ID) else "",
            "Chaffinch-Source": document.source,
            "Chaffinch-Offset": "" if document.offset is None else str(document.offset),
            "Content-Language": document.language or "",
            "Content-Type": _TYPES[self._format],
        }
        self._write(
            "conversion", f"{document.source}\n{document.url}\n{document.content_hash}", fields, document.content
        )

    def _write(self, kind: str, identity: str, fields: dict[str, str], content: str) -> None:
        record = WarcRecord()
        urn = f"{_ID}{uuid.uuid5(uuid.NAMESPACE_URL, well_formed(identity))}"
        record.init_headers(record_type=_KINDS[kind])
        record.headers["WARC-Record-ID"] = f"<{urn}>"
        record.headers["WARC-Date"] = _UNKNOWN_DATE
        for name, value in fields.items():
            if value:
                record.headers[name] = " ".join(well_formed(value).split())
        record.set_bytes_content(well_formed(content).encode())
        buffer = io.BytesIO()
        record.write(buffer, checksum_data=True)
        data = gzip.compress(buffer.getvalue(), 6, mtime=0) if self._packed else buffer.getvalue()
        with writing(self._part.output):
            self._part.file.write(data)

    def commit(self) -> None:
        """Put the file under its name."""
        try:
            self._part.commit()
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        """Remove the file."""
        self._part.abort()
