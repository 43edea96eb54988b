"""Which slots hold data: buttons, fixed phrases and what is shown twice are template."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.page.arrays import frozen
from chaffinch.page.tags import BLOCK_LEVEL, IDS, tag_set
from chaffinch.records.pieces import LOOKS
from chaffinch.records.priors import Priors, name_tokens
from chaffinch.records.text_types import TextType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chaffinch.page.arrays import IndexArray
    from chaffinch.records.pieces import Pieces
    from chaffinch.records.sheet import Sheet
    from chaffinch.records.strings import Strings

    Numbers = NDArray[np.float64]

_NO_PRIOR: Final = 0.5
_AROUND: Final = 3
_MOST_WORDS: Final = 8
_QUITE_CONSTANT: Final = 0.8
_WORDS: Final = re.compile(r"\w+")
_HIDDEN: Final = re.compile(
    r"hid|tooltip|popup|pop-?over|modal|sr-only|visually|screen-?reader|offscreen|collapse|dropdown|none", re.IGNORECASE
)
_BUTTONS: Final = re.compile(
    r"btn|button|cart|share|social|action|save|login|wish|compare|icon|rating|star", re.IGNORECASE
)
_ANCHORS: Final = (
    ("a",), ("span",), ("div",), ("p",), ("li",), ("td", "th"), ("button", "option", "select", "input"), ("label",),
    ("h1", "h2", "h3", "h4", "h5", "h6"), ("b", "strong", "em", "i"), ("small", "sup", "sub"), ("dt",), ("dd",),
    ("time",), ("cite",), ("s", "del", "strike"), ("article", "section"), ("abbr",),
)  # fmt: skip


def normal(text: str) -> str:
    """Return a text's words as they are compared."""
    return " ".join(_WORDS.findall(text.casefold()))


class Slots:
    """The strings of each slot together."""

    def __init__(self, slot: IndexArray, count: int) -> None:
        self.of = slot
        self.count = count
        self.size = np.maximum(np.bincount(slot, minlength=count), 1).astype(np.float64)

    def mean(self, values: NDArray[np.generic]) -> Numbers:
        """Return each slot's mean of its strings' values."""
        return np.bincount(self.of, weights=values.astype(np.float64), minlength=self.count) / self.size

    def spread(self, values: NDArray[np.generic]) -> Numbers:
        """Return each slot's standard deviation."""
        variance = self.mean(values.astype(np.float64) ** 2) - self.mean(values) ** 2
        result: Numbers = np.sqrt(np.maximum(variance, 0))
        return result

    def distinct(self, values: NDArray[np.uint64]) -> tuple[Numbers, Numbers]:
        """Return how many different values each slot has, and how often its most frequent one comes."""
        pairs, counts = np.unique(np.stack((self.of.astype(np.uint64), values)), axis=1, return_counts=True)
        of = pairs[0].astype(np.intp)
        most = np.zeros(self.count)
        np.maximum.at(most, of, counts.astype(np.float64))
        return np.bincount(of, minlength=self.count).astype(np.float64), most


@dataclass(frozen=True, eq=False)
class Hints:
    """What is known of tokens and texts before a slot is looked at."""

    names: Priors
    """Of the words that classes and ids are made of: how often such elements hold data."""
    words: Priors
    """Of words of constant texts: how often such texts are data."""
    template: Numbers
    """For each string, the share of its tokens that the template text detector takes for template."""


