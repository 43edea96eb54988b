"""What the tests share: the command line in a subprocess, the example crawl, small pages."""

from __future__ import annotations

import ctypes
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import settings
from warcio.warcwriter import WARCWriter

# How long an example takes says more of the machine's other work than of the code.
settings.register_profile("chaffinch", deadline=None)
settings.load_profile("chaffinch")

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
CRAWL = EXAMPLES / "crawl"

_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 24, 1, 2


class Writer(WARCWriter):  # type: ignore[misc]
    """A writer of WARC files that leaves no temporary file open."""

    def _create_temp_file(self) -> io.BytesIO:
        return io.BytesIO()


Command: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


def drop_powers() -> None:
    """Let permissions hold for this process, once it runs another program, even if it is root's."""
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def heed_interrupts() -> None:
    """Let an interrupt reach this process, even if the tests were started in the background, where it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_chaffinch(
    *arguments: str | Path,
    cwd: Path | None = None,
    stdin: bytes | None = None,
    timeout: float = 120,
    powerless: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run the real command line and return what it did, its output read as UTF-8.

    A `powerless` one may not read and write what permissions forbid, even where root runs the tests.
    """
    done = subprocess.run(
        [sys.executable, "-m", "chaffinch", *map(str, arguments)],
        cwd=cwd,
        input=stdin if stdin is not None else b"",
        capture_output=True,
        timeout=timeout,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        preexec_fn=drop_powers if powerless else None,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def chaffinch() -> Command:
    """The command line."""
    return run_chaffinch


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def site_html(number: int, content: str) -> str:
    """A page of a site with a menu and a footer."""
    return (
        "<!doctype html>\n<html lang=en>\n<head><title>Page "
        f"{number}</title></head>\n<body>\n<nav><a href=/>Home</a> <a href=/news>News</a></nav>\n"
        f"<main>\n<h1>Heading {number}</h1>\n<p>{content}</p>\n</main>\n"
        "<footer><p>All rights reserved</p></footer>\n</body>\n</html>\n"
    )


def write_site(folder: Path, contents: Sequence[str]) -> None:
    """Write one page for each content."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(contents):
        (folder / f"page-{number:03}.html").write_text(site_html(number, content), encoding="utf-8")


@pytest.fixture
def small_crawl(tmp_path: Path) -> Path:
    """A folder with one site of six pages."""
    write_site(tmp_path / "crawl", [f"Own words of page {number}." for number in range(6)])
    return tmp_path / "crawl"
