"""Learning a crawl, with and without a database."""

from __future__ import annotations

import io
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from runs_doubles import RAISES, Common, capture, write_rows

import chaffinch
from chaffinch.errors import UsageError
from chaffinch.methods import METHODS, AnyMethod, make_method
from chaffinch.page import parse_capture
from chaffinch.runs import RunOptions
from chaffinch.runs.learning import Learning
from chaffinch.runs.work import Batch, learn_batch
from chaffinch.sites import SiteBy, place_of_url
from chaffinch.sources import Capture
from chaffinch.store import TemplateStore
from conftest import CRAWL

METHOD = Common()

TWO_PASS: list[AnyMethod] = [
    Common(),
    *(make_method(name, {"peers": "nearest"} if name == "sandwich" else {}) for name in METHODS),
]


def pages_of(sites: int, pages: int) -> list[Capture]:
    """A crawl in random order."""
    made = [capture(f"https://s{s:02}.example/{p}", f"own words {s} {p}") for s in range(sites) for p in range(pages)]
    random.Random(3).shuffle(made)  # noqa: S311
    return made


def contents(run: chaffinch.Cleaning) -> list[str | None]:
    return [outcome.document.content if outcome.document else None for outcome in run.outcomes()]


def learned(captures: list[Capture], most_bytes: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return each site's template as it is listed, and as it is looked up."""
    found: list[dict[str, Any]] = []
    for look_up in (False, True):
        with Learning(METHOD, most_bytes=most_bytes) as learning:
            for start in range(0, len(captures), 10):
                batch = learn_batch(Batch(tuple(captures[start : start + 10])), RunOptions(METHOD), sampling=True)
                for site, part in batch.sites.items():
                    learning.add(site, part)
            if look_up:
                templates = learning.templates()
                known = {site: templates.of_site(site) for site in found[0]}
                assert templates.of_site("unknown.example") is None
                templates.close()
                found.append({site: one.template for site, one in known.items() if one})
            else:
                found.append({one.site: (one.pages, one.summary, one.samples) for one in learning.sites()})
    return found[0], found[1]


def test_writing_sites_out_changes_nothing() -> None:
    captures = pages_of(20, 12)
    held, held_templates = learned(captures, most_bytes=1 << 30)
    written, written_templates = learned(captures, most_bytes=5_000)
    assert len(held) == 20
    assert all(pages == 12 and len(samples) == 5 for pages, _, samples in held.values())
    assert written == held
    assert written_templates == held_templates


def test_a_batch_tells_what_failed_and_what_was_not_wanted() -> None:
    captures = [capture(f"https://a.example/{n}", RAISES if n == 1 else f"own {n}") for n in range(4)]
    options = RunOptions(METHOD, urls=chaffinch.UrlFilter(exclude=("*/3",)))
    batch = learn_batch(Batch(tuple(captures)), options, sampling=False)
    assert batch.sites["a.example"].pages == 2
    assert batch.sites["a.example"].samples == ()
    assert [failure.subject for failure in batch.failures] == ["a.warc#https://a.example/1"]
    assert batch.unwanted == 1


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("method", TWO_PASS, ids=lambda method: method.name)
def test_kept_templates_clean_as_a_run_in_two_passes_does(tmp_path: Path, method: AnyMethod, jobs: int) -> None:
    options = RunOptions(method=method, jobs=jobs)
    chaffinch.learn_crawl(CRAWL, templates=tmp_path / "t.db", options=options)
    one_pass = chaffinch.clean(CRAWL, options=options, templates=tmp_path / "t.db")
    two_passes = chaffinch.clean(CRAWL, options=options)
    assert list(one_pass) == list(two_passes)
    assert one_pass.report.total.informed == two_passes.report.total.informed
    assert one_pass.report.drifted == []


@pytest.mark.parametrize("method", TWO_PASS, ids=lambda method: method.name)
def test_learning_in_parts_is_learning_at_once(tmp_path: Path, method: AnyMethod) -> None:
    options = RunOptions(method=method)
    folders = sorted(path for path in CRAWL.iterdir() if path.is_dir())
    parts = [
        replace(options, urls=chaffinch.UrlFilter(include=("*[a-n].html",))),
        replace(options, urls=chaffinch.UrlFilter(exclude=("*[a-n].html",))),
    ]
    chaffinch.learn_crawl(CRAWL, templates=tmp_path / "whole.db", options=options)
    for part in parts:
        report = chaffinch.learn_crawl(CRAWL, templates=tmp_path / "parts.db", options=part)
    assert sum(site.pages_in_all for site in report.sites.values()) > report.pages
    stored = []
    for name in ("whole.db", "parts.db"):
        with TemplateStore.open(tmp_path / name, method=method) as store:
            stored.append([store.kept(summary.site) for summary in store.sites()])
    assert len(stored[0]) == len(folders)
    assert stored[0] == stored[1]


def test_a_method_that_is_not_the_default_comes_from_the_database(tmp_path: Path) -> None:
    options = RunOptions(method=make_method("sandwich", {"unit": "lines"}))
    chaffinch.learn_crawl(CRAWL, templates=tmp_path / "t.db", options=options)
    assert chaffinch.clean(CRAWL, templates=tmp_path / "t.db").report.method == "sandwich"
    other = RunOptions(method=make_method("sandwich", {"most_peers": "3"}))
    with pytest.raises(UsageError, match="another method"):
        chaffinch.clean(CRAWL, options=other, templates=tmp_path / "t.db")
    with pytest.raises(UsageError, match="not by prefix"):
        list(chaffinch.clean(CRAWL, options=replace(options, templates=str(tmp_path / "t.db"), site_by="prefix")))
    with pytest.raises(UsageError, match="page by page"):
        list(chaffinch.clean(CRAWL, options=replace(options, templates=str(tmp_path / "t.db"), page_by_page=True)))
    with pytest.raises(UsageError, match="was learned by"):
        chaffinch.learn_crawl(CRAWL, templates=tmp_path / "t.db", options=RunOptions())


@pytest.mark.parametrize(
    "method", [Common(), make_method("sandwich", {"peers": "nearest"})], ids=["common", "sandwich"]
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_standard_input_is_kept_for_the_second_pass(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, method: AnyMethod, jobs: int
) -> None:
    data = write_rows(capture(f"https://a.example/{n}", f"own words {n}") for n in range(70)) + b"broken\n"
    (tmp_path / "rows.jsonl").write_bytes(data)
    options = RunOptions(method=method, jobs=jobs)
    from_file = [
        one.document and one.document.content
        for one in chaffinch.clean(tmp_path / "rows.jsonl", options=options).outcomes()
    ]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    run = chaffinch.clean("-", options=options)
    assert contents(run) == from_file
    assert from_file == [*(f"own words {n}" for n in range(70)), None]
    assert len(run.report.failures) == 1


@pytest.mark.parametrize(
    ("url", "domain", "host", "prefix"),
    [
        ("https://www.a.co.uk/x/y.html", "a.co.uk", "www.a.co.uk", "www.a.co.uk/x"),
        ("https://a.example/~ann/", "a.example", "a.example", "a.example/~ann"),
        ("https://a.example/~ann/deep/page?q=/z/", "a.example", "a.example", "a.example/~ann"),
        ("https://a.example/page.html", "a.example", "a.example", "a.example"),
        ("https://a.example", "a.example", "a.example", "a.example"),
        ("https://a.example//x", "a.example", "a.example", "a.example"),
        ("http://127.0.0.1:8000/x/y", "127.0.0.1", "127.0.0.1", "127.0.0.1/x"),
    ],
)
def test_what_a_site_is(url: str, domain: str, host: str, prefix: str) -> None:
    kinds: tuple[SiteBy, ...] = ("domain", "host", "prefix")
    places = [place_of_url(url, kind) for kind in kinds]
    assert [place.site for place in places] == [domain, host, prefix]
    assert len({place[1:] for place in places}) == 1, "directory and name do not depend on it"
    assert [parse_capture(Capture("s", b"", url=url), kind).place.site for kind in kinds] == [domain, host, prefix]


def test_a_page_without_url_belongs_to_its_folder_whatever_a_site_is() -> None:
    page = Capture("f/a/p.html", b"<p>x", folder="f", path="a/p.html", on_disk=True)
    assert {parse_capture(page, kind).place.site for kind in ("domain", "host", "prefix")} == {"f"}


def test_the_kind_of_site_decides_what_is_learned_together(tmp_path: Path) -> None:
    captures = [capture(f"https://h.example/~{who}/{n}.html", f"own {who} {n}", who) for n in range(5) for who in "ab"]
    (tmp_path / "rows.jsonl").write_bytes(write_rows(captures))
    sites = {}
    for kind in ("domain", "prefix"):
        run = chaffinch.clean(tmp_path / "rows.jsonl", options=RunOptions(METHOD, site_by=kind))
        sites[kind] = [document.site for document in run]
        assert [document.content for document in run] == [
            f"own {who} {n}" if kind == "prefix" else f"Home of {who}\n\nown {who} {n}\n\nAll rights of {who} reserved"
            for n in range(5)
            for who in "ab"
        ]
    assert set(sites["prefix"]) == {"h.example/~a", "h.example/~b"}
