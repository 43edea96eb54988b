"""A few pages of each site, kept beside its template: to show the template in words and to measure how well it fits.

Which pages are kept depends on the pages alone, not on the order in which they came: those whose names have the lowest
hashes. So samples merge as summaries do.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from xxhash import xxh3_64_intdigest

from chaffinch.errors import ModelError
from chaffinch.page import parse_capture
from chaffinch.sources import Capture

if TYPE_CHECKING:
    from chaffinch.page import Page
    from chaffinch.sites import SiteBy

MOST_SAMPLES: Final = 5
"""Pages kept of each site."""
MOST_SAMPLE_BYTES: Final = 200_000
"""What a page may take when it is compressed; larger ones are never samples. A site's samples take 1 MB at most."""

_RANK_SEED: Final = 2
_DIGEST_BITS: Final = 63
"""SQLite's whole numbers have a sign."""


@dataclass(frozen=True, slots=True, order=True)
class Sample:
    """A page as it was captured."""

    rank: int
    """Where it comes among the pages of its site."""
    digest: int
    """A hash of its bytes: of two captures of one page, the same one is kept whatever their order."""
    described: str
    """What is known of the capture but its body, as JSON."""
    body: bytes
    """The page's bytes, compressed."""

    def page(self, site_by: SiteBy) -> Page:
        """Parse the page again, or raise `ModelError`."""
        try:
            capture = Capture(body=zlib.decompress(self.body), **json.loads(self.described))
        except (zlib.error, ValueError, TypeError) as error:
            raise ModelError("sample page", f"is damaged ({error})") from error
        return parse_capture(capture, site_by)


Samples: TypeAlias = tuple[Sample, ...]
"""The sample pages of one site: by rank, each rank once, at most `MOST_SAMPLES`."""


def merge_samples(one: Samples, other: Samples) -> Samples:
    """Return the samples of the pages of both."""
    if not one or not other:
        return one or other
    kept: dict[int, Sample] = {}
    for sample in sorted((*one, *other)):
        kept.setdefault(sample.rank, sample)
    return tuple(kept.values())[:MOST_SAMPLES]


def with_page(samples: Samples, page: Page, capture: Capture) -> Samples:
    """Return the samples of one page more; it is compressed only if it may be among them."""
    place = page.place
    named = f"{place.directory}\0{place.name}".encode("utf-8", "surrogatepass")
    rank = xxh3_64_intdigest(named, seed=_RANK_SEED) >> (64 - _DIGEST_BITS)
    if len(samples) == MOST_SAMPLES and rank > samples[-1].rank:
        return samples
    body = zlib.compress(capture.body, 6)
    if len(body) > MOST_SAMPLE_BYTES:
        return samples
    digest = xxh3_64_intdigest(capture.body) >> (64 - _DIGEST_BITS)
    return merge_samples(samples, (Sample(rank, digest, _described(capture), body),))


def _described(capture: Capture) -> str:
    fields: dict[str, Any] = asdict(replace(capture, body=b""))
    del fields["body"]
    return json.dumps(fields, sort_keys=True)
