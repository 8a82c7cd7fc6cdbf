"""How likely a text is in one of the languages that legacy encodings were made for.

Unigram models, coarse on purpose: each knows its language's most frequent characters
in order, the characters that its national standard calls common, and punctuation. Values
are natural logarithms. Wrong decodings land in the rare parts of every model, which is
what tells them apart after a dozen characters.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import Literal

Language = Literal["zh-hans", "zh-hant", "ja", "ko", "ru", "el", "he", "ar", "th", "central", "tr", "western", "other"]

IMPOSSIBLE = -20.0
"""Of a byte without meaning in an encoding, and of NUL."""
CONTROL = -15.0
_RARE = -16.0
_CENTRAL_PRIOR = 1.5
"""Most letters of Windows-1250 stand where Windows-1252 has them; the rarer one has to be clearly better."""
_HANS = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同"
    "现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问"
    "很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论"
    "处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决"
)
_HANT = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同"
    "現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問"
    "很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論"
    "處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決"
)
_KANA = (
    "のにるたとはしいをでてがなれからさっりすあもこまうくよきんめおけそつだやえど"
    "わちみせじばへびずろほげむべひょゆぶごゃねふぐぎぼゅづざぞぬぜぱぽぷぴぃぁぇぺぢぉ"
)
_KATAKANA = (
    "ーンスルトリイアラックドシレジタフロカテマィグバムプオコデニウメサビナブャエュチキズダパ"
    "ミェョハセベガモツネボソノァヴワポペピケゴギザホゲォヤヒユヨ"
)
_KANJI = (
    "日一人年大十二本中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白"
    "会社業者場事方地手自的合部国同定回員目代立物表通体性関法用期全発動力度料規制新理経当内対件化取売収"
)
_HANGUL = (
    "이다는의에가고하지한를로은도어서나사기을인일대리자스부보시수정해있전아장제그라원과적들상주여관만조성비으오구국공선거업회게월유년중경연동용되것"
    "계면개무산위분안방신실였했습니할때까며우세소물매차합금민"
)
_CYRILLIC = {
    "о": 10.97, "е": 8.45, "а": 8.01, "и": 7.35, "н": 6.70, "т": 6.26, "с": 5.47, "р": 4.73, "в": 4.54, "л": 4.40,
    "к": 3.49, "м": 3.21, "д": 2.98, "п": 2.81, "у": 2.62, "я": 2.01, "ы": 1.90, "ь": 1.74, "г": 1.70, "з": 1.65,
    "б": 1.59, "ч": 1.44, "й": 1.21, "х": 0.97, "ж": 0.94, "ш": 0.73, "ю": 0.64, "ц": 0.48, "щ": 0.36, "э": 0.32,
    "ф": 0.26, "ъ": 0.04, "ё": 0.04,
}  # fmt: skip
"""Per cent of letters in the Russian National Corpus."""
_ACCENTED = {"é": -4.5} | dict.fromkeys("èàçöäüñóíáßåæ", -5.6) | dict.fromkeys("êâîôûëïúùãõøœÉÀÖÄÜÅØÆ", -6.5)
_CENTRAL = (
    dict.fromkeys("áíé", -5.2)
    | dict.fromkeys("ąćęłńóśżěščřžůýöüőäß", -5.8)
    | dict.fromkeys("źúűťďňôľĺţşăâîÁČŘŠŽŚŁŻÉÍÖÜÓŐ„”–", -6.8)
)
_TURKISH = dict.fromkeys("ışğüöç", -5.2) | dict.fromkeys("İŞĞÜÖÇâîû", -6.5)
_SCRIPTS: dict[Language, tuple[str, int, int]] = {
    "el": ("ατοιενρσκηπςυμλίόάγέδήωχθύφβώξζψΑΤΟΙΕΝΡΣΚΗΠΥΜΛ", 0x370, 0x3FF),
    "he": ("יוהלרבתמאשנעםדקחפסכגטצןזךףץ", 0x590, 0x5FF),
    "ar": ("اليمونرتبةعدسفهكقأحجشطصىخإضذثزغءئؤظآ،", 0x600, 0x6FF),
    "th": ("านรอกเงมยลวดทสตะปบคหแจพชขใไโ่้ิีัุูื์็ำผถซณญธฐศษฟฝ", 0xE00, 0xE7F),
}
"""Letters of a script in order of frequency, and where it lies in Unicode."""
_WESTERN_SIGNS = {"\u2019": -5.5} | dict.fromkeys("\u201c\u201d\u2018–—…€£°§\xa0«»¿¡·•™®©½²ºª", -7.5)
_CJK_MARKS = "，。、：；？！\u201c\u201d（）《》「」『』【】…—·％～\u3000"
_ASCII = dict(
    zip("etaoinsrhldcumfpgwybvkxjqz", (-2.4, -2.7, -2.8, -2.9, -2.9, -3.0, -3.1, *[-4.0] * 19), strict=True)
) | {" ": -1.8, "\n": -4.0, "\r": -4.5, "\t": -5.0}
_OTHER_SCRIPTS = ((0xC0, 0x24F), (0x370, 0x5FF), (0x600, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F))
_LONG_WESTERN_RUN = re.compile(r"[\x80-\uffff]{3,}")
_SIGN_IN_WORD = re.compile(r"[a-z][\xa1-\xbf][a-z]")
_SCRIPT_IN_LATIN = re.compile(r"(?<=[A-Za-z])[\u0370-\u0e7f]|[\u0370-\u0e7f](?=[A-Za-z])")
_SCRIPT_RUN = re.compile(r"[\u0370-\u0e7f]+")
_WIDE_IN_LATIN = re.compile(
    r"(?<![\u2e80-\uffff])[\u2e80-\uffff](?=[a-z])|(?<=[A-Za-z])[\u2e80-\uffff](?![\u2e80-\uffff])"
)


def log_likelihood(text: str, language: Language) -> float:
    """Return the logarithm of how likely `text` is; higher is better, comparable for the same bytes only."""
    return _sum(Counter(text), language) - _penalty(text, language)


def plausibility(text: str, language: Language) -> float:
    """Return the mean logarithm over the characters outside ASCII; true text lies above -10, misread text below."""
    wide = Counter(character for character in text if character > "\x7f")
    return (_sum(wide, language) - _penalty(text, language)) / wide.total() if wide else 0.0


def _sum(characters: Counter[str], language: Language) -> float:
    score = _SCORES[language]
    return sum(count * _character(character, score) for character, count in characters.items())


def _penalty(text: str, language: Language) -> float:
    """What the neighbours of characters say: scripts do not change inside a word."""
    if language in ("western", "central", "tr"):
        runs = sum(len(match.group()) - 2 for match in _LONG_WESTERN_RUN.finditer(text))
        return 6.0 * (runs + len(_SIGN_IN_WORD.findall(text))) + (_CENTRAL_PRIOR if language == "central" else 0.0)
    if language == "ru" or language in _SCRIPTS:
        runs = _SCRIPT_RUN.findall(text)
        lone = sum(1 for run in runs if len(run) == 1)
        return 9.0 * len(_SCRIPT_IN_LATIN.findall(text)) + 6.0 * max(0, 2 * lone - len(runs))
    return 6.0 * len(_WIDE_IN_LATIN.findall(text))


def _character(character: str, score: Callable[[str], float]) -> float:
    if character < "\x80":
        return _ascii(character)
    if character == "\ufffd":
        return IMPOSSIBLE
    if character < "\xa0" or "\ue000" <= character <= "\uf8ff" or "\ufff0" <= character <= "\uffff":
        return CONTROL - 2
    return score(character)


def _ascii(character: str) -> float:
    known = _ASCII.get(character)
    if known is not None:
        return known
    if character < " ":
        return IMPOSSIBLE if character == "\x00" else CONTROL
    return -4.7 if character.isdigit() else -5.5


def _ranked(characters: Iterable[str], mass: float) -> dict[str, float]:
    """Zipf's law over a list in order of frequency: together the characters take `mass`."""
    weights = {character: 1.0 / (rank + 8) for rank, character in enumerate(dict.fromkeys(characters))}
    scale = mass / sum(weights.values())
    return {character: math.log(weight * scale) for character, weight in weights.items()}


