"""Agreement with the official scorers that come with the data, on real pages and real predictions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from chaffinch.errors import InputError
from chaffinch.evaluation.datasets import MainText, data_hash, find_data, load_module, open_set
from chaffinch.evaluation.evaluate import Settings, compare
from chaffinch.evaluation.predictors import Everything, MethodPredictor
from chaffinch.methods import make_method
from chaffinch.page.build import parse_capture

if TYPE_CHECKING:
    from pathlib import Path

    from chaffinch.evaluation.results import Evaluation


def _data() -> Path | None:
    try:
        return find_data()
    except InputError:
        return None


pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(_data() is None, reason="the evaluation data is not here (set CHAFFINCH_DATA to its folder)"),
]


def _texts(set_name: str, site: str, method: str) -> dict[str, str]:
    gold = open_set(set_name).load(site)
    pages = [parse_capture(page.capture) for page in gold.pages]
    predictor = Everything() if method == "everything" else MethodPredictor(make_method(method))
    files = [page.file for page in gold.pages]
    return dict(zip(files, predictor.predict(pages).texts, strict=True))


@pytest.fixture
def sites_scorer(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("selectolax", reason="the official scorer of `sites` needs selectolax")
    folder = find_data() / "sites"
    monkeypatch.syspath_prepend(str(folder))
    return load_module(folder / "score.py")


# A forum with a table layout, a blog in Japanese, a blog in Urdu and English, a company.
CHOSEN_SITES = ("avalanches-phpbb", "blog-330k", "360muslim", "cm-hammar")


@pytest.fixture(scope="module")
def sites_evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """The chosen sites alone; all of them are measured by the gate."""
    source, target = find_data() / "sites", tmp_path_factory.mktemp("data") / "sites"
    (target / "sites").mkdir(parents=True)
    for path in source.iterdir():
        if path.name not in {"sites", "split.json"}:
            (target / path.name).symlink_to(path)
    split = json.loads((source / "split.json").read_text("utf-8"))
    (target / "split.json").write_text(json.dumps({**split, "open": CHOSEN_SITES}), "utf-8")
    for site in CHOSEN_SITES:
        (target / "sites" / site).symlink_to(source / "sites" / site)
    return compare("sites", [make_method("sandwich")], settings=Settings(root=target.parent))


@pytest.mark.parametrize("method", ["everything", "sandwich"])
def test_sites_agree(sites_scorer: Any, sites_evaluation: Evaluation, method: str) -> None:
    rows = {row.site: row for row in sites_evaluation[method].sites}
    assert rows.keys() == set(CHOSEN_SITES)
    for site in CHOSEN_SITES:
        theirs = sites_scorer.score_site(site, _texts("sites", site, method))
        assert theirs["missing"] == 0
        assert dict(rows[site].measures) == pytest.approx(
            {name: theirs[name] for name in ("precision", "recall", "f1", "leak")}, abs=1e-9
        )
    strata = sites_scorer.strata()
    assert all(site in strata[rows[site].kind] for site in CHOSEN_SITES)


def test_wcxb_agrees() -> None:
    official = load_module(find_data() / "wcxb" / "evaluate.py")
    evaluation = compare("wcxb-sample", [])
    rows = {row.file: row for row in evaluation.rows}
    assert len(rows) == 150
    for site in open_set("wcxb-sample").site_names():
        gold = open_set("wcxb").load(site).pages[0].gold
        assert isinstance(gold, MainText)
        (text,) = _texts("wcxb", site, "everything").values()
        precision, recall, f1 = official.word_f1(text, gold.content)
        expected = {
            "precision": precision,
            "recall": recall,
            "f1": f1,
            "with": official.snippet_check(text, list(gold.required)),
            "without": official.snippet_check(text, list(gold.forbidden)),
        }
        assert rows[site].measures == pytest.approx(expected, abs=1e-12)
        labels = find_data() / "wcxb" / "dev" / "ground-truth" / f"{site}.json"
        assert rows[site].kind == official.get_page_type(json.loads(labels.read_text("utf-8")))


def test_all_pages_of_swde_are_labelled_and_show_their_values() -> None:
    data = open_set("swde")
    assert len(data.site_names()) == 10
    assert {len(data.load(site).pages) for site in data.site_names()} == {400}
    (site,) = compare("swde", [], settings=Settings(limit=1)).sites
    assert site.counts["never_shown"] == 0
    assert site.measures == {"removed": 0.0, "kept": 1.0}


def test_the_hash_is_the_same_the_second_time() -> None:
    assert data_hash("sites") == data_hash("sites")
