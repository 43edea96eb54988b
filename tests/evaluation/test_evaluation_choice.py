"""A setting is measured on the site that had no say in choosing it."""

from __future__ import annotations

from chaffinch.evaluation.choice import leave_one_out
from chaffinch.evaluation.results import Result, SiteRow


def result(name: str, *values: float) -> Result:
    sites = tuple(
        SiteRow(f"{number}", "any", 1, {"f1": value, "leak": 1 - value}) for number, value in enumerate(values)
    )
    return Result(name, name, (), sites)


def test_the_site_left_out_has_no_say() -> None:
    # On all sites together "a" is best, by far; without the first site "b" is.
    found = leave_one_out([result("a", 1.0, 0.5, 0.5), result("b", 0.1, 0.6, 0.6)])
    assert found.chosen == {"a": 2, "b": 1}
    assert found.measures == {"f1": (0.1 + 0.5 + 0.5) / 3, "leak": (0.9 + 0.5 + 0.5) / 3}


def test_among_equals_the_first_is_chosen() -> None:
    assert leave_one_out([result("a", 0.5, 0.5), result("b", 0.5, 0.5)]).chosen == {"a": 2}


def test_another_measure() -> None:
    assert leave_one_out([result("a", 1.0, 1.0), result("b", 0.0, 0.0)], "leak").chosen == {"b": 2}


def test_no_sites_and_one() -> None:
    assert leave_one_out([result("a")]).measures == {}
    assert leave_one_out([result("a", 0.25), result("b", 0.75)]).measures["f1"] == 0.25
