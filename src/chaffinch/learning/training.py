"""From an unlabelled crawl of many sites to a model file (Kolcz and Yih 2007)."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from chaffinch.errors import MethodError, OutputError
from chaffinch.learning.classifiers import TrainingOptions, require_extra, train_on_sites
from chaffinch.learning.crossvalidation import BALANCE, FOLDS, OutOfFold, cross_validate, grade
from chaffinch.learning.example_set import ExampleSet, read_examples
from chaffinch.learning.examples import ExampleOptions, ExampleReport, example_journal_identity, extract_examples
from chaffinch.learning.naive_bayes import LEAST_SITES, WordCounts
from chaffinch.methods.classifiers import CLASSIFIERS
from chaffinch.methods.model_weights import KIND, VERSION, Weights, write_weights
from chaffinch.runs.journal import EVERY, Journal
from chaffinch.version import VERSION as CHAFFINCH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chaffinch.learning.classifiers import Trained
    from chaffinch.methods.classifiers import ClassifierName
    from chaffinch.page.arrays import BoolArray
    from chaffinch.runs import Failure, RunOptions

MOST_ASKED: Final = 1 << 19
"""If there are more labelled blocks, those are tested on that are drawn for training, as many of each site."""
_PRECISIONS: Final = (0.8, BALANCE, 0.95)
_GRADED: Final[tuple[ClassifierName, ...]] = ("forest", "logistic")


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """How a model is trained."""

    examples: ExampleOptions = field(default_factory=ExampleOptions)
    training: TrainingOptions = field(default_factory=TrainingOptions)
    folds: int = FOLDS
    resume: bool = False
    every: float = EVERY
    """Seconds between two times that what was done is kept."""
    features: str | None = None
    """Where the examples with their features are kept as one Parquet file."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """What the crawl is; goes into the card."""
    tell: Callable[[str], None] = lambda _: None
    """Is told what is being done."""


@dataclass(frozen=True, slots=True)
class TrainReport:
    """What became of a crawl, and how good the model is on sites that it has not seen."""

    output: str
    pages: int
    sites: int
    template: int
    content: int
    recall: Mapping[str, float]
    """At a precision of 90 %, of each classifier, over the folds."""
    failures: tuple[Failure, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the report for a machine."""
        return asdict(self)

    def as_line(self) -> str:
        """Return the report for a person."""
        recalls = ", ".join(f"{name} {recall:.2f}" for name, recall in self.recall.items())
        return (
            f"{self.output}: trained on {self.template:,} template and {self.content:,} content blocks of "
            f"{self.sites:,} sites; recall on sites not seen, at a precision of {BALANCE:.0%}: {recalls}"
        )


def train_model(inputs: Sequence[str], output: str, run: RunOptions, how: TrainOptions) -> TrainReport:
    """Train a model on a crawl and write it to a file."""
    require_extra()
    if not Path(output).absolute().parent.is_dir():
        raise OutputError(output, "its folder does not exist")
    identity = example_journal_identity(inputs, run, how.examples)
    with Journal(output, identity, resume=how.resume, every=how.every) as journal:
        parts, report = extract_examples(inputs, run, how.examples, journal)
        if reason := report.missing():
            journal_input = inputs[0] if len(inputs) == 1 else f"{len(inputs)} inputs"
            raise MethodError(journal_input, f"no model can be trained: {reason}")
        if how.features is not None:
            from chaffinch.learning.examples_file import join_parts  # noqa: PLC0415  (Arrow is slow to import)

            join_parts(parts, Path(how.features))
        how.tell("reading the examples")
        # As in the paper, nothing is left out of what is tested on, as long as that fits in memory.
        whole = report.template + report.content <= MOST_ASKED
        examples = read_examples(parts, report.sites, seed=how.training.seed, whole=whole)
        weights, found = train_weights(examples, how, report)
        write_weights(Path(output), weights)
    recall: dict[str, float] = {name: found.curve(name).recall_at(BALANCE) for name in CLASSIFIERS}
    sites = len(report.labelled_sites)
    return TrainReport(output, report.pages, sites, report.template, report.content, recall, tuple(report.failures))


def train_weights(examples: ExampleSet, how: TrainOptions, report: ExampleReport) -> tuple[Weights, OutOfFold]:
    """Cross-validate, then train on all sites."""
    words = WordCounts.of(examples)

    def step(fold: int, folds: int) -> None:
        how.tell(f"cross-validating, {fold + 1} of {folds}")

    found = cross_validate(words, how.training, folds=how.folds, step=step)
    how.tell("training on all sites")
    every = np.ones(len(examples.sites), dtype=np.bool_)
    trained = train_on_sites(words, every, how.training)
    card = _card(examples, how, report, found, trained)
    return weights_from(words, every, trained, found, modern=how.examples.modern, card=card), found


def weights_from(
    words: WordCounts,
    chosen: BoolArray,
    trained: Trained,
    found: OutOfFold,
    *,
    modern: bool,
    card: Mapping[str, Any],
) -> Weights:
    """Return the weights that were trained on the chosen sites, calibrated on them by what was found out of fold."""
    # Of each site as many blocks as are learned from: what is left out or kept must be right on small sites too.
    rows = chosen[words.examples.site] & words.examples.drawn
    return Weights(
        modern=modern,
        text=words.classifiers(chosen),
        logistic=trained.logistic,
        forest=trained.forest,
        gradings={name: grade(found.of(rows), name) for name in _GRADED},
        card=card,
    )


def _card(
    examples: ExampleSet, how: TrainOptions, report: ExampleReport, found: OutOfFold, trained: Trained
) -> dict[str, Any]:
    options = how.examples
    command = f"chaffinch train CRAWL -o model.npz --seed {how.training.seed} --folds {how.folds}"
    return {
        "kind": KIND,
        "version": VERSION,
        "chaffinch": CHAFFINCH,
        "date": datetime.now(UTC).date().isoformat(),
        "command": command if options.modern else f"{command} --paper-blocks",
        "seed": how.training.seed,
        "data": dict(how.data),
        "data_sha256": examples_hash(examples),
        "pages": report.pages,
        "sites": {site: counts[0] for site, counts in report.sites.items()},
        "sites_labelled": len(report.labelled_sites),
        "template_blocks": report.template,
        "content_blocks": report.content,
        "blocks_trained_on": dict(zip(("all", "different", "different_after_cuts"), trained.blocks, strict=True)),
        "labels": {"share": options.share, "least_pages": options.least_pages, "modern": options.modern},
        "training": how.training.as_json(),
        "least_sites_of_a_word": LEAST_SITES,
        "folds": how.folds,
        "blocks_tested_on": len(found.template),
        "recall_at_precision": {
            name: {
                **{str(precision): round(found.curve(name).recall_at(precision), 4) for precision in _PRECISIONS},
                f"{BALANCE} by fold": [round(recall, 4) for recall in found.recalls(name)],
            }
            for name in CLASSIFIERS
        },
        "curves": {name: found.curve(name).points() for name in CLASSIFIERS},
    }


def examples_hash(examples: ExampleSet) -> str:
    """Return a hash of all that is learned from."""
    result = hashlib.sha256()
    for array in (examples.site, examples.template, examples.features):
        result.update(np.ascontiguousarray(array).tobytes())
    for kind, lists in examples.lists.items():
        for numbers in (lists.token, lists.start, examples.of[kind]):
            result.update(np.ascontiguousarray(numbers).tobytes())
        result.update("\n".join(lists.words).encode("utf-8", "replace"))
    result.update("\n".join(examples.sites).encode("utf-8", "replace"))
    return result.hexdigest()
