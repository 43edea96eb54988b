"""How far a method is trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

import chaffinch
from chaffinch.errors import UsageError
from chaffinch.methods import FAVORS, Favor, make_method, read_favor, threshold_of
from chaffinch.methods.blocks import FrequentBlocks
from chaffinch.methods.conformance import make_site
from chaffinch.methods.favor import Calibrated, Calibration


@dataclass(frozen=True)
class Measured(FrequentBlocks):
    """A method that knows what its scores are worth."""

    @property
    def calibration(self) -> Calibration:
        return Calibration(np.array([1.0, 0.8, 0.4, 0.1, 0.0], dtype=np.float32), precision=0.75, recall=0.25)


def test_names_and_shares_without_a_calibration() -> None:
    method = make_method("blocks")
    assert not isinstance(method, Calibrated)
    favors: list[Favor] = [0.0, "recall", 0.4, "balanced", "precision", 1.0]
    assert [threshold_of(method, favor) for favor in favors] == [math.inf, 0.75, 0.6, 0.5, 0.25, 0.0]


def test_a_calibration_says_what_a_share_is() -> None:
    method = Measured()
    favors: list[Favor] = [0, "recall", 0.5, "balanced", "precision", 0.875, 1]
    expected = [math.inf, 0.8, 0.4, 0.5, 0.1, 0.05, 0.0]
    assert [threshold_of(method, favor) for favor in favors] == pytest.approx(expected)


@pytest.mark.parametrize("text", ["", "high", "-0.1", "1.1", "nan", "inf"])
def test_what_cannot_be_favored(text: str) -> None:
    with pytest.raises(UsageError, match="precision, balanced, recall or a number from 0 to 1"):
        read_favor(text)


def test_what_is_favored_reads_back() -> None:
    assert [read_favor(name) for name in FAVORS] == list(FAVORS)
    assert read_favor("0.3") == 0.3


def test_the_library_takes_it() -> None:
    pages = make_site(8)
    site = chaffinch.learn(pages, method="blocks")
    favors: list[Favor] = [0.0, "recall", "balanced", "precision", 1.0]
    kept = [chaffinch.extract(pages[0], template=site, favor=favor).words_kept for favor in favors]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > kept[2] > kept[-1] == 0
    with pytest.raises(UsageError):
        chaffinch.extract(pages[0], favor=2.0)
