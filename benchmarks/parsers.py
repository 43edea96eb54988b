"""HTML parsers side by side: how right their trees are, how fast they are parsed to, what hostile input costs them.

    pip download --no-deps --no-binary :all: html5lib     # its archive holds the tree-construction tests
    python benchmarks/parsers.py html5lib-1.1.tar.gz [--json]

Needs the `bench` extra, and for the times the evaluation data (`CHAFFINCH_DATA`). A tree is right if elements,
attributes and texts are those of the test, comments and doctypes aside. Tests of fragments and of running scripts are
left out. Hostile input is parsed in a process of its own, which has a minute.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import statistics
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import lxml.html
import turbohtml
from resiliparse.parse.html import HTMLTree, NodeType
from selectolax.lexbor import LexborHTMLParser

from chaffinch.errors import InputError
from chaffinch.evaluation.datasets import find_data
from chaffinch.page.parser import parse_tree
from chaffinch.page.tags import NAMES, TEXT

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Token: TypeAlias = tuple[int, str, Any]
"""Depth, and the name and attributes of an element or `#text` and a text."""

ROUNDS: Final = 5
PAGES: Final = 150
SECONDS: Final = 60


class Case(NamedTuple):
    """One test of the standard's tree construction."""

    html: str
    tree: list[Token]


# What the tests say


def cases(archive: Path) -> Iterator[Case]:
    """Yield the tests of an archive of html5lib."""
    with tarfile.open(archive) as files:
        for member in files:
            if "/testdata/tree-construction/" in member.name and member.name.endswith(".dat"):
                file = files.extractfile(member)
                assert file is not None  # noqa: S101  (it is a regular file)
                yield from _cases_of(file.read().decode("utf-8", "surrogatepass"))


def _cases_of(text: str) -> Iterator[Case]:
    for part in re.split(r"(?:^|\n\n)#data\n", text)[1:]:
        html, _, rest = part.partition("\n#errors")
        head, marker, tree = rest.partition("\n#document\n")
        if marker and "#document-fragment" not in head and "#script-on" not in head:
            yield Case(html, _tree_of(tree))


def _tree_of(text: str) -> list[Token]:
    """Read a tree as the tests write it: a line a node, attributes below their element."""
    tree: list[Token] = []
    inside: list[int] = []  # the depths of the contents of templates, which are no nodes here
    for line in re.split(r"\n(?=\| )", text.rstrip("\n").removeprefix("| ")):
        entry = line.removeprefix("| ")
        content = entry.lstrip(" ")
        depth = (len(entry) - len(content)) // 2
        inside = [start for start in inside if start < depth]
        place = depth - len(inside)
        if content == "content":
            inside.append(depth)
        elif content.startswith('"'):
            _add_text(tree, place, content[1:-1])
        elif content.endswith('"'):
            name, _, value = content.partition('="')
            tree[-1][2][name.replace(" ", ":")] = value[:-1]
        elif content.startswith("<") and not content.startswith(("<!--", "<!DOCTYPE", "<?")):
            tree.append((place, content[1:-1].rpartition(" ")[2], {}))
    return tree


def _add_text(tree: list[Token], depth: int, text: str) -> None:
    """Add a text; one behind a text (only a comment was between) is part of that."""
    if tree and tree[-1][:2] == (depth, "#text"):
        text = tree.pop()[2] + text
    if text:
        tree.append((depth, "#text", text))


# What the parsers say


def of_page(html: str) -> list[Token]:
    """Return the tree that Chaffinch builds its pages of."""
    found = parse_tree(html)
    depths = [0] * len(found.tag)
    tree: list[Token] = []
    texts, elements, count = iter(found.texts), iter(found.attributes), 0
    for node, (tag, parent) in enumerate(zip(found.tag.tolist(), found.parent.tolist(), strict=True)):
        depths[node] = depth = depths[parent] + 1 if node else 0
        if tag == TEXT:
            _add_text(tree, depth, next(texts))
        else:
            tree.append((depth, found.other_names.get(count, NAMES[tag]), dict(next(elements))))
            count += 1
    return tree


def of_lexbor(html: str) -> list[Token]:
    """Return the tree of selectolax."""
    tree: list[Token] = []

    def walk(node: Any, depth: int) -> None:  # noqa: ANN401  (no types are published)
        while node is not None:
            if node.tag == "-text":
                _add_text(tree, depth, node.text(deep=False))
            elif not node.tag.startswith(("-", "!")):
                tree.append((depth, node.tag, {key: value or "" for key, value in node.attributes.items()}))
                walk(node.child, depth + 1)
            node = node.next

    walk(LexborHTMLParser(html).root, 0)
    return tree


def of_resiliparse(html: str) -> list[Token]:
    """Return the tree of Resiliparse."""
    tree: list[Token] = []

    def walk(node: Any, depth: int) -> None:  # noqa: ANN401  (no types are published)
        while node is not None:
            if node.type == NodeType.TEXT:
                _add_text(tree, depth, node.value)
            elif node.type == NodeType.ELEMENT:
                tree.append((depth, node.tag, {name: node[name] for name in node.attrs}))
                walk(node.first_child, depth + 1)
            node = node.next

    document = HTMLTree.parse(html).document
    if document is not None:
        walk(document.first_child, 0)
    return tree


