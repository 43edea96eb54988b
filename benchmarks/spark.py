"""What a run on Spark costs: time, CPU, memory and bytes shuffled, as the crawl and the number of cores grow.

    python benchmarks/large_crawl.py CRAWL --pages 2000 --sites 20
    python benchmarks/spark.py CRAWL [--cores 1 2] [--method blocks] [--rounds 3]

One line of JSON for each run. CPU and memory are those of the whole tree of processes (JVM and Python workers), looked
at twice a second; bytes shuffled are what Spark's own log of events says. The clock is as honest as the machine is
idle, CPU time and bytes are not changed by other people's work.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import chaffinch
from chaffinch.runs import RunOptions, RunReport
from chaffinch.runs.spark import SparkEngine, start_session

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class Tree:
    """Watches a process and all below it until it ends."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._cpu: dict[int, float] = {}
        self.jvm = 0
        """The most that one JVM held, in bytes."""
        self.python = 0
        """The most that one Python process held."""
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    @property
    def cpu(self) -> float:
        """Seconds of CPU of all processes together, as last seen of each."""
        return sum(self._cpu.values())

    def _watch(self) -> None:
        while self._process.poll() is None:
            for number, name, ticks, held in _below(self._process.pid):
                self._cpu[number] = ticks / _TICKS
                if name.startswith("java"):
                    self.jvm = max(self.jvm, held)
                else:
                    self.python = max(self.python, held)
            time.sleep(0.5)


def _below(root: int) -> Iterator[tuple[int, str, int, int]]:
    """Yield number, name, CPU ticks and bytes held of each process of a tree."""
    parents, rows = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, tail = path.read_text().rpartition(")")
        except OSError:
            continue
        fields = tail.split()
        number = int(path.parent.name)
        parents[number] = int(fields[1])
        rows[number] = head.partition("(")[2], int(fields[11]) + int(fields[12]), int(fields[21]) * _PAGE
    for number, row in rows.items():
        above = number
        while above not in (0, 1, root):
            above = parents.get(above, 0)
        if above == root:
            yield (number, *row)


def shuffled(folder: Path) -> int:
    """Return the bytes that all tasks wrote for others to read, by Spark's log of events."""
    total = 0
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.startswith((".", "appstatus")):
            for line in path.read_text(encoding="utf-8").splitlines():
                event: dict[str, Any] = json.loads(line)
                if event.get("Event") == "SparkListenerTaskEnd":
                    written = (event.get("Task Metrics") or {}).get("Shuffle Write Metrics") or {}
                    total += int(written.get("Shuffle Bytes Written", 0))
    return total


def run_once(crawl: Path, cores: int, method: str) -> None:
    """Run in this process, and print what the run tells of itself."""
    options = RunOptions(method=chaffinch.make_method(method))
    report = RunReport.of(options)
    session = start_session(f"local[{cores}]")
    start = time.perf_counter()
    for outcome in SparkEngine(session).clean([str(crawl)], options, report):
        report.count(outcome)
    total = report.total
    print(json.dumps({"pages": total.pages, "failed": total.failures, "sites": len(report.sites), **report.stages}))
    print(f"{time.perf_counter() - start:.1f} s", file=sys.stderr)


def measure(crawl: Path, cores: int, method: str) -> dict[str, Any]:
    """Run in a process of its own and watch it."""
    with tempfile.TemporaryDirectory() as name:
        conf = f"--conf spark.eventLog.enabled=true --conf spark.eventLog.dir=file://{name} "
        conf += "--conf spark.eventLog.compress=false --conf spark.eventLog.rolling.enabled=false "
        process = subprocess.Popen(
            [sys.executable, __file__, str(crawl), "--cores", str(cores), "--method", method, "--once"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYSPARK_SUBMIT_ARGS": f"{conf} pyspark-shell"},
        )
        tree = Tree(process)
        output, _ = process.communicate()
        row: dict[str, Any] = json.loads(output.splitlines()[-1])
        written = shuffled(Path(name))
    pages = row["pages"]
    return {
        **{key: round(value, 1) if isinstance(value, float) else value for key, value in row.items()},
        "method": method,
        "cores": cores,
        "cpu_ms_a_page": round(tree.cpu * 1000 / pages, 2),
        "shuffled_bytes_a_page": round(written / pages),
        "jvm_mb": tree.jvm >> 20,
        "python_mb": tree.python >> 20,
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crawl", type=Path, nargs="+")
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--method", default="blocks")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    if parsed.once:
        run_once(parsed.crawl[0], parsed.cores[0], parsed.method)
        return 0
    for _ in range(parsed.rounds):
        for crawl in parsed.crawl:
            for cores in parsed.cores:
                print(json.dumps({"crawl": crawl.name, **measure(crawl, cores, parsed.method)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
