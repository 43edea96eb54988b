"""How a stream of pages is cut."""

from __future__ import annotations

import pytest
from runs_doubles import capture

from chaffinch.errors import InputError
from chaffinch.runs.batches import MOST_BYTES, MOST_PAGES, cut_batches
from chaffinch.runs.work import Batch
from chaffinch.sources import Capture


def batches(items: list[Capture | InputError], *, remember: bool = False) -> list[Batch]:
    return [batch for batch in cut_batches(items, remember=remember) if isinstance(batch, Batch)]


def test_batches_hold_all_pages_in_order() -> None:
    pages: list[Capture | InputError] = [capture(f"https://a.example/{n}", "words") for n in range(3 * MOST_PAGES + 5)]
    cut = batches(pages)
    assert [len(batch.captures) for batch in cut] == [MOST_PAGES] * 3 + [5]
    assert [page for batch in cut for page in batch.captures] == pages


def test_no_batch_without_pages() -> None:
    assert list(cut_batches([], remember=True)) == []


def test_errors_keep_their_place() -> None:
    error = InputError("b.html", "cannot be read")
    one, other = capture("https://a.example/1", "x"), capture("https://a.example/2", "x")
    assert list(cut_batches([error, one, error, other, error], remember=False)) == [
        error,
        Batch((one,)),
        error,
        Batch((other,)),
        error,
    ]


def test_large_pages_close_a_batch() -> None:
    large = [Capture(f"{n}", b"x" * (MOST_BYTES // 2 + 1)) for n in range(3)]
    assert [len(batch.captures) for batch in batches([*large])] == [1, 1, 1]
    larger = Capture("larger", b"x" * (MOST_BYTES + 1))
    assert [len(batch.captures) for batch in batches([Capture("s", b"x"), larger, Capture("s", b"x")])] == [1, 1, 1]


@pytest.mark.parametrize("lost", [False, True])
def test_a_batch_carries_the_page_before_of_each_directory(*, lost: bool) -> None:
    first = [capture(f"https://a.example/x/{n}", "x") for n in range(MOST_PAGES - 1)]
    other = capture("https://a.example/y/0", "y")
    second = [capture("https://a.example/x/next", "x"), capture("https://a.example/z/0", "z")]
    cut = batches([*first, other, *second], remember=not lost)
    assert cut[0].before == ()
    assert cut[1].before == (() if lost else (first[-1],))