def slot_evidence(sheet: Sheet, pieces: Pieces, strings: Strings, slots: Slots, hints: Hints) -> NDArray[np.float32]:
    """Return a row of numbers for each slot. Every string must have a slot."""
    columns: dict[str, Numbers] = {}
    texts = [normal(text) for text in strings.texts]
    columns["template text"] = slots.mean(hints.template)
    _priors(columns, sheet, strings, slots, hints, texts)
    hashes = np.fromiter((xxh3_64_intdigest(text.encode()) for text in texts), dtype=np.uint64, count=len(texts))
    records = int(strings.record.max()) + 1 if len(strings) else 1
    _usage(columns, sheet, strings, slots, hashes, records)
    _repeats(columns, strings, slots, texts, hashes)
    words = np.array([text.count(" ") + 1 if text else 0 for text in texts], dtype=np.float64)
    in_record = np.bincount(strings.record, weights=words, minlength=records)[strings.record]
    columns["words"] = slots.mean(np.log1p(words))
    columns["words spread"] = slots.spread(np.log1p(words))
    columns["one word"] = slots.mean(words == 1)
    columns["no words"] = slots.mean(words == 0)
    columns["share of words"] = slots.mean(words / np.maximum(in_record, 1))
    columns["letters"] = slots.mean(np.array([any(map(str.isalpha, text)) for text in texts], dtype=np.float64))
    columns["digits"] = slots.mean(np.array([any(map(str.isdigit, text)) for text in texts], dtype=np.float64))
    for kind in TextType:
        columns[f"type {kind.name}"] = slots.mean(strings.types == kind)
    looks = pieces.looks
    for number, name in enumerate(LOOKS):
        at = strings.first if "begins" in name else strings.stop - 1
        columns[name] = slots.mean(looks[at, number])
    columns["linked"] = slots.mean(strings.linked)
    columns["pieces"] = slots.mean(np.log(strings.stop - strings.first))
    columns["position"] = slots.mean(strings.position)
    columns["position spread"] = slots.spread(strings.position)
    columns["place"] = slots.mean(np.log1p(strings.place))
    columns["first"] = slots.mean(strings.place == 0)
    per_record = np.bincount(strings.record, minlength=records)[strings.record]
    columns["strings in a record"] = slots.mean(np.log1p(per_record))
    columns["last"] = slots.mean(strings.place == per_record - 1)
    _anchors(columns, sheet, strings, slots)
    return frozen(np.stack(list(columns.values()), axis=1).astype(np.float32))


def _priors(
    columns: dict[str, Numbers], sheet: Sheet, strings: Strings, slots: Slots, hints: Hints, texts: list[str]
) -> None:  # fmt: skip
    names = slot_names(sheet, strings, slots)
    words = slot_words(slots, texts)
    for label, rows, priors in (("name", names, hints.names), ("word", words, hints.words)):
        known = [[priors.table[token] for token in tokens if token in priors.table] for tokens in rows]
        columns[f"{label} prior least"] = np.array([min(values, default=_NO_PRIOR) for values in known])
        columns[f"{label} prior most"] = np.array([max(values, default=_NO_PRIOR) for values in known])
        columns[f"{label} prior mean"] = np.array(
            [sum(values) / len(values) if values else _NO_PRIOR for values in known]
        )
        columns[f"{label} prior none"] = np.array([not values for values in known], dtype=np.float64)


def slot_names(sheet: Sheet, strings: Strings, slots: Slots) -> list[tuple[str, ...]]:
    """Return for each slot the words of the classes and ids around its first string, up to three elements out."""
    values: dict[int, list[str]] = defaultdict(list)
    for node, value in sheet.class_values:
        values[node].append(value)
    result: list[tuple[str, ...]] = [()] * slots.count
    used, examples = np.unique(slots.of, return_index=True)
    for slot, example in zip(used.tolist(), examples.tolist(), strict=True):
        node = int(strings.anchor[example])
        found: list[str] = []
        for _ in range(_AROUND):
            for value in values.get(node, ()):
                found += name_tokens(value)
            node = max(int(sheet.parent[node]), 0)
        result[slot] = tuple(sorted(set(found)))
    return result


def slot_words(slots: Slots, texts: list[str]) -> list[tuple[str, ...]]:
    """Return for each slot with hardly more than one text the words of it, nothing for others."""
    counts: list[Counter[str]] = [Counter() for _ in range(slots.count)]
    for slot, text in zip(slots.of.tolist(), texts, strict=True):
        counts[slot][text] += 1
    result: list[tuple[str, ...]] = []
    for counter in counts:
        (text, most), *_ = counter.most_common(1) or [("", 0)]
        total = counter.total()
        result.append(tuple(text.split()[:_MOST_WORDS]) if total and most >= _QUITE_CONSTANT * total else ())
    return result


