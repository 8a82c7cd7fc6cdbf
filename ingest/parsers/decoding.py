"""Bytes to text: which encoding a text file is in.

Order: byte-order marks, NUL patterns of UTF-16/32, strict UTF-8, UTF-16 without a
mark, then the legacy CJK encodings by how much of the text falls into their
frequent ranges, then charset-normalizer. Nothing here looks at the file name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from charset_normalizer import from_bytes

from ingest.errors import UnsupportedDocumentError

_MARKS: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_SAMPLE = 256 * 1024
_FREQUENT = {
    "zh-hans": frozenset(
        "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经"
    ),
    "zh-hant": frozenset(
        "的一是在不了有和人這中大為上個國我以要他時來用們生到作地於出就分對成會可主發年動同工也能下過子說產種面而方後多定行學法所民得經"
    ),
    "ja": frozenset("のはをにがとでたしていなるもれさあこかすらまよりくんっきえそだけつおめ"),
    "ko": frozenset("이다는을의에가고하지한를로은도어서나사기"),
}


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text with the encoding it was in; `damaged` counts bytes that had no meaning in it."""

    text: str
    encoding: str
    damaged: int = 0


def decode(raw: bytes, name: str) -> DecodedText:
    """Decode a text file; line ends become line feeds, a byte-order mark and NULs are dropped.

    Args:
        raw: the whole file.
        name: display name, for the message.

    Raises:
        UnsupportedDocumentError: the bytes are no text in any encoding known here.
    """
    decoded = _decode(raw)
    if decoded is None:
        raise UnsupportedDocumentError(f"{name}: binary content that is neither text nor a supported format")
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    return DecodedText(text.removeprefix("\ufeff"), decoded.encoding, decoded.damaged)


