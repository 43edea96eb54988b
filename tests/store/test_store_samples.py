"""Sample pages, templates in words, and templates as bytes."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

import chaffinch
from chaffinch.errors import ModelError, UsageError
from chaffinch.methods import METHODS, make_method, options_of
from chaffinch.page import parse, parse_capture
from chaffinch.sources import Capture
from chaffinch.store import KeptSite, Sample, Samples, SiteTemplate, TemplateStore, merge_samples, with_page
from chaffinch.store.explain import explain_site
from chaffinch.store.samples import MOST_SAMPLES
from conftest import CRAWL


def sampled(captures: list[Capture]) -> Samples:
    samples: Samples = ()
    for capture in captures:
        samples = with_page(samples, parse_capture(capture), capture)
    return samples


def captures_of(pages: int) -> list[Capture]:
    return [Capture(f"w#{n}", f"<nav>Menu</nav><p>own {n}".encode(), f"https://a.example/{n}") for n in range(pages)]


def test_samples_depend_on_the_pages_alone() -> None:
    captures = captures_of(60)
    expected = sampled(captures)
    assert len(expected) == MOST_SAMPLES
    generator = random.Random(1)  # noqa: S311
    for _ in range(10):
        generator.shuffle(captures)
        assert sampled(captures) == expected
        cut = generator.randrange(60)
        assert merge_samples(sampled(captures[:cut]), sampled(captures[cut:])) == expected
    assert sampled(captures * 2) == expected, "a page counts once"


def test_of_two_captures_of_a_page_one_is_kept_whatever_their_order() -> None:
    one, other = (Capture("w", body, "https://a.example/") for body in (b"<p>one", b"<p>other"))
    assert sampled([one, other]) == sampled([other, one])
    assert len(sampled([one, other])) == 1


def test_a_sample_is_the_page_again() -> None:
    capture = Capture(
        "cr\udcffawl/ü.html", "<p>Grüße".encode("latin-1"), None, "latin-1", "crawl", "ü.html", None, on_disk=True
    )
    (sample,) = sampled([capture])
    page, again = parse_capture(capture), sample.page("domain")
    assert (again.place, again.texts, again.source, again.encoding) == (
        page.place,
        page.texts,
        page.source,
        page.encoding,
    )


def test_large_pages_are_no_samples() -> None:
    large = Capture("w", b"<p>" + os.urandom(300_000).hex().encode(), "https://a.example/large")
    assert sampled([large]) == ()
    assert sampled([large, *captures_of(9)]) == sampled(captures_of(9))


@pytest.mark.parametrize("sample", [Sample(1, 1, "{}", b"x"), Sample(1, 1, "[", b""), Sample(1, 1, '{"a": 1}', b"")])
def test_a_damaged_sample(tmp_path: Path, sample: Sample) -> None:
    method = make_method()
    with TemplateStore.create(tmp_path / "t.db", method) as store:
        template = method.dump(chaffinch.learn(["<p>x"]).template)
        with pytest.raises(ModelError, match=r"t\.db: site a\.example: sample page: is damaged"):
            explain_site(store, KeptSite("a.example", 1, None, template, (sample,)))


@pytest.mark.parametrize("name", METHODS)
def test_a_template_in_words(tmp_path: Path, name: str) -> None:
    chaffinch.learn_crawl(CRAWL, templates=tmp_path / "t.db", options=chaffinch.RunOptions(method=make_method(name)))
    with TemplateStore.open(tmp_path / "t.db") as store:
        kept = store.kept("finchley-gazette.example")
        assert kept is not None
        explanation = explain_site(store, kept)
    footer = next(block for block in explanation.blocks if block.text.startswith("© 2024 Wend Valley Newspapers"))
    assert (footer.pages, len(explanation.samples)) == (5, 5)
    assert footer.template_on >= 4
    assert 0.7 <= footer.score <= 1
    assert 0.1 < explanation.template_words < 0.6
    assert [block.pages for block in explanation.blocks] == sorted((b.pages for b in explanation.blocks), reverse=True)
    assert all(len(block.text) <= 200 for block in explanation.blocks)


PAGES = [parse(f"<nav>The menu of it all</nav><p>{n}", url=f"https://a.example/{n}") for n in range(4)]


@pytest.mark.parametrize("name", METHODS)
def test_a_template_as_bytes_names_its_method_and_options(name: str) -> None:
    most = {key: "50" for key in options_of(make_method(name)) if key.startswith("most_")}
    method = make_method(name, most)
    data = chaffinch.learn(PAGES, method=method).to_bytes()
    again = SiteTemplate.from_bytes(data)
    assert again.method == method
    assert again.to_bytes() == data
    assert "menu" not in chaffinch.extract(PAGES[0], template=again).content or name in {"blocks", "fused", "model"}


@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04", b"chaffinch template 1\n", b"chaffinch template 1\n[]\n", b"\xff"]
)
def test_bytes_that_are_no_template(data: bytes) -> None:
    with pytest.raises(ModelError):
        SiteTemplate.from_bytes(data)


def test_bytes_of_another_method_than_the_given_one() -> None:
    data = chaffinch.learn(PAGES, method=make_method("sandwich")).to_bytes()
    with pytest.raises(UsageError, match="was learned by method sandwich unit=tokens"):
        SiteTemplate.from_bytes(data, make_method("sandwich", {"unit": "lines"}))
    with pytest.raises(ModelError):
        SiteTemplate.from_bytes(data[:-20])
