"""Write docs/markdown.md: the same pieces of HTML as Markdown, by Chaffinch and by two peers.

    python benchmarks/markdown_page.py

Needs the evaluation data (`CHAFFINCH_DATA`) for the pieces of documentation pages, and the extra `bench`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

import html_to_markdown
import numpy as np
import trafilatura

import chaffinch
from chaffinch.evaluation.datasets import find_data
from chaffinch.render import render

DOCS: Final = Path(__file__).parent.parent / "docs"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of a page of WCXB: from the first `start` behind `behind` to the `end` that follows it."""

    page: str
    url: str
    start: str
    end: str
    behind: str = ""

    def html(self) -> str:
        """Read it."""
        text = (find_data() / "wcxb" / "dev" / "html" / f"{self.page}.html").read_text("utf-8", errors="replace")
        start = text.index(self.start, text.index(self.behind))
        return text[start : text.index(self.end, start) + len(self.end)]


@dataclass(frozen=True, slots=True)
class Example:
    """What is compared, and what to look at."""

    title: str
    html: str | Excerpt
    remark: str


EXAMPLES: Final = (
    Example(
        "Code with its language",
        Excerpt(
            "0662",
            "https://flask.palletsprojects.com/en/stable/quickstart/",
            '<div class="highlight-text',
            "</pre></div>\n</div>",
        ),
        "The language is that of the class, here of an element around the code; `text` is none.",
    ),
    Example(
        "Code that a highlighter has cut up",
        '<div class="highlight-rust notranslate"><div class="highlight"><pre><span></span><span class="k">fn</span> '
        '<span class="nf">main</span>() {\n    <span class="n">println!</span>(<span class="s">"hi"</span>);\n}\n'
        "</pre></div></div>",
        "",
    ),
    Example(
        "Code with a block element for each line",
        '<pre class="brush: java"><code><div class="line">int a;</div><div class="line">int b;</div></code></pre>',
        "",
    ),
    Example(
        "Code in a list",
        '<ol><li><p>Install:</p><pre><code class="language-bash">pip install x\nx --run</code></pre></li>'
        "<li>Done</li></ol>",
        "",
    ),
    Example(
        "A table with code",
        Excerpt(
            "2879",
            "https://wiki.archlinux.org/title/Systemd",
            '<table class="wikitable">\n<tbody><tr>\n<th>Action',
            "<code>systemctl suspend</code>\n</td></tr>",
        ),
        "",
    ),
    Example(
        "A list in a cell",
        Excerpt(
            "2855",
            "https://developer.mozilla.org/en-US/docs/Web/HTML/Element/table",
            '<table class="properties">',
            "both the starting and ending tag are mandatory.</td>",
        ),
        "A cell of a Markdown table is one line, so items are set apart by `<br>`; longer lists, and code of several"
        " lines, make a table into paragraphs instead, with nothing lost.",
    ),
    Example(
        "Cells that span, alignment, a line break and a bar",
        "<table><tr><th rowspan=2>City</th><th colspan=2>Temperature</th></tr><tr><th align=right>Low</th><th>High</th>"
        "</tr><tr><td>Rome</td><td><code>3|4</code></td><td>30<br>31</td></tr></table>",
        "",
    ),
    Example(
        "Nested lists, one where it should not be",
        "<ul><li>One<ol start=3><li>A</li><li>B<ul><li>deep</li></ul></li></ol></li><ul><li>between items</li></ul>"
        "<li>Two</li></ul>",
        "",
    ),
    Example("Numbers of items", "<ol start=7><li>seven</li><li value=10>ten</li></ol>", ""),
    Example("Tasks", "<ul><li><input type=checkbox checked> done</li><li><input type=checkbox> open</li></ul>", ""),
    Example("Terms", "<dl><dt>Term</dt><dd>Meaning one</dd><dd>Meaning two</dd></dl>", ""),
    Example(
        "A formula with its TeX source",
        '<p>So <span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow><annotation '
        'encoding="application/x-tex">x_1</annotation></semantics></math></span><span class="katex-html" '
        'aria-hidden="true"><span>x</span><span>1</span></span></span> is.</p>',
        "",
    ),
    Example(
        "A formula without a source",
        "<p>Half: <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>, and <math><msup><mrow><mo>(</mo><mi>x</mi>"
        "<mo>+</mo><mn>1</mn><mo>)</mo></mrow><mn>2</mn></msup></math>.</p>",
        "",
    ),
    Example(
        "TeX between delimiters",
        r'<script src="/mathjax/tex-chtml.js"></script><p>Let \(x_i * y_i\) be given, and \[ \sum_i x_i \] too.</p>',
        "Only where the page has a script that reads them: elsewhere they are just letters.",
    ),
    Example(
        "A footnote",
        '<p>Text<sup id="r1"><a href="#f1">1</a></sup> goes on.</p><hr><ol><li id="f1">The note. <a href="#r1">↩</a>'
        "</li></ol>",
        "",
    ),
    Example(
        "Headings",
        '<h2 id="a">Install <code>x</code> <a class="headerlink" href="#a">¶</a></h2><h3><a href="/k">Linked</a> '
        "heading #</h3>",
        "",
    ),
    Example(
        "Links and images",
        '<p><a href="/x"><img src="/i.png" alt="An oak"></a> see <a href="../y?a=1&amp;b=(2)">the (page)</a>.</p>',
        "The page's address is given to Chaffinch and trafilatura; html-to-markdown takes none.",
    ),
    Example(
        "Emphasis and signs that look like it",
        "<p>some<b> bold </b>text, <i>it</i>alic, H<sub>2</sub>O, *not em*, a_b_c, 2 * 3</p><p>1. no list</p>",
        "",
    ),
)

