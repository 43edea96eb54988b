"""Trains the method `fused` on the labelled sets, and measures it on sites that it was not trained on.

python -m chaffinch.evaluation.fused -o fused.npz --held-out FOLDER

Needs the extra `networks` and the evaluation data. Everything hangs on the data and the seed alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from xxhash import xxh3_64_intdigest, xxh3_128

from chaffinch.evaluation.datasets import MainText, data_hash, find_data, open_set
from chaffinch.evaluation.forked import run_forked
from chaffinch.evaluation.site_labels import site_examples, value_examples
from chaffinch.learning.doc_sites import read_doc_examples
from chaffinch.learning.fused_examples import Example, LabelledPage, make_example
from chaffinch.learning.fused_torch import (
    JudgePage,
    JudgePlan,
    Plan,
    arrays_of,
    page_input,
    start_page,
    train,
    train_judge,
)
from chaffinch.methods import DEFAULT_THRESHOLD, decide
from chaffinch.methods.favor import Calibration, Favor, threshold_of
from chaffinch.methods.fused import KIND, SHARES, VERSION, Fused, probabilities, text_scores
from chaffinch.methods.fused_network import Judge, PageNetwork, Surroundings, best_cut, weighed
from chaffinch.methods.judge_numbers import judge_numbers
from chaffinch.methods.site_evidence import SiteEvidence
from chaffinch.models.files import Model, write_model
from chaffinch.page import parse_capture
from chaffinch.render import render
from chaffinch.sites import place_of_url
from chaffinch.version import VERSION as CHAFFINCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import FloatArray
    from chaffinch.sources.capture import Capture

FOLDS: Final = 5
PAGE_PLAN: Final = Plan()
JUDGE_PLAN: Final = JudgePlan()
_SETS: Final = ("wcxb", "sites", "swde")
_SITE_SETS: Final = ("sites", "swde", "docs")
_LEAST_BEST: Final = 0.6
"""A page whose gold its own text cannot give, or that has none, teaches nothing."""
_SAMPLE: Final[Mapping[str, int]] = {"wcxb": 1_000_000, "sites": 30, "swde": 15, "docs": 4}
"""How many pages of a site of each set the first network is trained on."""
_PAGE_WEIGHT: Final[Mapping[str, float]] = {"wcxb": 1.0, "sites": 1.0, "swde": 0.3, "docs": 0.15}
"""How much each of them counts: many pages of few sites teach little of other sites."""
_SUBSETS: Final = (1, 2, 2, 3, 3, 5, 8, 12, 20, 40, 10_000)
"""Numbers of pages among which the judge sees the pages of a site."""
_ALONE: Final[Mapping[str, int]] = {"sites": 12, "swde": 8, "docs": 4}
_SUBSET_PAGES: Final[Mapping[str, int]] = {"sites": 8, "swde": 5, "docs": 3}
_WHOLE_PAGES: Final[Mapping[str, int]] = {"sites": 40, "swde": 20, "docs": 10}
"""Pages of a site that the judge sees alone, among few others, and among all."""
_SITE_WEIGHT: Final[Mapping[str, float]] = {"sites": 80.0, "swde": 40.0, "docs": 10.0}
"""How many single pages a site of each set counts for."""
_EMPHASIS: Final = 8.0
"""How much more a value of `swde` counts than template: a page has few values, most of them of a word or two."""
_WARMTHS: Final = (0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0)
_FAVORED: Final[tuple[Favor, ...]] = ("recall", "balanced", "precision", 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
_MOST: Final = 1 << 18


def read_examples(root: Path | None = None) -> Iterator[Example]:
    """Read all labelled pages: WCXB's by the text of its gold, the others' by what each of their nodes is."""
    wcxb, sites, swde = (open_set(name, root) for name in _SETS)
    for name in wcxb.site_names():
        site = wcxb.load(name)
        for page in site.pages:
            url = page.capture.url
            if isinstance(page.gold, MainText):
                domain = place_of_url(url, "domain").site if url else name
                labelled = LabelledPage(page.capture, domain, "wcxb", site.kind, page.gold.content)
                yield from filter(None, [make_example(labelled)])
    for name in sites.site_names():
        yield from site_examples(sites.load(name), sites.folder / "sites" / name)
    for name in swde.site_names():
        yield from value_examples(swde.load(name))
    yield from read_doc_examples(root or find_data())


@dataclass(frozen=True, eq=False)
class Trained:
    """The network of a page as trained."""

    arrays: dict[str, NDArray[Any]]

    @cached_property
    def network(self) -> PageNetwork:
        """The network."""
        return PageNetwork.read(self.arrays)

    def views(self, example: Example) -> FloatArray:
        """Return what the network makes of a page."""
        return self.network.views(example.evidence, Surroundings.of(example.evidence))


def train_page(examples: Sequence[Example], plan: Plan, progress: Callable[[str], None]) -> Trained:
    """Train the network of a page."""
    taken: dict[str, int] = defaultdict(int)
    used = []
    for example in sorted(examples, key=lambda example: xxh3_64_intdigest(example.source.encode())):
        if example.gold and len(example.evidence) and example.best >= _LEAST_BEST:
            taken[example.site] += 1
            if taken[example.site] <= _SAMPLE[example.set]:
                used.append(example)
    parameters = start_page(used, plan)
    numbered = {
        kind: {name: number for number, name in enumerate(parameters[f"page.{kind}.names"], 1)}
        for kind in ("words", "names", "signs")
    }
    inputs = [page_input(example, parameters, numbered, _PAGE_WEIGHT[example.set]) for example in used]
    train(parameters, inputs, plan, progress)
    return Trained(arrays_of(parameters))


def folds_of(examples: Sequence[Example]) -> dict[str, int]:
    """Deal the sites of each set out to folds."""
    result: dict[str, int] = {}
    for name in dict.fromkeys(example.set for example in examples):
        sites = sorted({example.site for example in examples if example.set == name})
        order = np.random.default_rng(PAGE_PLAN.seed).permutation(len(sites))
        for place, number in enumerate(order.tolist()):
            result.setdefault(sites[number], place % FOLDS)
    return result


@dataclass(frozen=True, eq=False)
class Seen:
    """What a first network that never saw a page's site makes of the page."""

    example: Example
    views: FloatArray


