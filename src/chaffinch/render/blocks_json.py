"""All leaf text blocks of a page with their scores, as one line of JSON.

The text is `{"blocks": [...]}` with one object for each of `page.blocks`, kept or not, in order:

- `text`: the whole text of the block, white space folded;
- `tag`: the name of the block-level element around it;
- `score`: the mean score of its text nodes, weighted by their words, to four digits; null without scores;
- `kept`: whether at least half of its words are kept;
- `words`, `link_words`: how many words it has, and how many of them stand in links;
- `kept_text`: the kept part of its text, only if it is neither kept nor left out as a whole.

In blocks without words, such as a line of stars, every text node weighs the same.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np

from chaffinch.render.selection import fold

if TYPE_CHECKING:
    from chaffinch.page.arrays import BoolArray, FloatArray
    from chaffinch.page.table import Page


def render_json(page: Page, kept: BoolArray, scores: FloatArray | None) -> str:
    """Render all blocks as JSON."""
    blocks = page.blocks
    count = len(blocks)
    inside = np.flatnonzero((blocks.of_text >= 0) & page.shown_text_nodes)
    block = blocks.of_text[inside]
    words = blocks.text_words[inside].astype(np.float64)
    wordless = np.bincount(block, weights=words, minlength=count) == 0
    weight = np.where(wordless[block], 1.0, words)
    total = np.maximum(np.bincount(block, weights=weight, minlength=count), 1.0)
    is_kept = kept[inside]
    share = np.bincount(block, weights=weight * is_kept, minlength=count) / total
    partly = np.bincount(block[is_kept], minlength=count) % np.maximum(np.bincount(block, minlength=count), 1) > 0
    mean = [None] * count if scores is None else _means(scores[inside], block, weight, total)

    kept_parts: dict[int, list[str]] = {}
    chosen = partly[block] & is_kept
    for number, index in zip(block[chosen].tolist(), inside[chosen].tolist(), strict=True):
        kept_parts.setdefault(number, []).append(page.texts[index])

    result = []
    for number, (text, container, keep, size, linked) in enumerate(
        zip(
            blocks.texts,
            page.block_element[page.parent[blocks.first]].tolist(),
            (share >= 0.5).tolist(),
            blocks.words.tolist(),
            blocks.link_words.tolist(),
            strict=True,
        )
    ):
        entry: dict[str, object] = {
            "text": text,
            "tag": page.name_of(container) if container >= 0 else "",
            "score": mean[number],
            "kept": keep,
            "words": size,
            "link_words": linked,
        }
        if number in kept_parts:
            entry["kept_text"] = fold(" ".join(kept_parts[number]))
        result.append(entry)
    return json.dumps({"blocks": result}, ensure_ascii=False, separators=(",", ":"))


def _means(
    scores: FloatArray,
    block: np.ndarray[tuple[int], np.dtype[np.int32]],
    weight: np.ndarray[tuple[int], np.dtype[np.float64]],
    total: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> list[float | None]:
    sums = np.bincount(block, weights=weight * scores, minlength=len(total))
    return [round(mean, 4) if math.isfinite(mean) else None for mean in (sums / total).tolist()]