_URL: Final = "https://example.org/page"
_PROSE: Final = "Words around, so that an extractor takes what stands between them for the content of this page."


def ours(html: str) -> str:
    """Return what Chaffinch writes if all of the page is content."""
    page = chaffinch.parse(html, url=_URL)
    return render(page, np.ones(len(page.texts), dtype=np.bool_), "markdown")


def html_to_markdown_of(html: str) -> str:
    """Return what html-to-markdown writes."""
    return str(html_to_markdown.convert(html).content).strip("\n")


def trafilatura_of(html: str) -> str:
    """Return what trafilatura writes of the piece in the middle of an article."""
    body = f"<html><body><article><p>{_PROSE}</p>{html}<p>{_PROSE}</p></article></body></html>"
    written = trafilatura.extract(
        body,
        url=_URL,
        output_format="markdown",
        include_links=True,
        include_images=True,
        include_formatting=True,
        favor_recall=True,
    )
    return str(written).replace(_PROSE, "").strip("\n")


WRITERS: Final[dict[str, Callable[[str], str]]] = {
    f"Chaffinch {chaffinch.__version__}": ours,
    f"html-to-markdown {version('html-to-markdown')}": html_to_markdown_of,
    f"trafilatura {version('trafilatura')}": trafilatura_of,
}


def page_lines() -> Iterator[str]:
    """Write the page."""
    yield "# Markdown, side by side\n"
    yield (
        "Made by `python benchmarks/markdown_page.py`. Each piece of HTML is written by Chaffinch, as if all of it"
        " were\ncontent, by html-to-markdown, and by trafilatura with links, images and formatting. Pieces with an"
        " address are from\ndocumentation pages of WCXB (<https://github.com/murroughfoley/wcx>,"
        " [CC-BY-4.0](https://creativecommons.org/licenses/by/4.0/)), cut short."
    )
    for example in EXAMPLES:
        html = example.html if isinstance(example.html, str) else example.html.html()
        yield f"\n## {example.title}\n"
        if isinstance(example.html, Excerpt):
            yield f"From <{example.html.url}>.\n"
        if example.remark:
            yield f"{example.remark}\n"
        yield _fenced(html.strip("\n"), "html")
        for name, write in WRITERS.items():
            yield f"\n{name}:\n"
            yield _fenced(write(html), "markdown")


def _fenced(text: str, language: str) -> str:
    return f"`````{language}\n{text}\n`````"


def main() -> int:
    """Write."""
    logging.disable(logging.CRITICAL)
    page = DOCS / "markdown.md"
    page.write_text("\n".join(page_lines()) + "\n", "utf-8")
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
