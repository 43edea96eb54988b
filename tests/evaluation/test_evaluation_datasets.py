from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from chaffinch.errors import InputError, MissingExtraError, UsageError
from chaffinch.evaluation.datasets import MainText, Regions, Values, data_hash, find_data, open_set

if TYPE_CHECKING:
    from pathlib import Path

GOLD_MODULE = """
import json, pathlib

def site_gold(folder):
    calls = pathlib.Path(folder, "calls")
    calls.write_text(str(int(calls.read_text()) + 1 if calls.exists() else 1))
    for page in json.loads(pathlib.Path(folder, "site.json").read_text())["pages"]:
        yield {"file": page["file"], "content": "été " + page["file"], "template": "home", "ignored": ""}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number, kind in enumerate(["article", "category"]):
        labels = {
            "url": f"http://wren.example/{number}",
            "_internal": {"page_type": {"primary": kind}},
            "ground_truth": {"title": "T", "main_content": "song", "with": ["so"], "without": None},
        }
        _write(tmp_path / f"wcxb/dev/html/000{number}.html", "<p>song")
        _write(tmp_path / f"wcxb/dev/ground-truth/000{number}.json", json.dumps(labels))
    _write(tmp_path / "sites/gold.py", GOLD_MODULE)
    _write(tmp_path / "sites/split.json", json.dumps({"open": ["b", "a"], "stratified_by": {"blog": ["a"]}}))
    for site in "ab":
        pages = [{"file": f"{n}.html", "url": f"http://{site}.example/{n}"} for n in range(2)]
        _write(tmp_path / f"sites/sites/{site}/site.json", json.dumps({"pages": pages}))
        for page in pages:
            _write(tmp_path / f"sites/sites/{site}/{page['file']}", f"<p>{page['url']}")
    _write(tmp_path / "swde/car-wren/gold.json", json.dumps({"0000": {"make": ["Audi"], "price": []}}))
    _write(tmp_path / "swde/car-wren/0000.htm", '\ufeff<base href="http://wren.example/x/"><p>Audi')
    return tmp_path


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_the_folder_is_the_named_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAFFINCH_DATA", str(root))
    assert find_data() == root


def test_the_usual_folder_is_in_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHAFFINCH_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"data: no evaluation data here; unpack it and set CHAFFINCH_DATA"):
        find_data()
    usual = tmp_path / ".cache/chaffinch/data"
    usual.mkdir(parents=True)
    assert find_data() == usual


def test_sets_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no evaluation set 'other'; there are: wcxb, "):
        open_set("other", tmp_path)
    with pytest.raises(InputError, match=r"'swde' is not in the data folder"):
        open_set("swde", tmp_path)


def test_every_page_of_wcxb_is_a_site(root: Path) -> None:
    data = open_set("wcxb", root)
    assert data.site_names() == ["0000", "0001"]
    site = data.load("0001")
    assert site.kind == "collection"
    (page,) = site.pages
    assert page.gold == MainText("song", ("so",), (), "T", None, None)
    assert (page.capture.source, page.capture.url) == ("wcxb/dev/html/0001.html", "http://wren.example/1")


def test_the_sample_takes_every_tenth_page(root: Path) -> None:
    for number in range(2, 21):
        _write(root / f"wcxb/dev/ground-truth/{number:04}.json", "{}")
    assert open_set("wcxb-sample", root).site_names() == ["0000", "0010", "0020"]


def test_sites_have_urls_and_kinds(root: Path) -> None:
    data = open_set("sites", root)
    assert data.site_names() == ["a", "b"]
    assert [data.load(name).kind for name in "ab"] == ["blog", "other"]
    page = data.load("a").pages[1]
    assert page.capture.url == "http://a.example/1"
    assert page.gold == Regions("été 1.html", "home", "")


def test_gold_is_computed_once_for_the_same_pages(root: Path) -> None:
    data = open_set("sites", root)
    calls = root / "sites/sites/a/calls"
    assert data.load("a") == data.load("a")
    assert calls.read_text() == "1"
    _write(root / "sites/sites/a/0.html", "changed")
    data.load("a")
    assert calls.read_text() == "2"


def test_gold_that_needs_something_else(root: Path) -> None:
    _write(root / "sites/gold.py", "import no_such_parser")
    with pytest.raises(MissingExtraError, match=r"pip install 'chaffinch\[bench\]'"):
        open_set("sites", root).load("a")


def test_pages_of_swde_have_no_url_from_outside(root: Path) -> None:
    site = open_set("swde", root).load("car-wren")
    (page,) = site.pages
    assert (site.kind, page.file, page.gold) == ("car", "0000.htm", Values((("make", "Audi"),)))
    assert (page.capture.url, page.capture.folder, page.capture.path) == (None, "car-wren", "0000.htm")
    assert page.capture.on_disk


@pytest.mark.parametrize("name", ["wcxb", "sites", "swde"])
def test_the_hash_follows_names_and_contents(root: Path, name: str) -> None:
    first = data_hash(name, root)
    assert data_hash(name, root) == first
    page = next((root / name).rglob("*0*.htm*"))
    page.write_text("changed", "utf-8")
    assert data_hash(name, root) != first


def test_the_hash_is_read_again_only_for_changed_files(root: Path) -> None:
    first = data_hash("swde", root)
    page = root / "swde/car-wren/0000.htm"
    stat = page.stat()
    page.write_bytes(page.read_bytes().replace(b"Audi", b"Fiat"))
    os.utime(page, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert data_hash("swde", root) == first
    page.touch()
    assert data_hash("swde", root) != first


def test_a_damaged_cache_is_no_harm(root: Path) -> None:
    first, gold = data_hash("sites", root), open_set("sites", root).load("a")
    for path in (root / ".chaffinch").iterdir():
        path.write_text("{", "utf-8")
    assert data_hash("sites", root) == first
    assert open_set("sites", root).load("a") == gold


def test_missing_and_damaged_files_are_named(root: Path) -> None:
    (root / "swde/car-wren/0000.htm").unlink()
    with pytest.raises(InputError, match=r"0000\.htm: is part of an evaluation set but cannot be read"):
        open_set("swde", root).load("car-wren")
    _write(root / "swde/car-wren/gold.json", "{")
    with pytest.raises(InputError, match=r"gold\.json: .* is no JSON"):
        open_set("swde", root).load("car-wren")
