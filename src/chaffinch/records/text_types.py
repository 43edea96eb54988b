"""What kind of value a text is: a price, a date, a number, a hyperlink, or just text; in several languages."""

# ruff: noqa: RUF001  (marks and letters of many scripts are what this is about)

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import Final


class TextType(IntEnum):
    """The five types of data strings."""

    TEXT = 0
    NUMBER = 1
    DATE = 2
    PRICE = 3
    HYPERLINK = 4


_MONTH: Final = (
    r"(?:jan(?:uary|uar|vier|uari)?|janv|ene(?:ro)?|gen(?:naio)?|feb(?:ruary|ruar|rero|braio|ruari)?|f[eé]vr?(?:ier)?|"
    r"mar(?:ch|s|zo|[cç]o)?|m[aä]rz|mrt|maart|apr(?:il|ile)?|avr(?:il)?|abr(?:il)?|ma[iyj]o?|mei|maggio|jun[ei]?(?:o)?|"
    r"juin|giugno|jul(?:y|i|io)?|juil(?:let)?|luglio|aug(?:ust|ustus)?|ao[uû]t|ago(?:sto)?|sep(?:t|tember|tembre)?|"
    r"set(?:tembre|embro)?|o[ckt]t?(?:ober|obre|ubre|tobre)|oct|okt|ott|out(?:ubro)?|nov(?:ember|embre|iembre|embro)?|"
    r"de[cz](?:ember|embro)?|d[eé]c(?:embre)?|dic(?:iembre|embre)?|"
    r"янв\w*|фев\w*|мар\w*|апр\w*|ма[йя]|июн\w*|июл\w*|авг\w*|сен\w*|окт\w*|ноя\w*|дек\w*)\.?"
)
_TIME: Final = r"\d{1,2}(?::\d{2}){1,2}(?:\s?[ap]\.?m\.?)?|\d{1,2}\s?[ap]\.?m\.?"
_DAY: Final = (
    r"(?:mon|tue|wed|thu|fri|sat|sun|mon|tues|wednes|thurs|fri|satur|sun)(?:day)?|montag|dienstag|mittwoch|donnerstag|"
    r"freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
)
_AGO: Final = (
    r"(?:about |over )?(?:an?|\d+\+?)\s?"
    r"(?:sec(?:ond)?s?|min(?:ute)?s?|h(?:ou)?rs?|days?|weeks?|months?|years?|[smhdwy])"
    r"\s?ago|(?:il y a|vor|hace|fa)\s\d+\s\w+|\d+\s?(?:分|時間|日|週間|か月|年|小时|天)前"
    r"|today|yesterday|heute|gestern|hier|ayer"
)
_DATES: Final = re.compile(
    rf"(?:\d{{4}}[-/.年]\s?\d{{1,2}}[-/.月]\s?\d{{1,2}}日?(?:[t ]?{_TIME})?"
    rf"|\d{{1,2}}[-/.]\d{{1,2}}[-/.](?:\d{{4}}|\d{{2}})"
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th)?\.?[\s-])?(?:de\s|of\s)?{_MONTH}(?:[\s,-]+\d{{1,2}}(?:st|nd|rd|th)?(?!\d))?"
    rf"(?:[\s,-]+(?:de\s)?(?:\d{{4}}|'?\d{{2}}))?"
    rf"|{_AGO})",
    re.IGNORECASE,
)
_AGO_ALONE: Final = re.compile(_AGO, re.IGNORECASE)
_AROUND_DATE: Final = re.compile(
    rf"(?:{_TIME}|{_DAY}|at|on|um|à|le|a las|utc|gmt|[ecmp][sd]?t|[\s,.:;|()\[\]\-–—·@])+", re.IGNORECASE
)
_NUMBER: Final = re.compile(
    r"[#(+~≈<>-]?\s?\d[\d.,' \u00a0]*(?:\s?(?:%|[kmb]\b|st|nd|rd|th|°))?(?:\s?/\s?\d[\d.,]*)?\)?\+?", re.IGNORECASE
)
_CURRENCY: Final = (
    r"(?:us|ca?|au?|nz|hk|s|r|mx|nt)?\$|[€£¥₹₽₩₺₫฿₴₦]"
    r"|usd|eur|gbp|cad|aud|jpy|chf|sek|nok|dkk|pln|czk|inr|(?:rs|kr)(?:\.|(?=\s|/|$))|zł|kč|руб\.?|円|元"
)
_AMOUNT: Final = r"\d[\d.,' \u00a0]*(?:[.,]-)?[km]?"
_PRICE: Final = re.compile(
    rf"(?:(?:from|now|only|was|save|ab|à partir de|desde|nur|von|price:?)\s)?"
    rf"(?:(?:{_CURRENCY})\s?{_AMOUNT}(?:\s?(?:{_CURRENCY}))?|{_AMOUNT}\s?(?:{_CURRENCY}))"
    rf"(?:\s?(?:-|–|to|bis|/)\s?(?:{_CURRENCY})?\s?{_AMOUNT}(?:\s?(?:{_CURRENCY}))?)?"
    rf"(?:\s?(?:/|per|each|a|an|p\.)?\s?\w{{0,7}}\.?)?",
    re.IGNORECASE,
)
_LINK: Final = re.compile(
    r"(?:https?://|www\.)\S+(?:\s?[›>/.…]\s?\S+)*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:[\w-]+\.)+(?:com|org|net|edu|gov|io|info|biz|[a-z]{2})(?:(?:/|\s›\s)\S*)*",
    re.IGNORECASE,
)
_LONGEST: Final = 80


@lru_cache(maxsize=1 << 16)
def type_of(text: str) -> TextType:
    """Return the type of a text by itself (a text in a link may be a hyperlink for that alone)."""
    bare = text.strip(" \t\r\n\u00a0")
    if not bare or len(bare) > 4 * _LONGEST:
        return TextType.TEXT
    if _LINK.fullmatch(bare):
        return TextType.HYPERLINK
    if len(bare) > _LONGEST or not any(map(str.isdigit, bare)):
        return TextType.DATE if _AGO_ALONE.fullmatch(bare) else TextType.TEXT
    return _type_of_digits(bare)


def _type_of_digits(bare: str) -> TextType:
    if _NUMBER.fullmatch(bare):
        return TextType.DATE if _DATES.fullmatch(bare) else TextType.NUMBER
    if _PRICE.fullmatch(bare):
        return TextType.PRICE
    rest, dates = _DATES.subn(" ", bare)
    only_date = dates and (not rest.strip() or _AROUND_DATE.fullmatch(rest))
    return TextType.DATE if only_date else TextType.TEXT
