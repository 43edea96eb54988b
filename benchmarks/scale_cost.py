"""What a large crawl costs: CPU of both passes beside peers on the same pages, and what a row of the shuffle takes.

    python benchmarks/scale_cost.py [--method blocks] [--rounds 3] [--pages 40]

Needs the evaluation data and the extra `bench`. One line of JSON for each round, over so many pages of every site of
`swde`, and one for the sizes.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import trafilatura
from resiliparse.extract.html2text import extract_plain_text

import chaffinch
from chaffinch.evaluation.datasets import find_data
from chaffinch.methods import AnyMethod, Fold
from chaffinch.runs import RunOptions, clean_inputs

_PEER_SHARE: Final = 4
"""Trafilatura is measured on one page of so many: it is slow."""
_GROUPS: Final = (1, 10, 60)


def cpu_ms(work: Callable[[], object], pages: int) -> float:
    """Return CPU milliseconds a page."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000 / pages


def one_round(files: Sequence[Path], method: AnyMethod) -> dict[str, float]:
    """Measure all on the same pages."""
    bodies = [path.read_bytes() for path in files]
    few = bodies[::_PEER_SHARE]
    paths = [str(path) for path in files]
    return {
        "pages": len(files),
        "mean_kb": statistics.fmean(map(len, bodies)) / 1000,
        method.name: cpu_ms(lambda: list(clean_inputs(paths, RunOptions(method=method))), len(files)),
        "resiliparse": cpu_ms(
            lambda: [extract_plain_text(body.decode("utf-8", "replace"), main_content=True) for body in bodies],
            len(files),
        ),
        "trafilatura": cpu_ms(lambda: [trafilatura.extract(body) for body in few], len(few)),
    }


def row_sizes(sites: Sequence[Path], method: AnyMethod) -> dict[str, Any]:
    """Return what the summaries of so many pages of a site take, written and compressed, in the mean over sites."""
    sizes: dict[int, list[int]] = {pages: [] for pages in _GROUPS}
    for site in sites:
        fold: Fold[Any, Any] = Fold(method)
        for number, path in enumerate(sorted(site.glob("*.htm"))[: max(_GROUPS)], 1):
            fold.add(chaffinch.parse(path.read_bytes()))
            if number in sizes:
                dumped = method.dump(method.finish(fold.summary()))
                sizes[number].append(len(pa.compress(dumped, codec="lz4", asbytes=True)))
    return {f"bytes_of_{pages}": round(statistics.fmean(found)) for pages, found in sizes.items()}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="blocks")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=40)
    parsed = parser.parse_args()
    logging.disable(logging.CRITICAL)
    method = chaffinch.make_method(parsed.method)
    sites = sorted(path for path in (find_data() / "swde").iterdir() if path.is_dir())
    for turn in range(parsed.rounds):
        first, last = turn * parsed.pages, (turn + 1) * parsed.pages
        files = [path for site in sites for path in sorted(site.glob("*.htm"))[first:last]]
        print(json.dumps(one_round(files, method)), flush=True)
    print(json.dumps(row_sizes(sites, method)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
