"""Pages made to take for ever, or to fill the memory."""

from __future__ import annotations

import time

import numpy as np
import pytest

from chaffinch.page.build import parse
from chaffinch.render import FORMATS, render

DEEP = 20_000
WIDE = 60_000

PAGES = {
    "nested div": "<div>x" * DEEP,
    "nested ul": "<ul><li>x" * DEEP,
    "nested ol": "<ol><li>" * DEEP + "x",
    "nested b": "<b>x" * DEEP,
    "nested b and blocks": "<b><p>x</p>" * DEEP,
    "nested q": "<q>" * DEEP + "x",
    "nested tables": "<table><tr><td>x" * (DEEP // 4),
    "nested quotations": "<blockquote>x" * DEEP,
    "nested definitions": "<dl><dd>x" * DEEP,
    "nested unknown elements": "<x-a><code><sup>" * (DEEP // 3) + "x",
    "nested pre": "<pre>x" * DEEP,
    "nested images": "<div><img src=i.png alt=a>" * DEEP + "x",
    "nested notes": "<sup><a href='#n7'>7</a></sup>" + "".join(f"<div id=n{n}>x" for n in range(DEEP)),
    "siblings": "<p>x</p>" * WIDE,
    "inline siblings": "<i>x</i> <a href=y>z</a>" * WIDE,
    "items": "<ol>" + "<li>x" * WIDE,
    "rows": "<table>" + "<tr><td rowspan=70000>x<td>y<td>z" * WIDE,
    "wide row": "<table><tr>" + "<td rowspan=9>x" * WIDE + "<tr><td>y" * 30,
    "wide spans": "<table>" + "<tr><td colspan=9007199254740991>x<td>y" * WIDE,
    "many pre": "<pre>x</pre>" * (WIDE // 4),
    "notes": "".join(f"<sup><a href='#n{n}'>q q</a></sup><p id=n{n}>x" for n in range(WIDE // 12)),
    "large attribute": (
        f"<a href='{'(' * 10**6}' title='{'t' * 10**6}'>x</a><img srcset='{', ' * 10**6}' alt='{'[' * 10**6}'>"
    ),
    "large class": f"<pre class='{'brush ' * 10**5}'>x</pre><p>{'`' * 10**5} {'*_[' * 10**5}</p>",
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_time_and_size_stay_in_bounds(name: str) -> None:
    html = PAGES[name]
    page = parse(html, url="https://example.org/")
    kept = np.ones(len(page.texts), dtype=np.bool_)
    start = time.thread_time()
    for target in FORMATS:
        # Indentation is capped, so no page grows by more than its markers.
        assert len(render(page, kept, target)) < 30 * len(html) + 10_000
    assert time.thread_time() - start < 20
