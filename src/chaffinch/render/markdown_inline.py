"""One paragraph of Markdown from pieces of text and markers.

The walk over the page only notes what it meets. Here markers move to the words they belong to, markers around nothing
and markers that no reader would take for one are dropped, and text is escaped where it would be read as markup.
"""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from typing import Final, NamedTuple

from chaffinch.render.selection import SPACES, fold


class Kind(IntEnum):
    """What a token is."""

    TEXT = 0
    CODE = 1
    """Text of a code span."""
    RAW = 2
    """Finished Markdown, such as an image."""
    OPEN = 3
    CLOSE = 4
    SPACE = 5
    BREAK = 6


class Token(NamedTuple):
    """A piece of a paragraph."""

    kind: Kind
    text: str
    """The text or marker as written."""
    name: str = ""
    """For markers, what they mark; for code, which span it belongs to."""


SPACE: Final = Token(Kind.SPACE, " ")
BREAK: Final = Token(Kind.BREAK, "")

LINK: Final = "link"
EMPHASES: Final = {"em": "*", "strong": "**", "del": "~~"}

_NEEDS_CARE: Final = re.compile(r"[\\`*_~<&\[\]|]")
_ESCAPED: Final = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|$)"  # a backslash that would escape
    r"|`"
    r"|(?<!\s)\*|\*(?=\S)"
    r"|(?<![^\W_])_(?=\S)|(?<!\s)_(?![^\W_])"  # not inside a word
    r"|~(?=~)|(?<=~)~"
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=\#[0-9]|\#[xX][0-9a-fA-F]|[A-Za-z][A-Za-z0-9]*;)"
    r"|\](?=[(\[:])"
    r"|\[(?=\^)"
)
_BRACKET: Final = re.compile(r"(?<!\\)[\[\]]")
_LINE_START: Final = re.compile(
    r"^(?=#{1,6}(?:[ \t]|$)|>|[-+*](?:[ \t]|$)|={2,}[ \t]*$|-{2,}[ \t]*$|:[ \t]|\|)|^([0-9]{1,9})(?=[.)](?:[ \t]|$))",
    re.MULTILINE,
)
_BACKTICKS: Final = re.compile(r"`+")


_UNMARKED: Final = {Kind.TEXT, Kind.SPACE}


def assemble(tokens: list[Token], line_break: str) -> str:
    """Write a paragraph; "" if nothing in it is to be read.

    `line_break` stands for `<br>`; if it is one, what would be markup at the start of a line is escaped.
    """
    kinds = {token.kind for token in tokens}
    if kinds <= _UNMARKED:
        text = escape(fold("".join([token.text for token in tokens])))
    else:
        pieces = _place(tokens, line_break)
        if Kind.OPEN in kinds and any(piece.name in EMPHASES for piece in pieces):
            _drop_idle_emphasis(pieces)
        text = _write(pieces)
    return _LINE_START.sub(lambda match: (match[1] or "") + "\\", text) if "\n" in line_break else text


def _place(tokens: list[Token], line_break: str) -> list[Token]:
    """Fold white space and move it out of the markers; leave out markers around nothing."""
    pieces: list[Token] = []
    pending: list[Token] = []
    spaced = broken = False
    for token in tokens:
        kind, text, name = token
        if kind is Kind.SPACE:
            spaced = True
        elif kind is Kind.BREAK:
            broken = True
        elif kind is Kind.OPEN:
            pending.append(token)
        elif kind is Kind.CLOSE:
            if pending:
                pending.pop()
            else:
                pieces.append(token)
        elif core := text if kind is Kind.RAW else fold(text):
            spaced = spaced or text[0] in SPACES
            if pieces and (broken or spaced):
                pieces.append(Token(Kind.RAW, line_break) if broken else _space(pieces[-1], token, pending))
            _open(pieces, pending)
            pieces.append(Token(kind, core, name))
            spaced, broken = kind is not Kind.RAW and text[-1] in SPACES, False
        else:
            spaced = True
    return pieces


def _space(last: Token, following: Token, between: list[Token]) -> Token:
    """Return the space between two pieces; inside one code span it is code."""
    if not between and last.kind is Kind.CODE and following.kind is Kind.CODE and last.name == following.name:
        return Token(Kind.CODE, " ", last.name)
    return Token(Kind.TEXT, " ")


def _open(pieces: list[Token], pending: list[Token]) -> None:
    """Write the markers that wait for text; where the same emphasis has just ended, it goes on instead."""
    for opener in pending:
        last = pieces[-1] if pieces else None
        if last and last.kind is Kind.CLOSE and last.name == opener.name and opener.name in EMPHASES:
            pieces.pop()
        else:
            pieces.append(opener)
    pending.clear()


