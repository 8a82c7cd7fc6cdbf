"""Bytes to text: which encoding a text file is in.

Order: byte-order marks, UTF-32 by its zero bytes, strict UTF-8, UTF-16 without a mark and
the legacy encodings by how likely the text is that each would give, then charset-normalizer
for what none of them explains. Nothing here looks at the file name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from charset_normalizer import from_bytes

from ingest.errors import UnsupportedDocumentError
from ingest.parsers.text.decoding_models import Language, log_likelihood, plausibility

_MARKS: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_SAMPLE = 64 * 1024
_WIDE: tuple[str, ...] = ("utf-16-le", "utf-16-be")
_WIDE_LANGUAGES: tuple[Language, ...] = ("zh-hans", "zh-hant", "ja", "ko", "other")
_LEGACY: tuple[tuple[str, Language], ...] = (
    ("gb18030", "zh-hans"),
    ("gb18030", "zh-hant"),
    ("big5hkscs", "zh-hant"),
    ("cp932", "ja"),
    ("euc_jis_2004", "ja"),
    ("cp949", "ko"),
    ("cp1251", "ru"),
    ("koi8-r", "ru"),
    ("cp1253", "el"),
    ("cp1255", "he"),
    ("cp1256", "ar"),
    ("cp874", "th"),
    ("cp1252", "western"),
    ("cp1250", "central"),
    ("iso8859-2", "central"),
    ("cp1254", "tr"),
)
_REPORTED = {"euc_jis_2004": "euc-jp"}
_CP932_UNDEFINED = dict.fromkeys(range(0xF8F0, 0xF8F4), "\ufffd")
"""Where Python's cp932 puts the bytes A0, FD, FE and FF, which mean nothing."""
_MIN_PLAUSIBLE = -10.0
"""Below this mean no language of ours explains the bytes."""
_HIGH = bytes(range(0x80, 0x100))
_CONTROLS = bytes(code for code in range(0x20) if code not in b"\t\n\r\f\x0b\x1b\x1a")
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")
_NEVER_TRAILS = re.compile(rb"[\x00-\x2f]")
"""Bytes that are never the second half of a character in any encoding read here."""
_CONTEXT, _LONG_LINE = 256, 8192
_ISO_2022_JP = re.compile(rb"\x1b\$[@B].{2,}?\x1b\([BJ]", re.S)


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
    sample = raw[:_SAMPLE]
    wide = _utf32(sample) if b"\x00" in sample else None
    if wide is not None:
        return _lenient(raw, wide)
    has_controls = _count(sample, _CONTROLS) > 0
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is not None and not has_controls:
        return _escaped(raw) or DecodedText(text, "utf-8")
    wide = _utf16(sample)
    if wide is not None:
        return _lenient(raw, wide)
    if _looks_binary(sample):
        return None
    if text is not None:
        return DecodedText(text, "utf-8")
    return _nearly_utf8(raw) or _legacy(raw) or _guess(raw)


def _lenient(raw: bytes, encoding: str) -> DecodedText:
    text = raw.decode(encoding, errors="replace")
    if encoding == "cp932":
        text = text.translate(_CP932_UNDEFINED)
    damaged = text.count("\ufffd")
    if damaged:
        damaged -= raw.count("\ufffd".encode(encoding)) if encoding.startswith(("utf", "gb18030")) else 0
    return DecodedText(text, _REPORTED.get(encoding, encoding), max(0, damaged))


def _count(raw: bytes, bytes_counted: bytes) -> int:
    return len(raw) - len(raw.translate(None, bytes_counted))


def _looks_binary(sample: bytes) -> bool:
    return sample.count(0) * 200 > len(sample) or _count(sample, _CONTROLS) * 50 > len(sample)


