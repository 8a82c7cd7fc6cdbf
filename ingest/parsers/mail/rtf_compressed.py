"""Decompresses the RTF of Outlook messages ([MS-OXRTFCP])."""

from __future__ import annotations

import struct

_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor "
    rb"MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_COMPRESSED, _PLAIN = b"LZFu", b"MELA"
_SIZE = 4096
_HEADER = 16


def decompress_rtf(raw: bytes, max_bytes: int) -> bytes:
    """Return the RTF, at most `max_bytes` of it; empty where the header is none. What is damaged ends there."""
    kind = raw[8:12]
    if kind == _PLAIN:
        return raw[_HEADER : _HEADER + max_bytes]
    if kind != _COMPRESSED:
        return b""
    size = min(struct.unpack_from("<I", raw, 4)[0], max_bytes)
    window = bytearray(_DICTIONARY.ljust(_SIZE, b"\x00"))
    at, position, output = len(_DICTIONARY), _HEADER, bytearray()
    while position < len(raw) and len(output) < size:
        flags = raw[position]
        position += 1
        for bit in range(8):
            step = 2 if flags >> bit & 1 else 1
            token = raw[position : position + step]
            position += step
            if len(token) < step:
                return bytes(output[:size])
            if step == 1:
                run = token
            else:
                offset, length = token[0] << 4 | token[1] >> 4, (token[1] & 15) + 2
                if offset == at:
                    return bytes(output[:size])
                run = _copy(window, offset, length, at)
            for byte in run:
                window[at] = byte
                at = (at + 1) % _SIZE
            output += run
    return bytes(output[:size])


def _copy(window: bytearray, offset: int, length: int, at: int) -> bytes:
    """Read from the window as it is being written: a run may overlap its own beginning."""
    distance = (at - offset) % _SIZE or _SIZE
    run = bytearray()
    for index in range(length):
        run.append(window[(offset + index) % _SIZE] if index < distance else run[index - distance])
    return bytes(run)
