"""What tells records from menus and from parts of records: numbers about each candidate, computed for all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.page.arrays import frozen
from chaffinch.page.tags import IDS, tag_set
from chaffinch.records.candidates import RUN
from chaffinch.records.sheet import FORMS, HEADINGS, LINKS, PICTURES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import IndexArray
    from chaffinch.records.candidates import Candidates
    from chaffinch.records.sheet import Sheet

    Numbers = NDArray[np.float64]

_TAGS: Final = (
    ("li",), ("div",), ("tr",), ("td", "th"), ("a",), ("article", "section"), ("dl", "dt", "dd"), ("p",), ("ul", "ol"),
    ("table", "tbody"), ("h1", "h2", "h3", "h4", "h5", "h6"), ("span", "b", "strong", "em", "i", "font"),
)  # fmt: skip
_CLIMB: Final = 12
"""How many levels are climbed to see whether a member is but a part of something that repeats with it."""


def _distinct(groups: NDArray[np.integer], values: NDArray[np.uint64], count: int) -> Numbers:
    """Return how many different values each group has."""
    order = np.lexsort((values, groups))
    g, v = groups[order], values[order]
    fresh = np.ones(len(g), dtype=np.bool_)
    fresh[1:] = (g[1:] != g[:-1]) | (v[1:] != v[:-1])
    result: Numbers = np.bincount(g[fresh], minlength=count).astype(np.float64)
    return result


class _Groups:
    """Sums, means and deviations of members' numbers."""

    def __init__(self, candidates: Candidates) -> None:
        self.size = np.diff(candidates.offset).astype(np.float64)
        self.of = np.repeat(np.arange(len(self.size)), np.diff(candidates.offset))

    def sum(self, values: NDArray[np.generic]) -> Numbers:
        weights: Numbers = values.astype(np.float64)
        return np.bincount(self.of, weights=weights, minlength=len(self.size)).astype(np.float64)

    def mean(self, values: NDArray[np.generic]) -> Numbers:
        return self.sum(values) / self.size

    def spread(self, values: NDArray[np.generic]) -> Numbers:
        """The deviation over the mean."""
        mean = self.mean(values)
        variance = np.maximum(self.mean(values.astype(np.float64) ** 2) - mean**2, 0)
        return np.sqrt(variance) / np.maximum(mean, 1e-9)

    def distinct(self, values: NDArray[np.uint64]) -> Numbers:
        return _distinct(self.of, values, len(self.size)) / self.size


def evidence_of(sheet: Sheet, candidates: Candidates) -> NDArray[np.float32]:
    """Return a row of numbers for each candidate."""
    groups = _Groups(candidates)
    columns: dict[str, Numbers] = {}
    first, stop = candidates.first, candidates.stop
    low, high = sheet.leaves_before[first], sheet.leaves_before[stop]
    words = (sheet.words_before[high] - sheet.words_before[low]).astype(np.float64)
    leaves = (high - low).astype(np.float64)
    all_words = np.maximum(groups.sum(words), 1)

    def inside(marks: NDArray[np.integer]) -> Numbers:
        totals = sheet.leaf_totals(marks)
        return (totals[high] - totals[low]).astype(np.float64)

    def nodes_inside(table: NDArray[np.bool_]) -> Numbers:
        totals = sheet.node_totals(table[sheet.tag])
        return (totals[stop] - totals[first]).astype(np.float64)

    fresh = np.where(sheet.on_other_pages, 0, sheet.leaf_words)
    _sizes(columns, sheet, candidates, groups)
    columns["words"] = np.log1p(groups.mean(words))
    columns["words spread"] = groups.spread(words)
    columns["leaves"] = np.log1p(groups.mean(leaves))
    columns["leaves spread"] = groups.spread(leaves)
    columns["one leaf"] = groups.mean(leaves <= 1)
    columns["linked words"] = groups.sum(inside(sheet.leaf_words * sheet.in_link)) / all_words
    columns["fresh words"] = groups.sum(inside(fresh)) / all_words
    columns["no fresh words"] = groups.mean(inside(fresh) == 0)
    columns["repeated words"] = groups.sum(inside(sheet.leaf_words * sheet.repeated)) / all_words
    columns["digits"] = groups.sum(inside(sheet.has_digit.astype(np.int64))) / np.maximum(groups.sum(leaves), 1)
    columns["share of words"] = all_words / max(int(sheet.leaf_words.sum()), 1)
    columns["share of fresh words"] = groups.sum(inside(fresh)) / max(int(fresh.sum()), 1)
    columns["links"] = np.log1p(groups.mean(nodes_inside(LINKS)))
    columns["with link"] = groups.mean(nodes_inside(LINKS) > 0)
    columns["with picture"] = groups.mean(nodes_inside(PICTURES) > 0)
    columns["with heading"] = groups.mean(nodes_inside(HEADINGS) > 0)
    columns["form parts"] = groups.mean(nodes_inside(FORMS) > 0)
    texts = sheet.text_before[high] - sheet.text_before[low]
    columns["different texts"] = groups.distinct(texts)
    columns["different shapes"] = groups.distinct(sheet.shape_before[stop] - sheet.shape_before[first])
    _places(columns, sheet, candidates, groups)
    _parts(columns, sheet, candidates, groups)
    _climb(columns, sheet, candidates, groups, words)
    for names in _TAGS:
        columns[f"is {names[0]}"] = groups.mean(tag_set(*names)[sheet.tag[first]])
    return frozen(np.stack(list(columns.values()), axis=1).astype(np.float32))


