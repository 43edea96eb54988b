"""Search with and without template: the collections, the ranking functions, the measures and their tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from chaffinch.cli import main
from chaffinch.errors import InputError, MissingExtraError, UsageError
from chaffinch.evaluation import retrieval
from chaffinch.evaluation.corpora import open_collection
from chaffinch.evaluation.nouns import read_nouns
from chaffinch.evaluation.predictors import EVERYTHING, MethodPredictor
from chaffinch.evaluation.ranking import EngineRanker, PivotedRanker
from chaffinch.evaluation.retrieval import QueryRow, measure_retrieval
from chaffinch.evaluation.retrieval_report import Answers, Counts, answers, groups, tables, to_json
from chaffinch.evaluation.retrieval_rivals import RawLines, ShingleBlocks
from chaffinch.evaluation.topics import Query, entry_queries, index_queries, noun_queries
from chaffinch.methods import make_method
from chaffinch.page import parse

if TYPE_CHECKING:
    from pathlib import Path

    from chaffinch.evaluation.ranking import Ranker

BIRDS = ("wren", "finch", "robin", "goldcrest", "nuthatch", "siskin")
GOLD_MODULE = """
import json, os
def site_gold(folder):
    with open(os.path.join(folder, "site.json"), encoding="utf-8") as file:
        pages = json.load(file)["pages"]
    for page in pages:
        yield {"file": page["file"], "content": page["content"], "template": page["template"], "ignored": ""}
