"""Outputs: what is in them, and what is left after faults."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from chaffinch.document.document import Document
from chaffinch.errors import OutputError
from chaffinch.sinks import open_sink

if TYPE_CHECKING:
    from chaffinch.render.formats import Format

ODD = "é\u2028\x85\r\n\x00\ud800 end"
NAMES = [field.name for field in dataclasses.fields(Document)]
SETUP = """
import sys
from chaffinch.document.document import Document
from chaffinch.sinks import open_sink
def document(content, number=0):
    return Document(f"s{number}", f"http://a.org/{number}", "a.org", None, None, None, None, None, None,
                    content, "", "text", "m", "0", 1, 1)
"""


def document(content: str = "words", number: int = 0, **changes: str) -> Document:
    plain = Document(
        source=f"in#{number}",
        url=f"http://a.org/{number}",
        site="a.org",
        title=ODD,
        author=None,
        date="2020-01-02",
        language="en",
        canonical_url=None,
        description=None,
        content=content,
        content_hash="00",
        format="text",
        method="sandwich",
        version="0.1.0",
        words_in=7,
        words_kept=3,
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "X.JSONL"])
def test_json_lines_hold_every_field_in_order(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with open_sink(str(path), "text") as sink:
        for number in range(3):
            sink.write(document(ODD, number))
        assert not path.exists()
    data = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    lines = data.decode().splitlines()  # which breaks at U+2028 and the like
    assert [list(json.loads(line)) for line in lines] == [NAMES] * 3
    assert [json.loads(line)["source"] for line in lines] == ["in#0", "in#1", "in#2"]
    assert json.loads(lines[0])["content"] == ODD.replace("\ud800", "\ufffd")
    assert "é" in lines[0]
    assert left_in(tmp_path) == [name]


def test_packed_lines_are_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        with open_sink(str(tmp_path / name), "text") as sink:
            sink.write(document())
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_parquet_holds_every_field_in_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    with open_sink(str(path), "text") as sink:
        for number in range(1201):
            sink.write(document(ODD, number))
        for number in range(3):
            sink.write(document("x" * (17 << 20), number))
    file = pq.ParquetFile(path)
    assert file.schema_arrow.names == NAMES
    groups = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    assert max(groups) <= 500
    assert len(groups) >= 4
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"
    rows = file.read(columns=["source", "content", "words_in", "author"]).to_pylist()
    assert rows[1200] == {
        "source": "in#1200",
        "content": ODD.replace("\ud800", "\ufffd"),
        "words_in": 7,
        "author": None,
    }
    assert left_in(tmp_path) == ["x.parquet"]


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.parquet"])
def test_no_documents_make_an_empty_file_that_can_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with open_sink(str(path), "text"):
        pass
    if name.endswith("parquet"):
        assert pq.read_table(path).num_rows == 0
    else:
        assert (gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()) == b""


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.parquet"])
def test_an_exception_leaves_what_was_there_before(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"before")

    def fail() -> None:
        with open_sink(str(path), "text") as sink:
            for number in range(600):
                sink.write(document(number=number))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"before"
    assert left_in(tmp_path) == [name]


def test_a_link_keeps_being_one(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_text("before")
    (tmp_path / "x.jsonl").symlink_to("real.jsonl")
    with open_sink(str(tmp_path / "x.jsonl"), "text") as sink:
        sink.write(document())
    assert (tmp_path / "x.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").read_text().startswith("{")


def test_parts_of_dead_runs_are_removed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        pass
    for pid in (dead.pid, os.getppid(), 10**30):
        (tmp_path / f".x.jsonl.{pid}.part").touch()
        (tmp_path / f".chaffinch.{pid}.part").touch()
    (tmp_path / f".y.jsonl.{dead.pid}.part").touch()
    with open_sink(str(tmp_path / "x.jsonl"), "text"):
        pass
    with open_sink(str(tmp_path), "text"):
        pass
    assert left_in(tmp_path) == sorted(
        [f".chaffinch.{os.getppid()}.part", f".x.jsonl.{os.getppid()}.part", f".y.jsonl.{dead.pid}.part", "x.jsonl"]
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("folder.jsonl", "is a folder"),
        ("missing/x.jsonl", "does not exist"),
        ("file/x.jsonl", "not a directory"),
        ("file", "is a file"),
        ("file/below", "cannot be written"),
        ("pipe.jsonl", "not a regular file"),
        ("nul\0.jsonl", "null"),
        ("nul\0", "null"),
        ("x" * 300 + ".parquet", "too long"),
        ("x" * 300, "too long"),
    ],
)
def test_outputs_that_cannot_be_are_refused(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe.jsonl")
    before = left_in(tmp_path)
    with pytest.raises(OutputError, match=re.escape(reason)) as caught:
        open_sink(f"{tmp_path}/{name}", "text")
    assert caught.value.subject == f"{tmp_path}/{name}"
    assert left_in(tmp_path) == before


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.parquet", "x"])
def test_a_full_disk_leaves_no_half_file(tmp_path: Path, name: str) -> None:
    """The limit of file sizes stands for the disk: the system refuses the write in the same way."""
    script = SETUP + (
        "import random, resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "from chaffinch.errors import OutputError\n"
        "noise = lambda: ''.join(map(chr, random.choices(range(32, 900), k=60_000)))\n"
        "try:\n"
        "    with open_sink(sys.argv[1], 'text') as sink:\n"
        "        sink.write(document('small', 1))\n"
        "        sink.write(document(noise(), 2))\n"
        "except OutputError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(tmp_path / name)], capture_output=True, text=True, check=True
    )
    assert "cannot be written: file too large" in done.stdout
    assert done.stderr == ""
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert found == (["x/a.org/1.txt"] if name == "x" else [])


def test_a_device_that_is_full_is_told() -> None:
    script = SETUP + "with open_sink('-', 'text') as sink: sink.write(document('words'))"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", script], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert "OutputError: standard output: cannot be written: no space left on device" in done.stderr


def test_a_closed_pipe_is_left_to_the_caller() -> None:
    script = SETUP + (
        "import os\n"
        "try:\n"
        "    with open_sink('-', 'text') as sink:\n"
        "        for n in range(1000): sink.write(document('x' * 100_000, n))\n"
        "except BrokenPipeError:\n"
        "    print('broken', file=sys.stderr)\n"
        "    os._exit(0)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.close()
        assert run.stderr.read() == b"broken\n"


@pytest.mark.parametrize(
    ("format_", "contents", "expected"),
    [
        ("text", ["one"], "one\n"),
        ("text", ["one\n", "two", "three"], "one\n\ntwo\n\nthree\n"),
        ("markdown", [], ""),
        ("html", ["<p>a</p>", "<p>b</p>"], "<p>a</p>\n\n<p>b</p>\n"),
        ("json", ['{"a":1}', "[]"], '{"a":1}\n[]\n'),
        ("text", ["a\ud800b"], "a\ufffdb\n"),
    ],
)
def test_standard_output_gets_the_contents(
    capfdbinary: pytest.CaptureFixture[bytes], format_: Format, contents: list[str], expected: str
) -> None:
    with open_sink("-", format_) as sink:
        for content in contents:
            sink.write(document(content))
    assert capfdbinary.readouterr().out == expected.encode()


def test_standard_output_gets_lines_if_asked(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with open_sink("-", "text", lines=True) as sink:
        sink.write(document(ODD))
        sink.write(document())
    rows = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert [list(row) for row in rows] == [NAMES, NAMES]


def test_a_folder_may_be_written_again(tmp_path: Path) -> None:
    for content in ("one", "two"):
        with open_sink(str(tmp_path / "out" / "deep"), "html") as sink:
            sink.write(document(content))
    assert [path.read_text() for path in tmp_path.rglob("*.html")] == ["two"]
    assert left_in(tmp_path / "out" / "deep") == ["a.org"]


def test_a_folder_in_the_place_of_a_document_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.org" / "0.txt").mkdir(parents=True)
    with (
        pytest.raises(OutputError, match=r"0\.txt: cannot be written: is a directory"),
        open_sink(str(tmp_path), "text") as sink,
    ):
        sink.write(document())
    assert left_in(tmp_path) == ["a.org"]
