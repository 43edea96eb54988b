"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chaffinch.errors import UsageError
from chaffinch.methods import (
    DEFAULT_FAVOR,
    DEFAULT_METHOD,
    FAVORS,
    METHODS,
    AnyMethod,
    Favor,
    make_method,
    options_of,
    read_favor,
)
from chaffinch.runs import UrlFilter
from chaffinch.sites import SITE_CHOICES
from chaffinch.sources import SourceOptions

if TYPE_CHECKING:
    import argparse

    from chaffinch.sites import SiteBy
    from chaffinch.store import TemplateStore


def add_inputs(parser: argparse.ArgumentParser, *, required: bool = True, dedup: bool = False) -> None:
    """Add the inputs and the options that say how they are read; with `dedup`, that of leaving out duplicates."""
    parser.add_argument(
        "inputs",
        nargs="+" if required else "*",
        metavar="INPUT",
        help="HTML files, folders, WARC, WACZ, JSON Lines or Parquet files, or - for standard input",
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
    """Return how inputs are read."""
    return SourceOptions(parsed.url_column, parsed.html_column, parsed.base_url)


def urls_of(parsed: argparse.Namespace) -> UrlFilter:
    """Return which pages are wanted."""
    return UrlFilter(tuple(parsed.include), tuple(parsed.exclude))


def add_method_options(parser: argparse.ArgumentParser, *, favor: bool = True) -> None:
    """Add the options that choose a method."""
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


def method_of(parsed: argparse.Namespace) -> AnyMethod:
    """Return the method that the options choose."""
    return make_method(parsed.method or DEFAULT_METHOD, _options_of(parsed))


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
    return method, store.site_by


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


def printable(text: str) -> str:
    """Return text without the characters that would do something to a terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def positive(text: str) -> int:
    """Read a whole number from 1 up."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