"""


@pytest.fixture
def swde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shop whose every page names all its birds in the menu, the first one most of all."""
    folder = tmp_path / "swde" / "auto-birds"
    folder.mkdir(parents=True)
    menu = "".join(f"<li><a href={bird}>{bird}</a></li>\n" for bird in (*BIRDS, "wren"))
    gold = {}
    for number, bird in enumerate(BIRDS):
        songs = " ".join([f"song{number}"] * (20 - 3 * number))
        (folder / f"{number:04}.htm").write_text(f"<ul>\n{menu}</ul>\n<h1>About the {bird}</h1>\n<p>{songs}</p>\n")
        gold[f"{number:04}"] = {"model": [bird], "price": ["1"], "engine": []}
    (folder / "gold.json").write_text(json.dumps(gold))
    monkeypatch.setenv("CHAFFINCH_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("swde")
def test_words_of_the_menu_find_the_page_again() -> None:
    found = measure_retrieval(
        [MethodPredictor(make_method("blocks")), MethodPredictor(make_method("offsets")), ShingleBlocks(), RawLines()],
        collections=["swde"],
    )
    assert [row.text for row in found.queries] == sorted(BIRDS)
    assert groups(found) == [("swde", "values")]
    blocks, whole = answers(found, "swde", "values", "blocks"), answers(found, "swde", "values", EVERYTHING)
    assert blocks.mean("P@1") == blocks.mean("AP") == 1.0
    assert whole.mean("P@1") < 1.0
    assert whole.mean("P@10") == 1.0  # attainable: one page is relevant
    assert blocks.counts("P@1").worse == 0
    assert blocks.counts("P@1").better > 0
    assert blocks.switched("P@1") == 1.0
    assert 0 < blocks.p_value("AP") < 1
    assert whole.p_value("AP") == 1.0
    assert all(row.in_template["blocks"] for row in found.queries)
    size = {row.prediction: row for row in found.sizes}
    assert size["blocks"].postings < size[EVERYTHING].postings
    assert size["blocks"].text_bytes < size[EVERYTHING].text_bytes
    assert size["blocks"].page_bytes is None
    assert (size["sandwich, raw lines"].page_bytes or 0) < (size[EVERYTHING].page_bytes or 0)
    printed = tables(found)
    assert "swde, values: 6 queries on 1 indexes." in printed
    assert "| swde, values: query word in a template | 6 |" in printed
    assert json.loads(to_json(found))["means"][1]["counts"]["P@1"]["worse"] == 0


def test_the_command(swde: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = swde / "queries.jsonl"
    assert main(["evaluate", "retrieval", "--collection", "swde", "--method", "blocks", "--pages", str(lines)]) == 0
    assert "| blocks | 1.000 | 1.000 | 1.000 |" in capsys.readouterr().out
    assert [json.loads(line)["text"] for line in lines.read_text().splitlines()] == sorted(BIRDS)
    assert main(["evaluate", "retrieval", "--collection", "swde", "--method", "all", "--json", "--jobs", "2"]) == 0
    assert {"sandwich", "shingle", "sandwich, raw lines"} <= set(json.loads(capsys.readouterr().out)["predictions"])
    assert main(["evaluate", "retrieval", "--peers"]) == 2
    assert main(["evaluate", "swde", "--collection", "swde"]) == 2


@pytest.mark.usefixtures("swde")
def test_what_is_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="not in the data folder"):
        open_collection("sites").corpus_names()
    with pytest.raises(InputError, match="python-sqlalchemy-doc"):
        open_collection("sqlalchemy").corpus_names()
    with pytest.raises(InputError, match="cannot be read"):
        open_collection("django").load("django")
    with pytest.raises(UsageError, match="no collection 'moon'"):
        open_collection("moon")
    with pytest.raises(InputError, match="holds no WordNet"):
        read_nouns(tmp_path / "nowhere")
    monkeypatch.setitem(__import__("sys").modules, "ir_measures", None)
    with pytest.raises(MissingExtraError, match=r"chaffinch\[retrieval\]"):
        retrieval.measure_retrieval([])


def test_sites_bring_nouns_and_entry_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAFFINCH_DATA", str(tmp_path))
    folder = tmp_path / "sites" / "sites" / "birds"
    folder.mkdir(parents=True)
    (tmp_path / "sites" / "gold.py").write_text(GOLD_MODULE)
    (tmp_path / "sites" / "split.json").write_text(json.dumps({"open": ["birds"], "stratified_by": {}}))
    menu = "<p>Contact the office</p><p><a href='/all/'>All birds</a></p>"
    pages = []
    for number, content in enumerate(["No contact", "An office", "Nothing", "Nothing else"]):
        name = "index.html" if number == 3 else f"{number}.html"
        (folder / name).write_text(f"{menu}<h1>{content}</h1>")
        url = f"https://birds.example/all/{'' if number == 3 else name}"
        pages.append({"file": name, "url": url, "content": content, "template": "Contact the office All birds"})
    (folder / "site.json").write_text(json.dumps({"pages": pages}))
    wordnet = tmp_path / "debian" / "usr" / "share" / "wordnet"
    wordnet.mkdir(parents=True)
    (wordnet / "data.noun").write_text("  1 licence\n00000001 10 n 01 contact 0 | x\n00000002 06 n 01 office 0 | x\n")
    (wordnet / "index.noun").write_text(
        "  1 licence\ncontact n 2 1 @ 2 0 00000001 00000002\noffice n 1 0 1 0 00000002\nof_course n 1 0 1 0 00000001\n"
    )
    (corpus,) = [open_collection("sites").load("birds")]
    assert corpus.queries == {
        "abstract nouns": [Query("contact", frozenset({0}))],
        "concrete nouns": [Query("office", frozenset({1}))],
        "entry pages": [Query("All birds", frozenset({3}))],
    }


def test_documentation_brings_its_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAFFINCH_DATA", str(tmp_path))
    folder = tmp_path / "debian" / "usr" / "share" / "doc" / "python-sqlalchemy-doc" / "html"
    folder.mkdir(parents=True)
    (folder / "core.html").write_text("<h1>Core</h1>")
    (folder / "genindex.html").write_text(
        "<table class='indextable'><tr><td><dl><dt><a href='core.html#x'>connect</a></dt></dl></table>"
    )
    assert open_collection("sqlalchemy").corpus_names() == ["sqlalchemy"]
    corpus = open_collection("sqlalchemy").load("sqlalchemy")
    assert [page.url for page in corpus.pages] == ["https://docs.sqlalchemy.org/en/14/core.html"]
    assert corpus.queries == {"index terms": [Query("connect", frozenset({0}))], "entry pages": []}
    full, queries = tmp_path / "sites" / "full" / "django", tmp_path / "sites" / "queries"
    full.mkdir(parents=True)
    queries.mkdir()
    (full / "1.html").write_text("<h1>Views</h1>")
    (full / "site.json").write_text(json.dumps({"pages": [{"file": "1.html", "url": "https://d.example/v.html"}]}))
    rows = [{"query": "view", "relevant": ["https://d.example/v.html"]}, {"query": "gone", "relevant": ["https://x/"]}]
    (queries / "django.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert open_collection("django").load("django").queries["index terms"] == [Query("view", frozenset({0}))]


def test_terms_of_an_index() -> None:
    index = parse(
        "<p><a href='a.html'>no term</a></p><table class='indextable genindextable'><tr><td><dl>"
        "<dt><a href='a.html#f'>f() walks (method of A)</a>, <a href='b.html#f'>[1]</a></dt>"
        "<dd><dl><dt><a href='b.html#g'>(method of B)</a></dt></dl></dd>"
        "<dt><a href='b.html#sets'>sets</a></dt><dd><dl><dt><a href='a.html#o'>open</a></dt></dl></dd>"
        "<dt><a href='b.html#i'>[]</a></dt><dt><a href='elsewhere.html'>elsewhere</a></dt></dl></table>",
        url="https://x.example/index.html",
    )
    urls = ["https://x.example/a.html", "https://x.example/b.html"]
    assert index_queries(index, urls) == [
        Query("f() walks (method of A)", frozenset({0, 1})),
        Query("f() walks (method of B)", frozenset({1})),
        Query("sets", frozenset({1})),
        Query("sets open", frozenset({0})),
    ]
    assert len(index_queries(index, urls, most=2)) == 2


def test_entry_pages_go_by_what_links_call_them() -> None:
    html = "<a href='/s/'>Songs</a> <a href='/s/index.html#top'>Songs</a> <a href='/'>Home</a> <a href='/s/2'>Two</a>"
    urls = ["https://x.example/", "https://x.example/s/index.html", "https://x.example/s/2"]
    pages = [parse(html, url=url) for url in urls]
    assert entry_queries(pages) == [Query("Songs", frozenset({1}))]


def test_nouns_stand_in_templates_and_in_some_contents() -> None:
    contents = ["a dog", "a cat", "a cat", "a cat and a news"]
    templates = ["dog cat NEWS", "dog cat news", "dog cat", ""]
    found = noun_queries({"dog", "cat", "news"}, contents, templates)
    assert found == [Query("dog", frozenset({0})), Query("news", frozenset({3}))]


@pytest.mark.parametrize("make", [EngineRanker, PivotedRanker])
def test_ranking(make: type[EngineRanker | PivotedRanker]) -> None:
    texts = ["wren wren finch", "finch", "Finch robin and many more words to read", "", "finch"]
    ranker: Ranker = make(texts)
    assert ranker.rank("wren") == [0]
    assert ranker.rank("FINCH wren")[0] == 0
    assert ranker.rank("finch")[:2] == [1, 4]  # short before long, ties in their order
    assert ranker.rank("eagle") == ranker.rank("…") == []


def test_counts_and_the_test() -> None:
    def row(corpus: str, without: float, whole: float) -> QueryRow:
        measures = {"m": {"AP": without}, EVERYTHING: {"AP": whole}}
        return QueryRow("swde", corpus, "values", "x", 1, {"m": True}, measures)

    rows = (row("a", 1.0, 0.0), row("a", 0.0, 1.0), row("b", 1.0, 0.5), row("b", 0.5, 0.5))
    one = Answers(rows, "m")
    assert one.counts("AP") == Counts(better=2, worse=1, same=1)
    assert (one.mean("AP"), one.switched("AP")) == (0.625, 0.875)
    assert one.of_corpus("b").mean("AP") == 0.75
    assert Answers((), "m").mean("AP") == 0.0
    assert Answers((rows[3],), "m").p_value("AP") == 1.0
