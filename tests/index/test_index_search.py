"""Indexes made and searched through the library."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaffinch.errors import QueryError, SearchIndexError, UsageError
from chaffinch.index import About, Entry, IndexWriter, SearchIndex
from chaffinch.index.fields import prepared

WHOLE = About.of(None, "balanced", "domain", None)


def entry(name: str, content: str, **fields: object) -> Entry:
    made = Entry(
        source=f"{name}.html",
        url=f"https://{name}.example/",
        site=f"{name}.example",
        title=None,
        author=None,
        date=None,
        language=None,
        description=None,
        headings=(),
        content=content,
        template="",
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def build(path: Path, *entries: Entry, about: About = WHOLE) -> SearchIndex:
    with IndexWriter(str(path), about) as writer:
        for one in entries:
            writer.put(one)
    return SearchIndex(str(path))


def found(index: SearchIndex, query: str, **options: object) -> list[str]:
    results = index.search(query, **options)  # type: ignore[arg-type]
    assert results.total == len(results.hits)
    return [hit.entry.source.removesuffix(".html") for hit in results.hits]


@pytest.fixture(scope="module")
def birds(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    return build(
        tmp_path_factory.mktemp("index") / "birds",
        entry("finch", "The finch eats sunflower seeds. " * 3, title="A finch", date="2024-02-29", language="en-GB"),
        entry("tit", "The tit eats seeds of the black sunflower.", headings=("What the tit eats",), date="2023-06-01"),
        entry("owl", "Owls hunt by night.", template="Finches and sunflower hearts in our shop", language="en"),
        entry("mejiro", "メジロは花の蜜を吸います。東京の公園でも鳥の声が聞こえます。", language="ja"),
        entry("cafe", "Un café près de l'étang, où l’hirondelle boit.", language="fr"),
        entry("whole", "Ganze Wörter: Sperlingskauz.", title="Sperlingskauz", language="de"),
    )


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("sunflower", ["finch", "tit"]),
        ("SUNFLOWER owls", ["owl", "finch", "tit"]),
        ('"black sunflower"', ["tit"]),
        ('"sunflower black"', []),
        ('"tit sunflower"~5', ["tit"]),
        ("+seeds -finch", ["tit"]),
        ("seeds AND finch", ["finch"]),
        ("seeds NOT finch", ["tit"]),
        ("title:finch", ["finch"]),
        ("headings:tit", ["tit"]),
        ("template:sunflower", ["owl"]),
        ("site:owl.example", ["owl"]),
        ("language:en", ["finch", "owl"]),
        ("url:tit", ["tit"]),
        ("date:2024-02", ["finch"]),
        ("date:2023..2024", ["finch", "tit"]),
        ("date:..2023-05", []),
        ("メジロ", ["mejiro"]),
        ("東京の鳥", ["mejiro"]),
        ('"東京の鳥"', []),
        ('"東京の公園"', ["mejiro"]),
        ("cafe\u0301", ["cafe"]),
        ("l'étang", ["cafe"]),
        ("l’hirondelle", ["cafe"]),
        ("penguin", []),
        ("* -seeds", ["cafe", "mejiro", "owl", "whole"]),
    ],
)
def test_what_is_found(birds: SearchIndex, query: str, names: list[str]) -> None:
    assert sorted(found(birds, query)) == sorted(names)


def test_the_best_comes_first(birds: SearchIndex) -> None:
    assert found(birds, "finch seeds") == ["finch", "tit"]
    assert found(birds, "finch^0.01 tit") == ["tit", "finch"]


def test_fields_sites_and_paging(birds: SearchIndex) -> None:
    assert found(birds, "sunflower", fields=["template"]) == ["owl"]
    assert sorted(found(birds, "finch sunflower", fields=["template", "title"])) == ["finch", "owl"]
    assert found(birds, "seeds", site="tit.example") == ["tit"]
    alone, whole = birds.search("seeds", site="tit.example"), birds.search("seeds")
    scores = {hit.entry.source: hit.score for hit in whole.hits}
    assert alone.hits[0].score == pytest.approx(scores["tit.html"])
    second = birds.search("*", limit=2, offset=2)
    assert (second.total, len(second.hits)) == (6, 2)
    with pytest.raises(UsageError, match="no field 'body'"):
        birds.search("a", fields=["body"])
    with pytest.raises(UsageError, match="results 1 to 10,000"):
        birds.search("a", limit=10, offset=9_995)
    with pytest.raises(QueryError, match="no words to search for"):
        birds.search("... ?!")


@pytest.mark.parametrize(
    ("query", "marked"),
    [("sunflower", ["sunflower"] * 3), ("東京の公園", ["東京の公園"]), ("owls", ["Owls"]), ("title:sperlingskauz", [])],
)
def test_snippets_mark_what_was_searched_for(birds: SearchIndex, query: str, marked: list[str]) -> None:
    hit = birds.search(query).hits[0]
    assert "\x1f" not in hit.snippet
    found = [hit.snippet[start:stop] for start, stop in hit.highlights]
    assert found[: len(marked)] == marked
    assert hit.snippet.split()[0] in hit.entry.content


def test_stemming(tmp_path: Path) -> None:
    pages = (entry("one", "running finches"),)
    assert found(build(tmp_path / "plain", *pages), "finch") == []
    stemmed = About.of(None, "balanced", "domain", "en")
    assert found(build(tmp_path / "stemmed", *pages, about=stemmed), "finch runs") == ["one"]
    with pytest.raises(UsageError, match="no stemmer for 'xx'"):
        build(tmp_path / "other", about=About.of(None, "balanced", "domain", "xx"))
    with pytest.raises(UsageError, match="built with stem en, not none"):
        build(tmp_path / "stemmed", *pages)


def test_pages_are_replaced_and_deleted(tmp_path: Path) -> None:
    one, two = entry("one", "first words"), entry("two", "other words")
    build(tmp_path / "i", one, two)
    with IndexWriter(str(tmp_path / "i"), WHOLE) as writer:
        assert writer.put(one) == "unchanged"
        assert writer.put(replace(one, content="second words")) == "replaced"
        assert writer.put(replace(one, content="third words")) == "replaced"
        assert writer.put(replace(one, content="third words")) == "unchanged"
        assert writer.put(entry("three", "more words")) == "added"
    index = SearchIndex(str(tmp_path / "i"))
    assert index.pages == 3
    assert found(index, "first second third") == ["one"]
    with IndexWriter(str(tmp_path / "i"), WHOLE) as writer:
        assert writer.delete("https://one.example/")
        assert not writer.delete("https://one.example/")
        assert writer.delete_site("three.example") == 1
    assert found(SearchIndex(str(tmp_path / "i")), "words") == ["two"]


def test_an_error_drops_what_is_not_committed(tmp_path: Path) -> None:
    build(tmp_path / "i", entry("one", "words"))

    def fail() -> None:
        with IndexWriter(str(tmp_path / "i"), WHOLE) as writer:
            writer.put(entry("two", "words"))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert found(SearchIndex(str(tmp_path / "i")), "words") == ["one"]


def test_a_second_writer_is_told(tmp_path: Path) -> None:
    with (
        IndexWriter(str(tmp_path / "i"), WHOLE),
        pytest.raises(SearchIndexError, match="written to by another process"),
        IndexWriter(str(tmp_path / "i"), WHOLE),
    ):
        pass
    assert SearchIndex(str(tmp_path / "i")).pages == 0


_WRITE_FOR_EVER = """
import sys
from itertools import count
from chaffinch.index import About, Entry, IndexWriter
with IndexWriter(sys.argv[1], About.of(None, "balanced", "domain", None)) as writer:
    print(writer.pages, flush=True)
    for number in count(writer.pages):
        writer.put(Entry(f"{number}.html", None, "s", None, None, None, None, None, (), f"page number {number}", ""))
        if number % 20 == 19:
            writer.commit()
            print(writer.pages, flush=True)