@dataclass(frozen=True, eq=False)
class Held:
    """What both networks make of a page whose site they never saw."""

    example: Example
    logits: FloatArray


_Page = TypeVar("_Page", Seen, Held)


def alone(page: Seen) -> SiteEvidence:
    """Return what one page tells of its site."""
    return SiteEvidence.of_page(page.example.evidence, probabilities(page.views[:, 0]), _MOST)


def together(parts: Sequence[SiteEvidence]) -> SiteEvidence:
    """Return what pages tell together."""
    while len(parts) > 1:
        pairs = [one.merge(other) for one, other in zip(parts[::2], parts[1::2], strict=False)]
        parts = [*pairs, *parts[2 * len(pairs) :]]
    return parts[0]


def judge_page(page: Seen, site: SiteEvidence | None, weight: float = 1.0) -> JudgePage:
    """Return a page as the judge sees it."""
    example = page.example
    numbers = judge_numbers(example.evidence, page.views, site)
    return JudgePage(numbers, example.words, example.content, weight, _EMPHASIS if example.set == "swde" else 1.0)


def lessons_of_site(pages: Sequence[Seen], seed: int) -> list[JudgePage]:
    """Return pages of a site as they look alone, among few and among many others."""
    name = pages[0].example.set
    usable = [page for page in pages if page.example.gold and len(page.views)]
    parts = [alone(page) for page in usable]
    generator = np.random.default_rng(seed)
    drawn: list[tuple[Seen, SiteEvidence | None]] = []
    for size in _SUBSETS:
        places = generator.permutation(len(usable))[:size].tolist()
        if size == 1:
            drawn += [(usable[place], None) for place in generator.permutation(len(usable))[: _ALONE[name]].tolist()]
        elif size <= len(usable) or size == max(_SUBSETS):
            site = together([parts[place] for place in places])
            most = (_SUBSET_PAGES if size < max(_SUBSETS) else _WHOLE_PAGES)[name]
            drawn += [(usable[place], site) for place in places[:most]]
    return [judge_page(page, site, _SITE_WEIGHT[name] / len(drawn)) for page, site in drawn]


