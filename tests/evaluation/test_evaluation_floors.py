from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from chaffinch.errors import InputError
from chaffinch.evaluation import gate
from chaffinch.evaluation.gate import Check, Floor, main, raised, read_floors, wanted_floors, write_floors
from chaffinch.methods import METHODS

if TYPE_CHECKING:
    from pathlib import Path

OLD = Floor("sites", "sandwich", {"unit": "lines"}, "old", {"f1": 0.9}, {"leak": 0.2})
NOW = Floor("sites", "sandwich", {"unit": "lines"}, "new", {"f1": 0.95, "recall": 1.0, "leak": 0.3}, {})


@pytest.fixture
def floors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny set that the gate measures, and no floors yet."""
    folder = tmp_path / "data/swde/bird-a"
    folder.mkdir(parents=True)
    for number, bird in enumerate(["Wren", "Finch"]):
        (folder / f"000{number}.htm").write_text(f"<body><nav>Home</nav><p>{bird}", "utf-8")
    gold = {"0000": {"name": ["Wren"]}, "0001": {"name": ["Finch"]}}
    (folder / "gold.json").write_text(json.dumps(gold), "utf-8")
    monkeypatch.setenv("CHAFFINCH_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(gate, "GATED", {"swde": ("removed", "kept")})
    return tmp_path / "floors.json"


def test_bounds_are_raised_but_not_weakened() -> None:
    floor = raised(OLD, NOW, keep_old=True)
    assert floor.at_least == {"f1": 0.948, "recall": 0.998}
    assert floor.at_most == {"leak": 0.2}
    assert floor.data_hash == "new"


def test_a_regression_that_is_allowed_weakens_bounds() -> None:
    floor = raised(OLD, replace(NOW, at_least={**NOW.at_least, "f1": 0.8}), keep_old=False)
    assert floor.at_least["f1"] == 0.798
    assert floor.at_most["leak"] == 0.302


def test_baselines_are_bounded_on_both_sides() -> None:
    floor = raised(Floor("sites", "everything", {}, "", {}, {}), NOW, keep_old=True)
    assert (floor.at_least["f1"], floor.at_most["f1"]) == (0.948, 0.952)
    assert (floor.at_least["recall"], floor.at_most["recall"]) == (0.998, 1.0)
    assert (floor.at_least["leak"], floor.at_most["leak"]) == (0.298, 0.302)


def test_bounds_of_baselines_do_not_close_in() -> None:
    floor = Floor("sites", "everything", {}, "new", {"f1": 0.948}, {"f1": 0.952})
    moved = replace(NOW, at_least={**NOW.at_least, "f1": 0.951})
    assert raised(floor, moved, keep_old=True) == floor
    assert raised(floor, moved, keep_old=False).at_most["f1"] == 0.953


def test_a_set_that_is_not_gated_keeps_its_own_measures() -> None:
    floor = raised(replace(OLD, set_name="swde"), NOW, keep_old=True)
    assert (floor.at_least, floor.at_most) == ({"f1": 0.948}, {"leak": 0.2})


def test_a_bound_fails_beyond_itself_or_on_other_data() -> None:
    check = Check("sites", "sandwich", "f1", 0.9, at_least=True, measured=0.9, same_data=True)
    assert check.passed
    assert str(check) == "ok   sites sandwich f1 0.9000 >= 0.9000"
    assert not replace(check, measured=0.89).passed
    assert not replace(check, at_least=False, measured=0.91).passed
    other = replace(check, same_data=False)
    assert not other.passed
    assert str(other).endswith("(the floor was made with other data)")


def test_every_method_wants_floors() -> None:
    wanted = wanted_floors([OLD])
    assert wanted[0] == OLD
    assert {floor.method for floor in wanted} == {"everything", "nothing", "records", *METHODS}


def test_floors_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "floors.json"
    write_floors([OLD], path)
    assert read_floors(path) == [OLD]
    path.write_text('{"floors": [{"set": 1}]}', "utf-8")
    with pytest.raises(InputError, match="holds no floors"):
        read_floors(path)


def test_the_gate_from_floors_that_are_not_there_to_a_regression(
    floors: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--floors", str(floors)]
    assert main(arguments) == 2
    assert "holds no floors" in capsys.readouterr().err
    assert main([*arguments, "--update"]) == 0
    assert main(arguments) == 0
    assert "ok   swde sandwich kept 1.0000 >= 0.9980" in capsys.readouterr().out

    higher = [replace(floor, at_least={**floor.at_least, "kept": 1.5}) for floor in read_floors(floors)]
    write_floors(higher, floors)
    assert main(arguments) == 1
    assert "FAIL swde sandwich kept 1.0000 >= 1.5000" in capsys.readouterr().out
    assert main([*arguments, "--update"]) == 1
    assert "would have to be lowered" in capsys.readouterr().err
    assert read_floors(floors) == higher
    assert main([*arguments, "--update", "--allow-regression"]) == 0
    assert main(arguments) == 0


def test_other_data_fails(floors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--floors", str(floors)]
    assert main([*arguments, "--update"]) == 0
    page = floors.parent / "data/swde/bird-a/0000.htm"
    page.write_text(page.read_text("utf-8") + "\n<!-- changed -->", "utf-8")
    assert main(arguments) == 1
    assert "(the floor was made with other data)" in capsys.readouterr().out
    assert main([*arguments, "--update"]) == 1
