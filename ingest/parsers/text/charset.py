"""Text whose encoding is declared (by a header, a meta element, an XML prolog): believed only where it fits."""

from __future__ import annotations

import codecs

from ingest.parsers.text.decoding import DecodedText, decode

_WIDER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "iso8859-1": "cp1252",
    "ascii": "utf-8",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""Declared → what is really written under that name; each decodes all that the declared one does."""
_NOT_FOR_TEXT = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf-7"})
"""Codecs that Python knows but no document is in; some take quadratic time."""
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode_declared(raw: bytes, declared: str | None, name: str) -> DecodedText:
    """Decode as declared where every byte has a meaning in that encoding, else by content.

    Args:
        raw: the text's bytes.
        declared: the encoding's name as the document gives it; None where it gives none.
        name: display name, for the message.

    Raises:
        UnsupportedDocumentError: the bytes are no text in any encoding known here.
    """
    codec = known_codec(declared)
    if codec is None or raw.startswith(_MARKS):
        return decode(raw, name)
    try:
        text = raw.decode(codec)
    except UnicodeError:
        return decode(raw, name)
    return DecodedText(text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", ""), codec)


def known_codec(declared: str | None) -> str | None:
    """Return the codec to decode with; None for names that mean nothing, or nothing for text."""
    if not declared:
        return None
    try:
        found = codecs.lookup(declared.strip().strip("\"'")).name
    except (LookupError, ValueError):
        return None
    name = _WIDER.get(found, found)
    return None if name in _NOT_FOR_TEXT or not _gives_text(name) else name


def _gives_text(codec: str) -> bool:
    """Tell text encodings from codecs such as `base64`; an empty input would not show it."""
    try:
        b"a".decode(codec)
    except LookupError:
        return False
    except UnicodeError:
        return True
    return True