def train_last(seen: Sequence[Seen], plan: JudgePlan, progress: Callable[[str], None]) -> dict[str, NDArray[Any]]:
    """Train the judge on pages that the first network was not trained on."""
    lessons = [
        judge_page(page, None)
        for page in seen
        if page.example.set == "wcxb" and page.example.gold and page.example.best >= _LEAST_BEST
    ]
    for pages in _sites(seen):
        lessons += lessons_of_site(pages, plan.seed)
    return train_judge(lessons, plan, progress)


def by_site(pages: Sequence[_Page], name: str = "sites") -> dict[str, list[_Page]]:
    """Return the pages of one set, by site."""
    result: dict[str, list[_Page]] = defaultdict(list)
    for page in pages:
        if page.example.set == name:
            result[page.example.site].append(page)
    return dict(sorted(result.items()))


def judged(judge: Judge, page: Seen, site: SiteEvidence | None) -> FloatArray:
    """Return what the method makes of a page; see `methods.fused`."""
    evidence = page.example.evidence
    if not len(evidence):
        return page.views[:, 0]
    logits = judge.logits(judge_numbers(evidence, page.views, None))
    if site is not None:
        informed = judge.logits(judge_numbers(evidence, page.views, site))
        logits = weighed(logits, informed)
    return logits


def cut_of(page: Held, warmth: float) -> float:
    """Return the logit from which on blocks are kept."""
    return best_cut(page.logits, np.diff(page.example.evidence.word_start), warmth)


def kept_blocks(page: Held, warmth: float) -> NDArray[np.bool_]:
    """Return which blocks are kept."""
    kept: NDArray[np.bool_] = page.logits >= cut_of(page, warmth)
    return kept


def choose_warmth(pages: Sequence[Held]) -> tuple[float, dict[str, float]]:
    """Return the warmth with the best mean F1 on pages that were held out."""
    means = {
        str(warmth): float(np.mean([page.example.f1(kept_blocks(page, warmth)) for page in pages]))
        for warmth in _WARMTHS
    }
    best = max(means, key=lambda warmth: means[warmth])
    return float(best), means


def leak(pages: Sequence[Held], warmth: float) -> tuple[float, float]:
    """Return mean F1 and pooled leak of the pages of one site, by blocks."""
    f1, leaked, template = [], 0.0, 0.0
    for page in pages:
        example, kept = page.example, kept_blocks(page, warmth)
        other = example.words - example.content
        f1.append(example.f1(kept))
        leaked += float(other[kept].sum())
        template += float(other.sum())
    return float(np.mean(f1)), leaked / max(1.0, template)


def train_pages(examples: Sequence[Example], jobs: int, progress: Callable[[str], None]) -> tuple[list[Seen], Trained]:
    """Return what first networks trained on the other folds make of every page, and one that is trained on all."""
    folds = folds_of(examples)

    def held_out(fold: int) -> list[FloatArray]:
        rest = [example for example in examples if folds[example.site] != fold]
        trained = train_page(rest, PAGE_PLAN, partial(_tell, progress, f"page network, fold {fold + 1} of {FOLDS}"))
        return [trained.views(example) for example in examples if folds[example.site] == fold]

    def whole() -> dict[str, NDArray[Any]]:
        return train_page(examples, PAGE_PLAN, partial(_tell, progress, "page network")).arrays

    *found, arrays = run_forked([*(partial(held_out, fold) for fold in range(FOLDS)), whole], jobs)
    views = [iter(of_fold) for of_fold in found]
    return [Seen(example, next(views[folds[example.site]])) for example in examples], Trained(arrays)


def _tell(progress: Callable[[str], None], what: str, line: str) -> None:
    progress(f"{what}: {line}")


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What judges that never saw a page's site make of it."""

    single: list[Held]
    """Every page, alone."""
    whole: list[Held]
    """The pages of the multi-page sites, all pages of the site known."""