def _decode(raw: bytes) -> DecodedText | None:
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _lenient(raw[len(mark) :], encoding)
    wide = _nul_pattern(raw[:_SAMPLE])
    if wide is not None:
        return _lenient(raw, wide)
    if raw[:_SAMPLE].count(0) > len(raw[:_SAMPLE]) // 200 or _looks_binary(raw[:_SAMPLE]):
        return None
    try:
        return DecodedText(raw.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    wide = _utf16_without_mark(raw)
    if wide is not None:
        return _lenient(raw, wide)
    nearly = _lenient(raw, "utf-8")
    if 0 < nearly.damaged <= max(1, _non_ascii(raw) // 100):
        return nearly
    return _legacy(raw) or _western(raw)


def _lenient(raw: bytes, encoding: str) -> DecodedText:
    text = raw.decode(encoding, errors="replace")
    return DecodedText(text, encoding, text.count("\ufffd"))


def _non_ascii(raw: bytes) -> int:
    return sum(1 for byte in raw if byte >= 0x80)


def _looks_binary(sample: bytes) -> bool:
    controls = sum(1 for byte in sample if byte < 0x20 and byte not in b"\t\n\r\f\x0b\x1b\x1a")
    return controls * 50 > len(sample)


def _nul_pattern(sample: bytes) -> str | None:
    """Recognise UTF-16/32 without a mark by where the zero bytes of Latin characters stand."""
    sample = sample[: len(sample) // 4 * 4]
    if len(sample) < 4:
        return None
    lanes = [sample[lane::4].count(0) / (len(sample) // 4) for lane in range(4)]
    if lanes[2] > 0.9 and lanes[3] > 0.9 and lanes[0] < 0.2:
        return "utf-32-le"
    if lanes[0] > 0.9 and lanes[1] > 0.9 and lanes[3] < 0.2:
        return "utf-32-be"
    if sum(lanes) < 0.02:
        return None
    # Zero high bytes tell the order where Latin letters read the other way round are Chinese characters.
    scores = {
        "utf-16-le": _plausible(sample, "utf-16-le") + lanes[1] + lanes[3],
        "utf-16-be": _plausible(sample, "utf-16-be") + lanes[0] + lanes[2],
    }
    best = max(scores, key=lambda encoding: scores[encoding])
    return best if _plausible(sample, best) > 0.95 else None


def _utf16_without_mark(raw: bytes) -> str | None:
    if len(raw) < 8 or len(raw) % 2:
        return None
    scores = {encoding: _plausible(raw[:_SAMPLE], encoding) for encoding in ("utf-16-le", "utf-16-be")}
    best = max(scores, key=lambda encoding: scores[encoding])
    frequent = _frequent_share(raw[:_SAMPLE].decode(best, errors="replace"))
    return best if scores[best] > 0.97 and frequent > 0.08 else None


def _plausible(raw: bytes, encoding: str) -> float:
    """Share of characters that ordinary Latin or CJK text is made of."""
    text = raw[: len(raw) // 2 * 2].decode(encoding, errors="replace")
    if not text:
        return 0.0
    return sum(1 for character in text if _ordinary(ord(character))) / len(text)


def _ordinary(code: int) -> bool:
    return (
        0x20 <= code < 0x7F
        or code in (0x09, 0x0A, 0x0D)
        or 0xA0 <= code < 0x250
        or 0x2010 <= code < 0x2040
        or 0x3000 <= code < 0x3100
        or 0x4E00 <= code < 0xA000
        or 0xAC00 <= code < 0xD7B0
        or 0xFF00 <= code < 0xFFF0
        or code == 0xFEFF
    )


def _frequent_share(text: str) -> float:
    letters = [character for character in text if ord(character) > 0x7F]
    if not letters:
        return 0.0
    return max(sum(1 for character in letters if character in known) for known in _FREQUENT.values()) / len(letters)


def _gb_frequent(code: int) -> bool:
    lead, trail = code >> 8, code & 0xFF
    return (0xB0 <= lead <= 0xD7 or 0xA1 <= lead <= 0xA3) and trail >= 0xA1


def _big5_frequent(code: int) -> bool:
    return 0xA440 <= code <= 0xC67E or 0xA140 <= code <= 0xA3BF


def _sjis_frequent(code: int) -> bool:
    return 0x8140 <= code <= 0x8396 or 0x889F <= code <= 0x9872


def _euckr_frequent(code: int) -> bool:
    lead, trail = code >> 8, code & 0xFF
    return (0xB0 <= lead <= 0xC8 or 0xA1 <= lead <= 0xA3) and trail >= 0xA1


_LEGACY: tuple[tuple[str, str, Callable[[int], bool]], ...] = (
    ("gb18030", "zh-hans", _gb_frequent),
    ("big5hkscs", "zh-hant", _big5_frequent),
    ("cp932", "ja", _sjis_frequent),
    ("cp949", "ko", _euckr_frequent),
)


def _legacy(raw: bytes) -> DecodedText | None:
    """Choose among GB18030, Big5, Shift-JIS and EUC-KR; None where none fits."""
    best: tuple[float, DecodedText] | None = None
    for encoding, script, frequent in _LEGACY:
        decoded = _almost_strict(raw, encoding)
        if decoded is None:
            continue
        score = _legacy_score(decoded.text, encoding, script, frequent)
        if best is None or score > best[0]:
            best = (score, decoded)
    return best[1] if best is not None and best[0] >= 0.55 else None


def _almost_strict(raw: bytes, encoding: str) -> DecodedText | None:
    """Decode; a cut last character and one bad pair in a thousand are forgiven."""
    decoded = _lenient(raw, encoding)
    return decoded if decoded.damaged <= 1 + _non_ascii(raw) // 1000 else None


def _legacy_score(text: str, encoding: str, script: str, frequent: Callable[[int], bool]) -> float:
    letters = [character for character in text[:_SAMPLE] if ord(character) > 0x7F and character != "\ufffd"]
    if not letters or _stands_between_latin(text[:_SAMPLE]):
        return 0.0
    known = _FREQUENT[script]
    common = sum(1 for character in letters if frequent(_code(character, encoding)))
    function = sum(1 for character in letters if character in known)
    return (common + 2 * function) / len(letters)


def _code(character: str, encoding: str) -> int:
    try:
        return int.from_bytes(character.encode(encoding), "big")
    except UnicodeEncodeError:
        return 0


_LATIN_NEIGHBOUR = re.compile(r"[A-Za-z][^\x00-\x7f][A-Za-z ]")
_ANY_WIDE = re.compile(r"[^\x00-\x7f]+")


def _stands_between_latin(text: str) -> bool:
    """One wide character between Latin letters, again and again, is an accented letter misread."""
    runs = len(_ANY_WIDE.findall(text))
    return runs > 0 and len(_LATIN_NEIGHBOUR.findall(text)) * 2 > runs


def _western(raw: bytes) -> DecodedText | None:
    western = _lenient(raw, "cp1252")
    if not western.damaged and _reads_western(western.text[:_SAMPLE]):
        return western
    guess = from_bytes(raw[:_SAMPLE]).best()
    if guess is not None:
        decoded = _lenient(raw, guess.encoding)
        if decoded.damaged <= 1 + len(raw) // 1000:
            return decoded
    if _non_ascii(raw) * 3 > len(raw):
        return None
    return _lenient(raw, "cp1252")


_WESTERN_LETTERS = frozenset("àâäáãåæçéèêëíìîïñóòôöõøœúùûüÿßšžÀÂÄÁÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜŸŠŽ")
_WESTERN_SIGNS = frozenset("€‚„…†‡‰‹‘’“”•–—™›¡¢£¥§©ª«¬®°±²³´µ¶·¹º»¼½¾¿×\xa0")


def _reads_western(text: str) -> bool:
    """Accents on some letters, signs never inside a word: what Cyrillic or Polish read as cp1252 is not."""
    accented = sum(1 for character in text if character in _WESTERN_LETTERS)
    letters = sum(1 for character in text if character.isalpha())
    others = sum(1 for character in text if ord(character) > 0x7F) - accented
    signs = sum(1 for character in text if character in _WESTERN_SIGNS)
    inside = len(re.findall(r"[a-z][¡¢£¥§©ª«¬®±²³µ¶¹»¼½¾¿][a-z]", text))
    return accented * 4 <= letters and others == signs and not inside
