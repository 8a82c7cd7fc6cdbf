"""Whether a text layer says what the page shows: missing character maps, mojibake, letters that are not words.

PDFs show glyphs; which characters they are is a separate table that may be missing
or wrong. A reader sees the right page, and a parser gets one of the texts told here.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from string import ascii_lowercase

from ingest.parsers.pdf.lines import garbled_ratio, visible_characters
from ingest.parsers.text.joining import is_cjk

_FOREIGN_SHARE = 0.3
_FOREIGN = re.compile(r"[\u0370-\u1fff\u2c00-\u2dff\ua000-\ud7ff\ufb00-\ufdff]")
"""Where the letters of other scripts are; most pages have none, and are done with."""
_MIN_JUMPS = 6
_MAX_JUMPS = 0.2
_GLYPH_NAMES = re.compile(r"\(cid:\d+\)|/?\b(?:g|glyph|cid|index|uni|afii|a)\d{1,6}\b|/G[0-9A-F]{2,4}\b", re.I)
_MIN_LETTERS = 200
_USUAL_LATIN = frozenset("etaoinsrhldu")
_MIN_USUAL_LATIN = 0.6
"""They are 75 to 80 in 100 letters of English, German, French, Spanish, Italian; of a shifted alphabet about 50."""
_MIN_HAN = 60
_MIN_USUAL_HAN = 0.1
"""Of running Chinese text they are more than half, of a list of names a quarter; of characters at random 3 in 100."""
_USUAL_HAN = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成"
    "方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日者意无力它与长把机十民第公此已工使情"
    "明性知全三又关点正业外将两高间由问很最重并物手应向文体政美相见被利什二等产或新己制身果加月话合回特代内信表化世位次度任"
    "常先海通教原提立及比员解水名真论处义各入几口认条平系气题活更别变四总何电数安少报才结反受目量再建务做接必场件计管期市直"
    "资命金指许统区保至形社决治展科司五基书非则界达权思完设式路记南品住告类求据程北交规万取格术领共确传师清今切院识带导运股"
    "這個們來為國說時會對發後種經現當沒動還進樣實無與長機關點業將兩間問並應體見產員論處義條氣題別變總電數報結務場計資許統區"
    "決書達權設類據規萬術領傳師識帶導運"
)
_MOJIBAKE = re.compile(r"[\u0080-\u00ff\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u2122]{2,}")
_HAN_RUN = re.compile(r"[\u4e00-\u9fff\u3000-\u312f\ue000-\uf8ff\uff00-\uffef\u2018-\u201d\u20ac\ufffd]{6,}")
_MIN_READ_BACK = 0.75
"""Share of a run's bytes; Chinese that is right gives about a fifth, by chance."""


def illegible_ratio(text: str) -> float:
    """Return the share of visible characters (0 to 1) that are not what the page shows; 0 for empty text."""
    visible = visible_characters(text)
    if not visible:
        return 0.0
    if _is_shifted_latin(text) or _is_shifted_han(text) or _is_of_many_scripts(text):
        return 1.0
    names = sum(len(match.group()) for match in _GLYPH_NAMES.finditer(text)) / visible
    # A few such names are words of a text about fonts.
    named = names if names > 0.3 else 0.0
    return min(1.0, max(garbled_ratio(text), named, _mojibake(text) / visible))


def is_in_foreign_script(text: str) -> bool:
    """Tell whether many letters are of a script that the recogniser cannot read: Hangul, Arabic or Cyrillic."""
    if _is_of_many_scripts(text):
        return False
    letters = [character for character in text if character.isalpha() and not garbled_ratio(character)]
    foreign = sum(1 for character in letters if not _is_readable(character))
    return foreign > _FOREIGN_SHARE * len(letters)


def _is_shifted_latin(text: str) -> bool:
    lower = text.lower()
    letters = sum(map(lower.count, ascii_lowercase))
    if letters < _MIN_LETTERS:
        return False
    return sum(map(lower.count, _USUAL_LATIN)) < _MIN_USUAL_LATIN * letters


def _is_shifted_han(text: str) -> bool:
    if text.isascii():
        return False
    han = [character for character in text if "\u4e00" <= character <= "\u9fff"]
    if len(han) < _MIN_HAN or any("\u3040" <= character <= "\u30ff" for character in text):
        # Japanese has other usual characters, and its kana in between.
        return False
    return sum(1 for character in han if character in _USUAL_HAN) < _MIN_USUAL_HAN * len(han)


def _is_of_many_scripts(text: str) -> bool:
    """Characters at random jump from script to script inside a word; a list of languages does not."""
    if not _FOREIGN.search(text):
        return False
    pairs = [(left, right) for left, right in pairwise(text) if left.isalpha() and right.isalpha()]
    jumps = sum(1 for left, right in pairs if _script(left) != _script(right))
    return jumps >= _MIN_JUMPS and jumps > _MAX_JUMPS * len(pairs)


def _script(character: str) -> str:
    if _is_readable(character):
        return ""
    return unicodedata.name(character, "?").split()[0]


def _is_readable(letter: str) -> bool:
    """Tell whether a letter is of a script that the recogniser reads: Latin, Chinese, Japanese."""
    return ord(letter) < 0x250 or is_cjk(letter)


def _mojibake(text: str) -> int:
    """Count characters of runs that are UTF-8 once they are written back as what they were taken for."""
    count = 0
    for match in _MOJIBAKE.finditer(text):
        count += len(match.group()) * any(_is_utf8(match.group(), codec) for codec in ("cp1252", "latin-1"))
    for match in _HAN_RUN.finditer(text):
        count += len(match.group()) * _is_utf8(match.group(), "gb18030")
    return count


def _is_utf8(run: str, codec: str) -> bool:
    written = run.encode(codec, "ignore")
    meant = written.decode("utf-8", "ignore")
    words = sum(1 for character in meant if is_cjk(character) or character.isalpha() or character in "’‘“”–—…•")
    return len(meant.encode()) >= _MIN_READ_BACK * len(written) > 0 and words * 2 > len(meant)
