"""Documentation packages of Debian as labelled sites, their gold marked by selectors.

`doc_sites.tsv` names for each package the folder that is its site and, as selectors, which elements are content, which
parts of those are not (excluded), and which text counts neither way (ignored). Ignored beats excluded, and excluded
beats content; what no selector marks is template. Text that an attribute hides is ignored, as nobody can say what it is
before it is shown. The packages themselves are not here: they lie unpacked in `debian/PACKAGE/` of the data folder.

`read_doc_examples` labels the blocks by the nodes that are marked. Their texts alone cannot say whether the title of a
page is content in its heading or in the row of links above it, where many manuals repeat it.
"""

from __future__ import annotations

import csv
import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.errors import InputError
from chaffinch.learning.fused_examples import Example, LabelledPage
from chaffinch.learning.selectors import Selector, marked, read_selectors
from chaffinch.methods.page_evidence import find_evidence
from chaffinch.page import Visibility, parse_capture
from chaffinch.sources import Capture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaffinch.page import BoolArray, Page

RULES: Final = Path(__file__).with_name("doc_sites.tsv")
MOST_PAGES: Final = 40
"""Pages that are taken of a package."""
_LEAST_WORDS: Final = 60
"""A shorter page is a redirect or a stub."""
_MOST_BYTES: Final = 2_000_000
"""Larger files are listings of everything, which no crawler would take as a page."""
_PAGE_NAME: Final = re.compile(r".+\.html?(\.gz)?")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class DocRule:
    """Where the pages of a package are, and what on them is content."""

    package: str
    folder: str
    """The root of the site, below the package."""
    content: tuple[Selector, ...]
    excluded: tuple[Selector, ...]
    ignored: tuple[Selector, ...]


@dataclass(frozen=True, slots=True)
class DocSite:
    """The labelled pages of a package."""

    package: str
    pages: tuple[LabelledPage, ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """The text of a page by what it is."""

    content: str
    template: str
    ignored: str


def read_rules() -> list[DocRule]:
    """Read the table of packages."""
    with RULES.open(encoding="utf-8", newline="") as file:
        return [
            DocRule(
                row["package"],
                row["folder"],
                read_selectors(row["content"]),
                read_selectors(row["excluded"]),
                read_selectors(row["ignored"]),
            )
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]


def read_doc_sites(root: Path) -> Iterator[DocSite]:
    """Yield the packages that are there, in the order of the table; `root` is the data folder."""
    for rule in read_rules():
        if (root / "debian" / rule.package).is_dir():
            yield DocSite(rule.package, tuple(_pages(root, rule)))


def read_doc_examples(root: Path) -> Iterator[Example]:
    """Yield the pages of all packages that are there, each block labelled by its own nodes."""
    rules = {rule.package: rule for rule in read_rules()}
    for site in read_doc_sites(root):
        for page in site.pages:
            yield label_blocks(page, rules[site.package])


def label_blocks(labelled: LabelledPage, rule: DocRule) -> Example:
    """Label each block of a page with the share of its words that is content."""
    page = parse_capture(labelled.capture)
    content, ignored = _parts(page, rule)
    evidence = find_evidence(page)
    blocks = page.unrolled.blocks
    inside = blocks.of_text >= 0
    block, weight = blocks.of_text[inside], blocks.text_words[inside]
    nodes = page.text_nodes[inside]
    whole = np.maximum(np.bincount(block, weights=weight, minlength=len(evidence)), 1)
    of_content = np.bincount(block, weights=weight * content[nodes], minlength=len(evidence)) / whole
    of_ignored = np.bincount(block, weights=weight * ignored[nodes], minlength=len(evidence)) / whole
    words = np.array([len(_WORD.findall(text)) for text in blocks.texts], dtype=np.float32)
    return Example(
        set=labelled.set,
        source=labelled.capture.source,
        site=labelled.site,
        kind=labelled.kind,
        evidence=evidence,
        words=(words * (1 - of_ignored)).astype(np.float32),
        content=(words * of_content).astype(np.float32),
        gold=len(_WORD.findall(labelled.content)),
    )


def mark(page: Page, rule: DocRule) -> Marked | None:
    """Sort the text of a page by what it is; None if nothing on it is content."""
    content, ignored = _parts(page, rule)
    text = _joined(page, content)
    if not text:
        return None
    return Marked(text, _joined(page, ~content & ~ignored), _joined(page, ignored))


def _parts(page: Page, rule: DocRule) -> tuple[BoolArray, BoolArray]:
    """Tell which nodes are content, and which count neither way."""
    ignored = marked(page, rule.ignored) | (page.visibility == Visibility.HIDDEN)
    return marked(page, rule.content) & ~marked(page, rule.excluded) & ~ignored, ignored


def _pages(root: Path, rule: DocRule) -> Iterator[LabelledPage]:
    """Yield the pages whose names' hashes are lowest, whatever the order in the folder is."""
    folder = root / "debian" / rule.package / rule.folder
    files = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*.htm*")
        if _PAGE_NAME.fullmatch(path.name) and path.is_file() and not path.is_symlink()
    }
    taken = 0
    for name in sorted(files, key=lambda name: (xxh3_64_intdigest(f"{rule.package}/{name}".encode()), name)):
        page = _labelled(root, rule, name, files[name])
        if page is not None:
            yield page
            taken += 1
            if taken == MOST_PAGES:
                return


def _labelled(root: Path, rule: DocRule, name: str, path: Path) -> LabelledPage | None:
    body = _read(path)
    if len(body) > _MOST_BYTES:
        return None
    capture = Capture(
        source=path.relative_to(root).as_posix(),
        body=body,
        folder=rule.package,
        path=name.removesuffix(".gz"),
        on_disk=True,
    )
    page = parse_capture(capture)
    if int(page.blocks.words.sum()) < _LEAST_WORDS:
        return None
    found = mark(page, rule)
    if found is None:
        return None
    return LabelledPage(capture, rule.package, "docs", "docs", found.content, found.ignored)


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError) as error:
        raise InputError(str(path), f"is a page of a package but cannot be read: {error}") from error


def _joined(page: Page, chosen: BoolArray) -> str:
    """Join the text of the chosen nodes, in document order, with a new line wherever anything else is between."""
    shown = page.unrolled
    places = np.flatnonzero(chosen[page.text_nodes] & (shown.visibility[page.text_nodes] == Visibility.VISIBLE))
    block = shown.blocks.of_text
    parts: list[str] = []
    before = -1
    for place in places.tolist():
        if before != place - 1 or block[place] != block[before]:
            parts.append("\n")
        parts.append(page.texts[place])
        before = place
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)
