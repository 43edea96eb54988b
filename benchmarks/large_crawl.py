"""Write a crawl as large as wanted: the pages of `swde` under many site names, with varied text.

    python benchmarks/large_crawl.py FOLDER --pages 100000 --sites 1000 --files 8
    python benchmarks/large_crawl.py FOLDER --pages 1000000 --sites 1 --tiny

Every site is a copy of one of the three sites of `swde` with the smallest pages (28 kB in the mean). In each copy of a
page, the words that stand on less than a fifth of its site's pages get an ending of their own: texts that were
different stay different, and what is template stays template. Pages of all sites come in turn, which is the order that
is hardest to hold in memory. With `--tiny`, pages are invented, of half a kB: a menu, and a sentence of their own.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chaffinch.evaluation.datasets import find_data

_BASES: Final = 3
_RARE: Final = 0.2
_TEXT: Final = re.compile(r"<(?:script|style).*?</(?:script|style)>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Za-z]{4,}")
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Base:
    """A page in pieces: a copy is their sum with the copy's own ending behind each but the last."""

    pieces: tuple[str, ...]

    def copy(self, number: int) -> bytes:
        """Return a copy of the page; copy 0 is the page itself."""
        return _ending(number).join(self.pieces).encode()


def _ending(number: int) -> str:
    ending = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        ending = _DIGITS[digit] + ending
    return ending


def _words(html: str) -> list[re.Match[str]]:
    """Return the words of a page that stand outside of tags."""
    found: list[re.Match[str]] = []
    start = 0
    for tag in _TEXT.finditer(html):
        found += _WORD.finditer(html, start, tag.start())
        start = tag.end()
    return found


def read_base(folder: Path) -> list[Base]:
    """Read the pages of a site and find their own words."""
    texts = [path.read_text("utf-8-sig", "replace") for path in sorted(folder.glob("*.htm"))]
    pages = [_words(text) for text in texts]
    counts = Counter(word for words in pages for word in {match[0] for match in words})
    bases = []
    for text, words in zip(texts, pages, strict=True):
        cuts = [match.end() for match in words if counts[match[0]] < _RARE * len(texts)]
        bases.append(Base(tuple(text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True))))
    return bases


def tiny_base() -> Base:
    """Return an invented page, which needs no data."""
    before = "<!doctype html><html lang=en><head><title>Entry {}</title></head><body><nav><a href=/>Home</a> "
    before += "<a href=/news>News</a> <a href=/about>About us</a></nav><main><h1>Entry {}</h1><p>Own words of entry {}"
    behind = ", which nobody else has, and a few more of them.</p></main><footer><p>All rights reserved</p></footer>"
    return Base(tuple(f"{before}{behind}".split("{}")))


def smallest_sites(data: Path) -> list[Path]:
    """Return the sites with the smallest pages."""
    sites = [path for path in (data / "swde").iterdir() if path.is_dir()]
    return sorted(sites, key=lambda site: (sum(path.stat().st_size for path in site.glob("*.htm")), site.name))[:_BASES]


def record(url: str, number: int, body: bytes) -> bytes:
    """Return a page as a record of a WARC, packed."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-11-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{number:032x}>\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(http)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + http + b"\r\n\r\n", 1, mtime=0)


def write_crawl(folder: Path, pages: int, sites: int, files: int, *, tiny: bool) -> None:
    """Write the crawl."""
    bases = [[tiny_base()]] if tiny else [read_base(site) for site in smallest_sites(find_data())]
    folder.mkdir(parents=True, exist_ok=True)
    for part in range(files):
        with (folder / f"part-{part:05}.warc.gz").open("wb") as file:
            for number in range(pages * part // files, pages * (part + 1) // files):
                page, site = divmod(number, sites)
                base = bases[site % len(bases)]
                turn, position = divmod(page, len(base))
                body = base[position].copy(site // len(bases) + turn * (sites // len(bases) + 1))
                file.write(record(f"https://www.site-{site:06}.example/page-{page:06}.html", number, body))


def main() -> int:
    """Write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--sites", type=int, default=1000)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--tiny", action="store_true")
    parsed = parser.parse_args()
    write_crawl(parsed.folder, parsed.pages, parsed.sites, parsed.files, tiny=parsed.tiny)
    return 0


if __name__ == "__main__":
    sys.exit(main())
