"""The curves, on tiny sets in the form of the labelled ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from chaffinch.evaluation.curves import TimeRow, few_pages, grown, growth, shares, thresholds, times, to_json
from chaffinch.evaluation.datasets import Regions, Sites
from chaffinch.methods import METHODS
from chaffinch.methods.blocks import FrequentBlocks
from chaffinch.sources.capture import Capture

if TYPE_CHECKING:
    from pathlib import Path

MENU = "<nav><a href=/>Home</a> <a href=/a>About us</a></nav>"
BLOCKS = [FrequentBlocks()]


@pytest.fixture
def swde(tmp_path: Path) -> Path:
    """One site of four pages."""
    folder = tmp_path / "swde" / "bird-a"
    folder.mkdir(parents=True)
    gold = {}
    for number, bird in enumerate(["Wren", "Finch", "Robin", "Crow"]):
        page = f"<html><body>{MENU}<h1>{bird}</h1><p>The {bird.lower()} sings.</p></body></html>"
        (folder / f"000{number}.htm").write_text(page, "utf-8")
        gold[f"000{number}"] = {"name": [bird]}
    (folder / "gold.json").write_text(json.dumps(gold), "utf-8")
    return tmp_path


@pytest.fixture
def sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One site of four pages, its gold known beforehand."""
    folder = tmp_path / "sites" / "sites" / "birds"
    folder.mkdir(parents=True)
    pages = []
    for number, bird in enumerate(["wren", "finch", "robin", "crow"]):
        (folder / f"{number}.html").write_text(f"{MENU}<p>The {bird} sings.", "utf-8")
        pages.append({"file": f"{number}.html", "url": f"https://birds.example/{number}", "bird": bird})
    (folder / "site.json").write_text(json.dumps({"pages": pages}), "utf-8")
    (tmp_path / "sites" / "split.json").write_text(
        json.dumps({"open": ["birds"], "stratified_by": {"docs": ["birds"]}}), "utf-8"
    )
    (tmp_path / "sites" / "gold.py").write_text("# part of what the set is known by\n", "utf-8")
    gold = {page["file"]: Regions(f"The {page['bird']} sings.", "Home About us", "") for page in pages}
    monkeypatch.setattr(Sites, "_gold", lambda *_: gold)
    return tmp_path


def test_few_pages_of_a_site(sites: Path) -> None:
    rows = few_pages(BLOCKS, pages=(2, 4, 8), root=sites)
    assert [(row.method, row.pages, row.sites) for row in rows] == [
        *(("blocks", pages, here) for pages, here in ((2, 1), (4, 1), (8, 0))),
        *(("everything", pages, here) for pages, here in ((2, 1), (4, 1), (8, 0))),
    ]
    assert all((row.precision, row.recall, row.f1, row.leak) == (1, 1, 1, 0) for row in rows[:3])
    assert all(row.leak == 1.0 for row in rows[3:])


def test_few_pages_are_drawn_alike_every_time(sites: Path) -> None:
    assert few_pages(BLOCKS, pages=(2, 3), root=sites) == few_pages(BLOCKS, pages=(2, 3), root=sites)


def test_thresholds(swde: Path) -> None:
    rows = thresholds(BLOCKS, at=(0.0, 0.5, 1.0), root=swde)
    assert [(row.threshold, row.kept) for row in rows] == [(0.0, 0.0), (0.5, 1.0), (1.0, 1.0)]
    removed = [row.removed for row in rows]
    assert removed == sorted(removed, reverse=True)
    assert removed[0] == 1.0
    assert removed[1] == pytest.approx(3 / 7)


def test_all_methods_are_measured_if_none_is_named(swde: Path) -> None:
    rows = thresholds(at=(0.5,), root=swde)
    assert [row.method for row in rows] == list(METHODS)


def test_shares(sites: Path, swde: Path) -> None:
    assert sites == swde
    rows = shares(at=(0.5, 1.0), root=swde)
    assert [(row.method, row.share) for row in rows] == [
        (name, share) for name in ("chunks", "offsets", "blocks") for share in (0.5, 1.0)
    ]
    assert all((row.f1, row.leak, row.kept) == (1, 0, 1) for row in rows)
    assert all(row.removed == pytest.approx(3 / 7) for row in rows)


def test_times(swde: Path) -> None:
    rows = times(BLOCKS, pages=(2, 4, 8), sites=("bird-a",), root=swde)
    assert [(row.method, row.site, row.pages) for row in rows] == [("blocks", "bird-a", n) for n in (2, 4, 8)]
    assert all(row.parse > 0 and row.learn > 0 and row.score > 0 and row.per_page > 0 for row in rows)


def test_a_site_grows_by_varied_content() -> None:
    bodies = [f"<body><nav>The menu</nav><p>own words {n}</p>" for n in range(3)]
    captures = [Capture(f"s{n}", body.encode(), path=f"{n}.html") for n, body in enumerate(bodies)]
    pages = list(grown(captures, 7))
    assert pages[:3] == captures
    assert pages[3].body == b"<body><nav>The menu</nav><p>ownv1 wordsv1 0v1</p>"
    assert pages[6].body == b"<body><nav>The menu</nav><p>ownv2 wordsv2 0v2</p>"
    assert len({page.path for page in pages}) == len({page.source for page in pages}) == 7
    assert list(grown(captures, 2)) == captures[:2]


def test_growth_is_an_exponent() -> None:
    def rows(method: str, power: float) -> list[TimeRow]:
        return [TimeRow(method, "a", n, 1.0, 0.001 * n**power, 0.0) for n in (10, 100, 1000)]

    found = growth([*rows("linear", 1), *rows("quadratic", 2), TimeRow("once", "a", 5, 1, 1, 1)])
    assert found[("linear", "a")] == pytest.approx(1)
    assert found[("quadratic", "a")] == pytest.approx(2)
    assert found[("once", "a")] == 0.0


def test_rows_as_json() -> None:
    rows: list[dict[str, Any]] = json.loads(to_json([TimeRow("blocks", "a", 5, 1 / 3, 0.5, 2)]))
    assert rows == [{"method": "blocks", "site": "a", "pages": 5, "parse": 0.3333, "learn": 0.5, "score": 2}]


def test_more_processes_give_the_same(swde: Path) -> None:
    assert thresholds(BLOCKS, at=(0.5,), root=swde, jobs=2) == thresholds(BLOCKS, at=(0.5,), root=swde)