def _sizes(columns: dict[str, Numbers], sheet: Sheet, candidates: Candidates, groups: _Groups) -> None:
    pages = len(sheet.pages)
    page = sheet.page_of[candidates.first]
    counts = np.bincount(groups.of * pages + page, minlength=len(groups.size) * pages).reshape(-1, pages)
    on = np.maximum((counts > 0).sum(axis=1), 1)
    columns["members"] = np.log1p(groups.size / on)
    columns["on pages"] = on / pages
    columns["even"] = counts.max(axis=1) / np.maximum(groups.size / on, 1)
    columns["same on all"] = ((counts == counts[:, :1]).all(axis=1) & (pages > 1)).astype(np.float64)
    for number in range(5):
        columns[f"kind {number}"] = (candidates.kind % RUN == number).astype(np.float64)
    columns["several siblings"] = (candidates.kind >= RUN).astype(np.float64)
    columns["width"] = np.log(groups.mean(candidates.width))
    columns["width spread"] = groups.spread(candidates.width)


def _places(columns: dict[str, Numbers], sheet: Sheet, candidates: Candidates, groups: _Groups) -> None:
    first, stop = candidates.first, candidates.stop
    page = sheet.page_of[first]
    base = sheet.leaves_before[sheet.start[page]]
    size = np.maximum(sheet.leaves_before[sheet.start[page + 1]] - base, 1)
    middle = ((sheet.leaves_before[first] + sheet.leaves_before[stop]) / 2 - base) / size
    columns["place"] = groups.mean(middle)
    columns["place spread"] = np.sqrt(np.maximum(groups.mean(middle**2) - groups.mean(middle) ** 2, 0))
    parent = sheet.parent[first]
    columns["parents"] = groups.distinct(parent.astype(np.int64).astype(np.uint64))
    level = np.concatenate([page_.depth for page_ in sheet.pages]) if sheet.pages else np.zeros(0, np.int32)
    columns["depth"] = groups.mean(np.minimum(level[first], 40))
    own_leaves = (sheet.leaves_before[stop] - sheet.leaves_before[first]).astype(np.float64)
    around = np.where(parent < 0, own_leaves, sheet.leaves_before[sheet.end[parent]] - sheet.leaves_before[parent])
    # What stands in the parents beside the members: counted once for each parent.
    order = np.lexsort((parent, groups.of))
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = (parent[order][1:] != parent[order][:-1]) | (groups.of[order][1:] != groups.of[order][:-1])
    once = np.zeros(len(order), dtype=np.float64)
    once[order[fresh]] = around[order[fresh]]
    columns["share of parents"] = groups.sum(own_leaves) / np.maximum(groups.sum(once), 1)
    same = np.zeros(len(first), dtype=np.bool_)
    same[1:] = (first[1:] == stop[:-1]) & (groups.of[1:] == groups.of[:-1])
    gap = np.zeros(len(first), dtype=np.float64)
    between = sheet.leaves_before[first[1:]] - sheet.leaves_before[stop[:-1]]
    gap[1:] = np.where((groups.of[1:] == groups.of[:-1]) & (page[1:] == page[:-1]), np.maximum(between, 0), 0)
    columns["gaps"] = groups.sum(gap) / np.maximum(groups.sum(own_leaves) + groups.sum(gap), 1)
    columns["most of a gap"] = groups.mean(gap > 0)
    _beside(columns, sheet, candidates, groups)
    results, menus, in_menus = sheet.hints
    above = np.where(parent < 0, 0, parent)
    columns["sounds like results"] = groups.mean(results[first])
    columns["parent sounds like results"] = groups.mean(results[above])
    columns["sounds like a menu"] = groups.mean(menus[first])
    columns["parent sounds like a menu"] = groups.mean(menus[above])
    columns["in a menu"] = groups.mean(in_menus[first])
    for name in ("nav", "header", "footer", "aside", "form", "main", "table"):
        marks = np.flatnonzero(sheet.tag == IDS[name])
        change = np.bincount(marks, minlength=len(sheet) + 1) - np.bincount(sheet.end[marks], minlength=len(sheet) + 1)
        columns[f"in {name}"] = groups.mean(np.cumsum(change)[first] > 0)


