"""The accuracy gate itself: no measure may lie beyond its bound in `floors.json`."""

from __future__ import annotations

import pytest

from chaffinch.errors import InputError, MissingExtraError
from chaffinch.evaluation.datasets import find_data
from chaffinch.evaluation.gate import GATED, check_floors, read_floors


def _data_is_here() -> bool:
    try:
        find_data()
    except InputError:
        return False
    return True


def test_baselines_of_all_sets_are_bounded() -> None:
    bounded = {(floor.set_name, floor.method) for floor in read_floors()}
    sets = set(GATED) - {"records"}
    assert {(name, baseline) for name in sets for baseline in ("everything", "nothing")} <= bounded
    assert ("records", "records") in bounded


@pytest.mark.shared_data
@pytest.mark.skipif(not _data_is_here(), reason="the evaluation data is not here (set CHAFFINCH_DATA to its folder)")
def test_no_floor_is_broken() -> None:
    try:
        checks = check_floors()
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert checks
    broken = "\n".join(str(check) for check in checks if not check.passed)
    assert not broken, f"accuracy fell; if that is wanted, see chaffinch.evaluation.gate:\n{broken}"
