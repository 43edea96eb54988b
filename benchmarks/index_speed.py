"""Measure the building of an index, and search in it: time and peak memory, beside the engine's own.

    python benchmarks/index_speed.py [detection] [writing] [search] [--pages 1000 2000 4000 40000] [--rounds 3]

Needs the evaluation data (`CHAFFINCH_DATA`) and the extra `bench`.

- *detection*: indexing alone, with template found inside (`--one-pass`), and with template found in a pass of its own
  before; the first 4,000 pages are real (all of `swde`), and more are these again with other words in place of those
  that are not on many pages of their site.
- *writing*: pages that are extracted already, given to the bare engine and to Chaffinch's writer, and the whole way
  from HTML.
- *search*: in as many pages as the largest of `--pages`, beside the bare call of the engine; and how the writer's time
  and memory grow with pages.

What was measured is written to `docs/figures/index-*.json`, and drawn; with `--draw`, it is only drawn.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import chain, islice, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import tantivy
from matplotlib.figure import Figure

from chaffinch.evaluation.corpora import open_collection
from chaffinch.evaluation.datasets import find_data
from chaffinch.index import About, Entry, IndexWriter, SearchIndex, index_inputs
from chaffinch.index.fields import WORDS, make_analyzer, prepared
from chaffinch.methods.offsets import Offsets
from chaffinch.runs import RunOptions
from chaffinch.runs.memory import peak_of_process

FOLDER: Final = Path(__file__).parent.parent / "docs" / "figures"
MODES: Final[dict[str, list[str]]] = {
    "alone": ["--no-removal"],
    "inside": ["--one-pass"],
    "separate": ["--method", "offsets"],
}
_REAL: Final = 4000
_MARKUP: Final = re.compile(r"(<script.*?</script>|<style.*?</style>|<!--.*?-->|<[^>]*>)", re.DOTALL | re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Za-z]{3,}")
_OFTEN: Final = 0.1
"""Words on this share of a site's pages are its template's, and stay in the copies."""
_STRIDE: Final = 7919
_HEAP: Final = 64_000_000


def main() -> int:
    """Measure, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="detection, writing, search (default: all)")
    parser.add_argument("--pages", type=int, nargs="+", default=[1000, 2000, 3000, 4000, 40_000])
    parser.add_argument("--rounds", type=int, default=3, help="how often up to 4,000 pages are indexed (default: 3)")
    parser.add_argument("--ways", nargs="+", default=list(MODES), choices=MODES, help="of detection (default: all)")
    parser.add_argument("--work", type=Path, help="where crawls and indexes are kept (default: a temporary folder)")
    parser.add_argument("--draw", action="store_true", help="only draw, from what is there")
    parsed = parser.parse_args()
    work = parsed.work or Path(tempfile.mkdtemp(prefix="chaffinch-index-"))
    work.mkdir(parents=True, exist_ok=True)
    measures: dict[str, Callable[[], Any]] = {
        "detection": lambda: detection(work, parsed.pages, parsed.rounds, parsed.ways),
        "writing": lambda: writing(work, parsed.rounds),
        "search": lambda: search(work, max(parsed.pages)),
    }
    if unknown := set(parsed.parts) - set(measures):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    try:
        for name in parsed.parts or measures:
            path = FOLDER / f"index-{name}.json"
            if not parsed.draw:
                path.write_text(json.dumps(measures[name](), indent=1) + "\n", "utf-8")
            found = json.loads(path.read_text("utf-8"))
            print(json.dumps(found, indent=1))
            if name == "detection":
                draw(found).savefig(path.with_suffix(".svg"), metadata={"Date": None})
    finally:
        if parsed.work is None:
            shutil.rmtree(work)
    return 0


def detection(work: Path, sizes: list[int], rounds: int, ways: list[str]) -> list[dict[str, Any]]:
    """Index crawls of several sizes in each of the ways; of several rounds the one that took least counts."""
    rows = []
    for size in sizes:
        with ProcessPoolExecutor(1) as pool:  # what it holds would be counted for the processes that are measured
            crawl = pool.submit(make_crawl, work, size).result()
        found: dict[str, list[dict[str, float]]] = {mode: [] for mode in ways}
        for _ in range(rounds if size <= _REAL else 1):
            running = {mode: start(crawl, work / f"{mode}-{size}", MODES[mode]) for mode in ways}
            for mode, ended in {mode: end(one) for mode, one in running.items()}.items():
                found[mode].append(ended)
        for mode, ended_rounds in found.items():
            rows.append({"pages": size, "mode": mode, **min(ended_rounds, key=itemgetter("cpu"))})
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def start(crawl: Path, index: Path, options: list[str]) -> subprocess.Popen[bytes]:
    """Begin to index a crawl in a process of its own. The ways run side by side, so that all have the same company."""
    shutil.rmtree(index, ignore_errors=True)
    command = [sys.executable, "-m", "chaffinch", "index", str(crawl), "-o", str(index), "--page-seconds", "0"]
    return subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL)


