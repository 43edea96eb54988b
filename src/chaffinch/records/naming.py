"""Names for slots: a label that the pages give, or else one made up from type and place."""

# ruff: noqa: RUF001  (labels end with a colon in many scripts)

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from chaffinch.page.tags import tag_set
from chaffinch.records.graph import Slot
from chaffinch.records.headers import column_heads
from chaffinch.records.text_types import TextType

if TYPE_CHECKING:
    from chaffinch.records.sheet import Sheet
    from chaffinch.records.units import Units

_BASES: Final = {
    TextType.TEXT: "text", TextType.NUMBER: "number", TextType.DATE: "date", TextType.PRICE: "price",
    TextType.HYPERLINK: "link",
}  # fmt: skip
_PREFIX: Final = re.compile(r"\s*([^\W\d][^:：]{0,38}?)\s*[:：]\s*\S")
_LABEL: Final = re.compile(r"[^\W\d][\w .&'/-]{0,38}")
_ENDS: Final = " :：|-–—·•,;"
_FACTS: Final = (TextType.NUMBER, TextType.DATE, TextType.PRICE)
_COLONS: Final = (":", "：")
_BY: Final = frozenset(("by", "von", "par", "por", "di", "van", "av", "in", "from"))
_USUAL: Final = 0.6
_CONSTANT_USES: Final = 3
_MOST_WORDS: Final = 4


def name_slots(sheet: Sheet, units: Units) -> tuple[Slot, ...]:
    """Return the slots, named: by the header of their column, by the text before them, or by what they begin with."""
    strings, slot, count = units.slotted.strings, units.slotted.slot.tolist(), units.slotted.count
    texts: list[Counter[str]] = [Counter() for _ in range(count)]
    types: list[Counter[int]] = [Counter() for _ in range(count)]
    before: list[Counter[str]] = [Counter() for _ in range(count)]
    named: list[Counter[str]] = [Counter() for _ in range(count)]
    headed: list[Counter[str]] = [Counter() for _ in range(count)]
    heads = column_heads(sheet, strings.anchor)
    terms = tag_set("dt", "th", "label")[sheet.tag[strings.anchor]].tolist()
    records: dict[int, set[int]] = defaultdict(set)
    previous = (-1, "", "")
    for here, record, text, kind, head, is_term in zip(
        slot, strings.record.tolist(), strings.texts, strings.types.tolist(), heads, terms, strict=True
    ):
        texts[here][text] += 1
        types[here][kind] += 1
        records[here].add(record)
        headed[here][head] += 1
        if previous[0] == record:
            before[here][previous[1]] += 1
            named[here][previous[2]] += 1
        may_name = text if _is_label(units, here, text) else ""
        previous = (record, may_name, may_name if is_term else "")
    names: Counter[str] = Counter()
    result = []
    for number in range(count):
        total = texts[number].total()
        kind = TextType(types[number].most_common(1)[0][0]) if total else TextType.TEXT
        told = (headed[number], named[number], _naming(before[number], kind), _prefixes(texts[number]))
        label = _label(told, total)
        base = label.lower() if label else _BASES[kind]
        names[base] += 1
        name = base if label and names[base] == 1 else f"{base}-{names[base]}"
        constant = len(texts[number]) == 1 and total >= _CONSTANT_USES
        # A constant with a label, or of a type of its own, is a fact about each record and no template.
        data = bool(units.data[number]) or (constant and (label is not None or kind in _FACTS))
        result.append(Slot(name, kind.name, len(records[number]), data, constant, label))
    return tuple(result)


def _is_label(units: Units, slot: int, text: str) -> bool:
    """Tell whether a string may name the next: template, or said to be a label by its last mark."""
    return not units.data[slot] or text.rstrip().endswith(_COLONS)


def _naming(before: Counter[str], kind: TextType) -> Counter[str]:
    """Keep of the texts before a slot those that may name it: with a colon, before a fact, or such as "by"."""
    return Counter(
        {
            text: uses
            for text, uses in before.items()
            if kind in _FACTS or text.rstrip().endswith(_COLONS) or text.strip(_ENDS).lower() in _BY
        }
    )


def _label(told: tuple[Counter[str], ...], total: int) -> str | None:
    """Return what names a slot: of several ways to name it, the first that says the same of nearly all its strings."""
    for counts in told:
        text, uses = next(iter(counts.most_common(1)), ("", 0))
        found = text.strip(_ENDS)
        if total > 1 and uses >= _USUAL * total and _LABEL.fullmatch(found) and len(found.split()) <= _MOST_WORDS:
            return found
    return None


def _prefixes(texts: Counter[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for text, uses in texts.items():
        match = _PREFIX.match(text)
        if match is not None and "http" not in match[1]:
            found[match[1]] += uses
    return found


def paths_of(units: Units) -> list[list[int]]:
    """Return for each record the slots of its strings, in order."""
    paths: dict[int, list[int]] = defaultdict(list)
    for record, slot in zip(units.slotted.strings.record.tolist(), units.slotted.slot.tolist(), strict=True):
        paths[record].append(slot)
    return [paths[record] for record in sorted(paths)]
