"""Options that several commands share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chaffinch.errors import UsageError
from chaffinch.methods import (
    DEFAULT_FAVOR,
    DEFAULT_METHOD,
    FAVORS,
    METHODS,
    AnyMethod,
    Favor,
    keeping_comments,
    make_method,
    options_of,
    read_favor,
)
from chaffinch.runs import Engine, Journal, PageLimits, UrlFilter
from chaffinch.runs.journal import EVERY as CHECKPOINT_SECONDS
from chaffinch.runs.memory import read_bytes
from chaffinch.runs.options import CAPTURES_CHOICES
from chaffinch.sites import SITE_CHOICES
from chaffinch.sources import SourceOptions
from chaffinch.sources.kinds import Kind, kind_by_name

if TYPE_CHECKING:
    import argparse

    from chaffinch.sites import SiteBy
    from chaffinch.store import TemplateStore

DEFAULT_PAGE_SECONDS: Final = 120


def add_inputs(parser: argparse.ArgumentParser, *, required: bool = True, dedup: bool = False) -> None:
    """Add the inputs and the options that say how they are read; with `dedup`, that of leaving out duplicates."""
    parser.add_argument(
        "inputs",
        nargs="+" if required else "*",
        metavar="INPUT",
        help="HTML files, folders, WARC, WACZ, JSON Lines or Parquet files, lists of them (.paths, .paths.gz), here or "
        "remote (s3://), or - for standard input",
    )
    group = parser.add_argument_group("input")
    group.add_argument(
        "--include", action="append", default=[], metavar="PATTERN", help="only URLs like this, with * and ?"
    )
    group.add_argument("--exclude", action="append", default=[], metavar="PATTERN", help="no URLs like this")
    if dedup:
        group.add_argument(
            "--dedup",
            action="store_true",
            help="leave out duplicates of earlier pages, as `chaffinch dedup` finds them; reads the input once more",
        )
    _add_source_options(group)


def add_page_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a single page is read."""
    _add_source_options(parser.add_argument_group("input"))


def _add_source_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--base-url", metavar="URL", help="the URL that a folder's pages stand below")
    group.add_argument(
        "--paths-base",
        metavar="URL",
        help="what the files of a list stand below (default: the nearest folder above the list that holds the first)",
    )
    group.add_argument("--url-column", default="url", metavar="NAME", help="the tables' column of URLs (default: url)")
    group.add_argument(
        "--html-column", default="html", metavar="NAME", help="the tables' column of pages (default: html)"
    )
    group.add_argument(
        "--site-by",
        choices=SITE_CHOICES,
        help="what a site is: a registrable domain, a host, or a host and the first folder of the path "
        "(default: domain)",
    )


def sources_of(parsed: argparse.Namespace) -> SourceOptions:
    """Return how inputs are read: not what is written, where that lies in a folder that is read."""
    output: str | None = getattr(parsed, "output", None)
    return SourceOptions(parsed.url_column, parsed.html_column, parsed.base_url, output, parsed.paths_base)


def urls_of(parsed: argparse.Namespace) -> UrlFilter:
    """Return which pages are wanted."""
    return UrlFilter(tuple(parsed.include), tuple(parsed.exclude))


def add_method_options(parser: argparse.ArgumentParser, *, favor: bool = True, comments: bool = False) -> None:
    """Add the options that choose a method; with `comments`, that of keeping comments too."""
    group = parser.add_argument_group("method")
    group.add_argument(
        "--method",
        metavar="NAME",
        help=f"how template is told from content: {', '.join(METHODS)} (default: {DEFAULT_METHOD})",
    )
    group.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the method; may be repeated; `chaffinch methods` lists them",
    )
    if favor:
        group.add_argument(
            "--favor",
            default=str(DEFAULT_FAVOR),
            metavar="WHAT",
            help=f"{', '.join(FAVORS)}, or the share of the template that should go, from 0 (keep everything) to 1 "
            "(keep nothing) (default: %(default)s)",
        )
    if comments:
        group.add_argument("--keep-comments", action="store_true", help="keep what readers wrote under an article too")


def method_of(parsed: argparse.Namespace, default: str = DEFAULT_METHOD) -> AnyMethod:
    """Return the method that the options choose."""
    return _commented(parsed, make_method(parsed.method or default, _options_of(parsed)))


def favor_of(parsed: argparse.Namespace) -> Favor:
    """Return how far the method is trusted."""
    return read_favor(parsed.favor)


def kept_method_of(parsed: argparse.Namespace, store: TemplateStore) -> tuple[AnyMethod, SiteBy]:
    """Return the method and the kind of sites of a database, or raise `UsageError` if other ones were asked for."""
    method = store.method
    if parsed.method not in {None, method.name}:
        raise UsageError(f"{store.path} was learned by method {method.name}, not {parsed.method}; leave out --method")
    asked = _options_of(parsed)
    read, kept = options_of(make_method(method.name, asked)), options_of(method)
    for key in asked:
        if read[key] != kept[key]:
            raise UsageError(f"{store.path} was learned with {key}={kept[key]}, not {read[key]}; leave out --option")
    if parsed.site_by not in {None, store.site_by}:
        raise UsageError(
            f"{store.path} was learned with --site-by {store.site_by}, not {parsed.site_by}; leave out --site-by"
        )
    return _commented(parsed, method), store.site_by


