"""The arrays of a parsed page say what the parser's own tree says, node by node."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import numpy as np
import pytest
import turbohtml
from hypothesis import example, given
from hypothesis import strategies as st
from turbohtml import DocumentFragment, Element, Node, Text

from chaffinch.page import Page, parse
from chaffinch.page.arrays import nest

NAMES = (
    "a b i p div span ul li table tr td th tbody caption script style template noscript svg math mi pre textarea h1 br "
    "hr select option xmp iframe noembed noframes plaintext title foreignObject desc path link input frameset frame "
    "form button nobr body head html x-y image listing object annotation-xml a<b p\"q d='="
).split()
ATTRIBUTES = (
    'class=" x  y"', "id=5", "hidden", "hidden=''", "style='display:none'", "style", "href=x", "href", "VIEWBOX=1",
    "viewBox='0 0'", "xlink:href=q", "title='a>b'", 'title="&quot;&amp;lt;"', "<b", "=x", '="x', "x\"y='1'", "é=ü",
    "a=1 a=2", "definitionurl=u", 'encoding="text/html"', "x==", "data-x='\n\u00a0'",
)  # fmt: skip
PIECES = (
    "<!-- c -->", "<!-->", "<!-- <p> --", "-->", "<?pi x<y?>", "</ bogus>", "<![CDATA[ x<y ]]>", "&amp;", "&lt;p&gt;",
    "&nbsp;", "\n", "\n\n", "\0", "\x01", "\x0c", "\r\n", "a<b && c>d", "<script><!--<script></script>-->",
    "<!doctype x>", "\U0001f600", "<", ">", '"', "</p>", "</br>", "<template><p>t", "</template>",
)  # fmt: skip


@st.composite
def tags(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(NAMES))
    if draw(st.booleans()):
        return f"</{name}>"
    attributes = draw(st.lists(st.sampled_from(ATTRIBUTES), max_size=3))
    return f"<{' '.join([name, *attributes])}{draw(st.sampled_from(['', '', '', '/', ' ']))}>"


hostile = st.lists(st.one_of(tags(), tags(), st.sampled_from(PIECES), st.text(max_size=6)), max_size=40).map("".join)


def walk(node: Node) -> Iterator[tuple[Node, int]]:
    """Yield the elements and texts below a node as browsers have them, each with its depth."""
    waiting = [(child, 0) for child in reversed(node.children)]
    while waiting:
        here, depth = waiting.pop()
        if isinstance(here, DocumentFragment):
            waiting += [(child, depth) for child in reversed(here.children)]
            continue
        if isinstance(here, Element | Text):
            yield here, depth
        waiting += [(child, depth + 1) for child in reversed(here.children)]


def assert_is_tree(page: Page, html: str) -> None:
    wanted = list(walk(turbohtml.parse(html)))
    assert len(page) == len(wanted)
    assert page.depth.tolist() == [depth for _, depth in wanted]
    texts = iter(page.texts)
    for node, (here, _) in enumerate(wanted):
        if isinstance(here, Text):
            assert page.name_of(node) == "#text"
            assert next(texts) == here.data
        else:
            assert isinstance(here, Element)
            assert page.name_of(node) == here.tag
            assert page.attributes_of(node) == tuple((name, here.attr(name) or "") for name in here.attrs)
    assert next(texts, None) is None


@given(hostile)
@example("<template><p>a<template>b</template>c</template>d")
@example("<svg><style>a&gt;b<c></c></style><title>x</title><foreignObject><style>a>b</style></foreignObject></svg>")
@example("<pre>\n\nx</pre><textarea>\n\n</textarea><listing>\n</listing>")
@example("<table>a<b>b<tr>c</b>d<td>e</table>f")
@example("<!-- a --><html><!-- b --><body>x<!-- c -->y</body><!-- d --></html><!-- e -->")
@example("<plaintext><p>&amp;</plaintext>")
def test_arrays_are_the_parsers_tree(html: str) -> None:
    page = parse(html)
    assert_is_tree(page, page.html)


@given(hostile)
def test_attributes_are_found_by_name(html: str) -> None:
    table = parse(html).element_attributes
    for name in ("class", "hidden", "style", "href", "id", "xlink:href"):
        column = [dict(attributes).get(name) for attributes in table]
        numbers, values = table.values(name)
        assert list(zip(numbers, values, strict=True)) == [
            (number, value) for number, value in enumerate(column) if value is not None
        ]
        assert [table.value(number, name) for number in range(len(table))] == column
    assert table.holders("id", "class") == [
        number for number, attributes in enumerate(table) if {"id", "class"} & dict(attributes).keys()
    ]
    part = table.part(range(1, len(table), 2))
    assert list(part) == list(table)[1::2]
    assert part.holders("class") == [number for number, attributes in enumerate(part) if "class" in dict(attributes)]
    assert list(part.part([0])) == list(table)[1:2]
    assert list(table) == list(table[:]) == [table[number] for number in range(len(table))]


@given(st.lists(st.integers(0, 8), max_size=60))
@example([0, 1, 2, 1, 0, 1])
def test_parents_and_ends_follow_from_numbers_of_children(depths: list[int]) -> None:
    path: list[int] = []  # the node itself and those around it
    parents, ends = [], []
    children = np.zeros(len(depths), dtype=np.int32)
    for node, depth in enumerate(depths):
        del path[depth:]
        parents.append(path[-1] if path else -1)
        if path:
            children[path[-1]] += 1
        path.append(node)
        ends.append(node + 1)
        for above in path:
            ends[above] = node + 1
    found_parents, found_ends = nest(children)
    assert found_parents.tolist() == parents
    assert found_ends.tolist() == ends


@pytest.mark.parametrize(
    "html", ["", "<p class=x hidden>a<b id=1>c", "<template><i =x '\"'='<&\">y", "<div a=1>" * 999]
)
def test_a_page_can_be_copied_to_another_process(html: str) -> None:
    page = parse(html)
    copy: Page = pickle.loads(pickle.dumps(page))  # noqa: S301  (made here)
    assert list(copy.element_attributes) == list(page.element_attributes)
    assert copy.texts == page.texts
    for name in ("tag", "parent", "end", "text_offset", "blank", "visibility", "in_link"):
        assert np.array_equal(getattr(copy, name), getattr(page, name))
    part = page.element_attributes.part([1]).part([0])
    assert list(pickle.loads(pickle.dumps(part))) == list(page.element_attributes)[1:2]  # noqa: S301
