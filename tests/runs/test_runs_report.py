"""What a run tells of itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

import chaffinch
from chaffinch.runs import LearnReport, Outcome, RunReport, SiteLearned

PAGE = chaffinch.extract("<p>one two three four")


def outcome(site: str, *, kept: int = 4, informed: bool = True, **fields: float | None) -> Outcome:
    return Outcome("s", site, replace(PAGE, words_in=4, words_kept=kept), informed=informed, **fields)  # type: ignore[arg-type]


def report_of(*outcomes: Outcome, templates: str | None = None) -> RunReport:
    report = RunReport("common", templates)
    for one in outcomes:
        report.count(one)
    return report


def test_counts() -> None:
    report = report_of(
        outcome("a.example", kept=1),
        outcome("a.example", kept=3, informed=False),
        outcome("b.example", kept=4),
        Outcome("u", "a.example"),
        Outcome("page", "b.example", error="broken"),
        Outcome("missing.html", error="cannot be found"),
    )
    assert report.as_json() == {
        "version": chaffinch.__version__,
        "method": "common",
        "sites": [
            {
                "site": "a.example",
                "pages": 2,
                "informed": 1,
                "words_in": 8,
                "words_kept": 4,
                "failures": 0,
                "template_share": 0.5,
            },
            {
                "site": "b.example",
                "pages": 1,
                "informed": 1,
                "words_in": 4,
                "words_kept": 4,
                "failures": 1,
                "template_share": 0.0,
            },
        ],
        "total": {
            "pages": 3,
            "informed": 2,
            "words_in": 12,
            "words_kept": 8,
            "failures": 2,
            "template_share": 0.3333,
        },
        "unwanted": 1,
        "failures": [{"source": "page", "reason": "broken"}, {"source": "missing.html", "reason": "cannot be found"}],
        "superseded": 0,
        "stages": {},
        "seconds": 0.0,
        "peak_memory": 0,
    }
    assert "1 of 3 pages stood alone: common found no other page" in report.as_table()


def test_no_page_at_all() -> None:
    report = report_of()
    assert report.total.template_share == 0
    assert report.remarks() == ["No page was found."]
    report.unwanted = 1
    assert report.remarks() == ["1 page left out by --include and --exclude, and no other found."]


def test_many_sites_are_summed_up() -> None:
    report = report_of(*(outcome(f"{number:03}.example") for number in range(100)))
    table = report.as_table(most_sites=10)
    assert "90 more sites" in table
    assert "009.example" in table
    assert "010.example" not in table


@pytest.mark.parametrize(
    ("fits", "learned", "drifted"),
    [
        ([0.2, 0.3, 0.4], 0.8, True),
        ([0.4, 0.4, 0.4], 0.8, False),
        ([0.1, 0.1], 0.8, False),
        ([0.1, 0.1, 0.1], None, False),
        ([0.0, 0.0, 0.0], 0.0, False),
        ([0.0, 0.0, 0.0, 1.0], 0.8, True),
    ],
    ids=["fallen", "half is no fall", "two pages tell nothing", "not measured", "never fitted", "mostly fallen"],
)
def test_drift(fits: list[float], learned: float | None, *, drifted: bool) -> None:
    report = report_of(*(outcome("a.example", fit=fit, fit_learned=learned) for fit in fits), templates="t.db")
    assert report.drifted == (["a.example"] if drifted else [])
    assert report.as_json()["sites"][0]["drifted"] is drifted
    assert report.as_json()["sites"][0]["fit_learned"] == learned
    assert ("a.example looks redesigned" in report.as_table()) is drifted


def test_only_some_of_many_drifted_sites_are_named() -> None:
    report = report_of(
        *(outcome(f"{n}.example", fit=0.0, fit_learned=0.9) for n in range(30) for _ in range(3)), templates="t.db"
    )
    assert sum("looks redesigned" in line for line in report.remarks()) == 20
    assert report.remarks()[-1] == "So do 10 more sites."


def test_learn_report() -> None:
    report = LearnReport("common", "t.db", {f"{n}.example": SiteLearned(2, 5, 0.5) for n in range(50)})
    assert report.pages == 100
    assert "10 more sites" in report.as_table()
    assert report.as_json()["sites"][0] == {"site": "0.example", "pages": 2, "pages_in_all": 5, "fit": 0.5}
