"""The gold of `sites` block by block: which words of each are content, and which count at all.

The gold's text alone cannot tell a heading from a link above it with the same words. So the selectors of the gold are
asked again, of the same parser that the gold was made with, what each text node is, and the text nodes are found again
in our page. Text that only one of the parsers sees does not count.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rapidfuzz.distance import LCSseq
from selectolax.lexbor import LexborHTMLParser

from chaffinch.evaluation.datasets import load_module
from chaffinch.learning.fused_examples import Example
from chaffinch.methods.page_evidence import find_evidence
from chaffinch.page import parse_capture

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from chaffinch.evaluation.datasets import GoldSite
    from chaffinch.page import Page

_CONTENT, _TEMPLATE, _REMOVED, _IGNORED = "content", "template", "removed", "ignored"
_PARTS: Final = ("content", "remove", "ignore")
_WORD: Final = re.compile(r"\w+")


def site_examples(site: GoldSite, folder: Path) -> Iterator[Example]:
    """Label the pages of a site; `folder` holds its `site.json`, and two above it lies the module of the gold."""
    module = load_module(folder.parent.parent / "gold.py")
    whole = json.loads((folder / "site.json").read_text("utf-8"))
    about = {page["file"]: page for page in whole["pages"]}
    for gold_page in site.pages:
        own = about[gold_page.file]
        spec = whole if not any(own.get(part) for part in _PARTS) else {p: own.get(p, whole.get(p, [])) for p in _PARTS}
        page = parse_capture(gold_page.capture)
        kinds = _classes(module, module.decode(gold_page.capture.body), spec)
        yield _example(site, page, kinds)


def _classes(module: Any, html: str, spec: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:  # noqa: ANN401
    """Return the text nodes that are not blank, and what each is, as the gold sees them."""
    tree = LexborHTMLParser(html)
    content, removed, ignored = (
        {node.mem_id for selector in spec.get(part, []) for node in tree.css(selector)} for part in _PARTS
    )
    found: list[tuple[str, str]] = []
    stack: list[tuple[Any, str]] = [(tree.root, _TEMPLATE)]
    while stack:
        node, kind = stack.pop()
        tag = node.tag
        if tag == "-text":
            text = (node.text_content or "").strip()
            if text:
                found.append((text, kind))
            continue
        if tag in module.DROP or (tag.startswith("-") and tag != "-document"):
            continue
        if kind != _IGNORED and not tag.startswith("-"):
            style = node.attributes.get("style")
            hidden = "hidden" in node.attributes or (style and module._HID.search(style))  # noqa: SLF001
            if node.mem_id in ignored or hidden:
                kind = _IGNORED
            elif node.mem_id in removed:
                kind = _REMOVED
            elif node.mem_id in content and kind == _TEMPLATE:
                kind = _CONTENT
        children = []
        child = node.child
        while child is not None:
            children.append((child, kind))
            child = child.next
        stack += reversed(children)
    return found


def _example(site: GoldSite, page: Page, kinds: Sequence[tuple[str, str]]) -> Example:
    evidence = find_evidence(page)
    blocks = page.unrolled.blocks
    places = np.flatnonzero(~page.blank[page.text_nodes])
    ours = [page.texts[place].strip() for place in places.tolist()]
    numbers: dict[str, int] = {}
    one, other = (
        [numbers.setdefault(text, len(numbers)) for text in texts] for texts in (ours, [text for text, _ in kinds])
    )
    of_text = np.full(len(page.texts), _IGNORED, dtype=object)
    for match in LCSseq.opcodes(one, other):
        if match.tag == "equal":
            of_text[places[match.src_start : match.src_end]] = [
                kind for _, kind in kinds[match.dest_start : match.dest_end]
            ]
    inside = blocks.of_text >= 0
    block, weight = blocks.of_text[inside], blocks.text_words[inside]
    whole = np.maximum(np.bincount(block, weights=weight, minlength=len(evidence)), 1)
    content, ignored = (
        np.bincount(block, weights=weight * (of_text[inside] == kind), minlength=len(evidence)) / whole
        for kind in (_CONTENT, _IGNORED)
    )
    words = np.array([len(_WORD.findall(text)) for text in blocks.texts], dtype=np.float32)
    gold = sum(len(_WORD.findall(text)) for text, kind in kinds if kind == _CONTENT)
    return Example(
        set="sites",
        source=page.source,
        site=site.name,
        kind=site.kind,
        evidence=evidence,
        words=(words * (1 - ignored)).astype(np.float32),
        content=(words * content).astype(np.float32),
        gold=gold,
    )
