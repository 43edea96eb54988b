"""`chaffinch templates`: what is in a template database."""

from __future__ import annotations

import json
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from chaffinch.cli.options import printable
from chaffinch.errors import UsageError
from chaffinch.methods import options_of
from chaffinch.store import TemplateStore
from chaffinch.store.explain import explain_site
from chaffinch.store.sqlite import FORMAT

if TYPE_CHECKING:
    import argparse

    from chaffinch.cli.clean import Subparsers
    from chaffinch.store import KeptSite, SiteSummary
    from chaffinch.store.explain import SiteExplanation

_MOST_BLOCKS: Final = 40
"""Blocks that are printed for a person."""

_SITES: Final = {
    "domain": "registrable domains",
    "host": "hosts",
    "prefix": "hosts with the first folder of the path",
}


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "templates", help="show what was learned", description="Show what is in a template database."
    )
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show = parts.add_parser(
        "show",
        help="list the sites, or explain the template of one",
        description="List the sites of a template database, or explain the template of one site: its sample pages are "
        "scored with it, and the blocks of text that are template are listed with the share of these pages that show "
        "them.",
    )
    show.add_argument("database", metavar="DB", help="what `chaffinch learn` wrote")
    show.add_argument("site", nargs="?", metavar="SITE", help="the site to explain")
    show.add_argument("--json", action="store_true", help="print JSON, with all blocks that are kept at hand")
    show.set_defaults(run=_show)


def _show(parsed: argparse.Namespace) -> int:
    with TemplateStore.open(parsed.database) as store:
        if parsed.site is None:
            _print_sites(store, as_json=parsed.json)
        else:
            explanation = explain_site(store, _kept(store, parsed.site))
            if parsed.json:
                print(json.dumps({**_about(store), **_as_json(explanation)}, ensure_ascii=False, indent=2))
            else:
                print("\n".join(_lines(store, explanation)))
    return 0


def _kept(store: TemplateStore, site: str) -> KeptSite:
    kept = store.kept(site)
    if kept is None:
        near = get_close_matches(site, [known.site for known in store.sites()], 3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"{store.path} has no template of {site}{hint}")
    return kept


def _about(store: TemplateStore) -> dict[str, Any]:
    return {
        "templates": store.path,
        "format": FORMAT,
        "version": store.version,
        "method": store.method.name,
        "method_version": store.method.version,
        "options": options_of(store.method),
        "site_by": store.site_by,
    }


def _print_sites(store: TemplateStore, *, as_json: bool) -> None:
    sites = list(store.sites())
    if as_json:
        print(json.dumps({**_about(store), "sites": list(map(_site, sites))}, ensure_ascii=False, indent=2))
        return
    options = " ".join(f"{key}={value}" for key, value in options_of(store.method).items())
    size = Path(store.path).stat().st_size
    print(f"{store.path}: {len(sites):,} sites, {sum(site.pages for site in sites):,} pages, {size / 1e6:.1f} MB")
    print(f"method {store.method.name}, version {store.method.version}: {store.method.summary}")
    if options:
        print(f"options {options}")
    print(f"sites are {_SITES[store.site_by]}; written by Chaffinch {store.version}, format {FORMAT}")
    print()
    width = max([len("site"), *(len(site.site) for site in sites)])
    print(f"{'site':<{width}}  {'pages':>7}  {'fit':>5}")
    for site in sites:
        print(f"{site.site:<{width}}  {site.pages:>7,}  {_percent(site.fit):>5}")


def _lines(store: TemplateStore, explanation: SiteExplanation) -> list[str]:
    summary, samples = explanation.summary, len(explanation.samples)
    size = f"{explanation.template_bytes / 1000:,.1f} kB"
    lines = [f"{summary.site}: learned from {summary.pages:,} pages by method {store.method.name}, {size}"]
    if not samples:
        return [*lines, "No sample page is kept (all were too large), so its blocks cannot be shown."]
    if summary.fit is not None:
        lines.append(f"When it was learned, a page showed {summary.fit:.0%} of it on average.")
    lines.append(f"It takes {explanation.template_words:.0%} of the words of {samples} sample pages:")
    lines += [f"  {printable(address)}" for address in explanation.samples]
    if not explanation.blocks:
        return [*lines, "", "None of their blocks is template."]
    lines += ["", "Blocks of text that are template, and how many of the sample pages show them:", ""]
    lines += [
        f"  {block.pages} of {samples}"
        + ("" if block.template_on == block.pages else f", template on {block.template_on}")
        + f"  {_short(printable(block.text))}"
        for block in explanation.blocks[:_MOST_BLOCKS]
    ]
    more = len(explanation.blocks) - _MOST_BLOCKS + explanation.more
    if more > 0:
        lines.append(f"  … and {more:,} more; --json lists {len(explanation.blocks)} of them")
    return lines


def _as_json(explanation: SiteExplanation) -> dict[str, Any]:
    return {
        **_site(explanation.summary),
        "template_bytes": explanation.template_bytes,
        "samples": list(explanation.samples),
        "template_words": round(explanation.template_words, 4),
        "blocks": [{**asdict(block), "score": round(block.score, 4)} for block in explanation.blocks],
        "more": explanation.more,
    }


def _site(summary: SiteSummary) -> dict[str, Any]:
    return {"site": summary.site, "pages": summary.pages, "fit": None if summary.fit is None else round(summary.fit, 4)}


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"


def _percent(fit: float | None) -> str:
    return "-" if fit is None else f"{fit:.0%}"