def _drop_idle_emphasis(pieces: list[Token]) -> None:
    """Blank the markers of emphasis that CommonMark would not take for such, because of the characters beside them.

    A marker opens if text follows at once, and before it stands white space or punctuation, or behind it no
    punctuation; and closes the other way round.
    """
    before = _neighbours(pieces, 1)
    behind = _neighbours(pieces, -1)
    opened: list[int] = []
    for number, piece in enumerate(pieces):
        if piece.kind is Kind.OPEN:
            opened.append(number)
        elif piece.kind is Kind.CLOSE and opened:
            start = opened.pop()
            if piece.name not in EMPHASES:
                continue
            opens = bool(before[start]) and _flanks(before[start], behind[start])
            closes = _flanks(behind[number], before[number])
            if not opens or not closes:
                pieces[start] = pieces[number] = Token(Kind.TEXT, "")


def _neighbours(pieces: list[Token], step: int) -> list[str]:
    """Return for each piece the character before it (`step` 1) or behind it (-1), markers of emphasis passed over.

    Where markers that close meet markers that open, those that open have nothing before them: "".
    """
    result = [""] * len(pieces)
    character = " "
    last: Token | None = None
    for number in range(len(pieces))[::step]:
        piece = pieces[number]
        is_emphasis = piece.kind in (Kind.OPEN, Kind.CLOSE) and piece.name in EMPHASES
        meets = is_emphasis and last is not None and last.kind is not piece.kind and piece.kind is Kind.OPEN
        result[number] = "" if meets and step == 1 else character
        if is_emphasis:
            last = piece
            continue
        last = None
        if piece.text:
            shown = "`" if piece.kind is Kind.CODE else piece.text[-1 if step == 1 else 0]
            character = shown
    return result


def _flanks(outside: str, inside: str) -> bool:
    return not _is_punctuation(inside) or outside.isspace() or _is_punctuation(outside)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _write(pieces: list[Token]) -> str:
    parts: list[str] = []
    texts: list[str] = []
    linked = 0
    position, count = 0, len(pieces)
    while position < count:
        kind, text, _ = pieces[position]
        if kind is Kind.TEXT or kind is Kind.CODE:
            while position < count and pieces[position].kind is kind:
                texts.append(pieces[position].text)
                position += 1
            together = "".join(texts)
            texts.clear()
            parts.append(code_span(together) if kind is Kind.CODE else escape(together, linked=linked > 0))
            continue
        if kind is Kind.OPEN and text == "[":
            linked += 1
            if parts and parts[-1].endswith("!"):
                parts[-1] = parts[-1][:-1] + "\\!"
        elif kind is Kind.OPEN and text == "(" and parts and parts[-1].endswith("]"):
            text = "\\("
        elif kind is Kind.CLOSE and text.startswith("]"):
            linked -= 1
        parts.append(text)
        position += 1
    return "".join(parts)


def escape(text: str, *, linked: bool = False) -> str:
    """Escape what would be read as markup wherever it stands in a line; in links brackets too."""
    if not _NEEDS_CARE.search(text):
        return text
    text = _ESCAPED.sub(r"\\\g<0>", text)
    return _BRACKET.sub(r"\\\g<0>", text) if linked else text


def code_span(text: str) -> str:
    """Write a code span that no backtick inside can end."""
    if "`" not in text:
        return f"`{text}`"
    runs = set(map(len, _BACKTICKS.findall(text)))
    size = next(size for size in range(1, len(runs) + 2) if size not in runs)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{'`' * size}{pad}{text}{pad}{'`' * size}"


def destination(url: str) -> str:
    """Write an address as the target of a link."""
    url = re.sub(r"[\s\x00-\x1f<>\\|]", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), url)
    if _balanced(url):
        return url
    return url.replace("(", "%28").replace(")", "%29")


def _balanced(url: str) -> bool:
    """Whether the parentheses in an address pair up, at most three deep."""
    depth = 0
    for bracket in re.findall(r"[()]", url):
        depth += 1 if bracket == "(" else -1
        if not 0 <= depth <= 3:
            return False
    return depth == 0


def target(url: str, title: str) -> str:
    """Write the end of a link or an image: what follows its text."""
    if not title:
        return f"]({destination(url)})"
    quoted = fold(title).replace("\\", "\\\\").replace('"', '\\"')
    return f']({destination(url)} "{quoted}")'
