"""Pages that say themselves that nothing was found."""

# ruff: noqa: RUF001  (letters of many scripts)

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from chaffinch.page import Page

_NOTHING: Final = re.compile(
    r"\b(?:no|0|zero)\s(?:\w+\s){0,2}?"
    r"(?:results?|matches|items|products|listings|records|jobs|hits|entries)"
    r"\s(?:were\s|was\s|have been\s)?(?:found|matched|available|to (?:show|display)|match|for\b|returned)"
    r"|\b(?:did|does|do) not match any|\b(?:did|could)(?:n['’]t| not) find (?:any|what|a match)"
    r"|\bnothing (?:was )?found"
    r"|\bfound (?:no|0) (?:results|matches|items|products)|\byour search returned no\b|\bno results\W*$"
    r"|\bkeine (?:\w+ )?(?:ergebnisse|treffer|artikel|produkte)\b|\bnichts gefunden"
    r"|\baucun (?:\w+ )?(?:résultat|produit|article)"
    r"|\bno se (?:han )?encontr(?:aron|ado|ó) (?:\w+ )?(?:resultados|productos)?|\bsin resultados"
    r"|\bnessun (?:risultato|prodotto)"
    r"|\bnenhum (?:resultado|produto)|\bgeen (?:resultaten|producten)|\bbrak wyników|\bничего не найдено"
    r"|見つかりませんでした|該当する.{0,12}(?:ありません|見つかりません)|没有找到|未找到|검색 ?결과가 없",
    re.IGNORECASE,
)
_LONGEST: Final = 200


def says_nothing_found(page: Page) -> bool:
    """Tell whether a short shown text of a page says that the search found nothing."""
    return any(len(block) <= _LONGEST and _NOTHING.search(block) is not None for block in page.blocks.texts)
