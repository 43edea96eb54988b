"""What elements mean in Markdown."""

from __future__ import annotations

from typing import Final

from chaffinch.page.tags import tag_set
from chaffinch.render.code import PREFORMATTED

LONGEST_HEADING: Final = 8

LISTS: Final = tag_set("dir", "menu", "ol", "ul")
MEANT: Final = LISTS | PREFORMATTED | tag_set(
    "a", "b", "blockquote", "cite", "code", "dd", "del", "dfn", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "i",
    "kbd", "li", "q", "rt", "s", "samp", "strike", "strong", "sub", "sup", "tt",
)  # fmt: skip
EMPTY: Final = tag_set("br", "hr", "input")

CODE_NAMES: Final = ("code", "kbd", "samp", "tt")
EMPHASIS_OF: Final = {
    "b": "strong", "cite": "em", "del": "del", "dfn": "em", "em": "em", "i": "em", "s": "del", "strike": "del",
    "strong": "strong",
}  # fmt: skip
WRAPPED: Final = {"sup": ("<sup>", "</sup>"), "sub": ("<sub>", "</sub>"), "q": ("“", "”"), "rt": ("(", ")")}
