"""`chaffinch index --to opensearch`, against a small HTTP server written from the published bulk API."""

from __future__ import annotations

import base64
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bulk_server import Cluster, running

from chaffinch.errors import SearchIndexError, UsageError
from chaffinch.index import About, Entry, RemoteIndex, remote
from conftest import CRAWL, Command, site_html, write_site

BASE = ("--base-url", "https://site.example/")


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def url(cluster: Cluster) -> Iterator[str]:
    with running(cluster) as found:
        yield f"{found}/pages"


def test_a_crawl_is_sent_without_its_template(chaffinch: Command, cluster: Cluster, url: str) -> None:
    done = chaffinch("index", CRAWL, "--to", "opensearch", url, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["added"], report["pages"], report["index"]) == (44, 44, url)
    page = cluster.documents["https://birdseed-shop.example/p/sunflower-hearts-6kg.html"]
    assert page["title"] == "Sunflower Hearts, 6 kg"
    assert (page["site"], page["language"]) == ("birdseed-shop.example", "en")
    assert "basket" in page["template"].lower()
    settings = cluster.indexes["pages"]["settings"]
    assert settings["index"]["query"]["default_field"] == ["content", "title", "headings"]


def test_pages_are_replaced_and_deleted(chaffinch: Command, cluster: Cluster, url: str, tmp_path: Path) -> None:
    crawl = tmp_path / "crawl"
    write_site(crawl, [f"Own words of page {n}." for n in range(6)])
    send = ("index", crawl, "--to", "opensearch", url, *BASE)
    assert "6 added; 6 pages" in chaffinch(*send).stderr
    (crawl / "page-003.html").write_text(site_html(3, "Fresh phrases."), encoding="utf-8")
    (crawl / "page-006.html").write_text(site_html(6, "One more."), encoding="utf-8")
    assert "1 added, 1 replaced, 5 unchanged; 7 pages" in chaffinch(*send).stderr
    assert "Fresh" in cluster.documents["https://site.example/page-003.html"]["content"]
    gone = ("--delete", "https://site.example/page-003.html", "--delete", "https://site.example/none")
    done = chaffinch("index", "--to", "opensearch", url, *gone)
    assert done.returncode == 1
    assert "https://site.example/none: is not in the index" in done.stderr
    assert "1 deleted; 6 pages" in done.stderr
    done = chaffinch("index", "--to", "opensearch", url, "--delete-site", "site.example")
    assert (done.returncode, cluster.documents) == (0, {})


def test_all_pages_are_made_alike(chaffinch: Command, cluster: Cluster, url: str) -> None:
    assert chaffinch("index", CRAWL, "--to", "opensearch", url, "--no-removal", "--stem", "en").returncode == 0
    analysis = cluster.indexes["pages"]["settings"]["analysis"]
    assert analysis["filter"]["stem"]["language"] == "english"
    again = chaffinch("index", CRAWL, "--to", "opensearch", url)
    assert "44 unchanged" in again.stderr
    other = chaffinch("index", CRAWL, "--to", "opensearch", url, "--method", "chunks")
    assert (other.returncode, "built with method none" in other.stderr) == (2, True)
    cluster.indexes["pages"]["mappings"] = {}
    foreign = chaffinch("index", CRAWL, "--to", "opensearch", url)
    assert (foreign.returncode, "an index of something else" in foreign.stderr) == (1, True)


def test_refused_pages_are_told_one_by_one(chaffinch: Command, cluster: Cluster, url: str, tmp_path: Path) -> None:
    write_site(tmp_path / "crawl", ["good words", "evil words", "fine words"])
    cluster.refused = "evil"
    done = chaffinch("index", tmp_path / "crawl", "--to", "opensearch", url, *BASE)
    assert done.returncode == 1
    refused = "https://site.example/page-001.html: was refused with 400: failed to parse (not that word)"
    assert refused in done.stderr
    assert "2 added; 2 pages" in done.stderr


def test_a_busy_cluster_is_waited_for(chaffinch: Command, cluster: Cluster, url: str, tmp_path: Path) -> None:
    write_site(tmp_path / "crawl", [f"words {n}" for n in range(6)])
    cluster.busy, cluster.busy_items = 1, 2
    done = chaffinch("index", tmp_path / "crawl", "--to", "opensearch", url, *BASE)
    assert (done.returncode, "6 added; 6 pages" in done.stderr) == (0, True), done.stderr
    assert cluster.bulk_sizes == [6, 6, 2]  # refused as a whole, then all, then only those that were refused
    assert "Traceback" not in done.stderr


