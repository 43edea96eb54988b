"""`chaffinch train`: a model that knows template by its looks, from an unlabelled crawl of many sites."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from chaffinch.cli.closing import tell_report
from chaffinch.cli.options import add_inputs, add_jobs, positive, sources_of, urls_of
from chaffinch.cli.progress import Progress
from chaffinch.errors import InputError, UsageError
from chaffinch.learning.classifiers import TrainingOptions
from chaffinch.learning.crossvalidation import FOLDS
from chaffinch.learning.examples import ExampleOptions
from chaffinch.learning.labels import LABELLING, LEAST_PAGES
from chaffinch.learning.training import TrainOptions, train_model
from chaffinch.runs import RunOptions
from chaffinch.sources import estimate_total

if TYPE_CHECKING:
    from chaffinch.cli.clean import Subparsers

_EPILOG: Final = """examples:
  chaffinch train crawl.warc.gz -o model.npz --jobs 2
  chaffinch clean other.html --method model --option file=model.npz

Needs the extra `train`: pip install 'chaffinch[train]'. Blocks on a tenth of their site's pages are examples of
template, blocks on a single page are examples of content; sites with few pages give none.
exit codes: 0 done, 1 some inputs failed (each is named) or there is too little to learn from, 2 wrong usage
"""


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "train",
        help="train a model that knows template on sites it has never seen",
        description="Train method `model` on an unlabelled crawl of many sites.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_inputs(parser)
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the model file")
    group = parser.add_argument_group("training")
    group.add_argument("--seed", type=int, default=0, help="for all that is drawn (default: %(default)s)")
    group.add_argument(
        "--folds",
        type=_folds,
        default=FOLDS,
        metavar="N",
        help="sites are cross-validated in so many folds, to calibrate the model (default: %(default)s)",
    )
    group.add_argument(
        "--least-pages",
        type=positive,
        default=LEAST_PAGES,
        metavar="N",
        help="only sites of at least so many pages (default: %(default)s)",
    )
    group.add_argument(
        "--share",
        type=_share,
        default=LABELLING.share,
        metavar="S",
        help="what stands on this share of a site's pages is template (default: %(default)s)",
    )
    group.add_argument(
        "--paper-blocks", action="store_true", help="blocks by the paper's list of elements: no paragraphs, no <nav>"
    )
    group.add_argument("--features", metavar="FILE", help="keep the examples with their features, as Parquet")
    group.add_argument("--data", metavar="FILE", help="what the crawl is, as JSON; goes into the model's card")
    group.add_argument("--resume", action="store_true", help="go on with the interrupted run of the same command")
    add_jobs(parser)
    parser.add_argument("--json", action="store_true", help="print the report at the end as JSON")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    extent = estimate_total(parsed.inputs)
    progress = Progress(2 * extent.total if extent.unit == "pages" else None)

    def step(pages: int) -> None:
        for _ in range(pages):
            progress.step()

    examples = ExampleOptions(not parsed.paper_blocks, parsed.share, parsed.least_pages, step)
    run = RunOptions(
        method=examples.labelling,
        site_by=parsed.site_by or "domain",
        urls=urls_of(parsed),
        sources=sources_of(parsed),
        jobs=parsed.jobs,
    )
    how = TrainOptions(
        examples=examples,
        training=TrainingOptions(seed=parsed.seed, jobs=parsed.jobs),
        folds=parsed.folds,
        resume=parsed.resume,
        features=parsed.features,
        data=_data(parsed.data),
        tell=progress.tell,
    )
    try:
        report = train_model(parsed.inputs, parsed.output, run, how)
    finally:
        progress.clear()
    return tell_report(report, as_json=parsed.json)


def _data(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        found = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise InputError(path, f"is no JSON ({error})") from error
    if not isinstance(found, dict):
        raise UsageError(f"{path}: what the crawl is must be a JSON object")
    return found


def _folds(text: str) -> int:
    number = int(text)
    if number < 2:
        raise ValueError(text)
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0 < number <= 1:
        raise ValueError(text)
    return number