def _usage(
    columns: dict[str, Numbers], sheet: Sheet, strings: Strings, slots: Slots, hashes: NDArray[np.uint64], records: int
) -> None:
    different, most = slots.distinct(hashes)
    several = slots.size > 1
    columns["share of records"] = slots.size / records
    columns["seen"] = np.log1p(slots.size)
    columns["different"] = np.where(several, different / slots.size, 0.5)
    columns["different texts"] = np.log1p(different)
    columns["constant"] = np.where(several, most / slots.size, 0.5)
    columns["quite constant"] = ((different == 1) & several).astype(np.float64)
    columns["seen once"] = (~several).astype(np.float64)
    page = sheet.page_of[strings.anchor]
    pages = np.unique(np.stack((slots.of, page)), axis=1)[0]
    columns["on pages"] = np.bincount(pages, minlength=slots.count) / max(len(sheet.pages), 1)


def _repeats(
    columns: dict[str, Numbers], strings: Strings, slots: Slots, texts: list[str], hashes: NDArray[np.uint64]
) -> None:
    """See whether a string's text stands in its record once more, earlier or later, as a whole or in another."""
    pairs = hashes ^ (strings.record.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    _, first, which, counts = np.unique(pairs, return_index=True, return_inverse=True, return_counts=True)
    again = (counts[which] > 1) & (np.array([bool(text) for text in texts], dtype=np.bool_))
    is_first = first[which] == np.arange(len(pairs))
    columns["repeats an earlier"] = slots.mean(again & ~is_first)
    columns["repeated later"] = slots.mean(again & is_first)
    inside = np.zeros(len(texts))
    around = np.zeros(len(texts))
    starts = (
        np.flatnonzero(np.concatenate(([True], strings.record[1:] != strings.record[:-1]))).tolist() if texts else []
    )
    for begin, end in zip(starts, [*starts[1:], len(texts)], strict=True):
        group = texts[begin:end]
        if len(group) > 60:
            continue
        whole = " \n ".join(["", *group, ""])
        for number, text in enumerate(group):
            if len(text) >= 8 and whole.count(text) > 1:
                inside[begin + number] = 1
        longest = max(range(len(group)), key=lambda number: len(group[number]))
        around[begin + longest] = 1
    columns["inside another"] = slots.mean(inside)
    columns["longest"] = slots.mean(around)


def _anchors(columns: dict[str, Numbers], sheet: Sheet, strings: Strings, slots: Slots) -> None:
    anchor = strings.anchor
    tag = sheet.tag[anchor]
    for names in _ANCHORS:
        columns[f"in {names[0]}"] = slots.mean(tag_set(*names)[tag])
    columns["in block"] = slots.mean(BLOCK_LEVEL[tag])
    parent = np.maximum(sheet.parent[anchor], 0)
    columns["in a heading"] = slots.mean(tag_set("h1", "h2", "h3", "h4", "h5", "h6")[sheet.tag[parent]])
    for name in ("li", "td", "a", "label", "button"):
        columns[f"below {name}"] = slots.mean(sheet.tag[parent] == IDS[name])
    hidden, buttons = _class_hints(sheet)
    columns["sounds hidden"] = slots.mean(hidden[anchor])
    columns["sounds like a button"] = slots.mean(buttons[anchor])


def _class_hints(sheet: Sheet) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell of each node whether it or one around it sounds hidden; whether it or its parent sounds like a button."""
    hidden, buttons = np.zeros(len(sheet), dtype=np.bool_), np.zeros(len(sheet), dtype=np.bool_)
    known: dict[str, tuple[bool, bool]] = {}
    for node, value in sheet.class_values:
        found = known.get(value)
        if found is None:
            found = known[value] = (_HIDDEN.search(value) is not None, _BUTTONS.search(value) is not None)
        hidden[node] |= found[0]
        buttons[node] |= found[1]
    buttons |= buttons[np.maximum(sheet.parent, 0)]
    for _ in range(3):
        hidden |= hidden[np.maximum(sheet.parent, 0)]
    return hidden, buttons
