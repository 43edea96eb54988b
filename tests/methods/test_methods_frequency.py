"""Document frequencies: exact up to the bound, never too low beyond it, free of order."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from chaffinch.methods.frequency import Frequencies

pages = st.lists(st.lists(st.integers(0, 30), max_size=12), min_size=1, max_size=8)


def counted(contents: list[list[int]], most: int) -> Frequencies:
    total = Frequencies.of_page(np.array(contents[0], dtype=np.uint64), most)
    for content in contents[1:]:
        total = total.merge(Frequencies.of_page(np.array(content, dtype=np.uint64), most))
    return total


@given(pages)
def test_exact_below_the_bound(contents: list[list[int]]) -> None:
    counts = counted(contents, 1000).of(np.arange(40, dtype=np.uint64))
    assert counts.tolist() == [sum(number in content for content in contents) for number in range(40)]


@settings(max_examples=20)  # a sketch is 32 MB
@given(pages, st.integers(1, 12))
def test_never_too_low_and_free_of_order(contents: list[list[int]], most: int) -> None:
    one, other = counted(contents, most), counted(contents[::-1], most)
    asked = np.arange(40, dtype=np.uint64)
    true = [sum(number in content for content in contents) for number in range(40)]
    assert one.exact == other.exact == (len({number for content in contents for number in content}) <= most)
    assert (one.of(asked) == other.of(asked)).all()
    assert (one.of(asked) >= true).all()


def test_a_million_entries_stay_close() -> None:
    generator = np.random.default_rng(3)
    hashes = np.unique(generator.integers(0, 2**63, 1_000_000, dtype=np.uint64))
    sketch = Frequencies.of_counts(hashes, np.ones(len(hashes), dtype=np.int64), 1000)
    assert not sketch.exact
    assert (sketch.of(hashes[:20_000]) <= 4).mean() > 0.98
