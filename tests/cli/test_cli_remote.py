"""Remote inputs and outputs, against a real server that speaks S3's language."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from conftest import CRAWL, EXAMPLES, read_lines

Remote = Callable[..., "subprocess.CompletedProcess[str]"]
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    running = ThreadedMotoServer("127.0.0.1", port, verbose=False)
    running.start()
    yield f"http://127.0.0.1:{port}"
    running.stop()


@pytest.fixture(scope="module")
def bucket(server: str) -> Any:
    """A bucket with the example crawl."""
    store = boto3.resource(
        "s3",
        endpoint_url=server,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        region_name=CREDENTIALS["AWS_DEFAULT_REGION"],
    )
    made = store.create_bucket(Bucket="crawl")
    for path in sorted(CRAWL.rglob("*")):
        if path.is_file():
            made.upload_file(str(path), f"pages/{path.relative_to(CRAWL)}")
    for path in EXAMPLES.glob("*.warc.gz"):
        made.upload_file(str(path), path.name)
    return made


@pytest.fixture
def remote(server: str, tmp_path: Path) -> Remote:
    """The command line, which finds the server by the usual variables."""

    def run(*arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "chaffinch", *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **CREDENTIALS, "AWS_ENDPOINT_URL": server, **more},
        )

    return run


def test_a_folder_and_a_file_both_ways(remote: Remote, bucket: Any, tmp_path: Path) -> None:
    """The example crawl from a bucket and into it gives what it gives from this machine."""
    assert remote("clean", CRAWL, "-o", "here.jsonl").returncode == 0
    done = remote("clean", "s3://crawl/pages", "-o", "s3://crawl/out/clean.jsonl", "--report", "report.json")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in bucket.Object("out/clean.jsonl").get()["Body"].read().splitlines()]
    here = read_lines(tmp_path / "here.jsonl")
    assert [row["url"] for row in rows] == [row["url"] for row in here]
    assert [row["content"] for row in rows] == [row["content"] for row in here]
    assert rows[0]["source"].startswith("s3://crawl/pages/")
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["inputs"][0]["files"] == 45
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here.jsonl", "report.json"]


def test_tables_and_archives(remote: Remote, bucket: Any, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"url": ["https://a.example/"], "html": ["<p>row"]}), tmp_path / "rows.parquet")
    bucket.upload_file(str(tmp_path / "rows.parquet"), "rows.parquet")
    (tmp_path / "month.paths").write_text("rows.parquet\n", encoding="utf-8")
    bucket.upload_file(str(tmp_path / "month.paths"), "month.paths")
    done = remote("clean", "month.paths", "s3://crawl/month.paths", "--paths-base", "s3://crawl", "--jsonl")
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["source"] for line in done.stdout.splitlines()] == ["s3://crawl/rows.parquet#0"] * 2


@pytest.mark.usefixtures("bucket")
def test_what_is_not_there(remote: Remote) -> None:
    done = remote("clean", "s3://crawl/missing.warc.gz", "s3://nowhere/x.html", "-o", "out.jsonl")
    assert done.returncode == 1
    assert "s3://crawl/missing.warc.gz: " in done.stderr
    assert "s3://nowhere/x.html: " in done.stderr
    assert "Traceback" not in done.stderr
    bad = remote("clean", CRAWL, "-o", "s3://nowhere/out.jsonl")
    assert bad.returncode == 1
    assert "s3://nowhere/out.jsonl: cannot be written" in bad.stderr
    assert remote("clean", CRAWL, "-o", "s3://crawl/folder").returncode == 2


def test_the_extra_is_named_where_it_is_missing(remote: Remote, tmp_path: Path) -> None:
    (tmp_path / "s3fs.py").write_text("raise ImportError('no s3fs')\n", encoding="utf-8")
    done = remote("clean", "s3://crawl/x.html", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert "pip install 'chaffinch[s3]'" in done.stderr
