"""Keyword extraction: candidates, document frequencies, the command."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch.errors import ModelError
from chaffinch.evaluation.keywords2007 import top_scores
from chaffinch.keywords import DocumentFrequencies, KeywordModel, extract_keywords, find_candidates
from chaffinch.keywords.candidates import MOST_WORDS, key_of
from chaffinch.keywords.frequencies import read_frequencies, write_frequencies
from chaffinch.keywords.scoring import KEYWORD_FEATURES, keyword_rows
from chaffinch.learning.keywords import annotated_keywords, train_keyword_model
from chaffinch.page import parse
from conftest import Command, write_site

HTML = (
    "<title>Siskins in winter</title><meta name=keywords content='siskin food, Winter birds;  finches'>"
    "<meta name=description content='About winter birds and what they eat'>"
    "<h1>Winter birds</h1><p>Winter birds eat <b>niger seed</b>, and <a href=x>siskins</a> eat it too.</p>"
)


def test_candidates_are_phrases_without_a_sign_inside() -> None:
    found = find_candidates(parse(HTML))
    texts = {found.text(number).lower() for number in range(len(found))}
    assert {"winter birds", "niger seed", "eat niger seed", "siskins", "winter birds eat niger seed"} <= texts
    assert "seed and" not in texts
    assert "birds winter" not in texts
    assert max(len(text.split()) for text in texts) == MOST_WORDS


def test_where_a_candidate_stands() -> None:
    found = find_candidates(parse(HTML))
    number = found.key.tolist().index(key_of("Winter Birds"))
    assert found.count[number] == 2
    assert found.in_description[number]
    assert found.flags[number].tolist() == [0, 0.5, 0, 0, 1, 0]
    siskins = found.key.tolist().index(key_of("siskins"))
    assert found.flags[siskins].tolist() == [0.5, 0, 0.5, 0, 0.5, 0]
    assert found.position[siskins] == 0


def test_the_author_s_keywords_are_hidden() -> None:
    page = parse(HTML)
    assert annotated_keywords(page) == ("siskin food", "winter birds", "finches")
    assert key_of("finches") not in find_candidates(page).key.tolist()


def test_only_kept_text_counts() -> None:
    page = parse(HTML)
    kept = np.array(["niger" in text for text in page.texts])
    found = find_candidates(page, kept)
    texts = {found.text(number) for number in range(len(found))}
    assert texts == {"Siskins", "in", "winter", "Siskins in", "in winter", "Siskins in winter"} | {
        "niger", "seed", "niger seed",
    }  # fmt: skip


@given(st.text(alphabet="ab c.,<>&\n日", max_size=80))
def test_each_candidate_once_and_counted(text: str) -> None:
    found = find_candidates(parse(f"<p>{text}"))
    assert len(set(found.key.tolist())) == len(found)
    words = Counter(word.lower() for word in found.words)
    for number in range(len(found)):
        if found.length[number] == 1:
            assert found.count[number] == words[found.text(number).lower()]


@pytest.mark.parametrize("html", ["", "<p>", "<title></title>", "<p>...</p>", "<img>"])
def test_pages_without_words(html: str) -> None:
    found = find_candidates(parse(html))
    assert len(found) == 0
    model = KeywordModel(np.zeros(1), np.ones(1), np.zeros(1), 0.0)
    assert extract_keywords(found, model, DocumentFrequencies.of([]), top=3) == ()


def test_document_frequencies(tmp_path: Path) -> None:
    pages = [find_candidates(parse(f"<p>common, number{number}")).key for number in range(200)]
    found = DocumentFrequencies.of(iter(pages))
    keys = np.array([key_of("common"), key_of("number7"), key_of("never")], dtype=np.uint64)
    assert found.shares(keys).tolist() == [1.0, 0.005, 0.0]
    halves = DocumentFrequencies.of(pages[:70]).merge(DocumentFrequencies.of(pages[70:]))
    assert halves.shares(keys).tolist() == [1.0, 0.005, 0.0]
    assert found.cut(2).shares(keys).tolist() == [1.0, 0.0, 0.0]
    write_frequencies(tmp_path / "df.npz", found, {"data": "made up"})
    assert read_frequencies(tmp_path / "df.npz").shares(keys).tolist() == [1.0, 0.005, 0.0]
    (tmp_path / "df.npz").write_bytes(b"PK")
    with pytest.raises(ModelError, match=r"df\.npz"):
        read_frequencies(tmp_path / "df.npz")


def test_training_finds_what_makes_a_keyword() -> None:
    pages = []
    for number in range(12):
        page = parse(
            f"<meta name=keywords content='topic{number}'>"
            f"<h1>topic{number}</h1><p>the words of every page, of topic{number}"
        )
        found = find_candidates(page)
        pages.append((found, frozenset({key_of(f"topic{number}")})))
    frequencies = DocumentFrequencies.of(found.key for found, _ in pages)
    model = train_keyword_model(pages[:10], frequencies)
    best = extract_keywords(pages[11][0], model, frequencies, top=1)
    assert [keyword.text for keyword in best] == ["topic11"]
    assert keyword_rows(pages[0][0], frequencies).shape == (len(pages[0][0]), len(KEYWORD_FEATURES))
    assert top_scores(pages[11][0], pages[11][1], model, frequencies) == [1.0] * 5
    often = {key_of("every page"): 1e30}
    assert extract_keywords(pages[11][0], model, frequencies, top=1, queries=often)[0].text == "every page"


def test_the_command(chaffinch: Command, tmp_path: Path) -> None:
    write_site(tmp_path / "crawl", [f"Niger seed for siskins, part {number}." for number in range(4)])
    done = chaffinch("keywords", tmp_path / "crawl", "--top", "3", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 4
    for row in rows:
        scores = [keyword["score"] for keyword in row["keywords"]]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) == 3
    plain = chaffinch("keywords", tmp_path / "crawl" / "page-000.html", "--top", "2")
    assert plain.stdout.count(",") == 1
    done = chaffinch("keywords", tmp_path / "crawl", "--beside", tmp_path / "crawl", "-o", tmp_path / "out.jsonl")
    assert done.returncode == 0
    assert len((tmp_path / "out.jsonl").read_text("utf-8").splitlines()) == 4


def test_template_is_removed_first_when_asked(chaffinch: Command, tmp_path: Path) -> None:
    write_site(tmp_path / "crawl", [f"Niger seed for siskins, part {number}." for number in range(4)])
    database = tmp_path / "templates.db"
    assert chaffinch("learn", tmp_path / "crawl", "--method", "blocks", "-o", database).returncode == 0
    page = tmp_path / "crawl" / "page-001.html"

    def keywords(*arguments: str | Path) -> set[str]:
        done = chaffinch("keywords", page, "--top", "99", "--json", *arguments)
        assert done.returncode == 0, done.stderr
        return {keyword["text"] for keyword in json.loads(done.stdout)["keywords"]}

    assert "All rights reserved" in keywords()
    assert "All rights reserved" not in keywords("--templates", database)
    assert chaffinch("keywords", page, "--method", "model").returncode == 0
    done = chaffinch("keywords", page, "--method", "blocks")
    assert (done.returncode, "--templates says what is" in done.stderr) == (1, True)


def test_bad_input_costs_itself_only(chaffinch: Command, tmp_path: Path) -> None:
    write_site(tmp_path / "crawl", ["Some words of its own."])
    (tmp_path / "crawl" / "a.html").write_bytes(b"%PDF-1.4 \x00\x01")
    done = chaffinch("keywords", tmp_path / "crawl", tmp_path / "missing")
    assert done.returncode == 1
    assert "page-000.html" in done.stdout
    assert "missing" in done.stderr
    (tmp_path / "queries.tsv").write_text("niger seed\t12\nwrong line\n", "utf-8")
    done = chaffinch("keywords", tmp_path / "crawl" / "page-000.html", "--queries", tmp_path / "queries.tsv")
    assert (done.returncode, "line 2" in done.stderr) == (1, True)
    both = chaffinch("keywords", tmp_path / "crawl", "--beside", tmp_path, "--frequencies", tmp_path / "x.npz")
    assert both.returncode == 2
    assert chaffinch("keywords", tmp_path / "crawl", "-o", tmp_path / "out.txt").returncode == 2