def train_judges(
    seen: Sequence[Seen], jobs: int, progress: Callable[[str], None]
) -> tuple[Verdicts, dict[str, NDArray[Any]]]:
    """Judge every page by a judge that was trained on the other folds, and train one on all."""
    folds = folds_of([page.example for page in seen])

    parts = [[page for page in seen if folds[page.example.site] == fold] for fold in range(FOLDS)]

    def held_out(fold: int) -> tuple[list[FloatArray], list[FloatArray]]:
        rest = [page for page in seen if folds[page.example.site] != fold]
        arrays = train_last(rest, JUDGE_PLAN, partial(_tell, progress, f"judge, fold {fold + 1} of {FOLDS}"))
        judge, mine = Judge.read(arrays), parts[fold]
        single = [judged(judge, page, None) for page in mine]
        sites = [(pages, together([alone(page) for page in pages])) for pages in _sites(mine)]
        return single, [judged(judge, page, site) for pages, site in sites for page in pages]

    def whole() -> dict[str, NDArray[Any]]:
        return train_last(seen, JUDGE_PLAN, partial(_tell, progress, "judge"))

    *found, arrays = run_forked([*(partial(held_out, fold) for fold in range(FOLDS)), whole], jobs)
    by_page: list[Held] = []
    by_whole_site: list[Held] = []
    for mine, (single, known) in zip(parts, found, strict=True):
        by_page += map(Held, (page.example for page in mine), single)
        by_whole_site += map(Held, (page.example for pages in _sites(mine) for page in pages), known)
    return Verdicts(by_page, by_whole_site), arrays


def _sites(seen: Sequence[Seen]) -> list[list[Seen]]:
    """Return the pages of each multi-page site."""
    return [pages for name in _SITE_SETS for pages in by_site(seen, name).values()]


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(prog="python -m chaffinch.evaluation.fused", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True, help="the model file to write")
    parser.add_argument("--held-out", type=Path, help="a folder for what networks make of pages of unseen sites")
    parser.add_argument("--data", type=Path, help="the folder of the evaluation data, if it is not the usual one")
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time (default 2); the result is the same")
    parsed = parser.parse_args(arguments)
    start = time.perf_counter()

    def progress(line: str) -> None:
        sys.stderr.write(f"{time.perf_counter() - start:6.0f} s  {line}\n")

    examples = list(read_examples(parsed.data))
    progress(f"{len(examples):,} labelled pages")
    write(parsed, examples, progress)
    return 0


def write(parsed: argparse.Namespace, examples: Sequence[Example], progress: Callable[[str], None]) -> None:
    """Train with folds held out and on everything, measure, and write the model."""
    seen, page = train_pages(examples, parsed.jobs, progress)
    verdicts, judge = train_judges(seen, parsed.jobs, progress)
    warmth, warmths = choose_warmth([page for page in verdicts.single if page.example.set == "wcxb"])
    calibration = calibrate([*verdicts.single, *verdicts.whole], warmth)
    scores = _scores(verdicts, warmth) | {"favor": _favor_scores(verdicts, warmth, Calibration(calibration, *SHARES))}
    progress(json.dumps(scores))
    if parsed.held_out:
        _write_held(parsed.held_out, verdicts, warmth, parsed.data)
    card = {
        "name": "fused",
        "chaffinch": CHAFFINCH,
        "command": "python -m chaffinch.evaluation.fused -o fused.npz",
        "data": {name: data_hash(name, parsed.data) for name in _SETS} | {"docs": _hash_of_docs(examples)},
        "credit": "trained on WCXB (CC-BY-4.0), on multi-page sites of mixed licences, on SWDE and on documentation "
        "packages of Debian; no text of pages is inside",
        "pages": len(examples),
        "folds": FOLDS,
        "page_plan": asdict(PAGE_PLAN),
        "judge_plan": asdict(JUDGE_PLAN),
        "warmths": warmths,
        "held_out": scores,
    }
    arrays = {
        **page.arrays,
        **judge,
        "warmth": np.array(warmth, dtype=np.float32),
        "calibration": calibration,
    }
    write_model(parsed.output, Model(KIND, VERSION, card, arrays))
    progress(f"wrote {parsed.output}")


def _hash_of_docs(examples: Sequence[Example]) -> str:
    """Return a hash of the texts and the gold of the documentation packages."""
    result = xxh3_128()
    for example in examples:
        if example.set == "docs":
            result.update("\n".join((example.source, *example.evidence.texts)).encode())
            result.update(example.content.tobytes())
    return result.hexdigest()


def calibrate(pages: Sequence[Held], warmth: float) -> FloatArray:
    """Return the scores from which on 0, 1 %, 2 % … of the template's words are found, every page counting alike."""
    scores, weights = [], []
    for page in pages:
        template = np.maximum(page.example.words - page.example.content, 0)
        if template.sum():
            scores.append(probabilities(cut_of(page, warmth) - page.logits))
            weights.append(template / template.sum())
    score, weight = np.concatenate(scores), np.concatenate(weights)
    order = np.argsort(-score, kind="stable")
    found = np.cumsum(weight[order]) / weight.sum()
    places = np.minimum(np.searchsorted(found, np.linspace(0, 1, 101)), len(order) - 1)
    return np.asarray(score[order][places], dtype=np.float32)


