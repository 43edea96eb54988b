"""Time and memory of `chaffinch train`, on parts of a crawl of different sizes.

    python benchmarks/training_crawl.py -o crawl.parquet --pages 600
    python benchmarks/training_speed.py crawl.parquet --pages 2000 6000 20000

A part has the same share of each site's pages. Memory is the sum of what each process held at most. Needs the extra
`train`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from speed import note_peaks


def write_part(crawl: Path, pages: int, output: Path) -> int:
    """Write about so many pages of a crawl, of each site the same share; return how many."""
    source = pq.ParquetFile(crawl)
    share = pages / source.metadata.num_rows
    if share > 1:
        sys.exit(f"{crawl} has only {source.metadata.num_rows:,} pages")
    written = 0
    with pq.ParquetWriter(output, source.schema_arrow, compression="zstd") as writer:
        for group in range(source.num_row_groups):
            table = source.read_row_group(group)
            part = table.slice(0, round(share * len(table)))
            writer.write_table(part)
            written += len(part)
    return written


def measure(crawl: Path, output: Path, jobs: int) -> tuple[float, float]:
    """Train, and return the seconds by the clock and the memory in MB."""
    start = time.perf_counter()
    run = subprocess.Popen(
        [sys.executable, "-m", "chaffinch", "train", str(crawl), "-o", str(output), "--jobs", str(jobs)],
        start_new_session=True,
    )
    peaks: dict[int, float] = {}
    while run.poll() is None:
        note_peaks(run.pid, peaks)
        time.sleep(0.1)
    if run.returncode:
        sys.exit(f"training failed with exit code {run.returncode}")
    return time.perf_counter() - start, sum(peaks.values())


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crawl", type=Path, help="a Parquet file with a row group for each site")
    parser.add_argument("--pages", type=int, nargs="+", default=[2000, 6000, 20000])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parsed = parser.parse_args()
    print("| pages | minutes | minutes for 20,000 at this rate | memory, MB |\n|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory(prefix="chaffinch-") as folder:
        for pages in parsed.pages:
            part = Path(folder, f"{pages}.parquet")
            written = write_part(parsed.crawl, pages, part)
            seconds, memory = measure(part, Path(folder, f"{pages}.npz"), parsed.jobs)
            print(
                f"| {written:,} | {seconds / 60:.1f} | {seconds / 60 * 20_000 / written:.1f} | {memory:,.0f} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