def _beside(columns: dict[str, Numbers], sheet: Sheet, candidates: Candidates, groups: _Groups) -> None:
    """See what stands before the first and behind the last member of each parent, and how members begin."""
    first = candidates.first
    parent = sheet.parent[first]
    place, siblings = sheet.child_places
    other = (parent[1:] != parent[:-1]) | (groups.of[1:] != groups.of[:-1])
    begins, ends = np.append(True, other), np.append(other, True)
    count = len(groups.size)
    lists = np.maximum(np.bincount(groups.of[begins], minlength=count), 1)
    behind = siblings[np.maximum(parent, 0)] - place[first] - candidates.width
    for name, values, marks in (("before the first", place[first], begins), ("behind the last", behind, ends)):
        some = np.where(marks, np.log1p(np.maximum(values, 0)), 0.0)
        columns[name] = np.bincount(groups.of, weights=some, minlength=count) / lists
    leaf = np.minimum(sheet.leaves_before[first], max(len(sheet.leaf) - 1, 0))
    columns["begins with a link"] = groups.mean(sheet.in_link[leaf])
    above = sheet.parent[sheet.leaf[leaf]]
    strong = HEADINGS | tag_set("b", "strong", "dt", "th")
    columns["begins strong"] = groups.mean(
        strong[sheet.tag[above]] | strong[sheet.tag[np.maximum(sheet.parent[above], 0)]]
    )


def _parts(columns: dict[str, Numbers], sheet: Sheet, candidates: Candidates, groups: _Groups) -> None:
    """See how the shown texts inside the members line up: by their tag paths within and between members."""
    low, high = sheet.leaves_before[candidates.first], sheet.leaves_before[candidates.stop]
    length = np.minimum(high - low, 200)
    member = np.repeat(np.arange(len(low)), length)
    place = np.arange(len(member)) - np.repeat(np.cumsum(length) - length, length) + np.repeat(low, length)
    path = sheet.path[sheet.leaf[place]]
    group = groups.of[member]
    order = np.lexsort((member, path, group))
    group, path, member = group[order], path[order], member[order]
    new_slot = np.ones(len(order), dtype=np.bool_)
    new_slot[1:] = (path[1:] != path[:-1]) | (group[1:] != group[:-1])
    new_pair = new_slot.copy()
    new_pair[1:] |= member[1:] != member[:-1]
    slot = np.cumsum(new_slot) - 1
    members_of_slot = np.bincount(slot[new_pair], minlength=int(new_slot.sum())).astype(np.float64)
    count = len(groups.size)
    leaves = np.maximum(np.bincount(group, minlength=count), 1)
    pairs = np.bincount(group[new_pair], minlength=count)
    slots = np.bincount(group[new_slot], minlength=count)
    columns["paths once"] = pairs / leaves
    columns["slots"] = np.log1p(slots)
    columns["slots per member"] = np.log1p(pairs / groups.size)
    share = (
        np.bincount(group[new_slot], weights=members_of_slot**2, minlength=count) / np.maximum(pairs, 1) / groups.size
    )
    columns["slots shared"] = share
    common = members_of_slot >= 0.8 * groups.size[group[new_slot]]
    columns["common slots"] = np.log1p(np.bincount(group[new_slot], weights=common, minlength=count))
    hashes = sheet.leaf_hash[place][order]
    texts = _distinct(slot, hashes, int(new_slot.sum()))
    uses = np.bincount(slot, minlength=int(new_slot.sum()))
    varied = (texts >= 0.5 * uses) & (uses > 1)
    columns["varied slots"] = np.log1p(np.bincount(group[new_slot], weights=varied & common, minlength=count))
    constant = (texts == 1) & common
    columns["constant slots"] = np.log1p(np.bincount(group[new_slot], weights=constant, minlength=count))


def _climb(columns: dict[str, Numbers], sheet: Sheet, candidates: Candidates, groups: _Groups, words: Numbers) -> None:
    """Climb while each member has an ancestor of its own: how much more text such ancestors hold."""
    node: IndexArray = candidates.first.astype(np.intp)
    alone = np.ones(len(groups.size), dtype=np.bool_)
    best = groups.mean(words)
    own = best.copy()
    levels = np.zeros(len(own))
    siblings = np.zeros(len(own))
    for level in range(_CLIMB):
        node = np.where(node < 0, -1, sheet.parent[np.maximum(node, 0)]).astype(np.intp)
        share = groups.distinct(node.astype(np.int64).astype(np.uint64))
        if level == 0:
            siblings = 1 / np.maximum(share, 1e-9)
        alone &= (share > 0.9) & (groups.mean(node >= 0) == 1)
        if not alone.any():
            break
        at = np.maximum(node, 0)
        around = sheet.words_before[sheet.leaves_before[sheet.end[at]]] - sheet.words_before[sheet.leaves_before[at]]
        best = np.where(alone, groups.mean(around), best)
        levels += alone
    columns["climb gain"] = np.log(np.maximum(best, 1) / np.maximum(own, 1))
    columns["climb levels"] = levels
    columns["siblings"] = np.log1p(siblings)