"""


def test_a_writer_killed_at_any_moment_leaves_what_it_committed(tmp_path: Path) -> None:
    """Kills fall before, within and after commits and merges; the next writer goes on with what it finds."""
    path = str(tmp_path / "i")
    before = 0
    for kill, lines in enumerate((1, 2, 4, 8, 12)):
        with subprocess.Popen([sys.executable, "-c", _WRITE_FOR_EVER, path], stdout=subprocess.PIPE, text=True) as run:
            assert run.stdout is not None
            told = [int(run.stdout.readline()) for _ in range(lines)]
            time.sleep(0.003 * kill)
            run.kill()
            told += [int(line) for line in run.stdout]
        assert told[0] == before
        index = SearchIndex(path)
        assert index.pages in {told[-1], told[-1] + 20}
        assert found(index, f'"page number {told[-1] - 1}"') == ([str(told[-1] - 1)] if told[-1] else [])
        before = index.pages


def test_odd_pages_are_taken(tmp_path: Path) -> None:
    odd = [
        entry("empty", ""),
        entry("huge", "x" * 1_000_000 + " tail"),
        entry("controls", "be\x00fore \x1f\x7f after \ufeff"),
        entry("long-url", "words", url="data:" + "a" * 100_000),
        entry("no-url", "words", url=None),
        entry("title", "", title="\n"),
    ]
    index = build(tmp_path / "i", *odd)
    assert index.pages == len(odd)
    assert found(index, "tail") == ["huge"]
    with pytest.raises(QueryError, match="no words"):
        index.search("x" * 1_000_000)
    assert found(index, "after") == ["controls"]
    assert sorted(found(index, "words")) == ["long-url", "no-url"]
    with IndexWriter(str(tmp_path / "i"), WHOLE) as writer:
        assert [writer.put(one) for one in odd] == ["unchanged"] * len(odd)


@given(text=st.text(max_size=60), query=st.text(min_size=1, max_size=10))
@settings(max_examples=15)
def test_any_text_is_indexed_and_any_query_answered(
    tmp_path_factory: pytest.TempPathFactory, text: str, query: str
) -> None:
    index = build(tmp_path_factory.mktemp("any") / "i", entry("one", text.encode("utf-8", "replace").decode()))
    try:
        results = index.search(query)
    except QueryError:
        return
    for hit in results.hits:
        assert all(0 <= start < stop <= len(hit.snippet) for start, stop in hit.highlights)


@given(st.text(max_size=80))
def test_preparing_adds_separators_only(text: str) -> None:
    assert prepared("東a京") == "\x1f東\x1fa\x1f京\x1f"
    assert prepared(prepared(text)).replace("\x1f", "") == prepared(text).replace("\x1f", "")


def test_letters_of_another_width_are_the_same(tmp_path: Path) -> None:
    index = build(tmp_path / "i", entry("wide", "\uff2e\uff25\uff23 \uff12\uff10\uff12\uff14 \uff76\uff9e\uff7d"))
    for query in ("nec", "2024", "\u30ac\u30b9", "\uff2e\uff25\uff23"):
        assert len(index.search(query).hits) == 1, query
