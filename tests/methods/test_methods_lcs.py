"""The longest common subsequence, against the textbook's table."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chaffinch.methods import lcs
from chaffinch.methods.lcs import in_common

sequences = st.lists(st.integers(0, 6), max_size=40)


def textbook_length(one: list[int], other: list[int]) -> int:
    row = [0] * (len(other) + 1)
    for a in one:
        before = 0
        for j, b in enumerate(other, start=1):
            before, row[j] = row[j], before + 1 if a == b else max(row[j], row[j - 1])
    return row[-1]


def hashes(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array(values, dtype=np.uint64) + np.uint64(2**63)


def is_subsequence(part: list[int], whole: list[int]) -> bool:
    rest = iter(whole)
    return all(value in rest for value in part)


@given(sequences, sequences)
def test_longest_and_common(one: list[int], other: list[int]) -> None:
    mask = in_common(hashes(one), hashes(other))
    common = [value for value, shared in zip(one, mask.tolist(), strict=True) if shared]
    assert is_subsequence(common, other)
    assert len(common) == textbook_length(one, other)


@given(sequences, sequences)
@example(one=[0, 0, 0, 0, 1], other=[0, 0, 0, 1, 0, 0, 0, 0, 0, 0])  # what is left of the two differs in length
def test_beyond_the_bound_still_common(one: list[int], other: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lcs, "EXACT_CELLS", 0)
        mask = in_common(hashes(one), hashes(other))
    common = [value for value, shared in zip(one, mask.tolist(), strict=True) if shared]
    assert is_subsequence(common, other)


@given(st.permutations(range(30)), st.permutations(range(30)))
def test_beyond_the_bound_longest_where_nothing_repeats(one: list[int], other: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lcs, "EXACT_CELLS", 0)
        mask = in_common(hashes(one), hashes(other))
    assert mask.sum() == textbook_length(one, other)


@pytest.mark.parametrize("shape", ["all equal", "few values", "reversed", "all different"])
def test_fifty_thousand_lines_do_not_take_minutes(shape: str) -> None:
    generator = np.random.default_rng(0)
    one = np.arange(50_000, dtype=np.uint64)
    if shape == "few values":
        one = generator.integers(0, 3, 50_000).astype(np.uint64)
    elif shape == "all equal":
        one = np.zeros(50_000, dtype=np.uint64)
    other = {"reversed": one[::-1], "all different": one + np.uint64(10**6)}.get(
        shape, generator.permutation(one)[:49_000]
    )
    start = time.thread_time()
    in_common(one, other)
    # Not a benchmark: minutes are the fault to be caught, and a second is usual.
    assert time.thread_time() - start < 60