def _scores(verdicts: Verdicts, warmth: float) -> dict[str, Any]:
    """Return word F1 by blocks: that of WCXB and its types, and F1 and leak of the sites, alone and together."""
    by_kind: dict[str, list[float]] = defaultdict(list)
    for page in verdicts.single:
        if page.example.set == "wcxb":
            by_kind[page.example.kind].append(page.example.f1(kept_blocks(page, warmth)))
    everything = [f1 for values in by_kind.values() for f1 in values]
    return {
        "wcxb": round(float(np.mean(everything)), 4),
        **{f"wcxb {kind}": round(float(np.mean(values)), 4) for kind, values in sorted(by_kind.items())},
        "sites, page by page": _site_scores(verdicts.single, warmth),
        "sites": _site_scores(verdicts.whole, warmth),
        "swde, page by page": _site_scores(verdicts.single, warmth, "swde"),
        "swde": _site_scores(verdicts.whole, warmth, "swde"),
        "docs, page by page": _site_scores(verdicts.single, warmth, "docs"),
        "docs": _site_scores(verdicts.whole, warmth, "docs"),
    }


def _site_scores(held: Sequence[Held], warmth: float, name: str = "sites") -> dict[str, float]:
    found = [leak(pages, warmth) for pages in by_site(held, name).values()]
    return {
        "f1": round(float(np.mean([f1 for f1, _ in found])), 4),
        "leak": round(float(np.mean([leaked for _, leaked in found])), 4),
    }


def _favor_scores(verdicts: Verdicts, warmth: float, calibration: Calibration) -> dict[str, dict[str, Any]]:
    """Return what `--favor` does, by blocks: word F1, and the shares of content and of template that are kept."""
    sets = {
        "wcxb": [page for page in verdicts.single if page.example.set == "wcxb"],
        "sites, page by page": [page for page in verdicts.single if page.example.set == "sites"],
        "sites": [page for page in verdicts.whole if page.example.set == "sites"],
    }
    result: dict[str, dict[str, Any]] = {}
    for favor in _FAVORED:
        threshold = threshold_of(Fused(), favor, calibration)
        result[str(favor)] = {name: _kept_at(pages, warmth, threshold) for name, pages in sets.items()}
    return result


def _kept_at(pages: Sequence[Held], warmth: float, threshold: float) -> dict[str, float]:
    f1, content, template = [], [], []
    for page in pages:
        example = page.example
        kept = probabilities(cut_of(page, warmth) - page.logits) < threshold
        other = np.maximum(example.words - example.content, 0)
        f1.append(example.f1(kept))
        content.append(float(example.content[kept].sum() / max(1.0, example.content.sum())))
        template.append(float(other[kept].sum() / max(1.0, other.sum())))
    means = map(np.mean, (f1, content, template))
    return dict(zip(("f1", "content kept", "template kept"), (round(float(mean), 4) for mean in means), strict=True))


def _write_held(folder: Path, verdicts: Verdicts, warmth: float, root: Path | None) -> None:
    """Write the texts that are kept, for `chaffinch evaluate --held-out`."""
    folder.mkdir(parents=True, exist_ok=True)
    method = Fused()
    for name, pages in (("page-by-page", verdicts.single), ("sites", verdicts.whole)):
        by_source = {page.example.source: page for page in pages}
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for capture in _captures(root):
                if capture.source in by_source:
                    held = by_source[capture.source]
                    page = parse_capture(capture)
                    scores = text_scores(page, held.logits - np.float32(cut_of(held, warmth)))
                    text = render(*decide(method, page, scores, DEFAULT_THRESHOLD), "text")
                    file.write(json.dumps({"source": capture.source, "text": text}, ensure_ascii=False) + "\n")


def _captures(root: Path | None) -> Iterator[Capture]:
    for name in _SETS:
        data = open_set(name, root)
        for site in data.site_names():
            yield from (page.capture for page in data.load(site).pages)


if __name__ == "__main__":
    sys.exit(main())
