"""Training of the keyword extractor, on pages whose authors wrote their keywords into `<meta name="keywords">`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from chaffinch.keywords.candidates import key_of
from chaffinch.keywords.scoring import KeywordModel, keyword_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaffinch.keywords.candidates import Candidates
    from chaffinch.keywords.frequencies import DocumentFrequencies
    from chaffinch.page import Page

_MOST_KEYWORDS: Final = 100
_LEAST_DEVIATION: Final = 1e-6
_OTHERS: Final = 300
"""Of the candidates of a page that are no keywords so many, drawn, are learned from."""


def annotated_keywords(page: Page) -> tuple[str, ...]:
    """Return the keywords that the author of a page wrote, in lower case, each once."""
    for node in page.find("meta"):
        if (page.attribute(node, "name") or "").lower() == "keywords":
            listed = (page.attribute(node, "content") or "").replace(";", ",").split(",")
            cleaned = (" ".join(keyword.lower().split()) for keyword in listed)
            return tuple(dict.fromkeys(keyword for keyword in cleaned if keyword))[:_MOST_KEYWORDS]
    return ()


def annotated_keys(page: Page) -> frozenset[int]:
    """Return the keywords of a page as candidates are known."""
    return frozenset(key_of(keyword) for keyword in annotated_keywords(page))


def train_keyword_model(
    pages: Sequence[tuple[Candidates, frozenset[int]]], frequencies: DocumentFrequencies, *, seed: int = 0
) -> KeywordModel:
    """Train on the candidates of pages and the keys of their keywords; every page counts alike."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  (an extra)

    rows, labels, weights = [], [], []
    generator = np.random.Generator(np.random.PCG64(seed))
    for found, keys in pages:
        wanted = np.isin(found.key, np.array(sorted(keys), dtype=np.uint64))
        if not wanted.any():
            continue
        others = np.flatnonzero(~wanted)
        drawn = generator.permutation(others)[:_OTHERS]
        chosen = np.sort(np.append(np.flatnonzero(wanted), drawn))
        rows.append(keyword_rows(found, frequencies)[chosen])
        labels.append(wanted[chosen])
        weight = np.where(wanted[chosen], 1.0, len(others) / max(1, len(drawn)))
        weights.append(weight)
    values = np.concatenate(rows)
    mean, deviation = values.mean(axis=0), np.maximum(values.std(axis=0), _LEAST_DEVIATION)
    fitted = LogisticRegression(C=0.1, max_iter=500).fit(
        (values - mean) / deviation, np.concatenate(labels), sample_weight=np.concatenate(weights)
    )
    return KeywordModel(mean, deviation, fitted.coef_[0], float(fitted.intercept_[0]))
