"""What is known of HTML's elements: a fixed number for each, and how a browser shows it.

Numbers are positions in `NAMES`. They stay the same within a release, so they may be kept in arrays, but files that
outlive a release keep names.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from chaffinch.page.arrays import BoolArray, SmallArray, frozen


class Visibility(IntEnum):
    """Whether a reader sees a node's text, and if not, why."""

    VISIBLE = 0
    METADATA = 1
    """In the document's head, such as the title."""
    CODE = 2
    """A script or a style sheet."""
    INERT = 3
    """Markup that browsers do not show: templates, `noscript`, fallbacks of embedded objects."""
    HIDDEN = 4
    """Hidden by the `hidden` attribute or an inline style."""
    GRAPHIC = 5
    """Inside an SVG drawing."""


TEXT: Final = 0
"""The number of a text node."""

UNKNOWN: Final = 1
"""The number of every element that the standard does not name; the page keeps the name itself."""

NAMES: Final[tuple[str, ...]] = (
    "#text", "#unknown",
    "a", "abbr", "acronym", "address", "applet", "area", "article", "aside", "audio", "b", "base", "basefont", "bdi",
    "bdo", "bgsound", "big", "blink", "blockquote", "body", "br", "button", "canvas", "caption", "center", "cite",
    "code", "col", "colgroup", "data", "datalist", "dd", "del", "details", "dfn", "dialog", "dir", "div", "dl", "dt",
    "em", "embed", "fieldset", "figcaption", "figure", "font", "footer", "form", "frame", "frameset", "h1", "h2", "h3",
    "h4", "h5", "h6", "head", "header", "hgroup", "hr", "html", "i", "iframe", "img", "input", "ins", "kbd", "keygen",
    "label", "legend", "li", "link", "listing", "main", "map", "mark", "marquee", "math", "menu", "menuitem", "meta",
    "meter", "nav", "nobr", "noembed", "noframes", "noscript", "object", "ol", "optgroup", "option", "output", "p",
    "param", "picture", "plaintext", "pre", "progress", "q", "rb", "rp", "rt", "rtc", "ruby", "s", "samp", "script",
    "search", "section", "select", "slot", "small", "source", "span", "strike", "strong", "style", "sub", "summary",
    "sup", "svg", "table", "tbody", "td", "template", "textarea", "tfoot", "th", "thead", "time", "title", "tr",
    "track", "tt", "u", "ul", "var", "video", "wbr", "xmp",
    # MathML
    "annotation", "annotation-xml", "maction", "menclose", "merror", "mfenced", "mfrac", "mi", "mmultiscripts", "mn",
    "mo", "mover", "mpadded", "mphantom", "mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub",
    "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover", "semantics",
)  # fmt: skip


class _Numbers(dict[str, int]):
    """Numbers by name, `UNKNOWN` for every other name."""

    def __missing__(self, name: str) -> int:
        return UNKNOWN


IDS: Final = _Numbers((name, number) for number, name in enumerate(NAMES))


def tag_set(*names: str) -> BoolArray:
    """Return a table over tag numbers that is true for `names`; index it with an array of tags."""
    table = np.zeros(len(NAMES), dtype=np.bool_)
    table[[IDS[name] for name in names]] = True
    return frozen(table)


BLOCK_LEVEL: Final = tag_set(
    "address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hgroup", "html", "legend", "li", "listing", "main", "marquee", "menu", "nav", "ol",
    "optgroup", "option", "p", "plaintext", "pre", "search", "section", "select", "summary", "table", "tbody", "td",
    "template", "textarea", "tfoot", "th", "thead", "title", "tr", "ul", "xmp",
)  # fmt: skip
"""Elements that start and end a line of their own."""

LINE_BREAK: Final = tag_set("br", "hr")
"""Empty elements that end a line."""

_UNSEEN_NAMES: Final[dict[Visibility, tuple[str, ...]]] = {
    Visibility.INERT: (
        "annotation", "annotation-xml", "applet", "audio", "canvas", "datalist", "embed", "iframe", "noembed",
        "noframes", "noscript", "object", "rp", "template", "title", "video",
    ),
    Visibility.GRAPHIC: ("svg",),
    Visibility.METADATA: ("head",),
    Visibility.CODE: ("script", "style"),
}  # fmt: skip


def _visibility_of() -> SmallArray:
    kinds = np.zeros(len(NAMES), dtype=np.uint8)
    for kind, names in _UNSEEN_NAMES.items():
        kinds[tag_set(*names)] = kind
    return frozen(kinds)


VISIBILITY_OF: Final = _visibility_of()
"""The visibility of what stands in each element, wherever the element stands."""

UNSEEN: Final = frozen(VISIBILITY_OF != Visibility.VISIBLE)
"""Elements whose content a reader does not see as text."""
