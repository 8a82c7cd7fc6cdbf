"""The body in a message's RTF: the HTML that Outlook wrapped into it, or its plain text ([MS-OXRTFEX], RTF 1.9)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from ingest.parsers.mail.mail_headers import decoded_bytes

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.S
)
_SKIPPED = frozenset({
    b"colortbl", b"stylesheet", b"info", b"pict", b"object", b"header", b"footer", b"headerl", b"headerr", b"footerl",
    b"footerr", b"fldinst", b"listtable", b"listoverridetable", b"pntext", b"generator", b"themedata",
})  # fmt: skip
_CHARACTERS = {
    b"par": "\n", b"line": "\n", b"sect": "\n", b"page": "\n", b"row": "\n", b"tab": "\t", b"cell": " | ",
    b"lquote": "\u2018", b"rquote": "\u2019", b"ldblquote": "\u201c", b"rdblquote": "\u201d", b"bullet": "\u2022",
    b"endash": "\u2013", b"emdash": "\u2014", b"enspace": " ", b"emspace": " ",
}  # fmt: skip
_SYMBOLS = {b"~": "\u00a0", b"_": "\u2011", b"{": "{", b"}": "}", b"\\": "\\", b"\n": "\n", b"\r": "\n"}
_CHARSETS = {
    128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5hkscs", 161: "cp1253", 162: "cp1254", 163: "cp1258",
    177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
_MAX_DEPTH = 1000


@dataclass(frozen=True, slots=True)
class _Group:
    """What holds inside a pair of braces."""

    is_skipped: bool = False
    is_markup: bool = False
    """Inside `\\*\\htmltag`: HTML of the original."""
    is_rtf_only: bool = False
    """Between `\\htmlrtf` and `\\htmlrtf0`: what stands for the HTML in programs that only know RTF."""
    is_font_table: bool = False
    font: int = 0
    unicode_skip: int = 1


def body_of_rtf(rtf: bytes) -> tuple[str, bool]:
    """Return the body and whether it is HTML; plain text keeps its line ends."""
    reader = _Reader(is_html=b"\\fromhtml" in rtf[:2000])
    reader.read(rtf)
    return "".join(reader.parts), reader.is_html


@dataclass
class _Reader:
    is_html: bool
    parts: list[str] = field(default_factory=list[str])
    _codec: str = "cp1252"
    _fonts: dict[int, str] = field(default_factory=dict[int, str])
    _pending: bytearray = field(default_factory=bytearray)
    _group: _Group = _Group()
    _outer: list[_Group] = field(default_factory=list[_Group])
    _starred: bool = False
    _to_skip: int = 0

    def read(self, rtf: bytes) -> None:
        for match in _TOKEN.finditer(rtf):
            word, number, octet, symbol, brace, text = match.groups()
            if brace:
                self._brace(brace)
            elif octet:
                self._bytes(bytes((int(octet, 16),)))
            elif text:
                self._bytes(text)
            elif word:
                self._word(word, int(number) if number else None)
            elif symbol == b"*":
                self._starred = True
            elif symbol in _SYMBOLS:
                self._add(_SYMBOLS[symbol])
        self._flush()

    def _brace(self, brace: bytes) -> None:
        self._flush()
        self._to_skip, self._starred = 0, False
        if brace == b"{":
            if len(self._outer) < _MAX_DEPTH:
                self._outer.append(self._group)
        elif self._outer:
            self._group = self._outer.pop()

    def _bytes(self, text: bytes) -> None:
        skipped = min(self._to_skip, len(text))
        self._to_skip -= skipped
        if self._is_said():
            self._pending += text[skipped:]

    def _is_said(self) -> bool:
        group = self._group
        return not (group.is_skipped or group.is_font_table or (group.is_rtf_only and not group.is_markup))

    def _add(self, text: str) -> None:
        self._flush()
        if self._to_skip:
            self._to_skip -= 1
        elif self._is_said():
            self.parts.append(text)

    def _flush(self) -> None:
        if self._pending:
            self.parts.append(decoded_bytes(bytes(self._pending), self._fonts.get(self._group.font, self._codec)))
            self._pending.clear()

    def _word(self, word: bytes, number: int | None) -> None:
        starred, self._starred = self._starred, False
        if word == b"u" and number is not None:
            self._add(_character(number))
            self._to_skip = self._group.unicode_skip
        elif word in _CHARACTERS:
            self._add(_CHARACTERS[word])
        else:
            self._flush()
            self._setting(word, number, starred=starred)

    def _setting(self, word: bytes, number: int | None, *, starred: bool) -> None:
        group = self._group
        if word == b"htmltag":
            group = replace(group, is_markup=True)
        elif word == b"htmlrtf":
            group = replace(group, is_rtf_only=number != 0)
        elif word == b"fonttbl":
            group = replace(group, is_font_table=True)
        elif word == b"f" and number is not None:
            group = replace(group, font=number)
        elif word == b"fcharset" and group.is_font_table and number in _CHARSETS:
            self._fonts[group.font] = _CHARSETS[number]
        elif word == b"uc" and number is not None:
            group = replace(group, unicode_skip=max(0, min(number, 10)))
        elif word == b"ansicpg" and number:
            self._codec = {936: "gb18030", 950: "big5hkscs", 65001: "utf-8"}.get(number, f"cp{number}")
        elif starred or word in _SKIPPED:
            group = replace(group, is_skipped=True)
        self._group = group


def _character(number: int) -> str:
    code = number % 0x10000
    return "" if 0xD800 <= code < 0xE000 else chr(code)