def _commented(parsed: argparse.Namespace, method: AnyMethod) -> AnyMethod:
    """Return the method, with comments kept if they are asked for."""
    if not getattr(parsed, "keep_comments", False):
        return method
    try:
        return keeping_comments(method)
    except UsageError as error:
        raise UsageError(f"--keep-comments: {error}") from None


def _options_of(parsed: argparse.Namespace) -> dict[str, str]:
    options: dict[str, str] = {}
    for text in parsed.option:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--option takes KEY=VALUE, not {text!r}")
        options[key] = value
    return options


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the number of processes."""
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="how many processes work (default: 1)")


def add_run_options(parser: argparse.ArgumentParser, *, resumable: bool = True) -> None:
    """Add what a long run needs: bounds, what is done with duplicates, going on after an interruption, its report.

    The last two only where a run keeps what it needs for them.
    """
    group = parser.add_argument_group("large crawls")
    group.add_argument("--jobs", type=positive, default=1, metavar="N", help="how many processes work (default: 1)")
    group.add_argument(
        "--memory",
        type=read_bytes,
        metavar="SIZE",
        help="what all processes together may hold, such as 1G (default: no bound but what the pages take)",
    )
    group.add_argument(
        "--page-seconds",
        type=_seconds,
        metavar="S",
        help=f"give up a page that takes longer (default: {DEFAULT_PAGE_SECONDS}; 0: never)",
    )
    group.add_argument(
        "--page-memory", type=read_bytes, metavar="SIZE", help="give up a page that needs more (default: by --memory)"
    )
    group.add_argument(
        "--captures",
        choices=CAPTURES_CHOICES,
        default=CAPTURES_CHOICES[0],
        help="of several captures of one URL take all, the first of the input, or the one fetched latest "
        "(default: %(default)s)",
    )
    if not resumable:
        return
    group.add_argument("--resume", action="store_true", help="go on with the interrupted run of the same command")
    group.add_argument(
        "--checkpoint",
        type=_seconds,
        default=CHECKPOINT_SECONDS,
        metavar="S",
        help="how often what was done is kept for --resume, in seconds (default: %(default)g)",
    )
    group.add_argument("--report", metavar="FILE", help="write a report of the run for machines, as JSON")


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add what chooses the machines that work."""
    group = parser.add_argument_group("engine")
    group.add_argument(
        "--engine",
        choices=("local", "spark"),
        default="local",
        help="do the work on this machine (default) or on a Spark cluster (needs the extra `spark`)",
    )
    group.add_argument(
        "--master",
        metavar="URL",
        help="the cluster, such as spark://HOST:7077, yarn or local[2] (default: what spark-submit or the environment "
        "says)",
    )


def engine_of(parsed: argparse.Namespace) -> Engine | None:
    """Return what does the work; None is this machine."""
    if parsed.engine == "local":
        if parsed.master is not None:
            raise UsageError("--master is for --engine spark")
        return None
    if getattr(parsed, "resume", False):
        raise UsageError("--resume is for --engine local: a cluster goes on by itself when it loses machines")
    if parsed.jobs > 1:
        raise UsageError("--jobs is for --engine local: how many tasks a cluster does at a time is its own setting")
    from chaffinch.runs.spark import SparkEngine, start_session  # noqa: PLC0415  (an optional part)

    return SparkEngine(start_session(parsed.master))


def limits_of(parsed: argparse.Namespace) -> PageLimits:
    """Return what a page may take.

    A single HTML file is worked on in this process, unless a limit is asked for: nothing else could be harmed by it,
    and starting a process takes longer than most pages.
    """
    seconds: float | None = parsed.page_seconds
    if seconds is None and not (len(parsed.inputs) == 1 and is_html_file(parsed.inputs[0])):
        seconds = DEFAULT_PAGE_SECONDS
    return PageLimits(seconds or None, parsed.page_memory)


def tell_of_journal(journal: Journal, *, resume: bool) -> None:
    """Say what became of an interrupted run."""
    if journal.discarded:
        told = "begun anew; --resume would have gone on with the run that was interrupted"
    elif resume and not journal.resumed:
        told = "begun anew: there is no interrupted run to go on with"
    else:
        return
    print(f"chaffinch: {journal.output}: {told}", file=sys.stderr)


def is_html_file(path: str) -> bool:
    """Tell whether an input is one page."""
    return kind_by_name(path) is Kind.HTML and not Path(path).is_dir()


def _seconds(text: str) -> float:
    """Read a number of seconds."""
    number = float(text)
    if not 0 <= number < 1e9:
        raise ValueError(text)
    return number


def printable(text: str) -> str:
    """Return text without the characters that would do something to a terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def positive(text: str) -> int:
    """Read a whole number from 1 up."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
