"""Whole runs on Spark: what the command line drives, and what a job of your own calls."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import time
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from chaffinch.errors import RunError, UsageError
from chaffinch.runs.learning import Learned
from chaffinch.runs.memory import peak_of_process
from chaffinch.runs.options import Outcome, RunOptions
from chaffinch.runs.report import Failure, LearnReport, RunReport
from chaffinch.runs.spark.crawl import Crawl, crawl_of_inputs, crawl_of_pages
from chaffinch.runs.spark.rows import DOCUMENT_COLUMNS, load_samples, outcome_of_row
from chaffinch.runs.spark.stages import cleaned_pages, learned_sites
from chaffinch.store import KeptSite, TemplateStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame, Row, SparkSession


@dataclass(frozen=True)
class SparkEngine:
    """Does on a cluster what `clean_inputs` and `learn_templates` do on this machine, with the same results."""

    session: SparkSession

    def clean(self, inputs: Sequence[str], options: RunOptions, report: RunReport) -> Iterator[Outcome]:
        """Clean every page of `inputs` and yield what becomes of it, in the order of the input."""
        crawl = crawl_of_inputs(self.session, inputs, options.sources)
        _check(options)
        start = time.perf_counter()
        templates = _templates(crawl, options)
        report.stages["learn"] = time.perf_counter() - start
        start = time.perf_counter()
        for row in _rows(cleaned_pages(crawl, options, templates)):
            yield outcome_of_row(row.asDict())
        report.stages["clean"] = time.perf_counter() - start
        report.peak_memory = max(report.peak_memory, peak_of_process())

    def learn(self, inputs: Sequence[str], options: RunOptions, report: LearnReport) -> Iterator[Learned]:
        """Yield every site of `inputs`; failures and pages that are not wanted are told to the report."""
        crawl = crawl_of_inputs(self.session, inputs, options.sources)
        _check(replace(options, page_by_page=True))
        yield from _learned(crawl, options, report, sampling=True)
        report.failures.sort(key=lambda failure: (failure.source, failure.reason))
        report.peak_memory = max(report.peak_memory, peak_of_process())


def clean_pages(pages: DataFrame, options: RunOptions | None = None) -> DataFrame:
    """Return the documents of a frame with the columns `url` and `html`, in the columns of every other output.

    The templates are learned at once; the documents are made when they are asked for. Pages that failed are left out:
    `clean_outcomes` tells of them too.
    """
    outcomes = clean_outcomes(pages, options)
    return outcomes.where(outcomes["content"].isNotNull()).select(*DOCUMENT_COLUMNS)


def clean_outcomes(pages: DataFrame, options: RunOptions | None = None) -> DataFrame:
    """Return a row for each page: the columns of `clean_pages`, and `error`, which is null where all went well."""
    used = options or RunOptions()
    _check(used)
    crawl = crawl_of_pages(pages, used.sources)
    return cleaned_pages(crawl, used, _templates(crawl, used))


def _check(options: RunOptions) -> None:
    """Raise `UsageError` if what is asked for does not run on Spark."""
    if options.method.streams and options.templates is None and not options.page_by_page:
        raise UsageError(
            f"method {options.method.name} with these options compares each page with the page before it, which no "
            "cluster can do in parallel; choose another method, for sandwich --option peers=nearest"
        )
    if options.duplicates is not None:
        raise UsageError("--dedup does not run on Spark; run `chaffinch dedup` before")
    if options.captures != "all":
        raise UsageError(f"--captures {options.captures} does not run on Spark")


def _templates(crawl: Crawl, options: RunOptions) -> str | None:
    """Send what is known of the sites, or is learned now, to all executors, and return the name it has there."""
    if options.page_by_page:
        return None
    folder = tempfile.mkdtemp(prefix="chaffinch-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # executors may ask for it as long as there is a session
    path = Path(folder, f"chaffinch-{uuid.uuid4().hex}.db")
    if options.templates is not None:
        shutil.copyfile(options.templates, path)
    else:
        with TemplateStore.replacing(path, options.method, options.site_by) as store:
            for learned in _learned(crawl, options, None, sampling=False):
                template = options.method.dump(options.method.finish(learned.summary))
                store.put(KeptSite(learned.site, learned.pages, None, template))
    crawl.frame.sparkSession.sparkContext.addFile(str(path))
    return path.name


def _learned(crawl: Crawl, options: RunOptions, report: LearnReport | None, *, sampling: bool) -> Iterator[Learned]:
    method = options.method
    for row in _rows(learned_sites(crawl, options, sampling=sampling)):
        if row["site"] is not None:
            summary = method.reopen(method.load(bytes(row["template"])))
            yield Learned(row["site"], row["pages"], summary, load_samples(bytes(row["samples"])))
        elif report is not None:
            if row["source"] is None:
                report.unwanted += row["pages"]
            else:
                report.failures.append(Failure(row["source"], row["reason"]))


def _rows(frame: DataFrame) -> Iterator[Row]:
    """Make all rows of a frame, on all executors at once, and yield them one by one, in order.

    Until then they lie on the executors' disks; what is lost with an executor is made again.
    """
    from py4j.protocol import Py4JError  # noqa: PLC0415  (an optional part)
    from pyspark import StorageLevel  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        made = frame.persist(StorageLevel.DISK_ONLY)
        try:
            made.count()
            yield from made.toLocalIterator()
        finally:
            made.unpersist()
    except (PySparkException, Py4JError) as error:
        reason = str(error).strip().splitlines()
        raise RunError("spark", reason[0] if reason else type(error).__name__) from error
