"""What the project says of itself is true: README, docs, changelog, public names, the example crawl."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import chaffinch
from chaffinch.evaluation.measures import word_score, words_and_bigrams
from chaffinch.methods import METHODS
from conftest import CRAWL, EXAMPLES, ROOT, Command, read_lines

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def test_the_readme_shows_real_output(chaffinch: Command, tmp_path: Path) -> None:
    shown = re.search(r"```text\n(site .*?)```", README, re.DOTALL)
    assert shown is not None
    done = chaffinch("clean", "examples/crawl", "-o", tmp_path / "out", cwd=ROOT)
    assert done.stderr == shown[1]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    prose = re.sub(r"(?ms)^(`{3,}).*?^\1", "", document.read_text(encoding="utf-8"))  # what is shown is not linked
    for target in re.findall(r"\]\((?!https?://)([^)#]+)[^)]*\)", prose):
        assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_its_page(name: str) -> None:
    assert (ROOT / "docs" / "methods" / f"{name}.md").exists()


def test_the_changelog_names_the_version() -> None:
    assert chaffinch.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_public_names() -> None:
    assert sorted(chaffinch.__all__, key=str.casefold) == sorted(set(chaffinch.__all__), key=str.casefold)
    for name in chaffinch.__all__:
        assert getattr(chaffinch, name) is not None


def test_doctests() -> None:
    assert doctest.testmod(chaffinch).failed == 0


def test_import_is_light() -> None:
    """The first success takes five seconds at most; what is heavy is imported when it is needed."""
    heavy = "('trafilatura', 'resiliparse', 'selectolax', 'pyarrow.parquet')"
    code = f"import sys, chaffinch.cli; print(*(name for name in {heavy} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_example_crawl_is_cleaned_well(chaffinch: Command, tmp_path: Path) -> None:
    """Against its gold texts the content is better than the whole page, on every page and by far on average."""
    clean = ("clean", CRAWL, "--option", "keep_comments=true")  # the gold has what readers wrote
    assert chaffinch(*clean, "-o", tmp_path / "out.jsonl").returncode == 0
    visible = ("clean", CRAWL, "--method", "sandwich", "--page-by-page")
    assert chaffinch(*visible, "-o", tmp_path / "all.jsonl").returncode == 0
    contents = {row["source"]: row["content"] for row in read_lines(tmp_path / "out.jsonl")}
    everything = {row["source"]: row["content"] for row in read_lines(tmp_path / "all.jsonl")}
    gains = []
    for gold in sorted((EXAMPLES / "gold").rglob("*.txt")):
        name = f"/{gold.stem}.html"
        (source,) = [source for source in contents if f"/{gold.parent.name}/" in source and source.endswith(name)]
        reference = words_and_bigrams(gold.read_text(encoding="utf-8"))
        found = word_score(words_and_bigrams(contents[source]), reference)
        whole = word_score(words_and_bigrams(everything[source]), reference)
        assert found.recall > 0.9, f"{source} lost content"
        gains.append(found.f1 - whole.f1)
    assert len(gains) == 12
    assert min(gains) > 0
    assert sum(gains) / len(gains) > 0.2
