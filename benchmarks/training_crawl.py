"""Fetch and sample the open sites that models are trained on, as one crawl.

    python benchmarks/training_crawl.py -o crawl.parquet [--regimen linked] [--pages 200]

The sites are the open sites of `sites` and `swde`, and documentation packages of Debian, listed with version and
SHA-256 in `debian-docs.tsv`. Packages that are not there yet are fetched with `apt-get download` and unpacked into
`debian/PACKAGE/` of the data folder, which needs Debian or a system that is like it. A row of the crawl is a page, its
site is `NAME.example`; beside it, `crawl.json` tells which sites and packages it was made of, and the SHA-256 of all
addresses and pages.

Two regimens choose the pages of a site, as Kolcz and Yih (2007) had two. `uniform` takes a uniform sample, `linked` is
biased as a list of links is: it takes those that most other pages of the site link to, at most half of them. Both take
at most `--pages`, and what is sampled depends on the pages' names alone.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from chaffinch.evaluation.datasets import Sites, Swde, find_data
from chaffinch.page import parse

PACKAGES: Final = Path(__file__).with_name("debian-docs.tsv")
REGIMENS: Final = ("uniform", "linked")
_MOST_BYTES: Final = 2_000_000
"""Larger files are listings of everything, which no crawler would take as a page."""
_FIELDS: Final[list[pa.Field[Any]]] = [
    pa.field("url", pa.string(), nullable=False),
    pa.field("html", pa.binary(), nullable=False),
]
_SCHEMA: Final = pa.schema(_FIELDS)


@dataclass(frozen=True, slots=True)
class Package:
    """A package as the list names it."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Site:
    """A site on disk: its pages by their paths below the site."""

    name: str
    pages: dict[str, Path]


def packages() -> list[Package]:
    """Read the list of packages."""
    with PACKAGES.open(encoding="utf-8", newline="") as file:
        return [Package(row["package"], row["version"], row["sha256"]) for row in csv.DictReader(file, delimiter="\t")]