_MARKS = _ranked(_CJK_MARKS, 0.12)
_SIMPLIFIED = _ranked(_HANS, 0.45) | _MARKS
_TRADITIONAL = _ranked(_HANT, 0.45) | _MARKS
_JAPANESE = _ranked(_KANA, 0.48) | _ranked(_KATAKANA, 0.10) | _ranked(_KANJI, 0.16) | _MARKS
_KOREAN = _ranked(_HANGUL, 0.62) | _ranked(_CJK_MARKS, 0.02)
_RUSSIAN = (
    {letter: math.log(share / 110) for letter, share in _CYRILLIC.items()}
    | {letter.upper(): math.log(share / 1300) for letter, share in _CYRILLIC.items()}
    | dict.fromkeys("іїєґўІЇЄҐЎ", -6.5)
    | dict.fromkeys("«»—–№„\u201c\u201d…\xa0", -6.0)
)


@cache
def _code(character: str, encoding: str) -> int:
    try:
        code = character.encode(encoding)
    except UnicodeEncodeError:
        return 0
    return int.from_bytes(code, "big") if len(code) == 2 else 0


def _full_width(character: str) -> bool:
    return "\uff00" <= character <= "\uff5e" or "\u3000" <= character <= "\u303f" or "\u2010" <= character <= "\u2312"


