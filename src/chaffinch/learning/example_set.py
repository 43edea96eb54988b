"""Examples in memory: the features of each block, and the words of each different text once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from chaffinch.methods.block_features import FEATURES
from chaffinch.methods.text_scores import LISTS, VOCABULARIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from chaffinch.page.arrays import BoolArray, FloatArray, HashArray

MOST_BLOCKS: Final = 600
"""Of one site about so many template blocks are learned from, and so many content blocks."""


@dataclass(frozen=True, eq=False)
class WordLists:
    """Lists of words, each list once: `words[token[start[i]:start[i + 1]]]` is the i-th."""

    words: tuple[str, ...]
    token: NDArray[np.int32]
    start: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.start) - 1

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the values of each list's words."""
        before = np.append(0.0, np.cumsum(values[self.token]))
        result: NDArray[np.float64] = before[self.start[1:]] - before[self.start[:-1]]
        return result

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many words each list has."""
        return np.diff(self.start)


@dataclass(frozen=True, eq=False)
class ExampleSet:
    """Labelled blocks of many sites, one array entry for each."""

    sites: tuple[str, ...]
    site: NDArray[np.int32]
    """The number of the block's site."""
    template: BoolArray
    features: FloatArray
    """A row for each feature, a column for each block."""
    lists: Mapping[str, WordLists]
    """The different lists of words, for each kind."""
    of: Mapping[str, NDArray[np.int64]]
    """For each kind, the number of the block's list."""
    drawn: BoolArray
    """Which blocks classifiers are trained on; the others are only asked about."""

    def __len__(self) -> int:
        return len(self.site)


class _Lists:
    """Gathers lists of words, each once."""

    def __init__(self, number_of: dict[str, int]) -> None:
        self._number_of = number_of
        self._list_of: dict[int, int] = {}
        self._tokens: list[NDArray[np.int32]] = []

    def add(self, keys: HashArray, lists: pa.Array[Any]) -> NDArray[np.int64]:
        """Take in lists by their keys, and return their numbers."""
        import pyarrow.compute as pc  # noqa: PLC0415  (slow to import)

        known = self._list_of
        unique, first = np.unique(keys, return_index=True)
        # In the order of their first places, so that it does not matter where one table ends and the next begins.
        pairs = sorted(zip(first.tolist(), unique.tolist(), strict=True))
        fresh = [(place, key) for place, key in pairs if key not in known]
        if fresh:
            taken: Any = lists.take([place for place, _ in fresh])
            encoded = taken.flatten().dictionary_encode()
            words = encoded.dictionary.to_pylist()
            numbers = np.array([self._number_of.setdefault(word, len(self._number_of)) for word in words], np.int32)
            token = numbers[encoded.indices.to_numpy(zero_copy_only=False)] if words else np.zeros(0, np.int32)
            ends = np.cumsum(pc.list_value_length(taken).to_numpy(zero_copy_only=False))
            for (_, key), part in zip(fresh, np.split(token, ends[:-1]), strict=True):
                known[key] = len(self._tokens)
                self._tokens.append(part)
        return np.array([known[key] for key in keys.tolist()], dtype=np.int64)

    def finish(self) -> WordLists:
        """Return all lists."""
        start = np.cumsum([0, *map(len, self._tokens)])
        token = np.concatenate(self._tokens) if self._tokens else np.zeros(0, dtype=np.int32)
        return WordLists(tuple(self._number_of), token, start)


def read_examples(
    files: Sequence[Path],
    counts: Mapping[str, Sequence[int]],
    *,
    seed: int = 0,
    most: int = MOST_BLOCKS,
    whole: bool = False,
) -> ExampleSet:
    """Read examples, of large sites only a sample; `counts` tells pages, template and content blocks of each site.

    With `whole`, all are read, those that are not of the sample to be asked about only.
    Which blocks are taken follows from the seed, their pages and texts, whatever the order of the files.
    """
    names = sorted(counts)
    number_of = {name: number for number, name in enumerate(names)}
    shares = np.array([[most / max(1, counts[name][2]), most / max(1, counts[name][1])] for name in names])
    gathered: dict[str, list[NDArray[Any]]] = {name: [] for name in ("site", "template", "features", "drawn", *LISTS)}
    # Lists of one vocabulary number its words alike.
    vocabularies: dict[str, dict[str, int]] = {name: {} for name in VOCABULARIES}
    lists = {name: _Lists(vocabularies[vocabulary]) for name, vocabulary in LISTS.items()}
    for table in _tables(files):
        site = np.array([number_of[str(name)] for name in table["site"].to_pylist()], dtype=np.int32)
        template = table["template"].to_numpy().astype(np.bool_)
        text = table["text"].to_numpy().astype(np.uint64)
        drawn = (
            _drawn([str(page) for page in table["page"].to_pylist()], text, seed)
            < shares[site, template.astype(np.int8)]
        )
        taken = drawn | whole
        table, text = table.filter(taken), text[taken]  # noqa: PLW2901  (the rest of a table is not needed)
        gathered["site"].append(site[taken])
        gathered["template"].append(template[taken])
        gathered["drawn"].append(drawn[taken])
        gathered["features"].append(np.stack([table[name].to_numpy() for name in FEATURES]))
        for name in LISTS:
            column = table[name].combine_chunks()
            keys = text if name == "tokens" else _keys(column)
            gathered[name].append(lists[name].add(keys, column))
    joined = {name: np.concatenate(parts, axis=-1) for name, parts in gathered.items()}
    return ExampleSet(
        sites=tuple(names),
        site=joined["site"],
        template=joined["template"],
        features=joined["features"].astype(np.float32),
        lists={name: lists[name].finish() for name in LISTS},
        of={name: joined[name] for name in LISTS},
        drawn=joined["drawn"],
    )


def _tables(files: Iterable[Path]) -> Iterable[pa.Table]:
    import pyarrow.parquet as pq  # noqa: PLC0415  (slow to import)

    for file in files:
        source = pq.ParquetFile(file)
        for group in range(source.num_row_groups):
            yield source.read_row_group(group)


def _drawn(pages: Sequence[str], texts: HashArray, seed: int) -> NDArray[np.float64]:
    """Return for each block a number from 0 to 1 that looks random."""
    salted = {page: xxh3_64_intdigest(page.encode("utf-8", "replace"), seed) for page in set(pages)}
    mixed = np.array([salted[page] for page in pages], dtype=np.uint64) ^ texts
    with np.errstate(over="ignore"):
        mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(11)) / float(1 << 53)


def _keys(lists: pa.Array[Any]) -> HashArray:
    return np.array([xxh3_64_intdigest(" ".join(words or ()).encode()) for words in lists.to_pylist()], dtype=np.uint64)
