"""The method `offsets` (Chen, Ye and Li 2006): blocks of one style whose words stand at the same offsets on many pages.

Pages are cut into layout blocks, and blocks of like layout style are clustered (`chaffinch.methods.layout`). Within a
style, the occurrences of a word in a block are a sequence of offsets; sequences that are similar bit by bit are
clustered (`chaffinch.methods.bitset`). A word is a template word of its block when its cluster holds enough pages,
and a block is template when enough of its different words are.

The formulas and constants of the paper are lost in the text that is at hand. Every constant here is an option and was
chosen by measurement; none is claimed to be the paper's.

Where the paper's single pass goes by the order of the crawl, this one goes by support: the most frequent come first
and lead. So nothing depends on the order in which pages came.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.errors import ModelError
from chaffinch.methods.bitset import (
    bitwise_similar,
    build_postings,
    differences,
    first_match,
    first_of_runs,
    signatures,
    single_pass,
)
from chaffinch.methods.bounds import Amount, Between, Count, Share, check_bounds
from chaffinch.methods.codec import pack, pack_texts, unpack, unpack_texts
from chaffinch.methods.index_table import PostingStyles
from chaffinch.methods.layout import AttributeSet, LayoutName, find_layout, leaf_words, mixed
from chaffinch.methods.protocol import DEFAULT_THRESHOLD
from chaffinch.page.arrays import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from chaffinch.methods.bitset import Signatures
    from chaffinch.methods.index_table import IndexTable
    from chaffinch.page.arrays import BoolArray, FloatArray, HashArray, IndexArray
    from chaffinch.page.table import Page

_FAMILY: Final = 0
_POSITION: Final = 1
_WORD: Final = 2
_BITS: Final = 3
"""The columns of a table of features: the style's two, the word, and from here on the integers of its signature."""

_LEAST_PAGES: Final = 2
"""A word feature cluster holds at least this many pages: one page alone says nothing."""

_HALF: Final = np.float32(0.5)
_BELOW_HALF: Final = np.nextafter(_HALF, np.float32(0))
_SLACK: Final = 1e-9
_PROBED: Final = 4
"""How many words of each block are compared before blocks that are lost already are left out."""


@dataclass(frozen=True)
class FeaturePrint:
    """What the method keeps of a page: where it stood, and each different word feature in each style."""

    directory: str
    name: str
    features: NDArray[np.uint64]
    """A row for each: family and position of the style, word, signature. All different, in ascending order."""

    @property
    def key(self) -> tuple[str, str, bytes]:
        """The order in which pages are kept; it does not depend on the order in which they came."""
        return self.directory, self.name, self.features.tobytes()


@dataclass(frozen=True, eq=False)
class TemplateWords:
    """The clusters of styles and of word features, each known by its leader."""

    family: HashArray
    """In ascending order, and with the most frequent style first among equals. Empty if styles must be equal."""
    position: HashArray
    word: HashArray
    """Style and word in one hash, in ascending order, and with the most frequent cluster first among equals."""
    bits: Signatures
    support: NDArray[np.int64]
    """On how many pages there is a member."""


@dataclass(frozen=True, eq=False)
class WordFeatures:
    """A template: a sample of pages, and the template words found in it."""

    prints: tuple[FeaturePrint, ...]
    words: TemplateWords