def end(running: subprocess.Popen[bytes]) -> dict[str, float]:
    """Wait until it is done; return its CPU seconds and the most memory that it held."""
    _, status, usage = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise RuntimeError(f"{running.args!r} ended with {running.returncode}")
    return {"cpu": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss / 1024}


def make_crawl(work: Path, size: int) -> Path:
    """Write a crawl of so many pages as JSON Lines, site by site, unless it is there."""
    path = work / f"crawl-{size}.jsonl"
    if path.exists():
        return path
    names, per_site = site_names(), min(size, _REAL) // len(site_names())
    copies = max(1, size // _REAL)
    with path.open("w", encoding="utf-8") as file:
        for name in names:
            pages = read_site(name)[:per_site]
            often, pool = vocabulary(pages)
            place = {word: number for number, word in enumerate(pool)}
            for number, page in enumerate(pages):
                pieces = _MARKUP.split(page)
                for copy in range(copies):
                    html = page if not copy else varied(pieces, often, pool, place, copy)
                    url = f"https://{name}.example/{copy}/{number:04}.htm"
                    file.write(json.dumps({"url": url, "html": html}) + "\n")
    return path


def site_names() -> list[str]:
    """Return the sites of `swde`."""
    return sorted(folder.name for folder in (find_data() / "swde").iterdir() if folder.is_dir())


def read_site(name: str) -> list[str]:
    """Read the pages of a site."""
    paths = sorted((find_data() / "swde" / name).glob("*.htm"))
    return [path.read_text("utf-8", "replace") for path in paths]


def vocabulary(pages: list[str]) -> tuple[set[str], list[str]]:
    """Return the words that many pages of a site have, and the other ones."""
    pages_with = Counter(word for page in pages for word in set(_WORD.findall(_MARKUP.sub(" ", page))))
    often = {word for word, count in pages_with.items() if count >= _OFTEN * len(pages)}
    return often, sorted(set(pages_with) - often)


def varied(pieces: list[str], often: set[str], pool: list[str], place: dict[str, int], copy: int) -> str:
    """Put other words of the site in place of those that few of its pages have."""

    def other(match: re.Match[str]) -> str:
        word = match[0]
        return word if word in often else pool[(place.get(word, 0) + copy * _STRIDE) % len(pool)]

    texts = [_WORD.sub(other, text) if not text.isspace() else text for text in pieces[::2]]
    return "".join(chain.from_iterable(zip_longest(texts, pieces[1::2], fillvalue="")))


def writing(work: Path, rounds: int) -> dict[str, Any]:
    """Give texts to the bare engine and to Chaffinch's writer; and index the same pages from HTML."""
    crawl = make_crawl(work, _REAL)
    index = work / "whole"
    shutil.rmtree(index, ignore_errors=True)
    options = RunOptions()
    index_inputs([str(crawl)], str(index), options, removal=False)
    entries = [hit.entry for hit in SearchIndex(str(index)).search("*", limit=_REAL).hits]
    ways: dict[str, Callable[[Path], None]] = {
        "bare engine": lambda path: bare_engine(path, entries),
        "writer": lambda path: own_writer(path, entries),
        "from HTML, 1 process": lambda path: from_html(path, crawl, ["--page-seconds", "0"]),
        "from HTML, 2 processes": lambda path: from_html(path, crawl, ["--jobs", "2"]),
    }
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            path = work / "written"
            shutil.rmtree(path, ignore_errors=True)
            wall, cpu = time.perf_counter(), cpu_seconds()
            way(path)
            seconds[name].append((time.perf_counter() - wall, cpu_seconds() - cpu))
    least = {name: (min(wall for wall, _ in found), min(cpu for _, cpu in found)) for name, found in seconds.items()}
    bare = least["bare engine"]
    return {
        "pages": len(entries),
        "text_megabytes": sum(len(entry.content.encode()) for entry in entries) / 1e6,
        "ways": {
            name: {
                "pages_per_second": len(entries) / wall,
                "cpu_ms_per_page": 1000 * cpu / len(entries),
                "throughput_to_engine": bare[0] / wall,
                "throughput_to_engine_by_cpu": bare[1] / cpu,
            }
            for name, (wall, cpu) in least.items()
        },
    }


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def bare_engine(path: Path, entries: list[Entry]) -> None:
    """Index texts as anybody would who has the engine alone: key, title and content, which is stored for snippets."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("key", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", stored=True, tokenizer_name=WORDS)
    builder.add_text_field("content", stored=True, tokenizer_name=WORDS)
    path.mkdir()
    index = tantivy.Index(builder.build(), str(path))
    index.register_tokenizer(WORDS, make_analyzer(None))
    writer = index.writer(_HEAP, 1)
    for entry in entries:
        writer.add_document(tantivy.Document(key=entry.key, title=entry.title or "", content=entry.content))
    writer.commit()
    writer.wait_merging_threads()


def own_writer(path: Path, entries: list[Entry]) -> None:
    """Index entries through Chaffinch's writer."""
    with IndexWriter(str(path), About.of(None, "balanced", "domain", None)) as writer:
        for entry in entries:
            writer.put(entry)


def from_html(path: Path, crawl: Path, options: list[str]) -> None:
    """Index pages from HTML, by the command."""
    command = [sys.executable, "-m", "chaffinch", "index", str(crawl), "-o", str(path), "--no-removal", *options]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def search(work: Path, size: int) -> dict[str, Any]:
    """Search for values of the gold, every fifth as a phrase, in an index of so many pages, and time its making."""
    path = work / f"search-{size}"
    growth = fill(path, extracted(work), size)
    index = SearchIndex(str(path))
    queries = list(islice(_queries(), 1000))
    bare_index = tantivy.Index.open(str(path))
    bare_index.register_tokenizer(WORDS, make_analyzer(None))
    searcher = bare_index.searcher()
    fields = {"content": 1.0, "title": 1.0, "headings": 0.5}
    made = [bare_index.parse_query(prepared(query), list(fields), fields) for query in queries]
    ours = [_milliseconds(lambda query=query: index.search(query)) for query in queries]  # type: ignore[misc]
    bare = [_milliseconds(lambda query=query: searcher.search(query, 10)) for query in made]  # type: ignore[misc]
    return {
        "pages": index.pages,
        "index_megabytes": sum(file.stat().st_size for file in path.iterdir()) / 1e6,
        "writing": growth,
        "queries": len(queries),
        "milliseconds": {name: _percentiles(found) for name, found in (("search", ours), ("bare engine", bare))},
    }


def fill(path: Path, entries: list[Entry], size: int) -> list[dict[str, float]]:
    """Write an index of so many pages, copies with other words after the first; tell of its cost as it grows."""
    sites: dict[str, list[Entry]] = {}
    for entry in entries:
        sites.setdefault(entry.site, []).append(entry)
    words = {name: vocabulary([entry.content for entry in own]) for name, own in sites.items()}
    places = {name: {word: number for number, word in enumerate(pool)} for name, (_, pool) in words.items()}
    shutil.rmtree(path, ignore_errors=True)
    told: list[dict[str, float]] = []
    writing_cpu = 0.0
    with IndexWriter(str(path), About.of(None, "balanced", "domain", None)) as writer:
        for number in range(size):
            copy, entry = number // len(entries), entries[number % len(entries)]
            if copy:
                content = varied([entry.content], *words[entry.site], places[entry.site], copy)
                entry = replace(entry, url=f"{entry.url}?{copy}", content=content)
            before = cpu_seconds()
            writer.put(entry)
            writing_cpu += cpu_seconds() - before
            if (number + 1) % len(entries) == 0:
                told.append({"pages": number + 1, "cpu": writing_cpu, "memory": peak_of_process() / (1 << 20)})
    return told


def extracted(work: Path) -> list[Entry]:
    """Return the real pages without their template, as an index has them."""
    path = work / "extracted"
    if not path.exists():
        index_inputs([str(make_crawl(work, _REAL))], str(path), RunOptions(method=Offsets()), one_pass=True)
    return [hit.entry for hit in SearchIndex(str(path)).search("*", limit=_REAL).hits]


def _milliseconds(work: Callable[[], object]) -> float:
    before = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - before)


