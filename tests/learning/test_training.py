"""Training method `model`, from a crawl to a model file that cleans."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from made_up_crawl import page_html, write_training_crawl

from chaffinch.errors import ModelError
from chaffinch.evaluation.kolcz2007 import least_pages, pages_of_sites, read
from chaffinch.learning.classifiers import TrainingOptions
from chaffinch.learning.crossvalidation import Curve, cross_validate
from chaffinch.learning.example_set import read_examples
from chaffinch.learning.naive_bayes import LEAST_SITES, WordCounts
from chaffinch.methods import make_method, threshold_of
from chaffinch.methods.block_features import FEATURES, block_features
from chaffinch.methods.model import SiteIndependent
from chaffinch.methods.model_weights import COLUMNS, KIND, VERSION, weights_of
from chaffinch.methods.page_blocks import PageBlocks
from chaffinch.models import read_model, write_model
from chaffinch.models.files import Model
from chaffinch.page import parse
from conftest import Command


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_training_crawl(tmp_path_factory.mktemp("training") / "crawl")


@pytest.fixture(scope="module")
def trained(crawl: Path) -> Path:
    """A model trained on the crawl, its examples beside it."""
    folder = crawl.parent
    done = _train(crawl, folder / "model.npz", "--features", str(folder / "examples.parquet"))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["sites"] == 6
    assert report["recall"]["forest"] > 0.9
    return folder / "model.npz"


def _train(crawl: Path, output: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chaffinch", "train", str(crawl), "-o", str(output), "--folds", "3", "--json"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)


def test_a_trained_model_cleans_a_site_it_has_not_seen(trained: Path, chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text(page_html(99, 1), "utf-8")
    done = chaffinch("clean", tmp_path / "one.html", "--method", "model", "--option", f"file={trained}")
    assert (done.returncode, done.stderr.count("chaffinch:")) == (0, 0)
    assert "And so on, number 1-0" in done.stdout
    assert "rights reserved" not in done.stdout
    assert "All of the barley pages" not in done.stdout


def test_why_is_told_feature_by_feature(trained: Path, chaffinch: Command, tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text(page_html(99, 1), "utf-8")
    for classifier in ("forest", "logistic"):
        method = ["--method", "model", "--option", f"file={trained}", "--option", f"classifier={classifier}"]
        told = json.loads(chaffinch("explain", tmp_path / "one.html", *method, "--json").stdout)
        (footer,) = (block for block in told["blocks"] if "reserved" in block["text"])
        assert footer["template"]
        assert {row["feature"] for row in footer["evidence"]} == set(COLUMNS)
        assert footer["evidence"][0]["contribution"] > 0
    assert "needs nothing of the site" in chaffinch("explain", tmp_path / "one.html", *method).stdout


def test_the_card_tells_all_and_the_words_are_common(trained: Path) -> None:
    model = read_model(trained, KIND, VERSION)
    for name in ("data_sha256", "folds", "recall_at_precision", "date", "seed", "command", "chaffinch"):
        assert model.card[name] not in (None, "", [])
    assert json.dumps(model.card)
    shared = set(weights_of(str(trained)).text.text.words)
    assert {"copyright", "barley"} <= shared
    assert "0000" not in shared or LEAST_SITES <= 6


def test_training_again_gives_the_same(trained: Path, crawl: Path, tmp_path: Path) -> None:
    assert _train(crawl, tmp_path / "again.npz", "--jobs", "2").returncode == 0
    one, other = (read_model(path, KIND, VERSION) for path in (trained, tmp_path / "again.npz"))
    assert one.card == other.card
    for name, array in one.arrays.items():
        assert np.array_equal(array, other.arrays[name]), name


def test_a_killed_run_goes_on(trained: Path, crawl: Path, tmp_path: Path) -> None:
    output = tmp_path / "model.npz"
    run = "from chaffinch.learning import examples; examples._ROWS = 1; from chaffinch.cli import main; main()"
    command = [sys.executable, "-c", run, "train", str(crawl), "-o", str(output), "--folds", "3", "--resume"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    folder = tmp_path / ".model.npz.chaffinch"
    while process.poll() is None and not list(folder.glob("examples-*.parquet")):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert list(folder.glob("examples-*.parquet"))
    done = _train(crawl, output, "--resume")
    assert done.returncode == 0, done.stderr
    assert not folder.exists()
    one, other = read_model(trained, KIND, VERSION), read_model(output, KIND, VERSION)
    assert one.card["data_sha256"] == other.card["data_sha256"]
    assert all(np.array_equal(array, other.arrays[name]) for name, array in one.arrays.items())


def test_examples_hold_features_of_labelled_blocks(trained: Path) -> None:
    rows = pq.read_table(trained.parent / "examples.parquet").to_pylist()
    assert set(FEATURES) < set(rows[0])
    menus = [row for row in rows if row["names"] == ["site", "menu"]]
    assert {row["template"] for row in menus} == {True}
    assert all(row["linked_share"] == 1 for row in menus)


def test_what_words_say_comes_from_other_sites(trained: Path) -> None:
    counts = {f"s{site}.example": [24, 1000, 1000] for site in range(6)}
    examples = read_examples([trained.parent / "examples.parquet"], counts)
    words = WordCounts.of(examples)
    every = np.ones(6, dtype=np.bool_)
    rows = np.arange(len(examples))
    inside, outside = words.scores(every, rows), words.out_of_fold(every, rows, seed=0)
    assert not np.array_equal(inside, outside)
    # Of five sites one is always left out, and no word is known on five of the others.
    five = np.arange(6) < 5
    assert not words.out_of_fold(five, np.flatnonzero(five[examples.site]), seed=0).any()


def test_a_sample_of_a_large_site_does_not_depend_on_the_order(trained: Path) -> None:
    counts = {f"s{site}.example": [24, 5000, 5000] for site in range(6)}
    sample = read_examples([trained.parent / "examples.parquet"], counts, most=1000)
    whole = read_examples([trained.parent / "examples.parquet"], counts, most=10_000)
    again = read_examples([trained.parent / "examples.parquet"], counts, most=1000)
    assert 0 < len(sample) < len(whole)
    assert np.array_equal(sample.features, again.features)


def test_the_paper_s_curves(trained: Path) -> None:
    path = str(trained.parent / "examples.parquet")
    examples = read(path)
    card = read_model(trained, KIND, VERSION).card
    assert isinstance(recalls := card["recall_at_precision"], dict)
    assert recalls["forest"]["0.9"] > 0.9
    assert recalls["logistic"]["0.9"] > 0.9
    assert isinstance(drawn := card["curves"], dict)
    assert set(drawn) == {"forest", "logistic", "text"}
    assert drawn["forest"][-1][0] == 1
    found = cross_validate(WordCounts.of(examples), TrainingOptions(), folds=3)
    assert drawn["forest"] == [list(point) for point in found.curve("forest").points()]
    assert pages_of_sites(path, examples) == [24] * 6
    (row, *_) = least_pages(examples, [24] * 6, TrainingOptions(trees=2), least=(20,))
    assert (row.sites, row.recall > 0.9) == (6, True)


BAD_CRAWLS = {
    "one site": "two sites of 20 pages",
    "no text": "text enough",
    "only content": "example of template",
    "only template": "example of content",
    "nothing": "no page",
    "small sites": "two sites of 20 pages",
}


@pytest.mark.parametrize("case", BAD_CRAWLS)
def test_what_is_missing_is_told(case: str, tmp_path: Path) -> None:
    crawl = tmp_path / "crawl"
    if case in {"one site", "nothing", "small sites"}:
        write_training_crawl(crawl, *{"one site": (1, 24), "nothing": (0, 0), "small sites": (3, 5)}[case]) if (
            case != "nothing"
        ) else crawl.mkdir()
    else:
        text = {
            "no text": "<p>short</p>",
            "only content": "",
            "only template": "<div>" + "the same words " * 9 + "</div>",
        }
        write_training_crawl(crawl, 2, 24)
        for number, path in enumerate(sorted(crawl.rglob("*.html"))):
            own = f"<div>{' '.join(f'w{number}x{word}' for word in range(20))}</div>"
            path.write_text(own if case == "only content" else text[case], "utf-8")
    done = _train(crawl, tmp_path / "model.npz")
    assert done.returncode == 1
    assert BAD_CRAWLS[case] in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "model.npz").exists()


def test_binary_junk_costs_itself_only(trained: Path, crawl: Path, tmp_path: Path) -> None:
    shutil.copytree(crawl, tmp_path / "crawl")
    for number in range(2):
        (tmp_path / "crawl" / "s0" / f"junk-{number}.html").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)
    done = _train(tmp_path / "crawl", tmp_path / "model.npz")
    assert done.returncode == 1
    assert "junk-0.html" in done.stderr
    one, other = read_model(trained, KIND, VERSION), read_model(tmp_path / "model.npz", KIND, VERSION)
    assert one.card["data_sha256"] == other.card["data_sha256"]


def test_wrong_use(crawl: Path, tmp_path: Path, chaffinch: Command) -> None:
    assert chaffinch("train", "-", "-o", tmp_path / "model.npz").returncode == 2
    assert chaffinch("train", crawl, "-o", tmp_path / "nowhere" / "model.npz").returncode == 1
    (tmp_path / "notes.json").write_text("[", "utf-8")
    done = chaffinch("train", crawl, "-o", tmp_path / "model.npz", "--data", tmp_path / "notes.json")
    assert (done.returncode, "is no JSON" in done.stderr) == (1, True)
    assert chaffinch("train", crawl, "-o", tmp_path / "model.npz", "--folds", "1").returncode == 2


def test_a_file_that_is_no_model_is_told_once(crawl: Path, trained: Path, tmp_path: Path, chaffinch: Command) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(trained.read_bytes()[:1000])
    done = chaffinch("clean", crawl, "-o", tmp_path / "out.jsonl", "--method", "model", "--option", f"file={broken}")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "broken.npz" in done.stderr
    model = read_model(trained, KIND, VERSION)
    write_model(broken, Model(KIND, VERSION + 1, model.card, model.arrays))
    with pytest.raises(ModelError, match="train it again"):
        make_method("model", {"file": str(broken)})


def test_favor_is_calibrated(trained: Path) -> None:
    method = SiteIndependent(file=str(trained))
    thresholds = [threshold_of(method, favor) for favor in (0.1, 0.5, 0.9)]
    assert thresholds == sorted(thresholds, reverse=True)
    assert threshold_of(method, "balanced") == 0.5


def test_curves() -> None:
    template = np.array([True, True, False, True, False])
    curve = Curve.of(template, np.array([0.9, 0.8, 0.7, 0.6, 0.1]))
    assert curve.recall_at(1.0) == pytest.approx(2 / 3)
    assert curve.recall_at(0.75) == pytest.approx(1)
    assert curve.balance(1.0) == pytest.approx(0.75)
    assert curve.balance(0.5) == pytest.approx(0.35)
    assert curve.answer_for(0.5) == pytest.approx(0.8)
    assert curve.precision_at(1.0) == pytest.approx(0.75)
    # What is answered alike is taken together.
    assert Curve.of(template, np.ones(5)).recall_at(0.9) == 0


def test_blocks_are_elements_with_text_enough() -> None:
    page = parse("<div>short</div><div>a text that is long enough to be taken for a block</div><p>" + "word " * 30)
    blocks = PageBlocks.of(page, modern=True)
    assert [page.name_of(node) for node in blocks.node.tolist()] == ["div"]
    row = dict(zip(FEATURES, block_features(blocks, np.arange(1))[:, 0].tolist(), strict=True))
    assert (row["words"], row["different_words"], row["leaf_blocks"], row["anchors"]) == (12, 11, 1, 0)
    assert row["is_division"] == 1
    assert row["words_of_page"] == pytest.approx(12 / 43)
