"""The template database: what is put in comes out, and nothing else happens to it."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from chaffinch.errors import ChaffinchError, ModelError, OutputError, RunError, UsageError
from chaffinch.methods import AnyMethod, make_method
from chaffinch.methods.fold import learn_template
from chaffinch.methods.sandwich import Sandwich
from chaffinch.page import parse
from chaffinch.store import KeptSite, Sample, SiteSummary, TemplateStore
from chaffinch.store import sqlite as store_sqlite

METHOD = make_method("sandwich")
TEMPLATE = METHOD.dump(
    learn_template(METHOD, [parse(f"<nav>Menu</nav><p>{n}", url=f"https://a.example/{n}") for n in range(3)])
)
SITE = KeptSite("a.example", 3, 0.5, TEMPLATE, (Sample(1, 2, "{}", b"x"), Sample(5, 2, "{}", b"y")))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with one site."""
    with TemplateStore.create(tmp_path / "t.db", METHOD) as store:
        store.put(SITE)
    return tmp_path / "t.db"


def test_what_is_put_comes_out(path: Path) -> None:
    with TemplateStore.open(path) as store:
        assert store.kept("a.example") == SITE
        assert list(store.sites()) == [SiteSummary("a.example", 3, 0.5)]
        assert store.summary_of("a.example") == SITE.summary
        found = store.template_of("a.example")
        assert found is not None
        assert found.method == store.method == METHOD
        assert METHOD.dump(found.template) == TEMPLATE
        assert (store.kept("b.example"), store.template_of("b.example")) == (None, None)
        assert store.summary_of("b.example") is None
        assert store.site_by == "domain"
    assert [file.name for file in path.parent.iterdir()] == ["t.db"]


def test_a_site_is_replaced_whole(path: Path) -> None:
    other = replace(SITE, pages=4, fit=None, samples=SITE.samples[:1])
    with TemplateStore.open(path, readonly=False) as store:
        store.put(other)
    with TemplateStore.open(path) as store:
        assert store.kept("a.example") == other


def test_the_method_is_made_again_with_its_options(tmp_path: Path) -> None:
    method = make_method("sandwich", {"unit": "lines", "most_peers": "7"})
    TemplateStore.create(tmp_path / "t.db", method, "prefix").close()
    with TemplateStore.open(tmp_path / "t.db") as store:
        assert (store.method, store.site_by) == (method, "prefix")
    with pytest.raises(UsageError, match="was learned by method sandwich unit=lines peers=last most_peers=7"):
        TemplateStore.open(tmp_path / "t.db", method=METHOD)


def test_odd_names_of_sites(path: Path) -> None:
    names = ["ümlaut.example", "folder/with space", "a'; DROP TABLE sites; --", "bytes-\udcff", "", "x" * 10_000]
    with TemplateStore.open(path, readonly=False) as store:
        for number, name in enumerate(names):
            store.put(replace(SITE, site=name, pages=number))
        for number, name in enumerate(names):
            kept = store.kept(name)
            assert kept is not None
            assert kept.pages == number


def test_a_transaction_is_whole_or_nothing(path: Path) -> None:
    def fail(store: TemplateStore) -> None:
        with store.transaction():
            store.put(replace(SITE, site="b.example"))
            raise KeyError

    with TemplateStore.open(path, readonly=False) as store:
        with pytest.raises(KeyError):
            fail(store)
        assert [site.site for site in store.sites()] == ["a.example"]
        with store.transaction():
            store.put(replace(SITE, site="b.example"))
            store.put(replace(SITE, site="c.example"))
        assert len(list(store.sites())) == 3


def test_replacing_is_done_when_all_is_done(path: Path) -> None:
    def attempt(*, fail: bool) -> None:
        with TemplateStore.replacing(path, METHOD, "host") as store:
            store.put(replace(SITE, site="b.example"))
            if fail:
                raise KeyError

    with pytest.raises(KeyError):
        attempt(fail=True)
    with TemplateStore.open(path) as store:
        assert [site.site for site in store.sites()] == ["a.example"]
    attempt(fail=False)
    with TemplateStore.open(path) as store:
        assert [site.site for site in store.sites()] == ["b.example"]
        assert store.site_by == "host"
    assert [file.name for file in path.parent.iterdir()] == ["t.db"]


def test_a_file_that_exists_is_not_made(path: Path) -> None:
    with pytest.raises(ModelError, match="exists already"):
        TemplateStore.create(path, METHOD)


# Bad input.


