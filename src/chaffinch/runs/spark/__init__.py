"""Runs on a Spark cluster: the stages of a run as transformations of DataFrames, Arrow batches in and out.

    from chaffinch.runs.spark import clean_pages

    pages = spark.read.parquet("s3a://crawl/pages/")  # columns `url` and `html`
    clean_pages(pages).write.parquet("s3a://crawl/clean/")

Learning: each task learns from its own pages and gives one combined summary for each site; only those are shuffled,
merged in two steps where there are many, and finished. Cleaning: the templates go to every executor as one file, and
the pages are cleaned where they are read. So no page is ever shuffled, and a site may hold any share of the pages.
"""

from __future__ import annotations

from chaffinch.runs.spark.crawl import Crawl, crawl_of_inputs, crawl_of_pages
from chaffinch.runs.spark.engine import SparkEngine, clean_outcomes, clean_pages
from chaffinch.runs.spark.session import start_session

__all__ = [
    "Crawl",
    "SparkEngine",
    "clean_outcomes",
    "clean_pages",
    "crawl_of_inputs",
    "crawl_of_pages",
    "start_session",
]
