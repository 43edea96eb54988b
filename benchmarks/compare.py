"""Compare all methods with the peers, and with what today's crawl-to-text tools do about templates.

    python benchmarks/compare.py sites [--jobs 2]      or swde
    python benchmarks/compare.py sites --write         also writes docs/figures/compare-sites.json
    python benchmarks/compare.py sites --no-peers --method chunks --method chunks,delimiters=tables,share=0.1
    python benchmarks/compare.py sites --choose --method chunks,share=0.2 --method chunks,share=0.3

Needs the evaluation data (`CHAFFINCH_DATA`) and the extras `bench` and `peers`. Tables are printed as Markdown.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.evaluation.choice import leave_one_out
from chaffinch.evaluation.evaluate import Settings, compare
from chaffinch.evaluation.peers import PEERS
from chaffinch.evaluation.predictors import Clock, Texts, visible_text
from chaffinch.evaluation.results import Evaluation, kinds_of
from chaffinch.methods import METHODS, AnyMethod, make_method
from chaffinch.methods.frequency import Frequencies
from chaffinch.methods.layout import mixed
from chaffinch.page import Page
from chaffinch.page.arrays import BoolArray, HashArray

FOLDER: Final = Path(__file__).parent.parent / "docs" / "figures"
_TOKEN: Final = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class KGrams:
    """Drops the runs of a page's text in which every few tokens stand together on most pages of the site."""

    length: int = 6
    """How many tokens are looked at together."""
    share: float = 0.5
    """The share of the pages from which on they are frequent."""
    least_run: int = 12
    """Shorter runs stay."""

    @property
    def name(self) -> str:
        """What tables call it."""
        return "k-gram stripping"

    @property
    def label(self) -> str:
        """All there is to know of it."""
        return repr(self)

    def predict(self, pages: Sequence[Page]) -> Texts:
        """Count the k-grams of all pages, then strip each page."""
        clock = Clock()
        texts = [visible_text(page) for page in pages]
        with clock.step("learn"):
            grams = [self._grams(text) for text in texts]
            found, count = np.unique(np.concatenate([np.unique(own) for own in grams]), return_counts=True)
            frequencies = Frequencies.of_counts(found, count, len(found))
        with clock.step("score"):
            needed = max(2.0, self.share * len(pages))
            stripped = [
                self._strip(text, frequencies.of(own) >= needed) for text, own in zip(texts, grams, strict=True)
            ]
        return Texts(stripped, clock.seconds)

    def _grams(self, text: str) -> HashArray:
        """Return a hash of the tokens from each token on; none for the last few, which have too few behind them."""
        tokens = _TOKEN.findall(text)
        hashes = np.fromiter(map(xxh3_64_intdigest, map(str.encode, tokens)), dtype=np.uint64, count=len(tokens))
        count = max(0, len(tokens) - self.length + 1)
        return mixed(*(hashes[start : start + count] for start in range(self.length)))

    def _strip(self, text: str, frequent: BoolArray) -> str:
        """Leave out runs of tokens that lie in frequent k-grams."""
        inside = np.zeros(len(frequent) + self.length, dtype=np.int64)
        inside[: -self.length][frequent] += 1
        inside[self.length :][frequent] -= 1
        tokens = list(_TOKEN.finditer(text))
        covered = np.cumsum(inside)[: len(tokens)] > 0
        borders = np.flatnonzero(np.diff(np.concatenate(([False], covered, [False])).astype(np.int8)))
        parts: list[str] = []
        kept_from = 0
        for first, stop in borders.reshape(-1, 2).tolist():
            if stop - first >= self.least_run:
                parts.append(text[kept_from : tokens[first].start()])
                kept_from = tokens[stop - 1].end()
        return "".join([*parts, text[kept_from:]])


def tables(evaluation: Evaluation) -> Iterator[str]:
    """Print the means over sites, then those over the sites of each kind."""
    measures = list(evaluation.main.macro)
    yield f"| {evaluation.set_name} | {' | '.join(measures)} | ms a page |"
    yield f"|---|{'--:|' * (len(measures) + 1)}"
    for result in evaluation.results:
        spent = f"{1000 * sum(result.seconds.values()) / evaluation.pages:.1f}" if result.seconds else ""
        yield f"| {result.name} | {_cells(result.macro[name] for name in measures)} | {spent} |"
    yield f"\nParsing takes {1000 * evaluation.parse_seconds / evaluation.pages:.1f} ms a page.\n"
    kinds = kinds_of(evaluation.sites)
    if len(kinds) > 1:
        first, *_, last = ("f1", "leak") if "f1" in measures else (measures[0], measures[-1])
        yield f"| {first} / {last} | {' | '.join(kinds)} |"
        yield f"|---|{'--:|' * len(kinds)}"
        for result in evaluation.results:
            means = result.by_kind
            cells = " | ".join(f"{means[kind][first]:.3f} / {means[kind][last]:.3f}" for kind in kinds)
            yield f"| {result.name} | {cells} |"


def choice(evaluation: Evaluation, count: int) -> Iterator[str]:
    """Print what the first `count` predictions are worth if the other sites choose one of them for each site."""
    measure = "f1" if "f1" in evaluation.main.macro else "kept"
    found = leave_one_out(evaluation.results[:count], measure)
    yield f"\nChosen for each site by the {measure} of all others: "
    yield ", ".join(f"{name} {value:.3f}" for name, value in found.measures.items())
    yield from (f"{times} times {name}" for name, times in found.chosen.items())


def _cells(values: Iterator[float]) -> str:
    return " | ".join(f"{value:.3f}" for value in values)


def method_of(text: str) -> AnyMethod:
    """Read a method with its options."""
    name, *options = text.split(",")
    return make_method(name, dict(option.split("=", 1) for option in options))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=("sites", "swde"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int, help="only the first sites")
    parser.add_argument("--no-peers", action="store_true", help="only methods and baselines")
    parser.add_argument(
        "--method", action="append", default=[], metavar="NAME,KEY=VALUE…", help="only this one; may be repeated"
    )
    parser.add_argument(
        "--choose", action="store_true", help="also measure what comes of choosing one of the methods; without peers"
    )
    parser.add_argument("--write", action="store_true", help="write the figures of every site, too")
    parsed = parser.parse_args()
    methods = [method_of(text) for text in parsed.method or METHODS]
    alone = parsed.no_peers or parsed.choose
    evaluation = compare(
        parsed.set,
        methods,
        peers=() if alone else PEERS,
        rivals=() if alone else [KGrams()],
        settings=Settings(jobs=parsed.jobs, limit=parsed.limit),
    )
    print("\n".join(tables(evaluation)))
    if parsed.choose:
        print("\n".join(choice(evaluation, len(methods))))
    if parsed.write:
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"compare-{parsed.set}.json").write_text(f"{evaluation.to_json()}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
