"""Where the method `offsets` meets an index builder: the hash table of postings that the builder keeps anyway.

A builder reads pages one after the other and holds, for every word, the blocks that it stands in and its offsets there,
until the table is as large as it may get and is written out. Before that, `Offsets.template_blocks` says which blocks
are template, and `Postings.without` takes them out. All that the builder adds to its table is the layout style of each
block, which `Offsets.postings` finds, and the page and site that it belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chaffinch.methods.bitset import Postings
from chaffinch.methods.layout import mixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, HashArray, IndexArray


class PostingStyles(NamedTuple):
    """Postings, and for each of their blocks its layout style: all that detection needs of one page."""

    postings: Postings
    family: HashArray
    """By block number."""
    position: HashArray


@dataclass(frozen=True, eq=False)
class IndexTable:
    """A builder's hash table with the pages of any number of sites."""

    styled: PostingStyles
    """Families differ between sites, see `families_of`: blocks are compared within their site only."""
    page: IndexArray
    """For each block, the number of its page."""
    site: IndexArray
    """For each page, the number of its site."""

    @classmethod
    def joined(cls, pages: Sequence[PostingStyles], sites: Sequence[int]) -> IndexTable:
        """Put the tables of single pages together, in their order; `sites` gives the number of each page's site.

        Blocks are numbered on from page to page.
        """
        site = np.array(sites, dtype=np.intp)
        blocks = np.array([len(one.family) for one in pages], dtype=np.intp)
        page = np.repeat(np.arange(len(pages)), blocks)
        tables = [one.postings for one in pages]
        first_block = np.cumsum(blocks) - blocks
        postings = Postings(
            block=_joined([table.block + first for table, first in zip(tables, first_block, strict=True)], np.intp),
            word=_joined([table.word for table in tables], np.uint64),
            start=np.append(0, np.cumsum(_joined([table.counts for table in tables], np.intp))),
            offsets=_joined([table.offsets for table in tables], np.intp),
        )
        families = families_of(_joined([one.family for one in pages], np.uint64), site[page])
        return cls(PostingStyles(postings, families, _joined([one.position for one in pages], np.uint64)), page, site)

    def by_page(self, blocks: BoolArray) -> list[BoolArray]:
        """Cut what is known of each block into the parts of the pages, in the order of each page's own table."""
        return np.split(blocks, np.cumsum(np.bincount(self.page, minlength=len(self.site)))[:-1])


def families_of(family: HashArray, site: IndexArray) -> HashArray:
    """Return the families of blocks, told apart by the sites of the blocks."""
    return mixed(family, site.astype(np.uint64))


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=kind), *parts])
