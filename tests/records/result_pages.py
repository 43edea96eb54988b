"""Invented result pages: a shop, a job board and a table, as a search engine's script would write them."""

from __future__ import annotations

import random

NAMES = "Sunflower Hearts,Nyjer Seed,Peanut Granules,Suet Pellets,Mealworms,Hemp Seed,Red Millet,White Millet".split(
    ","
)
MAKERS = "Finch & Sons,Old Aviary,Parinde,Birdseed Mill,Tori Foods".split(",")
WORDS = "fresh clean garden winter tits robins bag sack feeder crop harvest dust free high energy small large".split()


def product(rng: random.Random) -> str:
    """A record: title, maker, price, perhaps a review count, a description with a decorative tag."""
    words = [rng.choice(WORDS) for _ in range(12)]
    words[rng.randrange(12)] = "<b>seed</b>"
    reviews = f'<span class="reviews">{rng.randrange(2, 90)} reviews</span>' if rng.random() < 0.6 else ""
    name = f"{rng.choice(NAMES)} {rng.randrange(100, 999)}"
    return (
        f'<li class="hit"><a class="title" href="/p/{rng.randrange(9999)}">{name}</a>'
        f'<img src="/i/{rng.randrange(9999)}.jpg"><p class="by">by <a href="/m">{rng.choice(MAKERS)}</a></p>'
        f'<span class="price">${rng.randrange(1, 40)}.{rng.randrange(10, 99)}</span>{reviews}'
        f'<p class="text">{" ".join(words)}</p></li>'
    )


def shop(seed: int, count: int = 12) -> str:
    """A page of a shop with a menu that repeats more than the results do."""
    rng = random.Random(seed)  # noqa: S311
    menu = "".join(f'<li class="nav"><a href="/c/{n}">Category {n}</a></li>' for n in range(40))
    hits = "".join(product(rng) for _ in range(count))
    return (
        f"<html><head><title>Search {seed}</title></head><body><ul id=menu>{menu}</ul>"
        f'<h1>Results for seed {seed}</h1><div class="main"><ul class="hits">{hits}</ul></div>'
        "<div class=foot><p>Terms</p><p>Privacy</p><p>About</p></div></body></html>"
    )


def no_results() -> str:
    """The shop's page for a query that nothing matches."""
    return shop(1, 0).replace("<h1>", "<p>No results found.</p><h1>")


def news(seed: int, count: int = 15) -> str:
    """A table in which each record is two rows, with a third as a space between records."""
    rng = random.Random(seed)  # noqa: S311
    rows = "".join(
        f'<tr class="athing"><td>{n}.</td><td><a href="/{n}">{" ".join(rng.choices(WORDS, k=6))}</a></td></tr>'
        f'<tr><td></td><td class="sub"><b>{rng.randrange(300)} points</b> <a>{rng.choice(NAMES)}</a></td></tr>'
        '<tr class="spacer"></tr>'
        for n in range(1, count + 1)
    )
    return f"<html><body><table>{rows}</table><p>Guidelines</p></body></html>"


def definitions(seed: int, count: int = 15) -> str:
    """A list of terms, some with a year behind the description, with an advertisement after every fifth."""
    rng = random.Random(seed)  # noqa: S311
    parts = "".join(
        f'<dt><a href="/{n}">{" ".join(rng.choices(WORDS, k=4))}</a></dt><dd>{" ".join(rng.choices(WORDS, k=14))}</dd>'
        + (f'<dd class="year">{rng.randrange(1990, 2020)}</dd>' if rng.random() < 0.6 else "")
        + (f'<dd class="ad">Advertisement {rng.choice(NAMES)}</dd>' if n % 5 == 4 else "")
        for n in range(count)
    )
    return f"<html><body><div><a>Home</a> <a>About</a></div><dl>{parts}</dl></body></html>"


def headings(seed: int, count: int = 15) -> str:
    """Records of a heading and two paragraphs, parted by rules."""
    rng = random.Random(seed)  # noqa: S311
    parts = "<hr>".join(
        f'<h3><a href="/{n}">{" ".join(rng.choices(WORDS, k=4))}</a></h3><p>{" ".join(rng.choices(WORDS, k=14))}</p>'
        f'<p class="price">${rng.randrange(2000)}.00</p>'
        for n in range(count)
    )
    return f"<html><body><div><a>Home</a> <a>About</a></div><div id=results>{parts}</div></body></html>"
