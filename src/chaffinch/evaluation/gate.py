"""The accuracy gate: what was once reached on the labelled sets must be reached again.

    python -m chaffinch.evaluation.gate                 check the floors
    python -m chaffinch.evaluation.gate --update        raise them to what is measured now, and add new methods

`floors.json` keeps, for each set and method, bounds that measures must not cross. The baselines are bounded on both
sides: if *they* move, it is the measuring that has changed. A floor is only as good as its data, so each names the
data's hash and fails when that differs.

These are floors against regression, no figures of merit: the shipped networks of `fused` were trained on the pages of
these sets, and the forest of `model` on blocks of those of `sites`, so there they do better than on pages of other
sites. What to expect of those, the held-out figures tell.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from chaffinch.errors import ChaffinchError, InputError, UsageError
from chaffinch.evaluation.datasets import data_hash
from chaffinch.evaluation.evaluate import Settings, compare
from chaffinch.evaluation.predictors import EVERYTHING, NOTHING
from chaffinch.evaluation.records_report import measure_records, records_hash
from chaffinch.evaluation.scoring import LOWER_IS_BETTER
from chaffinch.methods import METHODS, make_method

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FLOORS: Final = Path(__file__).with_name("floors.json")
SLACK: Final = 0.002
"""How far a measure may fall before the gate closes: less than anybody sees, more than rounding."""

GATED: Final[dict[str, tuple[str, ...]]] = {
    "sites": ("f1", "recall", "leak"),
    "wcxb-sample": ("f1",),
    "records": ("record_f1", "unit_f1", "aligned_f1"),
}
"""The sets of the gate, small enough to be run often, and the measures that are bounded on them."""

_RECORDS: Final = "records"
"""The set of result pages, and the one way to mine them: with the weights that are shipped. They were learned from
these pages, so this guards the code and the weights; how good they are elsewhere, `chaffinch evaluate records` says."""
_BASELINES: Final = (EVERYTHING, NOTHING)
_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class Floor:
    """The bounds of one method on one set."""

    set_name: str
    method: str
    options: Mapping[str, str]
    data_hash: str
    at_least: Mapping[str, float]
    at_most: Mapping[str, float]

    @property
    def key(self) -> tuple[str, str, str]:
        """What is bounded: there is one floor for each."""
        return self.set_name, self.method, json.dumps(dict(self.options), sort_keys=True)

    @property
    def is_baseline(self) -> bool:
        """Whether this bounds the measuring rather than a method."""
        return self.method in _BASELINES


@dataclass(frozen=True, slots=True)
class Check:
    """One bound, and where the measure lies."""

    set_name: str
    method: str
    measure: str
    bound: float
    at_least: bool
    """Whether the measure must not be lower; otherwise it must not be higher."""
    measured: float
    same_data: bool
    """Whether the floor was made with the data that is here."""

    @property
    def passed(self) -> bool:
        """Whether the bound holds, on the same data."""
        holds = self.measured >= self.bound if self.at_least else self.measured <= self.bound
        return holds and self.same_data

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        verdict = "ok  " if self.passed else "FAIL"
        data = "" if self.same_data else "  (the floor was made with other data)"
        measure = f"{self.set_name} {self.method} {self.measure}"
        return f"{verdict} {measure} {self.measured:.4f} {sign} {self.bound:.4f}{data}"


def read_floors(path: Path = FLOORS) -> list[Floor]:
    """Read the floors."""
    try:
        entries = json.loads(path.read_text("utf-8"))["floors"]
        return [Floor(**entry) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(str(path), f"holds no floors: {error}") from error


def write_floors(floors: Iterable[Floor], path: Path = FLOORS) -> None:
    """Write the floors, sorted."""
    entries = [asdict(floor) for floor in sorted(floors, key=lambda floor: floor.key)]
    path.write_text(json.dumps({"floors": entries}, indent=2) + "\n", "utf-8")


def check_floors(floors: Sequence[Floor] | None = None, *, jobs: int = 1) -> list[Check]:
    """Measure everything that has a floor, and compare."""
    bounded = read_floors() if floors is None else list(floors)
    measured = _measure(bounded, jobs)
    return [check for floor in bounded for check in _checks(floor, measured[floor.key])]


def _checks(floor: Floor, measured: Floor) -> list[Check]:
    same = floor.data_hash == measured.data_hash
    return [
        Check(floor.set_name, floor.method, name, bound, at_least, measured.at_least[name], same)
        for bounds, at_least in ((floor.at_least, True), (floor.at_most, False))
        for name, bound in bounds.items()
    ]


def _measure(floors: Iterable[Floor], jobs: int) -> dict[tuple[str, str, str], Floor]:
    """Return for each floor what is measured now: all its measures, as `at_least`. Pages are parsed once for a set."""
    by_set: dict[str, list[Floor]] = {}
    for floor in floors:
        by_set.setdefault(floor.set_name, []).append(floor)
    result: dict[tuple[str, str, str], Floor] = {}
    for set_name, wanted in by_set.items():
        if set_name == _RECORDS:
            macro, now = measure_records(cross=False).macro(), records_hash()
            result |= {floor.key: replace(floor, data_hash=now, at_least=macro, at_most={}) for floor in wanted}
            continue
        own = [floor for floor in wanted if not floor.is_baseline]
        methods = [make_method(floor.method, floor.options) for floor in own]
        evaluation = compare(set_name, methods, settings=Settings(jobs=jobs))
        baselines = [floor for floor in wanted if floor.is_baseline]
        found = [*evaluation.results[: len(own)], *(evaluation[floor.method] for floor in baselines)]
        for floor, part in zip([*own, *baselines], found, strict=True):
            now = data_hash(set_name)
            result[floor.key] = replace(floor, data_hash=now, at_least=part.macro, at_most={})
    return result


def wanted_floors(floors: Iterable[Floor]) -> list[Floor]:
    """Return `floors`, and behind them empty ones for whatever has none yet: the baselines and every method."""
    present = {floor.key: floor for floor in floors}
    for set_name in GATED:
        for name in (_RECORDS,) if set_name == _RECORDS else (*_BASELINES, *METHODS):
            floor = Floor(set_name, name, {}, "", {}, {})
            present.setdefault(floor.key, floor)
    return list(present.values())


def update_floors(floors: Iterable[Floor], *, allow_regression: bool = False, jobs: int = 1) -> list[Floor]:
    """Return floors raised to what is measured now, less some slack.

    Raises `UsageError` where a floor would have to be lowered, unless `allow_regression`.
    """
    bounded = wanted_floors(floors)
    measured = _measure(bounded, jobs)
    if not allow_regression:
        broken = [str(check) for floor in bounded for check in _checks(floor, measured[floor.key]) if not check.passed]
        if broken:
            raise UsageError("the floors would have to be lowered:\n" + "\n".join(broken))
    return [raised(floor, measured[floor.key], keep_old=not allow_regression) for floor in bounded]


def raised(floor: Floor, measured: Floor, *, keep_old: bool) -> Floor:
    """Return the floor for what is measured; with `keep_old` no bound becomes weaker than it was.

    The bounds of a baseline then stay where they are: raised again and again they would close in on each other.
    """
    if keep_old and floor.is_baseline and floor.at_least:
        return floor
    at_least: dict[str, float] = {}
    at_most: dict[str, float] = {}
    for name in GATED.get(floor.set_name, (*floor.at_least, *floor.at_most)):
        value = measured.at_least[name]
        if floor.is_baseline or name not in LOWER_IS_BETTER:
            low = round(max(0.0, value - SLACK), _DIGITS)
            at_least[name] = max(low, floor.at_least.get(name, low)) if keep_old else low
        if floor.is_baseline or name in LOWER_IS_BETTER:
            high = round(min(1.0, value + SLACK), _DIGITS)
            at_most[name] = min(high, floor.at_most.get(name, high)) if keep_old else high
    return replace(floor, data_hash=measured.data_hash, at_least=at_least, at_most=at_most)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check or update the floors; return 0 if all is well, 1 if a bound does not hold, 2 for other errors."""
    parser = argparse.ArgumentParser(prog="python -m chaffinch.evaluation.gate", description="The accuracy gate.")
    parser.add_argument("--update", action="store_true", help="raise the floors to what is measured now")
    parser.add_argument("--allow-regression", action="store_true", help="with --update, lower floors too")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes share the work (default: 1)")
    parser.add_argument("--floors", type=Path, default=FLOORS, help="the file of floors (default: the package's)")
    options = parser.parse_args(arguments)
    try:
        return _run(options)
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except ChaffinchError as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _run(options: Any) -> int:  # noqa: ANN401 - argparse's namespace
    path: Path = options.floors
    if options.update:
        floors = update_floors(
            read_floors(path) if path.exists() else [],
            allow_regression=options.allow_regression,
            jobs=options.jobs,
        )
        write_floors(floors, path)
        sys.stdout.write(f"{len(floors)} floors written to {path}\n")
        return 0
    checks = check_floors(read_floors(path), jobs=options.jobs)
    sys.stdout.write("".join(f"{check}\n" for check in checks))
    return 0 if checks and all(check.passed for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
