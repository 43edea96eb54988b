"""The gold of `sites` and `swde` block by block: which words of each are content, and which count at all.

The text of the gold of `sites` alone cannot tell a heading from a link above it with the same words. So the selectors
of the gold are asked again, of the same parser that the gold was made with, what each text node is, and the text nodes
are found again in our page. Text that only one of the parsers sees does not count.

The gold of `swde` names values. A block with a value is content; a block without one whose text stands on many pages of
the site is template; nobody knows what the others are, and they do not count.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rapidfuzz.distance import LCSseq
from selectolax.lexbor import LexborHTMLParser
from xxhash import xxh3_64_intdigest

from chaffinch.evaluation.datasets import Values, load_module
from chaffinch.evaluation.measures import normalised
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
_MOST_PAGES: Final = 60
"""Pages that are taken of a site of `swde`."""
_FREQUENT: Final = 0.1
_LEAST_COPIES: Final = 4
"""A text on such a share of the pages, and at least so many, is template."""
_LONG: Final = 4
"""A shorter value must be all of its block."""
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


def value_examples(site: GoldSite) -> Iterator[Example]:
    """Label a sample of the pages of a site by the values on them."""
    drawn = sorted(site.pages, key=lambda page: xxh3_64_intdigest(page.capture.source.encode()))[:_MOST_PAGES]
    found = [find_evidence(parse_capture(page.capture)) for page in drawn]
    shown = Counter(text for evidence in found for text in set(evidence.texts))
    least = max(_LEAST_COPIES, _FREQUENT * len(drawn))
    for page, evidence in zip(drawn, found, strict=True):
        values = {value for _, value in page.gold.pairs} if isinstance(page.gold, Values) else set()
        wanted = {normalised(value) for value in values}
        long = [value for value in wanted if len(value) >= _LONG]
        held = np.array([text in wanted or any(value in text for value in long) for text in evidence.texts], dtype=bool)
        frequent = np.array([shown[text] >= least for text in evidence.texts], dtype=bool)
        words = np.diff(evidence.word_start).astype(np.float32)
        yield Example(
            set="swde",
            source=page.capture.source,
            site=site.name,
            kind=site.kind,
            evidence=evidence,
            words=words * (held | frequent),
            content=words * held,
            gold=int(words[held].sum()),
        )


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
