"""Speed of record mining: learning a wrapper, applying it beside the parse of the page, and growth with records.

    python benchmarks/records.py [--json] [--sites N]

Needs the evaluation data (`CHAFFINCH_DATA`). A site's result pages, three or fewer, are made ten by changing the words
of their copies, so that they stay pages of one template. Times are CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import chaffinch
from chaffinch.evaluation.datasets import find_data
from chaffinch.learning.record_gold import site_folders
from chaffinch.records import apply_wrapper, mine

PAGES: Final = 10
_TEXT: Final = re.compile(r">([^<>]{3,})<")
_WORD: Final = re.compile(r"[a-z]{4,}")
_SCRIPT: Final = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SiteTimes:
    """What one site costs."""

    site: str
    parse: float
    """Parsing ten pages and making their tables."""
    learn: float
    """Learning a wrapper from the ten parsed pages."""
    apply: float
    """Applying it to all ten."""

    @property
    def ratio(self) -> float:
        """Applying beside parsing."""
        return self.apply / self.parse


def varied(html: str, rng: random.Random) -> str:
    """Return a page with some words of its texts changed."""

    def change(match: re.Match[str]) -> str:
        return ">" + _WORD.sub(lambda word: word[0] if rng.random() < 0.7 else word[0][::-1], match[1]) + "<"

    return _TEXT.sub(change, _SCRIPT.sub("", html))


def ten_pages(folder: Path) -> list[str]:
    """Return ten pages of a site: its own, and copies with other words."""
    rng = random.Random(folder.name)  # noqa: S311 - a fixed sequence, not a secret
    own = [path.read_text("utf-8", "replace") for path in sorted(folder.glob("*.html"))]
    return [*own, *(varied(own[number % len(own)], rng) for number in range(PAGES - len(own)))]


def measure(folder: Path) -> SiteTimes:
    """Return what a site costs."""
    bodies = ten_pages(folder)
    start = time.process_time()
    pages = [chaffinch.parse(body) for body in bodies]
    for page in pages:
        _ = (page.tag_path, page.text_hash, page.blocks)
    parsed = time.process_time()
    wrapper = mine(pages).wrapper
    learned = time.process_time()
    for page in pages:
        apply_wrapper(wrapper, page)
    return SiteTimes(folder.name, parsed - start, learned - parsed, time.process_time() - learned)


def growth(count: int) -> float:
    """Return the CPU seconds of learning from one page of so many records, for each record."""
    rng = random.Random(count)  # noqa: S311
    rows = "".join(
        f'<li class="hit"><a href="/{n}">Item {n}</a> <b>{rng.randrange(99)}</b> <span>${rng.randrange(99)}.50</span>'
        f"<p>{' '.join(rng.choice('seed hemp corn oats rye'.split()) for _ in range(9))}</p></li>"
        for n in range(count)
    )
    page = chaffinch.parse(f"<html><body><ul>{rows}</ul></body></html>")
    start = time.process_time()
    mine([page])
    return (time.process_time() - start) / count


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description="Speed of record mining.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--sites", type=int, default=20, help="how many sites (default: 20)")
    parsed = parser.parse_args()
    folders = site_folders(find_data() / "records")
    sites = [measure(folder) for folder in folders[:: max(len(folders) // parsed.sites, 1)]]
    per_record = {count: growth(count) for count in (1000, 10_000)}
    figures = {
        "wrapper from 10 pages, seconds, median": statistics.median(site.learn for site in sites),
        "wrapper from 10 pages, seconds, slowest site": max(site.learn for site in sites),
        "applying beside parsing, median": statistics.median(site.ratio for site in sites),
        "applying beside parsing, slowest site": max(site.ratio for site in sites),
        "milliseconds a record, 1,000 records": 1000 * per_record[1000],
        "milliseconds a record, 10,000 records": 1000 * per_record[10_000],
    }
    if parsed.json:
        print(json.dumps({"figures": figures, "sites": [asdict(site) for site in sites]}, indent=1))
        return
    for name, value in figures.items():
        print(f"{name:48}{value:10.3f}")


if __name__ == "__main__":
    main()
