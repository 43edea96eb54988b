"""Labels: what is surely template, what is surely content, and the file they are written to."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from chaffinch.errors import OutputError, UsageError
from chaffinch.learning import labels as module
from chaffinch.learning.labels import LABELLING, LabelOptions, Labels, label_page, write_labels
from chaffinch.methods import learn_template
from chaffinch.methods.blocks import FrequentBlocks
from chaffinch.page import Page, parse
from chaffinch.runs import RunOptions
from chaffinch.runs.learning import Learning

if TYPE_CHECKING:
    from pathlib import Path

MENU = "<ul><li>Start here and read on<li>All the pages of this site</ul>"
OWN = "has words of its own that no other page of the site shows"


def html(number: int, extra: str = "") -> str:
    return f"<div>{MENU}<div><h2>Page {number} and what it {OWN}</h2><div>Page {number} {OWN}</div>{extra}</div></div>"


def labelled(pages: list[Page], number: int = 0, method: FrequentBlocks = LABELLING) -> dict[str, list[str]]:
    """Return the labelled texts of a page, by label."""
    page = pages[number]
    labels = labels_of(pages, number, method)
    found: dict[str, list[str]] = {"template": [], "content": []}
    for node, template in zip(labels.node.tolist(), labels.template.tolist(), strict=True):
        found["template" if template else "content"].append(f"{page.name_of(node)} {page.text_of(node)}")
    return found


def labels_of(pages: list[Page], number: int = 0, method: FrequentBlocks = LABELLING) -> Labels:
    template = learn_template(method, pages)
    assert template is not None
    return label_page(pages[number], template, method)


def site(count: int, extra: str = "") -> list[Page]:
    return [parse(html(number, extra)) for number in range(count)]


def test_the_paper_s_rules() -> None:
    found = labelled(site(20))
    # The outer <div> holds a frequent block, so it is no content; inside, the outermost is labelled.
    assert found["template"] == ["ul Start here and read onAll the pages of this site"]
    assert found["content"] == [f"div Page 0 and what it {OWN}Page 0 {OWN}"]


def test_what_stands_on_a_few_pages_has_no_label_and_taints_what_holds_it() -> None:
    pages = site(30)
    for number in (0, 1):
        pages[number] = parse(html(number, "<blockquote>a notice that stands on two of the thirty pages</blockquote>"))
    found = labelled(pages)
    assert found["content"] == [f"h2 Page 0 and what it {OWN}", f"div Page 0 {OWN}"]
    assert not [text for text in found["template"] if "notice" in text]


def test_a_text_is_labelled_once_on_a_page_where_it_comes_first() -> None:
    twice = f"<div>{OWN}</div>"
    pages = [parse(f"<table><tr><td>{MENU}</td></tr></table>{MENU}{twice if n == 0 else ''}") for n in range(20)]
    pages[0] = parse(f"<table><tr><td>{MENU}</td></tr></table>{MENU}{twice}{twice}")
    found = labelled(pages)
    assert found == {
        "template": ["table Start here and read onAll the pages of this site"],
        "content": [f"div {OWN}"],
    }


def test_counts_and_pages_are_told() -> None:
    labels = labels_of(site(25))
    assert (labels.pages, labels.count.tolist()) == (25, [25, 1])
    assert labels.node.tolist() == sorted(labels.node.tolist())


def test_a_page_that_was_not_counted_has_no_content_labels() -> None:
    template = learn_template(LABELLING, site(20))
    assert template is not None
    stranger = label_page(parse(html(99)), template)
    assert stranger.template.all()
    assert len(label_page(parse(""), template)) == 0


def test_leaf_text_blocks_get_no_labels() -> None:
    assert labelled(site(20), method=replace(LABELLING, leaves=True)) == labelled(site(20))


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """Two sites, of 25 pages and of 3."""
    for name, count in (("large", 25), ("small", 3)):
        (tmp_path / "crawl" / name).mkdir(parents=True)
        for number in range(count):
            page = f"<base href=https://{name}.example/>{html(number)}"
            (tmp_path / "crawl" / name / f"{number:02}.html").write_text(page, "utf-8")
    return tmp_path / "crawl"


def rows_of(path: Path) -> list[dict[str, Any]]:
    return pq.read_table(path).to_pylist()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_crawl_to_a_table(crawl: Path, tmp_path: Path, jobs: int) -> None:
    output = tmp_path / "labels.parquet"
    steps: list[int] = []
    run = RunOptions(method=LABELLING, jobs=jobs)
    report = write_labels([str(crawl)], str(output), LabelOptions(run, step=steps.append))
    rows = rows_of(output)
    assert len(rows) == 50
    assert list(rows[0]) == ["site", "page", "node", "label", "count", "pages"]
    assert {(row["site"], row["pages"]) for row in rows} == {("large.example", 25)}
    assert {(row["label"], row["count"]) for row in rows} == {("template", 25), ("content", 1)}
    page = parse((crawl / "large" / "03.html").read_bytes())
    of_page = [row for row in rows if row["page"] in {page.url, str(crawl / "large" / "03.html")}]
    assert {page.name_of(row["node"]) for row in of_page} == {"ul", "div"}
    assert (report.template, report.content, report.pages, report.labelled_pages) == (25, 25, 28, 25)
    assert report.as_json()["sites"] == 2
    assert "25 of 28 pages, of 1 of 2 sites" in report.as_line()
    assert sum(steps) == 56


def test_smaller_sites_on_demand(crawl: Path, tmp_path: Path) -> None:
    output = tmp_path / "labels.parquet"
    write_labels([str(crawl)], str(output), LabelOptions(least_pages=2))
    assert {row["site"] for row in rows_of(output)} == {"large.example", "small.example"}


def test_what_cannot_be_read_is_told(crawl: Path, tmp_path: Path) -> None:
    report = write_labels([str(crawl), str(tmp_path / "missing")], str(tmp_path / "labels.parquet"))
    assert [failure.source for failure in report.failures] == [str(tmp_path / "missing")]
    assert report.as_json()["failures"][0]["source"] == str(tmp_path / "missing")
    assert len(rows_of(tmp_path / "labels.parquet")) == 50


def test_no_labels_still_give_a_table(tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text("<p>alone", "utf-8")
    write_labels([str(tmp_path / "one.html")], str(tmp_path / "labels.parquet"))
    assert rows_of(tmp_path / "labels.parquet") == []


def test_wrong_use(crawl: Path, tmp_path: Path) -> None:
    output = tmp_path / "labels.parquet"
    with pytest.raises(UsageError, match="standard input"):
        write_labels(["-"], str(output))
    with pytest.raises(UsageError, match="not fused"):
        write_labels([str(crawl)], str(output), LabelOptions(RunOptions()))
    with pytest.raises(OutputError):
        write_labels([str(crawl)], str(tmp_path / "nowhere" / "labels.parquet"))
    assert not output.exists()


def test_sites_that_do_not_fit_in_memory_are_labelled_alike(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = tmp_path / "whole.parquet", tmp_path / "parts.parquet"
    write_labels([str(crawl)], str(whole))
    monkeypatch.setattr(module, "Learning", partial(Learning, most_bytes=2))
    write_labels([str(crawl)], str(parts))
    assert rows_of(parts) == rows_of(whole)