def of_lxml(html: str) -> list[Token]:
    """Return the tree of libxml2."""
    tree: list[Token] = []

    def walk(node: Any, depth: int) -> None:  # noqa: ANN401  (no types are published)
        if isinstance(node.tag, str):
            tree.append((depth, node.tag, dict(node.attrib)))
            _add_text(tree, depth + 1, node.text or "")
            for child in node:
                walk(child, depth + 1)
        if depth:
            _add_text(tree, depth, node.tail or "")

    walk(lxml.html.document_fromstring(html or " "), 0)
    return tree


TREES: Final[dict[str, Callable[[str], list[Token]]]] = {
    "turbohtml": of_page,
    "selectolax (lexbor)": of_lexbor,
    "resiliparse (lexbor)": of_resiliparse,
    "lxml (libxml2)": of_lxml,
}
BARE: Final[dict[str, Callable[[str], object]]] = {
    "turbohtml": turbohtml.parse,
    "selectolax (lexbor)": LexborHTMLParser,
    "resiliparse (lexbor)": HTMLTree.parse,
    "lxml (libxml2)": lxml.html.document_fromstring,
}
HOSTILE: Final[dict[str, Callable[[], str]]] = {
    "100,000 nested div": lambda: "<div>" * 100_000 + "x",
    "100,000 nested b": lambda: "<b>" * 100_000 + "x",
    "20,000 open b, then 20,000 p": lambda: "<b>" * 20_000 + "<p>x" * 20_000,
    "1,000,000 siblings": lambda: "<i></i>" * 1_000_000,
    "1,000,000 rows": lambda: "<table>" + "<tr><td>x" * 1_000_000,
    "100,000 texts to be moved out of a table": lambda: "<table>" + "<tr>x" * 100_000,
    "100,000 attributes of one element": lambda: "<p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">x",
    "an attribute of 50 MB": lambda: "<p title='" + "x" * 50_000_000 + "'>x",
    "2,000,000 entities": lambda: "&amp;&notit;" * 1_000_000,
    "50 MB of open tags": lambda: "<" * 50_000_000,
}


def right_trees(archive: Path) -> dict[str, dict[str, int]]:
    """Return how many trees of how many each parser gets right."""
    found: dict[str, dict[str, int]] = {}
    wanted = list(cases(archive))
    for name, tree_of in TREES.items():
        right = 0
        for case in wanted:
            try:
                right += tree_of(case.html) == case.tree
            except Exception:  # noqa: BLE001, S112  (a tree that cannot be had is wrong)
                continue
        found[name] = {"right": right, "of": len(wanted)}
    return found


def times(data: Path) -> dict[str, float]:
    """Return CPU milliseconds a page for the bare parse of decoded pages."""
    files = sorted((data / "wcxb" / "dev" / "html").glob("*.html"))
    pages = [path.read_text("utf-8", "replace") for path in files[:: max(1, len(files) // PAGES)]][:PAGES]
    costs: dict[str, list[float]] = {name: [] for name in (*BARE, "turbohtml to a tree of arrays")}
    for _ in range(ROUNDS):
        for name, work in (*BARE.items(), ("turbohtml to a tree of arrays", parse_tree)):
            start = time.process_time()
            for page in pages:
                work(page)
            costs[name].append((time.process_time() - start) * 1000 / len(pages))
    return {name: statistics.median(values) for name, values in costs.items()}


def hostile() -> dict[str, dict[str, float | str]]:
    """Return the CPU seconds that each parser takes for each hostile input, or what became of it."""
    context = multiprocessing.get_context("fork")
    result: dict[str, dict[str, float | str]] = {}
    for name, make in HOSTILE.items():
        result[name] = {}
        for parser, work in BARE.items():
            told, tell = context.Pipe(duplex=False)
            process = context.Process(target=_timed, args=(work, make, tell))
            process.start()
            tell.close()
            if not told.poll(SECONDS):
                result[name][parser] = f"more than {SECONDS} s"
            else:
                try:
                    result[name][parser] = told.recv()
                except EOFError:
                    result[name][parser] = "crash"
            process.kill()
            process.join()
    return result


def _timed(work: Callable[[str], object], make: Callable[[], str], tell: Connection) -> None:
    html = make()
    start = time.process_time()
    try:
        _kept = work(html)  # to free a deep tree may fail as well
        del _kept
    except Exception as error:  # noqa: BLE001  (told as it is)
        tell.send(type(error).__name__)
    else:
        tell.send(time.process_time() - start)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", type=Path, help="the source archive of html5lib")
    parser.add_argument("--json", action="store_true")
    parsed = parser.parse_args()
    sys.setrecursionlimit(10_000)
    report: dict[str, Any] = {"trees": right_trees(parsed.tests), "hostile": hostile()}
    try:
        report["milliseconds"] = times(find_data())
    except InputError as error:
        print(error, file=sys.stderr)
    if parsed.json:
        print(json.dumps(report, indent=2))
        return 0
    for name, found in report["trees"].items():
        print(f"{name:<48}{found['right']:>6} of {found['of']} trees right")
    for name, value in report.get("milliseconds", {}).items():
        print(f"{name:<48}{value:>9.2f} ms a page")
    for name, row in report["hostile"].items():
        cells = (value if isinstance(value, str) else f"{value:.2f} s" for value in row.values())
        print(f"{name:<48}{''.join(f'{cell:>16}' for cell in cells)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
