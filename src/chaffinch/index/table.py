"""Template found inside the building of an index (Chen, Ye and Li 2006), every page being read once.

An index builder gathers pages in a hash table (word -> block -> offsets) until it is as large as it may get, and writes
it out. Here the method `offsets` looks at that table before it is written: blocks that it takes for template are
deleted from it, and only what remains is given to the engine. The engine keeps its own table, which nobody can look
into, and takes texts; so this one stands in front of it, and the texts of the blocks wait beside it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from chaffinch.document import PagePieces
from chaffinch.errors import InputError, PageError
from chaffinch.methods import threshold_of
from chaffinch.methods.index_table import IndexTable, PostingStyles
from chaffinch.methods.offsets import Offsets, TemplateWords
from chaffinch.runs import Outcome
from chaffinch.runs.batches import cut_batches
from chaffinch.runs.pool import Workers
from chaffinch.runs.reading import reading
from chaffinch.runs.work import Batch, guarded, reason_of, wanted_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chaffinch.page import BoolArray, Page
    from chaffinch.page.arrays import IndexArray
    from chaffinch.runs import RunOptions

_SHARE: Final = 4
"""The table may take this part of what a run may hold for learning: finding template in it takes twice as much again,
and what is written stands in copies."""
_ENOUGH_PAGES: Final = 20
"""A site with fewer pages in a table goes by an earlier table, if that had more of them."""
_MOST_SITES: Final = 256
"""Sites whose template words are remembered, those written last."""


@dataclass(frozen=True, slots=True, eq=False)
class TabledPage:
    """A page in the table: its postings, and what is to be written of it."""

    source: str
    pieces: PagePieces
    styled: PostingStyles
    of_leaf: IndexArray
    """For each leaf text block, its layout block, by which it goes or stays."""

    @classmethod
    def of(cls, page: Page, method: Offsets) -> TabledPage:
        """Read a page."""
        styled, of_leaf = method.postings(page)
        return cls(page.source, PagePieces.of(page, method), styled, of_leaf)

    @property
    def site(self) -> str:
        """The page's site."""
        return self.pieces.described.site

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        table, family, position = self.styled
        arrays = (table.block, table.word, table.start, table.offsets, family, position, self.of_leaf)
        return self.pieces.size + sum(array.nbytes for array in arrays)

    def outcome(self, gone: BoolArray, *, informed: bool) -> Outcome:
        """Return what becomes of the page without some of its layout blocks."""
        kept = ~gone[self.of_leaf]
        document = self.pieces.document(kept)
        return Outcome(self.source, self.site, document, informed=informed, parts=self.pieces.parts(kept))


class PageTable:
    """An index builder's table of pages that are not written yet."""

    def __init__(self, method: Offsets, threshold: float, most_bytes: int) -> None:
        self._method = method
        self._threshold = threshold
        self._most_bytes = most_bytes
        self._items: list[TabledPage | Outcome] = []
        self._bytes = 0
        self._known: OrderedDict[str, tuple[int, TemplateWords]] = OrderedDict()

    def add(self, item: TabledPage | Outcome) -> None:
        """Take a page, or what became of one that cannot be taken."""
        self._items.append(item)
        if isinstance(item, TabledPage):
            self._bytes += item.size

    @property
    def full(self) -> bool:
        """Whether it is time to write it out."""
        return self._bytes >= self._most_bytes

    def written(self) -> Iterator[Outcome]:
        """Delete the template from the table, and yield what remains of each page, in the order of the input."""
        items, self._items, self._bytes = self._items[::-1], [], 0
        sites: dict[str, list[TabledPage]] = {}
        for item in reversed(items):
            if isinstance(item, TabledPage):
                sites.setdefault(item.site, []).append(item)
        found = {site: self._detect(site, pages) for site, pages in sites.items()}
        sites.clear()
        while items:
            item = items.pop()
            if isinstance(item, Outcome):
                yield item
                continue
            answer = found[item.site]
            if isinstance(answer, str):
                yield Outcome(item.source, item.site, error=answer)
            else:
                yield item.outcome(next(answer.gone), informed=answer.informed)

    def _detect(self, site: str, pages: Sequence[TabledPage]) -> _Detected | str:
        """Find the template blocks of a site's pages; if that fails, say why: it costs this site only."""
        try:
            table = IndexTable.joined([page.styled for page in pages], [0] * len(pages))
            before, earlier = self._known.get(site, (0, None))
            if len(pages) >= min(before, _ENOUGH_PAGES):
                earlier = None
            gone, words = self._method.detect(table, self._threshold, earlier)
        except Exception as error:  # noqa: BLE001  (see reason_of)
            return reason_of(error)
        if earlier is None and len(words.word):
            self._known[site] = len(pages), words
        if site in self._known:
            self._known.move_to_end(site)
        while len(self._known) > _MOST_SITES:
            self._known.popitem(last=False)
        return _Detected(iter(table.by_page(gone)), informed=bool(len(words.word)))


@dataclass(frozen=True, slots=True)
class _Detected:
    gone: Iterator[BoolArray]
    """For each page of the site, in order, its template blocks."""
    informed: bool
    """Whether there is a template at all."""


def tabled_batch(batch: Batch, options: RunOptions, method: Offsets) -> list[TabledPage | Outcome]:
    """Read the pages of a batch for the table."""
    found: list[TabledPage | Outcome] = []
    for page in wanted_pages(batch, options):
        if isinstance(page, Outcome):
            found.append(page)
            continue
        tabled = guarded(page, partial(TabledPage.of, method=method))
        if isinstance(tabled, PageError):
            found.append(Outcome(page.source, page.place.site, error=tabled.reason))
        else:
            found.append(tabled)
    return found


def clean_in_table(inputs: Sequence[str], options: RunOptions, method: Offsets) -> Iterator[Outcome]:
    """Read every page once, and yield what becomes of it, in the order of the input, a table at a time."""
    table = PageTable(method, threshold_of(method, options.favor), options.budget.learning // _SHARE)
    workers = Workers(partial(tabled_batch, options=options, method=method), options.jobs, options.page_limits)
    with reading(inputs, options, often=False) as readable:
        yield from (Outcome(source, duplicate=True) for source in readable.duplicates)
        for answer in workers.answers(cut_batches(readable.read(), remember=False)):
            if isinstance(answer, InputError | PageError):
                table.add(Outcome(answer.subject, error=answer.reason))
                continue
            for item in answer:
                table.add(item)
            if table.full:
                yield from table.written()
        yield from table.written()
