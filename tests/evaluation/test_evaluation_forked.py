"""Trainings beside each other."""

from __future__ import annotations

import os
from functools import partial
from time import sleep

import pytest

from chaffinch.errors import RunError
from chaffinch.evaluation.forked import run_forked


def _work(number: int) -> tuple[int, int]:
    sleep(0.05 * (3 - number))
    return number, os.getpid()


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_come_in_the_order_of_the_tasks_whatever_ends_first(jobs: int) -> None:
    results = run_forked([partial(_work, number) for number in range(3)], jobs)
    assert [number for number, _ in results] == [0, 1, 2]
    assert len({process for _, process in results} | {os.getpid()}) == 4


def test_a_training_that_dies_is_named() -> None:
    with pytest.raises(RunError, match="training 2 of 2: its process has died"):
        run_forked([partial(_work, 0), partial(os._exit, 3)], 1)
