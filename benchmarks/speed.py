"""Speed and memory as ratios against peers measured in the same run, on the same pages.

    python benchmarks/speed.py [--json] [--rounds 5]

Needs the evaluation data (`CHAFFINCH_DATA`) and the `bench` extra. All is CPU time but where the clock is named. Every
round measures every candidate once, one after the other. Of single pages each counts with the least time of all rounds:
others on the machine can only make it more, since they empty the caches. Of commands the ratios are taken within a
round, and their median is reported.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import logging
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import turbohtml
from resiliparse.extract.html2text import extract_plain_text
from selectolax.lexbor import LexborHTMLParser

import chaffinch
from chaffinch.evaluation.datasets import find_data
from chaffinch.methods import make_method

PAGES: Final = 150
PEER_PAGES: Final = 60
"""Trafilatura is measured on fewer pages: it is slow."""
_PR_SET_CHILD_SUBREAPER: Final = 36


@dataclass(frozen=True, slots=True)
class Ratio:
    """One figure: how often the cost, or the throughput, of one thing is that of another."""

    name: str
    value: float
    target: str = "-"
    met: bool = True


def per_page(work: Callable[[bytes], object], pages: list[bytes]) -> list[float]:
    """Return the CPU seconds of each page."""
    costs = []
    for page in pages:
        start = time.thread_time()
        work(page)
        costs.append(time.thread_time() - start)
    return costs


def _trafilatura(body: bytes) -> object:
    import trafilatura  # noqa: PLC0415  (its import alone takes a second)

    return trafilatura.extract(body, include_comments=True, include_tables=True)


def single_pages(data: Path, rounds: int) -> tuple[list[Ratio], dict[str, float]]:
    """Measure bytes to `Page` with blocks, and to text, against parsers and extractors."""
    files = sorted((data / "wcxb" / "dev" / "html").glob("*.html"))
    pages = [path.read_bytes() for path in files[:: max(1, len(files) // PAGES)]][:PAGES]
    candidates: dict[str, Callable[[bytes], object]] = {
        "turbohtml parse": turbohtml.parse,
        "selectolax parse": LexborHTMLParser,
        "resiliparse main content": lambda body: extract_plain_text(body.decode("utf-8", "replace"), main_content=True),
        "chaffinch page": chaffinch.parse,
        "chaffinch page and blocks": lambda body: chaffinch.parse(body).blocks,
        "chaffinch extract": chaffinch.extract,
        "chaffinch page and model": lambda body: model.score(chaffinch.parse(body), None),
    }
    model = make_method("model")
    model.score(chaffinch.parse("<p>"), None)  # its weights are read once
    rows: dict[str, list[list[float]]] = {name: [] for name in [*candidates, "trafilatura"]}
    gc.disable()  # as in a run: pages have no cycles, and a collection is paid for by whoever happens to come next
    for _ in range(rounds):
        for name, work in candidates.items():
            rows[name].append(per_page(work, pages))
        rows["trafilatura"].append(per_page(_trafilatura, pages[:: max(1, len(pages) // PEER_PAGES)]))
        gc.collect()
    gc.enable()
    costs = {name: statistics.fmean(map(min, *found)) for name, found in rows.items()}

    def ratio(one: str, other: str) -> float:
        return costs[one] / costs[other]

    value = ratio("chaffinch page and blocks", "turbohtml parse")
    model_value = ratio("chaffinch page and model", "chaffinch page") - 1
    ratios = [
        Ratio("bytes to page with blocks / bare parse", value, "<= 3.5", value <= 3.5),
        Ratio("selectolax parse / bare parse", ratio("selectolax parse", "turbohtml parse")),
        Ratio("applying the model / bytes to page", model_value, "<= 1.0", model_value <= 1.0),
        Ratio("whole extraction / resiliparse main content", ratio("chaffinch extract", "resiliparse main content")),
        Ratio("trafilatura / whole extraction", ratio("trafilatura", "chaffinch extract")),
    ]
    return ratios, {name: value * 1000 for name, value in costs.items()}


def swde_copy(data: Path, target: Path, pages: int) -> None:
    """Lay out the first pages of each site as a crawl."""
    sites = sorted(path for path in (data / "swde").iterdir() if path.is_dir())
    for site in sites:
        (target / site.name).mkdir(parents=True)
        for page in sorted(site.glob("*.htm"))[: pages // len(sites)]:
            (target / site.name / page.name).symlink_to(page)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took, with all the processes that it started."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds of all its processes together."""
    memory: float
    """The sum of the peaks of its processes, in MB."""


