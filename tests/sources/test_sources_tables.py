"""JSON Lines and Parquet."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tracemalloc
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chaffinch.errors import InputError
from chaffinch.sources import Capture, SourceOptions, open_inputs

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path, **options: Any) -> list[Capture | InputError]:
    return list(open_inputs([str(path)], SourceOptions(**options)))


def page(one: Capture | InputError) -> Capture:
    assert isinstance(one, Capture), one
    return one


def error(one: Capture | InputError) -> InputError:
    assert isinstance(one, InputError), one
    return one


@pytest.mark.parametrize("name", ["x.jsonl", "x.ndjson", "x.jsonl.gz", "nameless"])
def test_a_line_is_a_page(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    data = b'\xef\xbb\xbf{"url": "http://a.org/", "html": "<p>\xc3\xa9"}\r\n\n{"html": "b", "url": null}\n{"html": ""}'
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    found = read(path)
    assert found[0] == Capture(
        source=f"{path}#1",
        body="<p>é".encode(),
        url="http://a.org/",
        http_charset="utf-8",
        folder=str(path),
        path="1",
    )
    assert [(page(one).source, page(one).url, page(one).body) for one in found[1:]] == [
        (f"{path}#3", None, b"b"),
        (f"{path}#4", None, b""),
    ]


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[1]",
        b"3",
        b"null",
        b'{"url": "http://a.org/"}',
        b'{"html": null}',
        b'{"html": 3}',
        b'{"html": "a"',
        b"[" * 100_000,
        b'{"html": ' + b"9" * 10_000 + b"}",
        b"\x00",
    ],
)
def test_a_bad_line_costs_itself(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"html": "a"}\n' + line + b'\n{"html": "b"}\n')
    found = read(path)
    assert len(found) == 3
    assert page(found[0]).body == b"a"
    assert error(found[1]).subject == f"{path}#2"
    assert page(found[2]).body == b"b"


def test_a_line_that_is_not_quite_utf8_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"html": "a\xff\\ud800b", "url": "http://a.org/\\udfff"}\n')
    (found,) = read(path)
    assert page(found).body.decode() == "a\ufffd\ufffdb"
    assert page(found).url == "http://a.org/\ufffd"


def test_columns_and_base_are_the_users(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"page": "a", "at": "http://a.org/"}\n{"page": "b", "at": 7}\n')
    found = read(path, html_column="page", url_column="at", base_url="http://b.org/x")
    assert [page(one).url for one in found] == ["http://a.org/", "http://b.org/x/2"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.text(max_size=40)), packed=st.booleans(), ascii_only=st.booleans())
def test_every_line_comes_out_in_order(tmp_path: Path, rows: list[str], packed: bool, ascii_only: bool) -> None:  # noqa: FBT001
    path = tmp_path / "x.jsonl"
    lines = "".join(json.dumps({"html": row}, ensure_ascii=ascii_only) + "\n" for row in rows)
    data = lines.encode("utf-8", "replace")
    path.write_bytes(gzip.compress(data) if packed else data)
    assert [page(one).body.decode() for one in read(path)] == rows


@pytest.mark.parametrize("cut", [5, 9, 40, 100, 400, 1000])
def test_a_cut_gzip_gives_the_lines_before_the_cut(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "x.jsonl.gz"
    rows = [f"<p>page {number} {number * 7919 % 1009}" for number in range(1000)]
    path.write_bytes(gzip.compress("".join(json.dumps({"html": row}) + "\n" for row in rows).encode())[:-cut])
    found = read(path)
    pages = [one.body.decode() for one in found if isinstance(one, Capture)]
    assert pages == rows[: len(pages)]
    assert len(pages) > 500
    assert [str(path) in error(one).subject for one in found[len(pages) :]] == [True]


def test_memory_does_not_grow_with_the_table(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    line = json.dumps({"html": "x" * 100_000}) + "\n"
    with path.open("w") as out:
        for _ in range(300):
            out.write(line)
    tracemalloc.start()
    assert sum(1 for _ in open_inputs([str(path)])) == 300
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3_000_000


def test_a_huge_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"html": "x" * 50_000_000}))
    assert len(page(read(path)[0]).body) == 50_000_000


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view()])
def test_a_row_is_a_page(tmp_path: Path, kind: pa.DataType) -> None:
    path = tmp_path / "x.parquet"
    table = pa.table(
        {
            "other": pa.array([1, 2, 3]),
            "html": pa.array(["<p>é", None, "b"]).cast(kind),
            "url": pa.array(["http://a.org/", None, ""]),
        }
    )
    pq.write_table(table, path)
    found = read(path)
    charset = None if "binary" in str(kind) else "utf-8"
    assert found[0] == Capture(
        source=f"{path}#0",
        body="<p>é".encode(),
        url="http://a.org/",
        http_charset=charset,
        folder=str(path),
        path="0",
    )
    assert error(found[1]).subject == f"{path}#1"
    assert (page(found[2]).source, page(found[2]).url) == (f"{path}#2", None)


def test_a_dictionary_column_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"html": pa.array(["a", "b", "a"]).dictionary_encode()}), path)
    assert [page(one).body for one in read(path)] == [b"a", b"b", b"a"]


def test_a_missing_column_is_told_with_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"body": ["a"], "link": ["b"]}), path)
    (found,) = read(path)
    assert "body, link" in str(error(found))
    assert [page(one).url for one in read(path, html_column="body", url_column="link")] == ["b"]
    pq.write_table(pa.table({"html": [1, 2]}), path)
    assert "int64" in str(error(read(path)[0]))


def test_damaged_parquet_costs_its_row_group(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    rows = [f"<p>page {number} {number * 7919 % 1009}" * 9 for number in range(300)]
    pq.write_table(pa.table({"html": rows}), path, row_group_size=100, compression="zstd", use_dictionary=False)
    whole = path.read_bytes()
    column = pq.ParquetFile(path).metadata.row_group(1).column(0)
    middle = column.data_page_offset + column.total_compressed_size // 2
    path.write_bytes(whole[:middle] + bytes(200) + whole[middle + 200 :])
    found = read(path)
    bodies = [one.body.decode() for one in found if isinstance(one, Capture)]
    assert [row for row in rows[:100] + rows[200:] if row not in bodies] == []
    assert len([one for one in found if isinstance(one, InputError)]) == 1
    path.write_bytes(whole[:-100])
    assert error(read(path)[0]).subject == str(path)
    path.write_bytes(b"")
    assert len(read(path)) == 1


def test_standard_input_may_be_lines_or_a_page() -> None:
    script = (
        "from chaffinch.sources import open_inputs\n"
        "for one in open_inputs(['-']): print(getattr(one, 'source', one), getattr(one, 'body', b''))"
    )

    def run(data: bytes) -> list[str]:
        done = subprocess.run([sys.executable, "-c", script], input=data, capture_output=True, check=True)
        return done.stdout.decode().splitlines()

    assert run(b'\n  {"html": "a"}\n{"html": "b"}\n') == ["-#2 b'a'", "-#3 b'b'"]
    assert run(b"<p>hello") == ["- b'<p>hello'"]
    assert run(b"") == ["- b''"]
    assert run(gzip.compress(b'{"html": "a"}')) == ["-#1 b'a'"]
    assert "Parquet cannot be read from a pipe" in run(b"PAR1 and so on")[0]
