"""What every method must hold to, as checks that anyone can run on a method of their own.

    from chaffinch.methods.conformance import CHECKS
    for check in CHECKS:
        check(MyMethod())

Each check raises `AssertionError` with a sentence that says what is broken. The pages are made here, from a fixed
seed: a small site with a template, and the odd pages that break things.
"""

from __future__ import annotations

import pickle
import random
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.errors import ModelError
from chaffinch.methods.fold import Fold, learn_template
from chaffinch.methods.table import METHODS, make_method, options_of
from chaffinch.page import Page, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chaffinch.methods.protocol import AnyMethod
    from chaffinch.page import FloatArray

_WORDS: Final = (
    "barley hedge winter siskin harbour lantern meadow copper river thistle market kettle garden window letter "
    "orchard saddle evening marble forest silver bridge cotton summer"
).split()


def make_site(pages: int, seed: int = 0, host: str = "conformance.example") -> list[Page]:
    """Return the pages of a made-up site: one template, and on each page its own paragraphs."""
    return [parse(_html(number, seed), url=f"https://{host}/part/page-{number:05}.html") for number in range(pages)]


def _html(number: int, seed: int) -> str:
    generator = random.Random(f"{seed}/{number}")  # noqa: S311  (test pages, not secrets)
    paragraphs = "\n".join(
        f"<p>{' '.join(generator.choices(_WORDS, k=generator.randint(5, 40)))} {number}</p>"
        for _ in range(generator.randint(1, 6))
    )
    return (
        "<!doctype html>\n<html><head><title>The site</title></head>\n<body>\n"
        "<nav><ul>\n<li><a href='/'>Start here</a></li>\n<li><a href='/about'>About the site</a></li>\n</ul></nav>\n"
        f"<main>\n<h1>Page {number}</h1>\n{paragraphs}\n</main>\n"
        "<footer>\n<p>Copyright of the whole site, all rights reserved</p>\n</footer>\n</body></html>\n"
    )


def odd_pages() -> list[Page]:
    """Return pages that break things: empty, without text, deep, wide, repetitive, in many scripts, hidden."""
    bodies = [
        "",
        "<html></html>",
        "<img src=a.png><script>var a = 1</script>",
        "   \n\t ",
        "plain text without any tag",
        "<div>" * 2000 + "deep" + "</div>" * 2000,
        "<p>same</p>" * 2000,
        "<p hidden>hidden</p><p style='display:none'>hidden too</p>",
        "<p>日本語の文章です。</p><p dir=rtl>یہ اردو ہے</p><p>\u200b\u00a0\ufeff</p>",
        "<template><p>inert</p></template><noscript><p>no script</p></noscript><svg><text>drawn</text></svg>",
    ]
    urls = [f"https://conformance.example/part/odd-{number}.html" for number in range(len(bodies))]
    return [parse(body, url=url) for body, url in zip(bodies, urls, strict=True)]


def check_scores_fit(method: AnyMethod) -> None:
    """Scores are finite, from 0 to 1, one for each text node, as 32-bit floats; with and without a template."""
    site = make_site(5)
    for template in (None, learn_template(method, site)):
        for page in (*site, *odd_pages()):
            scores = method.score(page, template)
            assert scores.dtype == np.float32, f"scores of {page} are {scores.dtype}, not float32"
            assert scores.shape == page.text_nodes.shape, f"scores of {page} do not fit its text nodes"
            assert bool(np.isfinite(scores).all()), f"some scores of {page} are not finite"
            assert bool(((scores >= 0) & (scores <= 1)).all()), f"some scores of {page} are not from 0 to 1"


def check_order_is_free(method: AnyMethod) -> None:
    """Any order of the pages and any grouping of the merges gives the same template."""
    pages = [*make_site(23), *odd_pages()]
    expected = method.dump(learn_template(method, pages))
    generator = random.Random(1)  # noqa: S311
    for _ in range(5):
        generator.shuffle(pages)
        assert method.dump(learn_template(method, pages)) == expected, "another order gives another template"
        summaries = [method.summarise(page) for page in pages]
        while len(summaries) > 1:
            first = summaries.pop(generator.randrange(len(summaries)))
            second = summaries.pop(generator.randrange(len(summaries)))
            summaries.insert(generator.randint(0, len(summaries)), method.merge(first, second))
        assert method.dump(method.finish(summaries[0])) == expected, "another grouping gives another template"


def check_repeatable(method: AnyMethod) -> None:
    """The same pages give the same template and scores, from a second parse and a copy of the method too."""
    copy = type(method)(**{name: getattr(method, name) for name in options_of(method)})
    assert copy == method, "a method made with the same options is not equal"
    one, other = learn_template(method, make_site(7)), learn_template(copy, make_site(7))
    assert method.dump(one) == copy.dump(other), "the same pages give another template"
    for page, again in zip(make_site(7), make_site(7), strict=True):
        assert _equal(method.score(page, one), copy.score(again, other)), "the same page scores differently"


def check_input_untouched(method: AnyMethod) -> None:
    """Summaries are not changed by a merge, nor templates by scoring."""
    pages = make_site(6)
    one, other = method.summarise(pages[0]), method.summarise(pages[1])
    before = method.dump(method.finish(one)), method.dump(method.finish(other))
    template = method.finish(method.merge(one, other))
    assert (method.dump(method.finish(one)), method.dump(method.finish(other))) == before, "a merge changed its input"
    kept = method.dump(template)
    for page in pages:
        method.score(page, template)
    assert method.dump(template) == kept, "scoring changed the template"


