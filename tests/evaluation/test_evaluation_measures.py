from __future__ import annotations

import pytest

from chaffinch.evaluation.datasets import Regions, Values
from chaffinch.evaluation.measures import (
    RegionWords,
    ValueFate,
    plain_words,
    region_score,
    snippet_rate,
    template_leak,
    value_fates,
    value_report,
    word_score,
    words_and_bigrams,
)


def test_word_score_counts_words_as_often_as_they_stand() -> None:
    score = word_score(plain_words("The cat, the CAT!"), plain_words("the cat sat"))
    assert score.precision == 2 / 4
    assert score.recall == 2 / 3
    assert score.f1 == pytest.approx(4 / 7)


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [("", "", 1.0), ("word", "", 0.0), ("", "word", 0.0), ("other", "word", 0.0)],
)
def test_word_score_of_empty_texts(predicted: str, gold: str, expected: float) -> None:
    assert word_score(plain_words(predicted), plain_words(gold)) == (expected, expected, expected)


def test_snippets_are_found_in_any_case() -> None:
    assert snippet_rate("A Quick Fox", ["quick fox", "slow"]) == 0.5
    assert snippet_rate("", []) == 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ein Wort", {"ein": 1, "wort": 1}),
        ("日本語", {"日本": 1, "本語": 1}),
        ("日", {"日": 1}),
        ("Python日本", {"python": 1, "日本": 1}),
        ("naïve 2番目", {"naïve": 1, "2": 1, "番目": 1}),
        ("日本・語文", {"日本": 1, "語文": 1}),
    ],
)
def test_han_and_kana_count_in_pairs(text: str, words: dict[str, int]) -> None:
    assert words_and_bigrams(text) == words


def _words(content: str, template: str = "", ignored: str = "") -> RegionWords:
    return RegionWords.of(Regions(content, template, ignored))


def test_gold_itself_scores_one_and_leaks_nothing() -> None:
    assert region_score(plain_words("a b"), _words("a b", "b c")) == (1.0, 1.0, 1.0, 0, 2)


def test_ignored_words_count_neither_way() -> None:
    gold = _words("a b", "home", "by someone")
    assert region_score(plain_words("a b by someone"), gold) == (1.0, 1.0, 1.0, 0, 1)
    # A second "by" is beyond what is ignored.
    assert region_score(plain_words("a b by by"), gold).precision == pytest.approx(2 / 3)


def test_words_of_content_are_not_taken_out_as_ignored() -> None:
    assert region_score(plain_words("a"), _words("a", ignored="a")).recall == 1.0


def test_leak_pools_the_pages_of_a_site() -> None:
    first = region_score(plain_words("a home"), _words("a", "home news shop"))
    second = region_score(plain_words("b home"), _words("b", "home"))
    assert (first.leaked, second.leaked) == (1, 1)
    assert template_leak([first, second]) == 2 / 4
    assert template_leak([]) == 0.0


def test_a_word_of_content_that_is_there_is_no_leak() -> None:
    assert region_score(plain_words("home"), _words("home", "home")).leaked == 0


def test_pages_without_content() -> None:
    assert region_score(plain_words(""), _words("", "home"))[:3] == (0.0, 1.0, 0.0)
    assert region_score(plain_words("home"), _words("", "home"))[:3] == (0.0, 0.0, 0.0)


def test_values_are_compared_normalised() -> None:
    gold = Values((("price", "$9,970"), ("make", "Rolls &amp;\nRoyce"), ("city", "Nowhere")))
    fates = value_fates(gold, "ROLLS  & Royce\n$9,970", "rolls & royce")
    assert fates == (
        ValueFate("city", "nowhere", shown=False, kept=False),
        ValueFate("make", "rolls & royce", shown=True, kept=True),
        ValueFate("price", "$9,970", shown=True, kept=False),
    )


def test_distinct_values_count_once_each() -> None:
    common = [ValueFate("make", "audi", shown=True, kept=kept) for kept in (True, True, False)]
    rare = ValueFate("price", "$1", shown=True, kept=False)
    hidden = ValueFate("city", "nowhere", shown=False, kept=False)
    report = value_report([[common[0], rare], [common[1], hidden], [common[2]]])
    assert report.kept == pytest.approx((2 / 3 + 0) / 2)
    assert (report.values, report.never_shown, report.not_shown) == (3, 1, 1)


def test_a_site_without_values() -> None:
    assert value_report([]) == (0.0, 0, 0, 0)