def command(crawl: Path, output: Path, jobs: int, *, cores: int | None = None) -> Cost:
    """Run the command line as a user does, on so many cores (or all).

    Pages are worked on in processes of their own, which another one starts. That one is left behind when the command
    ends; this process adopts it, so that the time of all of them is counted.
    """
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    run = subprocess.Popen(
        [
            *(sys.executable, "-m", "chaffinch", "clean", str(crawl), "-o", str(output)),
            *("--method", "sandwich", "--jobs", str(jobs)),
        ],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),  # noqa: PLW1509  (nothing here has threads)
    )
    peaks: dict[int, float] = {}
    while run.poll() is None:
        note_peaks(run.pid, peaks)
        time.sleep(0.05)
    wall = time.perf_counter() - start
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    if run.returncode:
        raise SystemExit(f"the command failed with exit code {run.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu, sum(peaks.values()))


def adopt_orphans() -> None:
    """Become the parent of what a command leaves behind."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def note_peaks(session: int, peaks: dict[int, float]) -> None:
    """Note what each process of a session has held at most, in MB."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            if os.getsid(int(folder.name)) == session:
                status = (folder / "status").read_text("ascii", "replace")
                lines = [line.split() for line in status.splitlines() if line.startswith("VmHWM")]
                peaks[int(folder.name)] = int(lines[0][1]) / 1024 if lines else peaks.get(int(folder.name), 0.0)


def whole_crawl(data: Path, rounds: int) -> tuple[list[Ratio], dict[str, float]]:
    """Measure `chaffinch clean --method sandwich` over 4,000 real pages, and memory on 500 and 4,000."""
    adopt_orphans()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        swde_copy(data, folder / "small", 500)
        swde_copy(data, folder / "large", 4000)
        pages = [path.read_bytes() for path in sorted((folder / "large").rglob("*.htm"))]
        sample = pages[:: max(1, len(pages) // PEER_PAGES)]
        peer, one, two, small = [], [], [], []
        for _ in range(rounds):
            small.append(command(folder / "small", folder / "small.jsonl", 1))
            one.append(command(folder / "large", folder / "large.jsonl", 1, cores=1))
            two.append(command(folder / "large", folder / "large.jsonl", 2))
            peer.append(statistics.fmean(per_page(_trafilatura, sample)))
    against_peer = [a / (b.cpu / len(pages)) for a, b in zip(peer, one, strict=True)]
    # What two processes gain, only a clock tells, and others on the machine can only make that less.
    against_one = max(a.wall / b.wall for a, b in zip(one, two, strict=True))
    growth = [a.memory / b.memory for a, b in zip(one, small, strict=True)]
    ratios = [
        Ratio("pages per CPU second of clean / of trafilatura", *_judged(against_peer, ">=", 10)),
        Ratio("pages per second with --jobs 2 / on one core, best", against_one, ">= 1.6", against_one >= 1.6),
        Ratio("peak memory on 4,000 pages / on 500", *_judged(growth, "<=", 1.15)),
    ]
    shown = {
        "clean --method sandwich, CPU ms a page": statistics.median(cost.cpu for cost in one) * 1000 / len(pages),
        "the same by the clock on one core, best": min(cost.wall for cost in one) * 1000 / len(pages),
        "the same by the clock with --jobs 2, best": min(cost.wall for cost in two) * 1000 / len(pages),
        "trafilatura on these pages, CPU ms a page": statistics.median(peer) * 1000,
        "peak memory on 4,000 pages, all processes, MB": statistics.median(cost.memory for cost in one),
        "peak memory with --jobs 2, all processes, MB": statistics.median(cost.memory for cost in two),
    }
    return ratios, shown


def _judged(values: list[float], sign: str, target: float) -> tuple[float, str, bool]:
    """Return the median, the target in words and whether it is met."""
    value = statistics.median(values)
    return value, f"{sign} {target:g}", value >= target if sign == ">=" else value <= target


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="two or more (default: %(default)s)")
    parser.add_argument("--json", action="store_true")
    parsed = parser.parse_args()
    logging.disable(logging.CRITICAL)
    data = find_data()
    page_ratios, page_costs = single_pages(data, parsed.rounds)
    crawl_ratios, crawl_costs = whole_crawl(data, min(3, parsed.rounds))
    ratios = [*page_ratios, *crawl_ratios]
    if parsed.json:
        report = {"ratios": [asdict(ratio) for ratio in ratios], "costs": {**page_costs, **crawl_costs}}
        print(json.dumps(report, indent=2))
        return 0
    for ratio in ratios:
        verdict = "" if ratio.target == "-" else f"  target {ratio.target}  {'met' if ratio.met else 'MISSED'}"
        print(f"{ratio.name:<56}{ratio.value:7.2f}{verdict}")
    print()
    for name, cost in {**{f"{name}, CPU ms a page": cost for name, cost in page_costs.items()}, **crawl_costs}.items():
        print(f"{name:<56}{cost:7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
