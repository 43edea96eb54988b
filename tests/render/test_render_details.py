"""Single rules of the formats."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from chaffinch.errors import UsageError
from chaffinch.page.build import parse
from chaffinch.render import Format, render


def rendered(html: str, target: Format, *, without: str = "never", url: str | None = None) -> str:
    """Render what does not match `without`."""
    page = parse(html, url=url)
    kept = np.array([not re.search(without, text) for text in page.texts], dtype=np.bool_)
    return render(page, kept, target)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<p>b", "a\n\nb"),
        ("<div>a</div><div>b</div>", "a\nb"),
        ("a<br>b<br><br>c", "a\nb\n\nc"),
        ("a<hr>b", "a\n\nb"),
        ("a&nbsp;b \n c", "a b c"),
        ("a<wbr>b<b>c</b>\n<i>d</i>", "abc d"),
        ("日本<b>語</b>\u3000文", "日本語\u3000文"),
        ("a\u200db \u202eא\u202c", "a\u200db \u202eא\u202c"),
        ("a\ufeff<span>\u200b</span>b&shy;c", "abc"),
        ("<ol type=a reversed><li>x<li>y</ol>", "b. x\na. y"),
        ("<ol type=I start=9><li>x<li value=40>y</ol>", "IX. x\nXL. y"),
        ("<table><tr><td><td>a<td><td>b<tr><td>c</table>", "\ta\t\tb\nc"),
        ("<table><tr><td><p>a</p><td><div>b<div>c</table>", "a\tb c"),
        ("<textarea> a\n  b</textarea>", " a\n  b"),
        ("<pre>a<br>b<div>c</div>d</pre>", "a\nb\nc\nd"),
        ("<ul><li><pre>a\n b</pre><p>c</ul>", "- a\n b\n\n  c"),
        ("<table><tr><td><div>a</div><div>b</div><tr><td>c</table>", "a\nb\nc"),
        ("<button>a</button><button>b</button>", "a\nb"),
        ("<p>a<div hidden>x</div>b", "a\n\nb"),
        ("<a>x<svg><title>icon</title></svg></a><a>y</a>", "x y"),
    ],
)
def test_text(html: str, expected: str) -> None:
    assert rendered(html, "text") == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<b> a </b>b", "**a** b"),
        ("<b>a:</b>b", "a:b"),
        ("<b>a</b> <b></b><i> </i>c", "**a** c"),
        ("<h2>a <b>b</b> #</h2>", "## a b \\#"),
        ("1. x<br># y<br>> z", "1\\. x\\\n\\# y\\\n\\> z"),
        ("a &amp;amp; &lt;b> \\* C:\\x", "a \\&amp; \\<b> \\\\\\* C:\\x"),
        ("a!<a href=x>b</a>", "a\\![b](x)"),
        ("<a href=x>[a]</a>", "[\\[a\\]](x)"),
        ("<a href='x (y'>a</a>", "[a](x%20%28y)"),
        ("<a href='javascript:x'>a</a><a href=#>b</a>", "ab"),
        ("<a href=x><h2>a</h2><p>b</p></a>", "## [a](x)\n\n[b](x)"),
        ("<code>`a``</code> <code> b </code>", "``` `a`` ``` `b`"),
        ("<code>a <a href=x>b</a></code>", "`a` [`b`](x)"),
        ("<ul><li>a<ol start=2><li>b</ol></ul>", "- a\n\n  2. b"),
        ("<ul><li>a<p>b</p></ul>", "- a\n\n  b"),
        ("<pre>```\n</pre>", "````\n```\n````"),
        ("<div class='highlight highlight-source-python'><pre>a</pre></div>", "```python\na\n```"),
        ("<pre class='brush: java; x: y'>a</pre>", "```java\na\n```"),
        ("<pre class='sourceCode r numberLines'><code>a</code></pre>", "```r\na\n```"),
        ("<pre><code class='hljs language-c++'>a</code></pre>", "```c++\na\n```"),
        ("<pre data-lang=go>a</pre>", "```go\na\n```"),
        ("<table><tr><th>a<th>b<tr><td colspan=9007199254740991>c</table>", "| a | b |\n| --- | --- |\n| c |  |"),
        ("<table><tr><td>a<td>b<tr><td><ul><li>c</ul><td>d</table>", "a\n\nb\n\n- c\n\nd"),
        ("a<table><tr><td>x<td>y<tr><td>z<td>w</table>b", "a\n\n| x | y |\n| --- | --- |\n| z | w |\n\nb"),
    ],
)
def test_markdown(html: str, expected: str) -> None:
    assert rendered(html, "markdown") == expected


def test_addresses_become_absolute() -> None:
    html = "<p>a <a href='/b?c'>d</a> <a href='../e'>f</a> <a href='#g'>h</a> <img src='i.png'> j</p>"
    url = "https://example.org/x/y/z.html"
    assert rendered(html, "markdown", url=url) == (
        "a [d](https://example.org/b?c) [f](https://example.org/x/e) [h](https://example.org/x/y/z.html#g) "
        "![](https://example.org/x/y/i.png) j"
    )
    assert '<a href="#g">h</a> <img src="https://example.org/x/y/i.png"> j' in rendered(html, "html", url=url)


def test_images_go_with_the_text_around_them() -> None:
    html = "<p>one<img src=a.png></p><img src=b.png><p>two</p><img src=c.png><p>drop</p><img src=d.png>drop"
    markdown = rendered(html, "markdown", without="drop")
    assert re.findall(r"\w\.png", markdown) == ["a.png", "b.png"]


def test_addresses_of_images() -> None:
    html = (
        "<p>x<img src='data:image/gif;base64,x' srcset='a.png 1x, b.png 2x'>"
        "<span><img src='data:,'><noscript><img src=c.png></noscript></span>"
        "<span><img src='d.png'><noscript><img src=d.png></noscript></span>"
        "<img width=1 height=1 src=e.png><img></p>"
    )
    assert re.findall(r"\w\.png", rendered(html, "markdown")) == ["b.png", "c.png", "d.png"]


def test_what_is_left_out_leaves_a_boundary() -> None:
    html = "<p>a<b>drop</b>c</p><div>d<div>drop</div>e</div>"
    assert rendered(html, "text", without="drop") == "a c\n\nd\ne"
    assert rendered(html, "markdown", without="drop") == "a c\n\nd\n\ne"
    assert rendered(html, "html", without="drop") == "<p>a c</p>\n<div>d<br>e</div>"


def test_hidden_text_is_never_rendered() -> None:
    html = "<title>t</title><p>a<span hidden>b</span><script>c</script><template>d</template></p>"
    assert rendered(html, "text") == rendered(html, "markdown") == "a"
    assert rendered(html, "html") == "<p>a</p>"


def test_html_keeps_only_what_means_something() -> None:
    html = (
        "<div class=x style='color:red' onclick=y id=here lang=de><font color=red>a</font>"
        "<a href='java\tscript:z' title='&quot;t&quot;'>b</a><custom-x>&lt;c></custom-x><center>d</center></div>"
    )
    expected = '<div id="here" lang="de">a<a title="&quot;t&quot;">b</a>&lt;c&gt;\n<div>d</div></div>'
    assert rendered(html, "html") == expected


def test_html_keeps_the_columns_of_cells() -> None:
    assert "<td></td>\n<td>b</td>" in rendered("<table><tr><td>drop<td>b</table>", "html", without="drop")


def test_json() -> None:
    page = parse("<h1>one two</h1><p>three <b>four five</b> six</p><p>***</p>")
    scores = np.array([0.0, 1.0, 0.25, 1.0, 0.5], dtype=np.float32)
    blocks = json.loads(render(page, scores < 0.9, "json", scores))["blocks"]
    assert [block["score"] for block in blocks] == [0.0, 0.625, 0.5]
    assert [block["kept"] for block in blocks] == [True, True, True]
    assert blocks[1] == {
        "text": "three four five six", "tag": "p", "score": 0.625, "kept": True, "words": 4, "link_words": 0,
        "kept_text": "four five",
    }  # fmt: skip
    assert "kept_text" not in blocks[0]
    assert json.loads(render(page, scores < 0.9, "json"))["blocks"][0]["score"] is None


def test_wrong_lengths_and_formats_are_refused() -> None:
    page = parse("<p>a")
    with pytest.raises(UsageError, match="kept: 2 entries for 1"):
        render(page, np.ones(2, dtype=np.bool_), "text")
    with pytest.raises(UsageError, match="scores"):
        render(page, np.ones(1, dtype=np.bool_), "json", np.ones(3, dtype=np.float32))
    with pytest.raises(UsageError, match="is none of"):
        render(page, np.ones(1, dtype=np.bool_), "yaml")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a</li><ul><li>b</li><ol><li>c</li></ol></ul><li>d</li></ul>", "- a\n  - b\n    1. c\n- d"),
        ("<ol><li>a</li><ol><li>b<p>more</p></li></ol><li>c</li></ol>", "1. a\n\n    1. b\n\n       more\n\n2. c"),
        ("<ul><ul><li>a</li></ul></ul>", "- a"),
    ],
)
def test_a_list_between_items_stands_in_the_item_before_it(html: str, expected: str) -> None:
    written = rendered(html, "markdown")
    assert re.sub(r"\n+", "\n", written) == re.sub(r"\n+", "\n", expected)


def test_short_lists_in_cells() -> None:
    table = "<table><tr><th>What<td>In order:<ol><li>a|b</li><li>x:<ul><li>y</ul></ol> end<tr><th>More<td>c</table>"
    expected = "| What | In order:<br>1. a\\|b<br>2. x:<br>◦ y<br>end |\n| --- | --- |\n| More | c |"
    assert rendered(table, "markdown") == expected
    assert "|" not in rendered(table.replace("<th>", "<td>").replace("a|b", "ab"), "markdown")
    assert "|" not in rendered(table.replace("a|b", "<p>1<p>2"), "markdown")
    assert "|" not in rendered(table.replace("a|b", "1" + 20 * "<li>2"), "markdown")


@pytest.mark.parametrize(
    ("inner", "tex"),
    [
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", r"\frac{1}{2}"),
        ("<msup><mi>x</mi><mn>2</mn></msup>", "x^{2}"),
        ("<msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mn>2</mn></msup>", "{(a)}^{2}"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_{i}^{2}"),
        ("<munderover><mo>&sum;</mo><mi>i</mi><mi>n</mi></munderover>", "\u2211_{i}^{n}"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", r"\sqrt{x+1}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
        ("<mover><mi>x</mi><mo>&macr;</mo></mover>", r"\overline{x}"),
        ("<munder><mi>lim</mi><mi>n</mi></munder>", r"\lim_{n}"),
        ("<msub><mi>sin</mi><mi>$</mi></msub>", r"\sin_{\$}"),
        ("<mfrac><mi>m</mi><mtext>per day</mtext></mfrac>", r"\frac{m}{\text{per day}}"),
        (
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable>",
            r"\begin{matrix} 1 & 2 \\ 3 \end{matrix}",
        ),
    ],
)
def test_formulas_without_a_source(inner: str, tex: str) -> None:
    assert rendered(f"<p>So <math>{inner}</math>.", "markdown") == f"So ${tex}$."


def test_formulas_that_say_all_by_their_letters() -> None:
    assert rendered("<p>So <math><mi>x</mi><mo>=</mo><mn>2</mn></math>.", "markdown") == "So x=2."
    odd = "<p>a<math><mfrac></mfrac><msup><mi>x</mi></msup></math>b"
    assert rendered(odd, "markdown") == "a$x$b"
    deep = f"<p>a<math>{'<mrow>' * 200}<msup><mi>x</mi><mn>2</mn></msup></math>b"
    assert rendered(deep, "markdown") == "a$x^{2}$b"
    assert rendered(f"<p>a<math><msup>{'<mi>x</mi>' * 9000}</msup></math>", "markdown").startswith("a")


def test_delimiters_of_tex_where_a_script_reads_them() -> None:
    prose = r"<p>Let \(x_i * y\) and \[ a_1 \] or (\( \)) be.</p>"
    written = rendered(f'<script src="/mathjax/tex.js"></script>{prose}', "markdown")
    assert written == "Let $x_i * y$ and $$a_1$$ or () be."
    assert "$" not in rendered(prose, "markdown")