def write_version(path: Path, pragma: str, value: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA {pragma} = {value}")
    connection.commit()
    connection.close()


def other_database(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE songs (name TEXT)")
    connection.close()


def say_of_itself(path: Path, key: str, value: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("UPDATE about SET value = ? WHERE key = ?", (value, key))
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_bytes(b"<p>a page"), "is not a template database"),
        (lambda path: path.write_bytes(os.urandom(5000)), "is not a template database"),
        (lambda path: path.write_bytes(path.read_bytes()[:2000]), "damaged"),
        (lambda path: path.write_bytes(path.read_bytes()[:100] + bytes(path.stat().st_size - 100)), "damaged"),
        (other_database, "holds no templates"),
        (Path.unlink, "does not exist"),
        (lambda path: (path.unlink(), path.mkdir()), "is no file"),
        (lambda path: write_version(path, "user_version", 0), "older Chaffinch, as format 0.*learn it again"),
        (lambda path: write_version(path, "user_version", 99), "newer Chaffinch, as format 99.*update"),
        (lambda path: say_of_itself(path, "method", "gone"), "method gone .*does not have"),
        (lambda path: say_of_itself(path, "method_version", "0"), "version 0 of method sandwich.*learn it again"),
        (lambda path: say_of_itself(path, "method_version", "x"), "damaged"),
        (lambda path: say_of_itself(path, "options", '{"unit": "letters"}'), "does not have"),
        (lambda path: say_of_itself(path, "options", "[1]"), "damaged"),
        (lambda path: say_of_itself(path, "site_by", "moon"), "damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("readonly", [True, False])
def test_files_that_are_no_good_are_named(path: Path, spoil: object, says: str, *, readonly: bool) -> None:
    assert callable(spoil)
    spoil(path)
    with pytest.raises(ModelError, match=says) as caught:
        TemplateStore.open(path, readonly=readonly)
    assert caught.value.subject == str(path)
    assert not Path(f"{path}-journal").exists()


def test_damage_anywhere_gives_an_error_of_ours_or_none(path: Path) -> None:
    with TemplateStore.open(path, readonly=False) as store:
        for number in range(50):
            store.put(replace(SITE, site=f"{number}.example"))
    whole = path.read_bytes()
    generator = random.Random(5)  # noqa: S311
    for _ in range(150):
        damaged = bytearray(whole)
        start = generator.randrange(len(whole))
        length = generator.choice([1, 20, 4096])
        damaged[start : start + length] = generator.randbytes(len(damaged[start : start + length]))
        path.write_bytes(damaged)
        try:
            with TemplateStore.open(path) as store:
                for summary in store.sites():
                    store.kept(summary.site)
                    store.template_of(summary.site)
        except ChaffinchError:
            continue


def test_a_damaged_template_is_that_of_its_site_alone(path: Path) -> None:
    with TemplateStore.open(path, readonly=False) as store:
        store.put(replace(SITE, site="b.example", template=TEMPLATE[:50]))
        with pytest.raises(ModelError, match=r"t\.db: site b\.example: .*damaged"):
            store.template_of("b.example")
        assert store.template_of("a.example") is not None


@pytest.mark.parametrize("spoil", [b"", b"SQLite format 3\0 no more of it"], ids=["empty", "damaged"])
def test_what_replacing_may_replace(path: Path, spoil: bytes) -> None:
    if spoil:
        whole = path.read_bytes()
        path.write_bytes(whole[:100] + os.urandom(len(whole) - 100))
        Path(f"{path}-journal").write_bytes(b"left by a process that was killed")
    else:
        path.write_bytes(b"")
    with TemplateStore.replacing(path, METHOD) as store:
        store.put(SITE)
    with TemplateStore.open(path) as store:
        assert store.kept("a.example") == SITE
    assert [file.name for file in path.parent.iterdir()] == ["t.db"]


@pytest.mark.parametrize("spoil", [other_database, lambda path: path.write_bytes(b"<p>a page")])
def test_what_replacing_may_not_replace(path: Path, spoil: object) -> None:
    assert callable(spoil)
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(ModelError, match="template"), TemplateStore.replacing(path, METHOD) as store:
        store.put(SITE)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["t.db"]


def test_a_store_opened_for_reading_refuses_to_write(path: Path) -> None:
    with TemplateStore.open(path) as store, pytest.raises(OutputError, match="read-only"):
        store.put(SITE)


def test_a_locked_file_is_told_of_soon(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_sqlite, "PATIENCE", 0.2)
    holder = sqlite3.connect(path, isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        with TemplateStore.open(path, readonly=False) as store:
            assert store.kept("a.example") == SITE, "reading goes on while another process writes"
            with pytest.raises(OutputError, match=r"t\.db: is locked: another process writes"):
                store.put(SITE)
        with pytest.raises(OutputError, match="is locked"), TemplateStore.replacing(path, METHOD):
            pass
        holder.execute("ROLLBACK")
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(RunError, match="is locked"):
            TemplateStore.open(path)
    finally:
        holder.close()


_WRITER = """
import sys
from dataclasses import replace
from chaffinch.methods import make_method
from chaffinch.store import KeptSite, Sample, TemplateStore

with TemplateStore.open(sys.argv[1], readonly=False) as store:
    number = sum(1 for _ in store.sites())
    while True:
        with store.transaction():
            for half in "ab":
                name = f"{number:06}{half}"
                store.put(KeptSite(name, number, None, bytes(5000), (Sample(1, 1, name, bytes(9000)),)))
        print(number, flush=True)
        number += 2
"""


def test_a_process_that_is_killed_loses_its_last_transaction_only(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    TemplateStore.create(path, METHOD).close()
    generator = random.Random(7)  # noqa: S311
    done: list[int] = []
    for _ in range(5):
        with subprocess.Popen([sys.executable, "-c", _WRITER, path], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            done.append(int(writer.stdout.readline()))
            time.sleep(generator.uniform(0, 0.1))
            writer.send_signal(signal.SIGKILL)
            done.extend(int(line) for line in writer.stdout if line.endswith("\n"))
        with TemplateStore.open(path, readonly=False) as store:
            names = [summary.site for summary in store.sites()]
            kept = [store.kept(name) for name in names]
        assert len(names) % 2 == 0, "half a transaction is there"
        assert {name[:-1] for name in names} >= {f"{number:06}" for number in done}, "a finished transaction is lost"
        assert all(site and len(site.template) == 5000 and site.samples[0].described == site.site for site in kept)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_methods_of_ones_own_are_given(tmp_path: Path) -> None:
    class Own(Sandwich):
        """A method that the table does not know."""

        name = "own"

    own: AnyMethod = Own()
    with TemplateStore.create(tmp_path / "t.db", own) as store:
        store.put(SITE)
    with TemplateStore.open(tmp_path / "t.db", method=own) as store:
        assert store.method is own
    with pytest.raises(ModelError, match="does not have"):
        TemplateStore.open(tmp_path / "t.db")