def _utf32(sample: bytes) -> str | None:
    """Every fourth pair of bytes is zero or nearly so: no other encoding has that."""
    sample = sample[: len(sample) // 4 * 4]
    for encoding in ("utf-32-le", "utf-32-be") if len(sample) >= 8 else ():
        try:
            text = sample.decode(encoding)
        except UnicodeDecodeError:
            continue
        controls = sum(1 for character in text if character < " " and character not in "\t\n\r\f\x1a\x1b")
        if controls * 50 <= len(text) and max(text) >= " ":
            return encoding
    return None


def _escaped(raw: bytes) -> DecodedText | None:
    """ISO-2022-JP is pure ASCII with escapes."""
    if b"\x1b$" in raw and _ISO_2022_JP.search(raw[: 16 * _SAMPLE]):
        decoded = _lenient(raw, "iso2022_jp_ext")
        return None if decoded.damaged else DecodedText(decoded.text, "iso-2022-jp")
    return None


def _utf16(sample: bytes) -> str | None:
    """Recognise UTF-16 without a mark where it explains the bytes better than any other reading."""
    if len(sample) < 4:
        return None
    best: tuple[float, str, Language] | None = None
    even = sample[: len(sample) // 2 * 2]
    for encoding in _WIDE:
        text = even.decode(encoding, errors="replace")
        if text.count("\ufffd") * 100 > len(text):
            continue
        for language in _WIDE_LANGUAGES:
            score = log_likelihood(text, language)
            if best is None or score > best[0]:
                best = (score, encoding, language)
    if best is None:
        return None
    text = even.decode(best[1], errors="replace")
    if best[0] / len(text) < _MIN_PLAUSIBLE or plausibility(text, best[2]) < _MIN_PLAUSIBLE:
        return None
    narrow = max(log_likelihood(even.decode(encoding, errors="replace"), language) for encoding, language in _NARROW)
    return best[1] if best[0] > narrow else None


_NARROW: tuple[tuple[str, Language], ...] = (("utf-8", "zh-hans"), ("utf-8", "other"), *_LEGACY)


def _nearly_utf8(raw: bytes) -> DecodedText | None:
    """UTF-8 with some damage: many sequences that are right are no accident in any other encoding."""
    decoded = _lenient(raw, "utf-8")
    right = sum(1 for _ in re.finditer(rb"[\xc3-\xf4][\x80-\xbf]+", raw[: 16 * _SAMPLE]))
    damaged = decoded.damaged if len(raw) <= 16 * _SAMPLE else _lenient(raw[: 16 * _SAMPLE], "utf-8").damaged
    good = right - damaged
    return decoded if good >= 3 and good >= 10 * damaged else None


def _legacy(raw: bytes) -> DecodedText | None:
    """Choose among the legacy encodings by the likelihood of the text; None where none explains it."""
    sample = _telling_lines(raw)
    best: tuple[float, str, Language] | None = None
    for encoding, language in _LEGACY:
        score = log_likelihood(sample.decode(encoding, errors="replace"), language)
        if best is None or score > best[0]:
            best = (score, encoding, language)
    assert best is not None
    _, encoding, language = best
    if plausibility(sample.decode(encoding, errors="replace"), language) < _MIN_PLAUSIBLE:
        return None
    return _lenient(raw, encoding)


def _telling_lines(raw: bytes) -> bytes:
    """Return what surrounds bytes outside ASCII, up to the sample's size: they may begin late in a large file."""
    found: list[bytes] = []
    size = at = 0
    while size < _SAMPLE and (high := _HIGH_BYTE.search(raw, at)):
        start = max(at, raw.rfind(b"\n", max(0, high.start() - _CONTEXT), high.start()), high.start() - _CONTEXT)
        end = raw.find(b"\n", high.start(), high.start() + _LONG_LINE) + 1
        if not end:
            stop = _NEVER_TRAILS.search(raw, high.start() + _LONG_LINE)
            end = min(stop.end() if stop else len(raw), high.start() + _SAMPLE)
        found.append(raw[start:end])
        size += end - start
        at = end
    return b"".join(found)


def _guess(raw: bytes) -> DecodedText | None:
    sample = _telling_lines(raw)
    guess = from_bytes(sample).best()
    if guess is not None:
        decoded = _lenient(raw, guess.encoding)
        if decoded.damaged <= 1 + len(raw) // 1000:
            return decoded
    if _count(sample, _HIGH) * 3 > len(sample):
        return None
    return _lenient(raw, "cp1252")