def _queries() -> Iterator[str]:
    """Yield the words of gold values, every fifth of them as a phrase."""
    collection = open_collection("swde")
    values = [query.text for name in collection.corpus_names() for query in collection.load(name).queries["values"]]
    random.Random(1).shuffle(values)  # noqa: S311  (a sample)
    plain = (" ".join(re.findall(r"\w+", value)) for value in values)
    for number, value in enumerate(value for value in plain if value):
        yield f'"{value}"' if number % 5 == 0 else value


def _percentiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100)
    return {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98]}


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw time and memory against pages, a line for each way."""
    mpl.rcParams.update({"svg.hashsalt": "chaffinch", "svg.fonttype": "none"})
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    each, memory = figure.subplots(1, 2)
    for mode in MODES:
        own = [row for row in rows if row["mode"] == mode]
        pages = [row["pages"] for row in own]
        each.plot(pages, [1000 * row["cpu"] / row["pages"] for row in own], marker="o", markersize=3, label=mode)
        memory.plot(pages, [row["memory"] for row in own], marker="o", markersize=3, label=mode)
    for axes, label in ((each, "CPU ms a page, all included"), (memory, "peak memory, MB")):
        axes.set(xscale="log", xlabel="pages", ylabel=label)
        axes.set_ylim(0)
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize="small", title="detection")
    return figure


if __name__ == "__main__":
    sys.exit(main())
