"""Encodings are decided as browsers do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch.page import parse
from chaffinch.page.decoding import decode

GERMAN = "<p>Grüße aus Köln</p>"
JAPANESE = "<p>日本語の長い文章がここにあります。鳥の声が聞こえる。</p>"


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        (GERMAN.encode(), None, GERMAN),
        (b"\xef\xbb\xbf" + GERMAN.encode(), None, GERMAN),
        (b"\xef\xbb\xbf" + GERMAN.encode(), "iso-8859-1", GERMAN),
        (GERMAN.encode("utf-16"), None, GERMAN),
        (GERMAN.encode("latin-1"), "iso-8859-1", GERMAN),
        (GERMAN.encode("latin-1"), "  'ISO-8859-1' ", GERMAN),
        (b"<meta charset=latin1>" + GERMAN.encode("latin-1"), None, "<meta charset=latin1>" + GERMAN),
        (GERMAN.encode(), "no-such-charset", GERMAN),
        (GERMAN.encode(), "utf-8\x00", GERMAN),
        ("<p>‘quoted’</p>".encode("cp1252"), "iso-8859-1", "<p>‘quoted’</p>"),
        (JAPANESE.encode("shift_jis"), None, JAPANESE),
        (JAPANESE.encode("euc_jp"), "euc-jp", JAPANESE),
        (b"<meta charset=latin1>" + GERMAN.encode(), "utf-8", "<meta charset=latin1>" + GERMAN),
        (b"a\x00b", None, "a\x00b"),
        (b"", None, ""),
        (b"broken \xff\xfe utf-8 \xc3", "utf-8", "broken \ufffd\ufffd utf-8 \ufffd"),
    ],
)
def test_decode(body: bytes, charset: str | None, text: str) -> None:
    assert decode(body, charset).text == text


@given(st.binary(max_size=200), st.none() | st.text(max_size=12))
def test_any_bytes_decode(body: bytes, charset: str | None) -> None:
    decode(body, charset).text.encode()


def test_lone_surrogates_are_replaced() -> None:
    assert parse("<p>a\ud800b").text == "a\ufffdb"
