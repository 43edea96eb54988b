"""Discretisation by description length."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chaffinch.learning.classifiers import find_cuts
from chaffinch.learning.mdl import cut_points
from chaffinch.methods.classifiers import Cuts


def test_a_clear_border_is_found() -> None:
    values = np.arange(100, dtype=np.float32)
    assert cut_points(values, values >= 40).tolist() == [40]


def test_two_borders_are_found() -> None:
    values = np.arange(300, dtype=np.float32)
    assert cut_points(values, (values >= 100) & (values < 200)).tolist() == [100, 200]


def test_chance_is_not_cut() -> None:
    generator = np.random.Generator(np.random.PCG64(1))
    values = generator.normal(size=1000).astype(np.float32)
    assert len(cut_points(values, generator.random(1000) < 0.3)) <= 1


def test_nothing_to_cut() -> None:
    assert cut_points(np.zeros(10), np.arange(10) < 5).tolist() == []
    assert cut_points(np.zeros(0), np.zeros(0, dtype=np.bool_)).tolist() == []
    assert cut_points(np.arange(10.0), np.ones(10, dtype=np.bool_)).tolist() == []


def test_the_rule_of_the_paper_on_a_small_case() -> None:
    # By hand: 8 values, the first 4 of one class. The gain is 1 bit; telling of the cut takes
    # (log2(7) + log2(3^2 - 2) - (2 * 1 - 0 - 0)) / 8 = (2.81 + 2.81 - 2) / 8 = 0.45 bits, so the cut is taken.
    labels = np.arange(8) >= 4
    assert cut_points(np.arange(8.0), labels).tolist() == [4]
    # Of 2 values the same takes (0 + 2.81 - 2) / 2 = 0.40 bits; of 4 mixed ones there is too little to gain.
    assert cut_points(np.arange(2.0), np.array([False, True])).tolist() == [1]
    assert cut_points(np.arange(4.0), np.array([False, True, False, True])).tolist() == []


@given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), max_size=60))
def test_cuts_ascend_and_bins_follow_them(pairs: list[tuple[int, bool]]) -> None:
    values = np.array([value for value, _ in pairs], dtype=np.float32)
    labels = np.array([label for _, label in pairs], dtype=np.bool_)
    cuts = cut_points(values, labels)
    assert cuts.tolist() == sorted(set(cuts.tolist()))
    assert set(cuts.tolist()) <= set(values.tolist())
    bins = find_cuts(values[None], labels).bins(values[None])[0]
    assert bins.tolist() == np.searchsorted(cuts, values, side="right").tolist()


def test_features_of_different_numbers_of_cuts_share_a_table() -> None:
    cuts = Cuts(np.array([[1, 2], [5, np.inf]], dtype=np.float32))
    assert cuts.bins(np.array([[0, 1.5, 9], [5, 4, 9]], dtype=np.float32)).tolist() == [[0, 1, 2], [1, 0, 1]]
