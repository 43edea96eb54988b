"""The language of plain text, by its letters and trigrams."""

from __future__ import annotations

from typing import Final

from turbohtml.detect import LanguageDetection, detect_language

_ENOUGH: Final = 120
"""Shorter texts (in characters) do not tell related languages apart."""

_ENOUGH_IDEOGRAPHS: Final = 40
"""Scripts that write a word in one or two characters need less."""

_IDEOGRAPHIC: Final = frozenset({"cmn", "jpn", "kor"})

MOST_READ: Final = 4000
"""More text than this does not change the answer."""

_CONFIDENT: Final = LanguageDetection(threshold=0.8)

_PAIRS: Final = """
aar aa abk ab afr af aka ak amh am ara ar arg an asm as ava av aym ay aze az bak ba bam bm bel be ben bn bis bi bod bo
bos bs bre br bul bg cat ca ces cs cha ch che ce chv cv cmn zh cor kw cos co cre cr cym cy dan da deu de div dv dzo dz
ell el eng en epo eo est et eus eu ewe ee fao fo fas fa fij fj fin fi fra fr fry fy ful ff gla gd gle ga glg gl glv gv
grn gn guj gu hat ht hau ha heb he her hz hin hi hrv hr hun hu hye hy ibo ig ido io iku iu ile ie ina ia ind id ipk ik
isl is ita it jav jv jpn ja kal kl kan kn kas ks kat ka kaz kk khm km kik ki kin rw kir ky kom kv kon kg kor ko kua kj
kur ku lao lo lat la lav lv lim li lin ln lit lt ltz lb lub lu lug lg mah mh mal ml mar mr mkd mk mlg mg mlt mt mon mn
mri mi msa ms mya my nau na nav nv nbl nr nde nd ndo ng nep ne nld nl nno nn nob nb nor no nya ny oci oc oji oj ori or
orm om oss os pan pa pes fa pli pi pol pl por pt pus ps que qu roh rm ron ro run rn rus ru sag sg san sa sin si slk sk
slv sl sme se smo sm sna sn snd sd som so sot st spa es sqi sq srd sc srp sr ssw ss sun su swa sw swe sv tah ty tam ta
tat tt tel te tgk tg tgl tl tha th tir ti ton to tsn tn tso ts tuk tk tur tr twi tw uig ug ukr uk urd ur uzb uz ven ve
vie vi vol vo wln wa wol wo xho xh yid yi yor yo zha za zho zh zul zu
""".split()

TWO_LETTERS: Final[dict[str, str]] = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
"""The two-letter code of every ISO 639-3 language that has one."""


def language_of(text: str) -> str | None:
    """Return the language of `text` as a two-letter code where one exists; None if the text leaves doubt."""
    found = detect_language(text[:MOST_READ], _CONFIDENT).language
    if found is None or len(text) < (_ENOUGH_IDEOGRAPHS if found in _IDEOGRAPHIC else _ENOUGH):
        return None
    return TWO_LETTERS.get(found, found)
