from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from chaffinch.evaluation.lines import LineKind, LinePage, line_kinds, line_report, line_score
from chaffinch.evaluation.paper import evaluate_line_filter, kept_lines

if TYPE_CHECKING:
    from pathlib import Path

EMPTY, TEMPLATE, CONTENT = LineKind

PAGE = """<html>
<!-- a comment
about wrens -->
<div
 class="wrens">

&nbsp;
<a href="/">Home</a>
<p>Wrens sing &amp; build
nests in spring |</p>
<script>
var wrens = "sing";

</script>
<br>
</html>"""


def test_lines_get_their_kinds_from_the_text_gold() -> None:
    assert line_kinds(PAGE, "Wrens sing & build nests in spring") == [
        *[EMPTY] * 7,
        TEMPLATE,
        CONTENT,
        CONTENT,
        EMPTY,
        TEMPLATE,
        EMPTY,
        EMPTY,
        EMPTY,
        EMPTY,
    ]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("one two other words", CONTENT),  # exactly half
        ("one other words", TEMPLATE),
        ("|", TEMPLATE),
        ("<br/> <hr>", EMPTY),
        ("<script>one()</script>", TEMPLATE),
        ("a < b", TEMPLATE),
        ("\0", EMPTY),
        ("", EMPTY),
    ],
)
def test_kinds_of_single_lines(line: str, kind: LineKind) -> None:
    assert line_kinds(line, "one two") == [kind]


def test_all_line_ends_count() -> None:
    assert line_kinds("one\r\nhome\rtwo\n", "one two") == [CONTENT, TEMPLATE, CONTENT, EMPTY]


def test_line_score_leaves_out_empty_lines() -> None:
    score = line_score([CONTENT, TEMPLATE, EMPTY, CONTENT], [True, True, True, False])
    assert score == (0.5, 0.5, 0.5)


def test_line_score_of_a_page_without_content() -> None:
    assert line_score([TEMPLATE], [False]) == (1.0, 1.0, 1.0)
    assert line_score([TEMPLATE], [True]) == (0.0, 1.0, 0.0)


def test_report_gives_f1_in_both_ways() -> None:
    good = LinePage([CONTENT], [True], 100, 40)
    bad = LinePage([CONTENT, TEMPLATE, TEMPLATE, TEMPLATE], [True] * 4, 100, 60)
    report = line_report([good, bad], pages_with_peer=0.5)
    assert (report.precision, report.recall) == (2 / 5, 1.0)
    assert report.f1_pooled == pytest.approx(4 / 7)
    assert report.f1_of_pages == pytest.approx((1 + 0.4) / 2)
    assert (report.bytes_before, report.bytes_after, report.bytes_saved) == (200, 100, 0.5)
    assert report.pages_with_peer == 0.5


def test_report_on_nothing() -> None:
    report = line_report([])
    assert (report.pages, report.f1_of_pages, report.bytes_saved, report.pages_with_peer) == (0, 1.0, 0.0, None)


def test_kept_lines_are_found_again() -> None:
    assert kept_lines(b"a\nb\r\na\nc", b"b\r\nc") == [False, True, False, True]
    assert kept_lines(b"a\nb", b"") == [False, False]


def test_the_papers_experiment_on_a_tiny_site(tmp_path: Path) -> None:
    folder = tmp_path / "sites/sites/birds"
    folder.mkdir(parents=True)
    pages = []
    for number, bird in enumerate(["wren", "finch"]):
        (folder / f"{number}.html").write_text(f"<body>\n<nav>home</nav>\n<p>{bird}</p>\n</body>\n", "utf-8")
        pages.append({"file": f"{number}.html", "url": f"http://birds.example/a/{number}"})
    (folder / "site.json").write_text(json.dumps({"pages": pages}), "utf-8")
    (tmp_path / "sites/split.json").write_text('{"open": ["birds"], "stratified_by": {}}', "utf-8")
    gold = [
        {"file": f"{number}.html", "content": bird, "template": "home", "ignored": ""}
        for number, bird in ((0, "wren"), (1, "finch"))
    ]
    (tmp_path / "sites/gold.py").write_text(f"def site_gold(folder):\n    return {gold!r}\n", "utf-8")
    report = evaluate_line_filter(root=tmp_path)
    # The first page has no peer and keeps its menu.
    assert (report.pages, report.pages_with_peer) == (2, 0.5)
    assert (report.precision, report.recall) == (2 / 3, 1.0)
    assert (report.bytes_before, report.bytes_after) == (43 + 44, 43 + 13)
