"""Wrappers: what was learned of a site's records, kept and applied to new pages in one pass."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from chaffinch.errors import ModelError, OutputError
from chaffinch.records.candidates import RUN
from chaffinch.records.graph import TemplateGraph
from chaffinch.records.runs import Tail

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FORMAT: Final = "chaffinch record wrapper"
VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class Signature:
    """By what a kind of string is known again: each part is a number that is the same on all pages."""

    slot: int
    anchor: int
    type: int
    left: int
    right: int


@dataclass(frozen=True, eq=False)
class Wrapper:
    """The records of one template."""

    site: str
    pages: int
    kinds: tuple[tuple[int, int, Tail | None], ...]
    """The kinds of nodes that are records or begin them, their keys, and what follows them in their record."""
    joints: Mapping[int, bool]
    """For each known kind of joint, whether a unit goes on there."""
    atoms: Mapping[int, Signature]
    graph: TemplateGraph
    template: tuple[tuple[str, ...], ...]
    """Template texts that part strings, as tokens."""
    sketches: tuple[tuple[int, ...], ...]
    """Of some of the pages it was learned from, to tell an empty page from a page of another template."""

    @cached_property
    def by_slot(self) -> tuple[tuple[Signature, ...], ...]:
        """The signatures of each slot."""
        result: list[list[Signature]] = [[] for _ in self.graph.slots]
        for signature in self.atoms.values():
            result[signature.slot].append(signature)
        return tuple(map(tuple, result))

    def as_json(self) -> dict[str, Any]:
        """Return plain values; numbers too large for some readers are written as text."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "site": self.site,
            "pages": self.pages,
            "kinds": [
                [kind, f"{key:x}"] if tail is None else [kind, f"{key:x}", _tail_as_json(tail)]
                for kind, key, tail in self.kinds
            ],
            "joints": {f"{key:x}": joined for key, joined in sorted(self.joints.items())},
            "atoms": {
                f"{key:x}": [atom.slot, f"{atom.anchor:x}", atom.type, f"{atom.left:x}", f"{atom.right:x}"]
                for key, atom in sorted(self.atoms.items())
            },
            "graph": self.graph.as_json(),
            "template": [list(tokens) for tokens in self.template],
            "sketches": [[f"{value:x}" for value in sketch] for sketch in self.sketches],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Wrapper:
        """Return the wrapper that `as_json` made plain values of."""
        graph = TemplateGraph.from_json(values["graph"])
        atoms = {int(key, 16): _signature(parts) for key, parts in values["atoms"].items()}
        if any(not 0 <= atom.slot < len(graph.slots) for atom in atoms.values()):
            raise ValueError("an atom has no slot")
        return cls(
            site=str(values["site"]),
            pages=int(values["pages"]),
            kinds=tuple(map(_kind, _lists(values["kinds"]))),
            joints={int(key, 16): bool(joined) for key, joined in values["joints"].items()},
            atoms=atoms,
            graph=graph,
            template=tuple(tuple(map(str, tokens)) for tokens in _lists(values["template"])),
            sketches=tuple(tuple(int(value, 16) for value in sketch) for sketch in _lists(values["sketches"])),
        )

    def save(self, path: str | Path) -> None:
        """Write the wrapper to a file."""
        write_wrappers(path, [self])

    @cached_property
    def sketch_rows(self) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint64]], ...]:
        """The sketches as arrays."""
        return tuple(np.array(sketch, dtype=np.uint64) for sketch in self.sketches)


def _lists(values: object) -> list[list[Any]]:
    if not isinstance(values, list) or not all(isinstance(value, list) for value in values):
        raise TypeError("a list of lists is missing")
    return values


def _tail_as_json(tail: Tail) -> dict[str, Any]:
    return {
        "longest": tail.longest,
        "siblings": {f"{kind:x}": kind in tail.usual for kind in sorted(tail.kinds)},
    }


def _kind(parts: list[Any]) -> tuple[int, int, Tail | None]:
    kind, key, *tail = parts
    if (int(kind) >= RUN) != (len(tail) == 1):
        raise ValueError("a kind of records is not whole")
    return int(kind), int(key, 16), _tail(tail[0]) if tail else None


def _tail(values: Mapping[str, Any]) -> Tail:
    siblings = {int(kind, 16): bool(usual) for kind, usual in values["siblings"].items()}
    return Tail(
        int(values["longest"]), frozenset(siblings), frozenset(kind for kind, usual in siblings.items() if usual)
    )


def _signature(parts: list[Any]) -> Signature:
    slot, anchor, kind, left, right = parts
    return Signature(int(slot), int(anchor, 16), int(kind), int(left, 16), int(right, 16))


def write_wrappers(path: str | Path, wrappers: Iterable[Wrapper]) -> None:
    """Write wrappers, one line each; what stands under the name is always whole."""
    target = Path(path)
    part = target.with_name(f".{target.name}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(wrapper.as_json(), sort_keys=True) + "\n" for wrapper in wrappers)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OutputError(str(path), error.strerror or str(error)) from error


def read_wrappers(path: str | Path) -> list[Wrapper]:
    """Read wrappers, or raise `ModelError` if the file is missing, damaged, no wrapper or of another version."""
    subject = str(path)
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(subject, f"cannot be read ({error})") from error
    try:
        found = [_read(subject, json.loads(line)) for line in lines if line.strip()]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ModelError(subject, f"is not a record wrapper, or is damaged ({error})") from error
    if not found:
        raise ModelError(subject, "is empty: no record wrapper")
    return found


def _read(subject: str, values: Mapping[str, Any]) -> Wrapper:
    if values["format"] != FORMAT:
        raise ValueError(f"its format is {values['format']!r}")
    if values["version"] != VERSION:
        raise ModelError(
            subject, f"is a wrapper of version {values['version']}; this is {VERSION}: learn it again from its pages"
        )
    return Wrapper.from_json(values)