def _hans(character: str) -> float:
    known = _SIMPLIFIED.get(character)
    if known is not None:
        return known
    if _full_width(character):
        return -9.5
    code = _code(character, "gb2312")
    if code:
        return -9.2 if 0xB0 <= code >> 8 <= 0xD7 else -12.0
    return _RARE if "\u3400" <= character <= "\u9fff" else _RARE - 1


def _hant(character: str) -> float:
    known = _TRADITIONAL.get(character)
    if known is not None:
        return known
    if _full_width(character):
        return -9.5
    code = _code(character, "big5")
    if code:
        return -9.4 if 0xA440 <= code <= 0xC67E else -12.5
    return _RARE if "\u3400" <= character <= "\u9fff" else _RARE - 1


def _ja(character: str) -> float:
    known = _JAPANESE.get(character)
    if known is not None:
        return known
    if _full_width(character) or "\u3041" <= character <= "\u30ff":
        return -9.5
    if "\uff61" <= character <= "\uff9f":
        return -12.0
    code = _code(character, "shift_jis")
    if code:
        return -9.6 if 0x889F <= code <= 0x9872 else -12.5
    return _RARE


def _ko(character: str) -> float:
    known = _KOREAN.get(character)
    if known is not None:
        return known
    if "\uac00" <= character <= "\ud7a3":
        return -8.9 if _code(character, "euc_kr") else -13.0
    if _full_width(character):
        return -9.5
    return -13.0 if _code(character, "euc_kr") else _RARE


def _ru(character: str) -> float:
    return _RUSSIAN.get(character, -11.0 if "\u0400" <= character <= "\u04ff" else _RARE + 4)


def _script(language: Language) -> Callable[[str], float]:
    letters, first, last = _SCRIPTS[language]
    known = _ranked(letters, 0.97)

    def score(character: str) -> float:
        within = first <= ord(character) <= last
        return known.get(character, -9.0 if within or character in "«»–\u201c\u201d\u2019\xa0" else -12.0)

    return score


def _central(character: str) -> float:
    return _CENTRAL.get(character, -9.5 if character.isalpha() else -10.0)


def _turkish(character: str) -> float:
    return _TURKISH.get(character, -9.5 if character.isalpha() else -10.0)


def _western(character: str) -> float:
    known = _ACCENTED.get(character) or _WESTERN_SIGNS.get(character)
    return (
        known if known is not None else -8.5 if "\xc0" <= character <= "\xff" and character not in "ðþýÐÞÝ" else -10.0
    )


def _other(character: str) -> float:
    """Letters of the scripts that lie together in Unicode: for UTF-16, where a script is not an encoding."""
    code = ord(character)
    if any(first <= code <= last for first, last in _OTHER_SCRIPTS):
        return -6.5
    return -9.0 if _full_width(character) or "\xa0" <= character <= "\xbf" or character == "\ufeff" else _RARE


_SCORES: dict[Language, Callable[[str], float]] = {
    "zh-hans": _hans,
    "zh-hant": _hant,
    "ja": _ja,
    "ko": _ko,
    "ru": _ru,
    "el": _script("el"),
    "he": _script("he"),
    "ar": _script("ar"),
    "th": _script("th"),
    "central": _central,
    "tr": _turkish,
    "western": _western,
    "other": _other,
}