def fetch(package: Package, root: Path) -> dict[str, str]:
    """Fetch and unpack a package if it is not there; return its version and hash as they were fetched."""
    folder = root / "debian" / package.name
    note = folder / "package.json"
    if note.exists():
        found: dict[str, str] = json.loads(note.read_text("utf-8"))
        return found
    folder.mkdir(parents=True, exist_ok=True)
    found_it = subprocess.run(
        ["apt-get", "download", package.name], cwd=folder, capture_output=True, text=True, check=False
    )
    if found_it.returncode:
        sys.exit(f"{package.name} cannot be fetched: {found_it.stderr.strip()}")
    (archive,) = folder.glob("*.deb")
    version = subprocess.run(
        ["dpkg-deb", "--field", str(archive), "Version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    fetched = {
        "package": package.name,
        "version": version,
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
    }
    subprocess.run(["dpkg-deb", "--extract", str(archive), str(folder)], check=True)
    archive.unlink()
    note.write_text(json.dumps(fetched) + "\n", "utf-8")
    return fetched


def debian_site(name: str, root: Path) -> Site:
    """Return the pages of a package; links to files are the same pages again and are passed over."""
    folder = root / "debian" / name / "usr"
    pages = {
        path.relative_to(folder).as_posix().removesuffix(".gz"): path
        for path in sorted(folder.rglob("*.htm*"))
        if path.name.removesuffix(".gz").endswith((".html", ".htm")) and path.is_file() and not path.is_symlink()
    }
    return Site(name, {name: path for name, path in pages.items() if 0 < path.stat().st_size <= _MOST_BYTES})


def labelled_sites(root: Path) -> Iterator[Site]:
    """Yield the open sites of `sites` and `swde`."""
    for data in (Sites(root), Swde(root)):
        for name in data.site_names():
            pages = data.load(name).pages
            yield Site(name, {_path(page.capture.url, page.file): root / page.capture.source for page in pages})


def _path(url: str | None, file: str) -> str:
    if url is None:
        return file
    parts = urlsplit(url)
    return unquote(f"{parts.path.lstrip('/')}?{parts.query}" if parts.query else parts.path.lstrip("/"))


def body(path: Path) -> bytes:
    """Return a page as it was before it was packed."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def sample(site: Site, regimen: str, most: int) -> list[str]:
    """Choose pages of a site, in an order that looks random and is always the same."""
    shuffled = sorted(site.pages, key=lambda path: hashlib.sha256(f"{site.name}/{path}".encode()).digest())
    if regimen == "uniform":
        return shuffled[:most]
    links = links_into(site)
    by_links = sorted(shuffled, key=lambda path: -links[path])
    return by_links[: min(most, (len(by_links) + 1) // 2)]


def links_into(site: Site) -> Counter[str]:
    """Count the pages that link to each page."""
    into: Counter[str] = Counter()
    for path, file in site.pages.items():
        page = parse(body(file))
        targets = {_target(path, page.attribute(node, "href") or "") for node in page.find("a")}
        into.update((targets - {path}) & site.pages.keys())
    return into


def _target(path: str, href: str) -> str:
    """Return the path that a link of a page leads to; whatever host it names, as the pages have moved."""
    try:
        return _path(urljoin(f"https://site.example/{quote(path)}", href.strip()), "")
    except ValueError:  # such as a placeholder for a host
        return ""


def url_of(site: Site, path: str) -> str:
    """Return the address of a page in the crawl."""
    name = site.name.lower().replace(".", "-")  # a dot would make all packages of one version the same domain
    return f"https://{name}.example/{quote(path, safe='/?=&')}"


def write(sites: Sequence[Site], chosen: Sequence[list[str]], output: Path) -> tuple[dict[str, int], str]:
    """Write the crawl, a row group for each site; return how many pages it has of each, and the SHA-256 of them all."""
    counts: dict[str, int] = {}
    digest = hashlib.sha256()
    with pq.ParquetWriter(output, _SCHEMA, compression="zstd") as writer:
        for site, paths in zip(sites, chosen, strict=True):
            rows: dict[str, list[Any]] = {
                "url": [url_of(site, path) for path in paths],
                "html": [body(site.pages[path]) for path in paths],
            }
            writer.write_table(pa.Table.from_pydict(rows, _SCHEMA))
            counts[site.name] = len(paths)
            for url, html in zip(rows["url"], rows["html"], strict=True):
                digest.update(f"{url}\n{len(html)}\n".encode())
                digest.update(html)
    return counts, digest.hexdigest()


def main() -> int:
    """Fetch, sample and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="the crawl, a Parquet file; without it, only fetch")
    parser.add_argument("--regimen", choices=REGIMENS, default=REGIMENS[0])
    parser.add_argument("--pages", type=int, default=200, help="at most so many of each site (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1)
    parsed = parser.parse_args()
    root = find_data()
    fetched = [fetch(package, root) for package in packages()]
    for package, found in zip(packages(), fetched, strict=True):
        if found["sha256"] != package.sha256:
            print(f"{package.name}: {found['version']} was fetched, not {package.version}", file=sys.stderr)
    if parsed.output is None:
        return 0
    sites = [*labelled_sites(root), *(debian_site(package.name, root) for package in packages())]
    with ProcessPoolExecutor(parsed.jobs, mp_context=get_context("spawn")) as pool:
        chosen = list(pool.map(partial(sample, regimen=parsed.regimen, most=parsed.pages), sites))
    counts, sha256 = write(sites, chosen, parsed.output)
    manifest = {
        "regimen": parsed.regimen,
        "pages": sum(counts.values()),
        "sha256": sha256,
        "sites": counts,
        "packages": fetched,
    }
    parsed.output.with_suffix(".json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    print(f"{parsed.output}: {manifest['pages']:,} pages of {len(sites)} sites")
    return 0


if __name__ == "__main__":
    sys.exit(main())