def check_templates_are_kept(method: AnyMethod) -> None:
    """A template that was written and read scores as before; damaged bytes raise `ModelError`."""
    pages = make_site(6)
    template = learn_template(method, pages)
    data = method.dump(template)
    again = method.load(data)
    assert method.dump(again) == data, "a template changes when it is written and read"
    for page in (*pages, *odd_pages()):
        assert _equal(method.score(page, template), method.score(page, again)), "a kept template scores differently"
    for damaged in (b"", b"\x00" * 50, data[: len(data) // 2], b"PK" + data[2:40]):
        try:
            method.load(damaged)
        except ModelError:
            continue
        raise AssertionError("damaged bytes are read without a ModelError")


def check_templates_grow(method: AnyMethod) -> None:
    """More pages learned into a kept template give the same as all pages learned at once."""
    pages = make_site(9)
    kept = method.load(method.dump(learn_template(method, pages[:5])))
    fold = Fold(method)
    fold.add_summary(method.reopen(kept))
    for page in pages[5:]:
        fold.add(page)
    grown = method.dump(fold.template())
    assert grown == method.dump(learn_template(method, pages)), "a kept template grows differently"


def check_fit(method: AnyMethod) -> None:
    """A page of the site fits its template better than a page of another design."""
    site = make_site(8)
    template = learn_template(method, site)
    html = "<article><h2>Other</h2><table><tr><td>design</td></tr></table></article>"
    stranger = parse(html, url="https://conformance.example/part/page-99999.html")
    fits = [method.fit(page, template) for page in site]
    assert all(0 <= fit <= 1 for fit in fits), "a fit is not from 0 to 1"
    assert min(fits) > method.fit(stranger, template), "a page of another design fits as well as the site's own"


def check_summaries_travel(method: AnyMethod) -> None:
    """Methods, summaries and templates go from process to process."""
    pages = make_site(3)
    copy = pickle.loads(pickle.dumps(method))  # noqa: S301  (made here)
    summaries = [pickle.loads(pickle.dumps(method.summarise(page))) for page in pages]  # noqa: S301
    fold = Fold(copy)
    for summary in summaries:
        fold.add_summary(summary)
    assert method.dump(fold.template()) == method.dump(learn_template(method, pages)), "a summary changes on its way"


def check_small_sites(method: AnyMethod) -> None:
    """A site of one page, of two equal pages and of pages without text can be learned, and keeps its text findable."""
    page = make_site(1)[0]
    for pages in ([page], [page, page], make_site(1) + make_site(1), odd_pages()):
        template = learn_template(method, pages)
        for scored in pages:
            scores = method.score(scored, template)
            assert scores.shape == scored.text_nodes.shape, "a small site breaks the scores"
    assert learn_template(method, []) is None, "no page at all still gives a template"


def check_batch_is_single(method: AnyMethod) -> None:
    """A page scores the same whatever was scored before it, and from many threads at once."""
    pages = [*make_site(8), *odd_pages()]
    template = learn_template(method, pages)
    alone = [method.score(page, template) for page in pages]
    again = [method.score(page, template) for page in reversed(pages)][::-1]
    barrier = threading.Barrier(4)

    def all_pages(_: int) -> list[FloatArray]:
        barrier.wait()
        return [method.score(page, template) for page in make_site(8) + odd_pages()]

    with ThreadPoolExecutor(4) as threads:
        runs: Sequence[list[FloatArray]] = [again, *threads.map(all_pages, range(4))]
    for run in runs:
        for one, other in zip(alone, run, strict=True):
            assert _equal(one, other), "a score depends on what was scored before, or beside"


def check_options_round_trip(method: AnyMethod) -> None:
    """Options written as text give the same method, and an unknown one is refused."""
    if method.name in METHODS:
        assert make_method(method.name, options_of(method)) == method, "options change when written as text"


def check_memory_is_bounded(method: AnyMethod) -> None:
    """Learning from four times the pages of a directory takes little more memory, once there are many."""
    method = _with_small_bounds(method)

    def peak(pages: int) -> int:
        tracemalloc.start()
        fold = Fold(method)
        for number in range(pages):
            fold.add(parse(_html(number, 0), url=f"https://conformance.example/part/page-{number:05}.html"))
        method.dump(fold.template())
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    small, large = peak(120), peak(480)
    assert large < 1.6 * small, f"learning from 480 pages takes {large:,} bytes, from 120 {small:,}"


def _with_small_bounds(method: AnyMethod) -> AnyMethod:
    """Return the method with every `most_…` option small, so that its bounds are reached in a test."""
    small = {name: "50" for name in options_of(method) if name.startswith("most_")}
    return make_method(method.name, {**options_of(method), **small}) if method.name in METHODS else method


def _equal(one: FloatArray, other: FloatArray) -> bool:
    return bool(np.array_equal(one, other))


CHECKS: Final[tuple[Callable[[AnyMethod], None], ...]] = (
    check_scores_fit,
    check_order_is_free,
    check_repeatable,
    check_input_untouched,
    check_templates_are_kept,
    check_templates_grow,
    check_fit,
    check_summaries_travel,
    check_small_sites,
    check_batch_is_single,
    check_options_round_trip,
    check_memory_is_bounded,
)
"""All checks, in the order in which they help to find a fault."""