@dataclass(frozen=True, eq=False)
class _Kinds:
    """The different features of words in their styles: most stand on many pages, and are looked at once."""

    first: IndexArray
    """For each, a row that has it."""
    of_row: IndexArray
    keys: HashArray
    bits: Signatures
    pairs: IndexArray
    """Each different pair of a kind and a page, in ascending order, as one number: kind times `pages` plus page."""
    pages: int
    support: NDArray[np.int64]
    """On how many pages each stands."""

    @classmethod
    def of(cls, keys: HashArray, bits: Signatures, page: IndexArray) -> _Kinds:
        """Tell the kinds of features apart."""
        whole = mixed(keys, *bits.T)
        order = np.argsort(whole)
        begins = first_of_runs(whole[order])
        first = order[begins]
        of_row = np.empty(len(order), dtype=np.intp)
        of_row[order] = np.cumsum(begins) - 1
        pages = int(page.max()) + 1 if len(page) else 1
        pairs = _unique(of_row * pages + page)
        support = np.bincount(pairs // pages, minlength=len(first))
        return cls(first, of_row, keys[first], bits[first], pairs, pages, support)

    def pages_of_clusters(self, kinds: IndexArray, leader: IndexArray) -> tuple[IndexArray, NDArray[np.int64]]:
        """Return each leader (-1: none) that some of the `kinds` have, and on how many pages there is a member."""
        of_kind = np.full(len(self.first), -1, dtype=np.intp)
        of_kind[kinds] = leader
        owner = of_kind[self.pairs // self.pages]
        led = owner >= 0
        members = _unique(owner[led] * self.pages + self.pairs[led] % self.pages)
        count = np.bincount(members // self.pages)
        found = np.flatnonzero(count)
        return found, count[found].astype(np.int64)


@dataclass(frozen=True)
class Offsets:
    """Compares the offsets of words in blocks of like layout."""

    layout: LayoutName = "blocks"
    """Which elements cut a page into blocks: `table` and `ul` as in the paper, today's containers too, or all
    block-level elements."""
    attributes: AttributeSet = "paper"
    """Which attributes must be equal in blocks of one style: colours and sizes as in the paper, the class too, none."""
    most_siblings: Count = 6
    """Up to where blocks are numbered among their siblings; those behind count as equal."""
    position_slack: Amount = 0
    """How far apart the positions of blocks of one style may be, all layers together."""
    segments: Annotated[int, Between(1, 64)] = 2
    """How many integers hold a sequence of offsets."""
    from_block_start: bool = True
    """Whether the first offset counts from the start of the block. Otherwise only the distances between occurrences
    count, and for words that stand once nothing but that they do."""
    similarity: Share = 0.6
    """Which part of their bits similar sequences share."""
    share: Share = 0.15
    """A word's cluster makes it a template word when it holds at least this share of the pages, and two."""
    ratio: Share = 0.95
    """A block is template when at least this share of its different words are template words."""
    early_exit: bool = False
    """Whether the words of a block are given up once too few can be template words. The decision stays the same."""
    most_clusters: Count = 16
    """How many clusters each word has in a style, at most."""
    most_pages: Count = 400
    """How many pages of a site a template keeps at most: a sample that does not depend on their order."""
    most_features: Count = 50_000
    """How many word features of a page a template keeps at most."""

    name: ClassVar[str] = "offsets"
    summary: ClassVar[str] = "drops blocks of like layout whose words stand at like offsets (Chen et al. 2006)"
    version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        """Refuse options that mean nothing."""
        check_bounds(self)

    @property
    def streams(self) -> bool:
        """It needs many pages."""
        return False

    def summarise(self, page: Page) -> WordFeatures:
        """Keep the page's word features."""
        features = self.features(self.postings(page)[0])[: self.most_features]
        kept = FeaturePrint(page.place.directory, page.place.name, frozen(_distinct(features)))
        return WordFeatures((kept,), _no_words(self.segments))

    def merge(self, one: WordFeatures, other: WordFeatures) -> WordFeatures:
        """Join the pages of both, and of large sites keep the same sample whatever the order."""
        unique = {page.key: page for page in (*one.prints, *other.prints)}
        keys = sorted(unique)
        if len(keys) > self.most_pages:
            keys = sorted(sorted(keys, key=_rank)[: self.most_pages])
        return WordFeatures(tuple(unique[key] for key in keys), _no_words(self.segments))

    def finish(self, summary: WordFeatures) -> WordFeatures:
        """Find the template words."""
        return WordFeatures(summary.prints, self.template_words([page.features for page in summary.prints]))

    def reopen(self, template: WordFeatures) -> WordFeatures:
        """Return the pages of the template."""
        return WordFeatures(template.prints, _no_words(self.segments))

    def fit(self, page: Page, template: WordFeatures) -> float:
        """Return which share of the template's clusters the page shows, those of many pages counting more."""
        support = template.words.support
        found = self._clusters_of(self.features(self.postings(page)[0]), template.words)
        shown = np.unique(found[found >= 0])
        return float(support[shown].sum() / support.sum()) if len(support) else 0.0

    def knows(self, page: Page, template: WordFeatures | None) -> bool:
        """Tell whether several pages were learned, and any of their template words stands on the page."""
        return template is not None and len(template.prints) >= _LEAST_PAGES and self.fit(page, template) > 0

    def score(self, page: Page, template: WordFeatures | None) -> FloatArray:
        """Score each block's text by its share of template words; `ratio` becomes 0.5."""
        scores = np.zeros(len(page.text_nodes), dtype=np.float32)
        if template is None or not len(template.words.word) or not len(page.blocks):
            return scores
        styled, of_leaf = self.postings(page)
        graded = self.graded(self.template_ratios(styled, template.words))
        leaf = page.blocks.of_text
        scores[leaf >= 0] = graded[of_leaf[leaf[leaf >= 0]]]
        return scores

    def dump(self, template: WordFeatures) -> bytes:
        """Write pages and template words as arrays; features that pages share are written once."""
        features = [page.features for page in template.prints]
        rows = _joined(features, self.segments)
        unique, place = np.unique(rows, axis=0, return_inverse=True)
        words = template.words
        return pack(
            self.name,
            self.version,
            {
                "directories": pack_texts([page.directory for page in template.prints]),
                "names": pack_texts([page.name for page in template.prints]),
                "lengths": np.array([len(rows) for rows in features], dtype=np.int64),
                "features": unique,
                "places": place.reshape(-1).astype(np.int32),
                "family": words.family,
                "position": words.position,
                "word": words.word,
                "bits": words.bits,
                "support": words.support,
            },
        )

    def load(self, data: bytes) -> WordFeatures:
        """Read pages and template words back."""
        wanted = ("directories", "names", "lengths", "features", "places")
        wanted_words = ("family", "position", "word", "bits", "support")
        columns = unpack(data, self.name, self.version, (*wanted, *wanted_words))
        directories, names = unpack_texts(columns[0]), unpack_texts(columns[1])
        lengths, features, places = columns[2:5]
        family, position, word, bits, support = columns[5:]
        subject = f"template of method {self.name}"
        fits = len(directories) == len(names) == len(lengths) and int(lengths.sum()) == len(places)
        fits = fits and len(family) == len(position) and len(word) == len(bits) == len(support)
        if not fits or (len(places) and not 0 <= places.min() <= places.max() < len(features)):
            raise ModelError(subject, "is damaged (its parts differ in length)")
        if features.shape[1:] != (_BITS + self.segments,) or bits.shape[1:] != (self.segments,):
            raise ModelError(subject, f"was learned with another number of segments than {self.segments}")
        rows = np.split(features[places], np.cumsum(lengths)[:-1]) if len(lengths) else []
        prints = zip(directories, names, map(frozen, rows), strict=True)
        words = TemplateWords(*map(frozen, (family, position, word, bits, support)))
        return WordFeatures(tuple(FeaturePrint(*parts) for parts in prints), words)

    def postings(self, page: Page) -> tuple[PostingStyles, IndexArray]:
        """Return the hash table of one page, and for each of its leaf text blocks its layout block."""
        layout = find_layout(page, self.layout, self.attributes, self.most_siblings)
        words, leaf = leaf_words(page)
        postings = build_postings(words, layout.of_leaf[leaf])
        return PostingStyles(postings, layout.family, layout.position), layout.of_leaf

    def features(self, styled: PostingStyles) -> NDArray[np.uint64]:
        """Return a row for each posting: family, position, word, signature."""
        postings, family, position = styled
        difference = differences(postings, from_block_start=self.from_block_start)
        return np.column_stack(
            (
                family[postings.block],
                position[postings.block],
                postings.word,
                signatures(postings, difference, self.segments),
            )
        )

    def template_words(self, pages: Iterable[NDArray[np.uint64]]) -> TemplateWords:
        """Find the template words in the features of several pages."""
        tables = list(pages)
        page = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        needed = self._needed(np.full(len(tables), len(tables)))
        return self._words(_joined(tables, self.segments), page, needed)[0]

    def template_blocks(self, table: IndexTable) -> BoolArray:
        """Tell for each block of an index builder's own table whether it is template.

        What is learned is learned from the pages in the table, site by site, and applied to them: stage two of the
        paper, one more step before a builder writes its table out.
        """
        return self.detect(table)[0]

    def detect(
        self, table: IndexTable, threshold: float = DEFAULT_THRESHOLD, earlier: TemplateWords | None = None
    ) -> tuple[BoolArray, TemplateWords]:
        """Tell which blocks of a table score at least `threshold`, and by which template words.

        These are learned from the table, or are those of an `earlier` one.
        """
        styled = table.styled
        page = table.page[styled.postings.block]
        needed = self._needed(np.bincount(table.site)[table.site])
        rows = self.features(styled)
        learned, kinds = self._words(rows, page, needed)
        words = learned if earlier is None else earlier
        is_template = self.is_template_word(rows[kinds.first], words)[kinds.of_row]
        return np.asarray(self.graded(_block_shares(styled, is_template)) >= threshold), words

    def _needed(self, pages: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how many pages of a site with so many pages a word feature cluster needs."""
        return np.asarray(np.maximum(_LEAST_PAGES, self.share * pages - _SLACK), dtype=np.float64)

    def _words(
        self, rows: NDArray[np.uint64], page: IndexArray, needed: NDArray[np.float64]
    ) -> tuple[TemplateWords, _Kinds]:
        """Find the template words in features, given the page of each and how many pages each page's site needs."""
        family, position = self._styles(rows, page)
        kinds = _Kinds.of(self._word_keys(rows, family, position), rows[:, _BITS:], page)
        keys, bits, support, needed = kinds.keys, kinds.bits, kinds.support, needed[page[kinds.first]]
        # A word on fewer pages than a cluster needs has no such cluster: most words need not be compared at all.
        _, word = np.unique(keys, return_inverse=True)
        enough = np.flatnonzero(np.bincount(word, weights=support)[word] >= needed)
        order = enough[np.lexsort((*bits[enough].T, -support[enough], keys[enough]))]
        keys, bits = keys[order], bits[order]
        leader = single_pass(
            keys, lambda one, other: bitwise_similar(bits[one], bits[other], self.similarity), self.most_clusters
        )
        found, count = kinds.pages_of_clusters(order, leader)
        large = count >= needed[order][found]
        found, count = found[large], count[large]
        words = TemplateWords(family, position, frozen(keys[found]), frozen(bits[found]), frozen(count))
        return words, kinds

    def template_ratios(self, styled: PostingStyles, words: TemplateWords) -> NDArray[np.float64]:
        """Return for each block which share of its different words are template words.

        With an early exit, blocks that cannot be template have the share that they might still have reached.
        """
        blocks = styled.postings.block
        features = self.features(styled)
        if not self.early_exit:
            return _block_shares(styled, self.is_template_word(features, words))
        count = np.bincount(blocks, minlength=len(styled.family))
        probed = _rank_in_run(blocks) < _PROBED
        is_template = np.ones(len(blocks), dtype=np.bool_)
        is_template[probed] = self.is_template_word(features[probed], words)
        missed = np.bincount(blocks[~is_template], minlength=len(count))
        rest = ~probed & (missed <= (1 - self.ratio) * count + _SLACK)[blocks]
        is_template[rest] = self.is_template_word(features[rest], words)
        return _block_shares(styled, is_template)

    def graded(self, ratios: NDArray[np.float64]) -> FloatArray:
        """Return scores that are at least 0.5 exactly where the ratio is reached."""
        below = np.minimum(_HALF * (ratios / max(self.ratio, _SLACK)), _BELOW_HALF)
        above = _HALF + _HALF * (ratios - self.ratio) / max(1 - self.ratio, _SLACK)
        reached = ratios >= self.ratio - _SLACK
        return np.where(reached, np.clip(above, _HALF, 1), below).astype(np.float32)

    def is_template_word(self, features: NDArray[np.uint64], words: TemplateWords) -> BoolArray:
        """Tell for each posting, given by its features, whether it belongs to a cluster of template words."""
        return self._clusters_of(features, words) >= 0

    def _styles(self, rows: NDArray[np.uint64], page: IndexArray) -> tuple[HashArray, HashArray]:
        """Cluster the styles; nothing to do if only equal ones are alike."""
        if self.position_slack <= 0:
            return _no_hashes(), _no_hashes()
        family, position = rows[:, _FAMILY], rows[:, _POSITION]
        support = pages_of(mixed(family, position), page)
        order = np.lexsort((position, -support, family))
        order = order[first_of_runs(family[order], position[order])]
        family, position = family[order], position[order]
        leader = single_pass(family, lambda one, other: self._near(position[one], position[other]), len(family))
        leads = leader == np.arange(len(leader))
        return frozen(family[leads]), frozen(position[leads])

    def _near(self, one: HashArray, other: HashArray) -> BoolArray:
        """Tell which positions are at most `position_slack` apart."""
        layers = (position.reshape(-1, 1).copy().view(np.uint8).astype(np.int16) for position in (one, other))
        apart = np.abs(next(layers) - next(layers)).sum(axis=1)
        return np.asarray(apart <= self.position_slack)

    def _word_keys(self, rows: NDArray[np.uint64], family: HashArray, position: HashArray) -> HashArray:
        """Return style and word of each row in one hash, the style being the leader of its cluster."""
        own_position = rows[:, _POSITION]
        if self.position_slack > 0 and len(rows):
            styles, style = np.unique(rows[:, :_WORD], axis=0, return_inverse=True)
            style = style.reshape(-1)
            leader = first_match(
                family, styles[:, _FAMILY], lambda one, other: self._near(position[one], styles[other, _POSITION])
            )
            known = leader[style] >= 0
            own_position = np.where(known, position[leader[style]] if len(position) else 0, own_position)
        return mixed(rows[:, _FAMILY], own_position, rows[:, _WORD])

    def _clusters_of(self, rows: NDArray[np.uint64], words: TemplateWords) -> IndexArray:
        """Return for each row the cluster that it belongs to, or -1."""
        keys = self._word_keys(rows, words.family, words.position)
        bits = rows[:, _BITS:]
        return first_match(
            words.word, keys, lambda one, other: bitwise_similar(words.bits[one], bits[other], self.similarity)
        )


def pages_of(keys: HashArray, page: IndexArray) -> NDArray[np.int64]:
    """Return for each row on how many different pages its key stands."""
    order = np.lexsort((page, keys))
    keys, page = keys[order], page[order]
    fresh = first_of_runs(keys)
    run = np.cumsum(fresh) - 1
    count = np.bincount(run[first_of_runs(keys, page)], minlength=int(fresh.sum()))
    result = np.empty(len(order), dtype=np.int64)
    result[order] = count[run]
    return result


def _rank(key: tuple[str, str, bytes]) -> tuple[int, tuple[str, str, bytes]]:
    """Where a page comes in the sample of a large site; neighbours in name are spread."""
    return xxh3_64_intdigest(f"{key[0]}\0{key[1]}".encode("utf-8", "surrogatepass"), seed=1), key


def _distinct(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the different rows, in ascending order."""
    ordered = rows[np.lexsort(rows.T[::-1])]
    return ordered[first_of_runs(*ordered.T)]


def _unique(numbers: IndexArray) -> IndexArray:
    """Return the different numbers, in ascending order."""
    ordered = np.sort(numbers)
    return ordered[first_of_runs(ordered)]


def _block_shares(styled: PostingStyles, is_template: BoolArray) -> NDArray[np.float64]:
    """Return for each block which share of its different words are template words."""
    block, blocks = styled.postings.block, len(styled.family)
    hits = np.bincount(block[is_template], minlength=blocks)
    return np.asarray(hits / np.maximum(np.bincount(block, minlength=blocks), 1))


def _rank_in_run(values: IndexArray) -> IndexArray:
    """Return the number of each entry within its run of equal values."""
    number = np.arange(len(values))
    return number - np.maximum.accumulate(np.where(first_of_runs(values), number, 0))


def _joined(tables: list[NDArray[np.uint64]], segments: int) -> NDArray[np.uint64]:
    return np.concatenate([np.zeros((0, _BITS + segments), dtype=np.uint64), *tables])


def _no_hashes() -> HashArray:
    return frozen(np.zeros(0, dtype=np.uint64))


def _no_words(segments: int) -> TemplateWords:
    nothing = _no_hashes()
    bits = frozen(np.zeros((0, segments), dtype=np.uint64))
    return TemplateWords(nothing, nothing, nothing, bits, frozen(np.zeros(0, dtype=np.int64)))
