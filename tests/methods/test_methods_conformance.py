"""Every method of the table, in its default and its other shapes, against the shipped conformance suite."""

from __future__ import annotations

from typing import Any

import pytest

from chaffinch.methods import METHODS, AnyMethod, make_method
from chaffinch.methods.conformance import CHECKS, check_memory_is_bounded

DEFAULTS: list[tuple[str, dict[str, str]]] = [(name, {}) for name in METHODS]
VARIANTS: list[tuple[str, dict[str, str]]] = [
    ("sandwich", {"unit": "lines"}),
    ("sandwich", {"peers": "nearest", "most_peers": "3"}),
    ("chunks", {"delimiters": "blocks"}),
    ("chunks", {"cluster": "true", "most_sampled": "4"}),
    ("offsets", {"layout": "paper", "segments": "1"}),
    ("offsets", {"layout": "modern", "position_slack": "2", "early_exit": "true", "from_block_start": "false"}),
    ("blocks", {"modern": "true", "leaves": "false", "menus": "1"}),
]
QUICK = [check for check in CHECKS if check is not check_memory_is_bounded]


@pytest.mark.parametrize("check", QUICK, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("name", "options"), [*DEFAULTS, *VARIANTS], ids=str)
def test_method_conforms(name: str, options: dict[str, str], check: Any) -> None:
    method: AnyMethod = make_method(name, options)
    check(method)


@pytest.mark.parametrize(("name", "options"), [*DEFAULTS, ("chunks", {"cluster": "true"})], ids=str)
def test_memory_is_bounded(name: str, options: dict[str, str]) -> None:
    """In the shapes that hold different things; the check takes seconds."""
    check_memory_is_bounded(make_method(name, options))
