"""Every method of the table, in its default and its other shapes, against the shipped conformance suite."""

from __future__ import annotations

from typing import Any

import pytest

from chaffinch.methods import METHODS, AnyMethod, make_method
from chaffinch.methods.conformance import CHECKS

VARIANTS: list[tuple[str, dict[str, str]]] = [
    *((name, {}) for name in METHODS),
    ("sandwich", {"unit": "lines"}),
    ("sandwich", {"peers": "nearest", "most_peers": "3"}),
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
def test_method_conforms(name: str, options: dict[str, str], check: Any) -> None:
    method: AnyMethod = make_method(name, options)
    check(method)
