"""Mail header values to text: encoded words, raw 8-bit bytes, names in addresses (RFC 2047, 2231, 5322).

The standard library's structured header parser takes a second for a few dozen
kilobytes, so values come here raw and bounded (see `eml.py`).
"""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from email.utils import getaddresses

from ingest.errors import UnsupportedDocumentError
from ingest.parsers.text.charset import known_codec
from ingest.parsers.text.decoding import decode
from ingest.parsers.text.joining import collapse

_WORD = re.compile(r"=\?([^?\s*]{1,40})(?:\*[^?\s]{0,20})?\?([bBqQ])\?([^?\n]*)\?=")
_MAX_ADDRESSES = 200


def header_text(raw: str) -> str:
    """Decode a raw header value to one line of text.

    Neighbouring encoded words in one charset are joined as bytes first: Chinese
    senders cut characters in half between them, which RFC 2047 forbids.
    """
    parts: list[str] = []
    pending, charset, position = b"", "", 0
    for match in _WORD.finditer(raw):
        between = raw[position : match.start()]
        if between.strip() or match.group(1).lower() != charset:
            parts.append(_decode(pending, charset))
            pending = b""
            parts.append(_unescape(between) if between.strip() or not charset else "")
        charset = match.group(1).lower()
        pending += _word_bytes(match.group(2).lower(), match.group(3))
        position = match.end()
    parts.extend((_decode(pending, charset), _unescape(raw[position:])))
    return collapse("".join(parts))


def address_text(raw: str) -> str:
    """Return a list of addresses as `Name <address>, …`; what is no address is kept as text."""
    if "@" not in raw:
        return header_text(raw)
    found = getaddresses([raw.replace("\r", " ").replace("\n", " ")])
    shown: list[str] = []
    for name, address in found[:_MAX_ADDRESSES]:
        name, address = header_text(name), header_text(address)
        shown.append(one_address(name, address))
    text = ", ".join(filter(None, dict.fromkeys(shown)))
    more = len(found) - _MAX_ADDRESSES
    return (f"{text} and {more} more" if more > 0 else text) or header_text(raw)


def one_address(name: str, address: str) -> str:
    """Return `Name <address>`, or the one of them that there is."""
    if name and address and name.strip("'\"").lower() != address.lower():
        return f"{name} <{address}>"
    return address or name


def _word_bytes(encoding: str, text: str) -> bytes:
    ascii_text = text.encode("ascii", "ignore")
    if encoding == "q":
        return quopri.decodestring(ascii_text, header=True)
    try:
        return base64.b64decode(ascii_text + b"=" * (-len(ascii_text) % 4))
    except (binascii.Error, ValueError):
        return ascii_text


def _decode(raw: bytes, charset: str) -> str:
    if not raw:
        return ""
    return decoded_bytes(raw, charset)


def decoded_bytes(raw: bytes, charset: str | None) -> str:
    """Decode short bytes under a charset that may be wrong; never fails."""
    codec = known_codec(charset)
    if codec is not None:
        try:
            return raw.decode(codec)
        except UnicodeError:
            pass
    try:
        return decode(raw, "").text
    except UnsupportedDocumentError:
        return raw.decode(codec or "latin-1", "replace")


def _unescape(text: str) -> str:
    """Give raw 8-bit bytes, which the parser keeps as lone surrogates, their meaning."""
    if text.isascii():
        return text
    try:
        return decoded_bytes(text.encode("ascii", "surrogateescape"), None)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