def test_a_cluster_that_is_away_for_a_moment_is_waited_for(
    chaffinch: Command, cluster: Cluster, url: str, tmp_path: Path
) -> None:
    write_site(tmp_path / "crawl", ["one", "two"])
    cluster.away, cluster.dropped = 1, 1
    done = chaffinch("index", tmp_path / "crawl", "--to", "opensearch", url, *BASE)
    assert (done.returncode, "2 added; 2 pages" in done.stderr) == (0, True), done.stderr


def test_a_cluster_that_is_not_there_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_WAITS", (0.01,))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        port = taken.getsockname()[1]
        with pytest.raises(SearchIndexError, match="cannot be reached"):
            RemoteIndex(f"http://127.0.0.1:{port}/pages").read_about()
    with pytest.raises(SearchIndexError, match="the cluster answered 400"):
        RemoteIndex(url.replace("/pages", "/Pages")).open(WHOLE)


def test_a_cluster_that_goes_away_ends_the_run(cluster: Cluster, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_WAITS", (0.01,))
    monkeypatch.setattr(remote, "_CHUNK_PAGES", 2)
    index = RemoteIndex(url)
    index.open(WHOLE)

    def entries() -> Iterator[Entry]:
        for number in range(6):
            if number == 5:  # two requests are answered by now
                cluster.away = 100
            yield entry(f"p{number}")

    sent: list[remote.Sent] = []
    with pytest.raises(SearchIndexError, match="the cluster answered 503"):
        sent.extend(index.send(entries()))
    assert len(cluster.documents) == 4


def test_pages_are_asked_for_as_the_cluster_takes_them(
    cluster: Cluster, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "_CHUNK_PAGES", 3)
    index = RemoteIndex(url)
    index.open(WHOLE)
    ahead = []

    def entries() -> Iterator[Entry]:
        for number in range(10):
            ahead.append(number - len(cluster.documents))
            yield entry(f"p{number}")

    assert [sent.change for sent in index.send(entries())] == ["added"] * 10
    assert max(ahead) <= 3
    assert cluster.bulk_sizes == [3, 3, 3, 1]


def test_odd_pages_are_sent(cluster: Cluster, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_CHUNK_BYTES", 100_000)
    cluster.largest = 200_000
    index = RemoteIndex(url)
    index.open(WHOLE)
    long, other = entry("a" * 3_000), entry("a" * 2_999 + "b")
    odd = [long, other, entry("empty", ""), entry("huge", "x" * 300_000), entry("controls", "\x00\x1f\ufeff東京")]
    sent = list(index.send(odd))
    assert [one.change for one in sent] == ["added", "added", "added", None, "added"]
    assert "413" in sent[3].reason
    assert [one.change for one in index.send([long, other])] == ["unchanged"] * 2
    assert [one.reason for one in index.delete([long.key, "none"])] == ["", "is not in the index"]
    assert len(cluster.documents) == 3


def test_passwords_are_not_shown(cluster: Cluster, url: str, tmp_path: Path) -> None:
    cluster.authorization = "Basic " + base64.b64encode(b"ann:se cret").decode()
    write_site(tmp_path / "crawl", ["one", "two"])

    def send(target: str, password: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "chaffinch", "index", tmp_path / "crawl", "--to", "opensearch", target],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, remote.PASSWORD_VARIABLE: password},
        )

    wrong = send(url.replace("//", "//ann:wrong-one@"), "")
    assert (wrong.returncode, "the cluster answered 401" in wrong.stderr) == (1, True)
    right = send(url.replace("//", "//ann@"), "se cret")
    assert right.returncode == 0, right.stderr
    assert "wrong-one" not in wrong.stderr
    assert "se cret" not in right.stderr


@pytest.mark.parametrize(
    "target", ["localhost:9200/pages", "http://host:9200", "http://host:9200/", "ftp://host/pages", "http://h:x/pages"]
)
def test_what_is_no_url_of_an_index_is_told(target: str) -> None:
    with pytest.raises(UsageError, match=r"no URL|takes http"):
        RemoteIndex(target)


def test_other_engines_are_refused(chaffinch: Command) -> None:
    done = chaffinch("index", CRAWL, "--to", "solr", "http://host/pages")
    assert (done.returncode, "--to takes opensearch" in done.stderr) == (2, True)


WHOLE = About.of(None, "balanced", "domain", None)


def entry(name: str, content: str = "words") -> Entry:
    return Entry(
        f"{name}.html", f"https://{name}.example/", f"{name[:9]}.example", None, None, None, None, None, (), content, ""
    )
