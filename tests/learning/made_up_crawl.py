"""A made-up crawl of several sites to train on."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_WORDS = (
    "barley hedge winter siskin harbour lantern meadow copper river thistle market kettle garden window letter "
    "orchard saddle evening marble forest silver bridge cotton summer pebble wagon candle thunder"
).split()


def page_html(site: int, number: int) -> str:
    """A page with a menu, a footer, a box that only some pages have, and text of its own."""
    draw = random.Random(f"{site}/{number}")  # noqa: S311  (test pages, not secrets)
    own = "".join(
        f"<div><p>{' '.join(draw.choices(_WORDS, k=draw.randint(20, 60)))}. And so on, number {number}-{part}.</p>"
        "</div>"
        for part in range(draw.randint(2, 4))
    )
    menu = "".join(
        f"<li><a href='/{word}{site}'>All of the {word} pages of site {site}</a></li>" for word in _WORDS[:6]
    )
    return (
        f"<!doctype html><title>Page {number}</title><body><div class='site-menu'><ul>{menu}</ul></div>"
        f"<h1>Heading {number}</h1>{own}"
        f"<div class='footer'>Copyright of site {site}, all rights reserved by those who made it</div></body>"
    )


def write_training_crawl(folder: Path, sites: int = 6, pages: int = 24) -> Path:
    """Write the pages of some sites, with their addresses."""
    lines = []
    for site in range(sites):
        (folder / f"s{site}").mkdir(parents=True)
        for number in range(pages):
            name = f"s{site}/{number:03}.html"
            (folder / name).write_text(page_html(site, number), "utf-8")
            lines.append(f"{name}\thttps://s{site}.example/{number}.html")
    (folder / "urls.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return folder
