"""The paper's experiments, on small sites made here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from chaffinch.evaluation import ma2003
from chaffinch.evaluation.datasets import Regions
from chaffinch.evaluation.ma2003 import (
    Discovery,
    Duplicates,
    JudgedPage,
    Region,
    cluster_correctness,
    discovery_of,
    duplicates_found,
    gold_regions,
    judged_sites,
    sample_size,
    sampling_curve,
    template_ratios,
)
from chaffinch.methods import learn_template
from chaffinch.methods.chunks import Chunks
from chaffinch.methods.duplicates import IMatch
from chaffinch.page import parse

if TYPE_CHECKING:
    from pathlib import Path

GOLD_MODULE = """
import json, os
def site_gold(folder):
    with open(os.path.join(folder, "site.json"), encoding="utf-8") as file:
        pages = json.load(file)["pages"]
    for page in pages:
        yield {"file": page["file"], "content": page["content"], "template": page["template"], "ignored": ""}
"""


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sites of ten pages in the form of `sites`, and the same in that of `swde`."""
    names = ["birds", "trees"]
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites" / "split.json").write_text(json.dumps({"open": names, "stratified_by": {"blog": names}}))
    (tmp_path / "sites" / "gold.py").write_text(GOLD_MODULE)
    for site in names:
        folder, other = tmp_path / "sites" / "sites" / site, tmp_path / "swde" / site
        folder.mkdir(parents=True)
        other.mkdir(parents=True)
        pages, values = [], {}
        for number in range(10):
            content, template = f"Song {number} of {site}", f"Home of {site}\nContact {site}\nSince 1999"
            blocks = "".join(f"<p>{line}</p>" for line in template.split("\n"))
            (folder / f"{number}.html").write_text(f"{blocks}<h1>{content}</h1>")
            (other / f"{number}.htm").write_text(f"{blocks}<h1>{content}</h1>")
            url = f"https://{site}.example/{number}"
            pages.append({"file": f"{number}.html", "url": url, "content": content, "template": template})
            values[str(number)] = {"title": [content]}
        (folder / "site.json").write_text(json.dumps({"pages": pages}))
        (other / "gold.json").write_text(json.dumps(values))
    monkeypatch.setenv("CHAFFINCH_DATA", str(tmp_path))
    return tmp_path


def test_blocks_are_found_again_in_the_gold() -> None:
    html = "<p>Title</p><p>Home | News</p><h1>Title</h1><p>The wren <b>sings</b>.</p><p>by me</p><p>unheard of</p>"
    gold = Regions(content="Title\nThe wren\nsings.", template="Title\nHome | News", ignored="by me")
    regions = [Region(number) for number in gold_regions(parse(html), gold)]
    assert regions == [
        Region.TEMPLATE,
        Region.TEMPLATE,
        Region.CONTENT,
        Region.CONTENT,
        Region.IGNORED,
        Region.UNKNOWN,
    ]


def test_nine_tenths_of_template_words_make_a_template_chunk() -> None:
    html = "<table><tr><td>one two three four five six seven eight nine<td>ten</table><table><td>a<td>b</table>***"
    gold = Regions(content="ten\nb", template="one two three four five six seven eight nine\na", ignored="")
    judged = JudgedPage.of(parse(html), gold, Chunks(delimiters="tables"))
    assert judged.is_template.tolist() == [True, False, False]
    assert judged.is_judged.tolist() == [True, True, False]


def test_discovery() -> None:
    some = Discovery(actual=10, found=12, right=9)
    assert (some.ratio, some.recall, some.precision) == (1.2, 0.9, 0.75)
    none = Discovery(0, 0, 0)
    assert (none.ratio, none.recall, none.precision) == (1.0, 1.0, 1.0)


def test_all_template_is_discovered() -> None:
    for name, pages, seconds in judged_sites(Chunks()):
        assert name in {"birds", "trees"}
        assert seconds > 0
        template = learn_template(Chunks(), (judged.page for judged in pages))
        assert discovery_of(pages, Chunks(), template) == Discovery(30, 30, 30)
        assert discovery_of(pages, Chunks(), None) == Discovery(30, 0, 0)


def test_sample_size_is_the_papers_formula() -> None:
    assert sample_size(0.9, 0.5, 0.058) == 202  # the paper judged 200 pages at 90 % and 5.8 %
    assert sample_size(0.95, 0.5, 0.05) == 385


def test_template_ratios() -> None:
    found, gold = template_ratios("sites", Chunks())["birds"]
    assert found == gold == 7 / 11
    assert template_ratios("swde", Chunks(), limit=1) == {"birds": (7 / 11, None)}


def test_sampling_learns_from_no_more_pages_than_there_are() -> None:
    found = sampling_curve(Chunks(), (1, 5, 99), draws=2)
    assert (found[1].pages, found[1].recall, found[1].leak) == (1, 0, 1)
    assert (found[5].pages, found[5].recall, found[5].f1, found[5].leak) == (5, 1, 1, 0)
    assert found[99].pages == 10


def test_clusters_agree_with_the_sites_they_came_from() -> None:
    found = cluster_correctness("sites", Chunks(spread=0.7))
    assert (found.pages, found.sites, found.clusters, found.correct, found.matched) == (20, 2, 2, 1, 1)


def test_duplicates_are_compared_with_the_page_that_is_kept(root: Path) -> None:
    folder = root / "sites" / "sites" / "birds"
    (folder / "1.html").write_bytes((folder / "0.html").read_bytes())
    found = duplicates_found("sites", [IMatch(most_share=1.0), IMatch(rarest=2, least_terms=1)])
    assert list(found.values()) == [Duplicates(1, 0, 1.0), Duplicates(1, 0, 1.0)]


@pytest.mark.parametrize("table", list(ma2003.TABLES))
def test_tables_are_printed(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    ma2003.main([table, "--limit", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 2
    assert all("\t" in line for line in lines)
