"""One JSON object read while it is written, as models write it: to its end, its strings streamed, its slips mended.

Told apart from data are the strings that a reader may watch: `watch` names them by their keys. What is
read is kept as JSON text in which every string is whole: a quotation mark ends a string only where JSON
can go on after it, so `"he said "no" to me"` is one string, as it was meant. In valid JSON nothing is
changed. Whatever else is wrong (bare keys, missing brackets) is left to the library that mends JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, auto

MAX_OBJECT_CHARS = 128_000
MAX_DEPTH = 64
LOOK_AHEAD = 240
"""Characters after a quotation mark that may be needed to tell whether it ends its string."""

_STRUCTURE_RE = re.compile("[{}\\[\\],:\"'“”＂｛｝［］，：]")
_ASCII = {"｛": "{", "｝": "}", "［": "[", "］": "]", "，": ",", "：": ":"}
_QUOTES = {'"': '"', "'": "'", "“": "”", "”": "”", "＂": "＂"}
_CLOSERS = {'"': '"', "'": "'", "”": '”"', "＂": '＂"'}
"""Which marks may end a string; a full-width opening one is often closed by an ASCII one."""
_IN_STRING_RE = {quote: re.compile(rf"[\\{closers}]") for quote, closers in _CLOSERS.items()}
_ESCAPE_RE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_KEY = r"""(?:"(?:[^"\\\n]|\\.){0,120}"|'[^'\n]{0,120}'|[“＂][^”＂\n]{0,120}[”＂]|[A-Za-z_][\w-]{0,40})\s*[:：]"""
_ENDS_VALUE_RE = re.compile(rf"\s*(?:[}}｝]|[,，]\s*(?:[}}｝]|{_KEY})|\n\s*{_KEY})")
_MAY_END_VALUE = frozenset("}｝,，\"'“＂") | frozenset("abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ENDS_ITEM = frozenset(',，]］"}｝')


class _Place(Enum):
    KEY = auto()
    COLON = auto()
    VALUE = auto()
    AFTER = auto()


Watch = Callable[[tuple[str, ...]], str | None]
"""Takes the keys that lead to a string and returns the name under which its text is streamed, None for data."""


class ObjectScanner:
    """Reads one object from its `{`. Linear; keeps the object's text, at most `MAX_OBJECT_CHARS`."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._parts: list[str] = []
        self._size = 0
        self._stack: list[str] = []
        self._keys: list[str] = []
        self._place = _Place.VALUE
        self._bare: list[str] = []
        self._closer = ""
        self._string: list[str] | None = None
        self._stream: str | None = None
        self._seen: list[tuple[str, str]] = []
        self.closed = False
        self.mended = False
        """True when the text had to be changed to be JSON."""
        self.too_deep = False
        self.values: dict[tuple[str, ...], str] = {}
        """The strings that were read to their end at the first two levels, by the keys that lead to them."""
        self.open_values: set[tuple[str, ...]] = set()
        """The containers and strings at the first two levels that were begun and not ended."""

    @property
    def text(self) -> str:
        """The object as JSON text, as far as it was read."""
        return "".join(self._parts)

    @property
    def broken(self) -> bool:
        """Tell whether the object passed a limit."""
        return self.too_deep or self._size > MAX_OBJECT_CHARS

    @property
    def whole_but_for_its_brace(self) -> bool:
        """Tell whether nothing but the closing brace of the object itself is missing."""
        return len(self._stack) == 1 and self._string is None and self._place is _Place.AFTER

    def take_seen(self) -> list[tuple[str, str]]:
        """Return the streamed text since the last call as (name, text)."""
        seen, self._seen = self._seen, []
        return seen

    def scan(self, buffer: str, at: int, *, final: bool) -> int:
        """Read on from `at`; return where reading stopped: past the object, or where more text is needed."""
        while at < len(buffer) and not self.closed and not self.broken:
            moved = self._in_string(buffer, at, final=final) if self._closer else self._outside(buffer, at)
            if moved == at:
                break
            at = moved
        return at

    def _outside(self, buffer: str, at: int) -> int:
        found = _STRUCTURE_RE.search(buffer, at)
        stop = len(buffer) if found is None else found.start()
        if stop > at:
            self._write_bare(buffer[at:stop])
        if found is None:
            return stop
        written = found.group()
        if written in _QUOTES:
            self._open_string(written)
        else:
            self._structure(_ASCII.get(written, written))
            self.mended = self.mended or written in _ASCII
        return found.end()

    def _write_bare(self, text: str) -> None:
        self._write(text)
        if text.strip():
            if self._place is _Place.KEY:
                self._bare.append(text)
            elif self._place is _Place.VALUE:
                self._place = _Place.AFTER

    def _structure(self, mark: str) -> None:
        self._write(mark)
        match mark:
            case "{" | "[":
                self._open(mark)
            case "}" | "]":
                self._close("{" if mark == "}" else "[")
            case ",":
                self._place = _Place.KEY if self._stack[-1] == "{" else _Place.VALUE
                self._bare = []
            case _ if self._stack[-1] == "{" and self._place in {_Place.COLON, _Place.KEY}:
                if self._place is _Place.KEY:
                    self._keys[-1] = "".join(self._bare).strip()
                self._place = _Place.VALUE
            case _:
                pass

    def _open(self, mark: str) -> None:
        if self._stack:
            self._note_open()
        self._stack.append(mark)
        self._keys.append("")
        self._bare = []
        self._place = _Place.KEY if mark == "{" else _Place.VALUE
        self.too_deep = len(self._stack) > MAX_DEPTH

    def _close(self, opener: str) -> None:
        if opener not in self._stack:
            return
        while self._stack.pop() != opener:
            self._keys.pop()
        self._keys.pop()
        self._place = _Place.AFTER
        self._bare = []
        self.closed = not self._stack
        if self._stack:
            self.open_values.discard(self._path())

    def _path(self) -> tuple[str, ...]:
        return tuple(self._keys)

    def _note_open(self) -> None:
        if len(self._keys) <= 2:
            self.open_values.add(self._path())

    def _open_string(self, quote: str) -> None:
        self._write('"')
        self.mended = self.mended or quote != '"'
        self._closer = _QUOTES[quote]
        is_key = self._place is _Place.KEY and self._stack[-1] == "{"
        inside = self._stack[-1] == "{" and "[" not in self._stack
        self._string = []
        self._stream = None
        if not is_key:
            self._place = _Place.VALUE
            if inside:
                self._note_open()
                self._stream = self._watch(self._path())

    def _in_string(self, buffer: str, at: int, *, final: bool) -> int:
        found = _IN_STRING_RE[self._closer].search(buffer, at)
        stop = len(buffer) if found is None else found.start()
        if stop > at:
            self._say(buffer[at:stop], buffer[at:stop])
            return stop
        char = buffer[at]
        if char == "\\":
            return self._escape(buffer, at, final=final)
        ends = char in _CLOSERS[self._closer] and self._ends(buffer, at + 1, final=final)
        if ends is None:
            return at
        if ends:
            self._close_string()
        else:
            self._say(char, '\\"' if char == '"' else char)
            self.mended = self.mended or char == '"'
        return at + 1

    def _ends(self, buffer: str, after: int, *, final: bool) -> bool | None:
        """Tell whether a quotation mark ends its string; None while more text is needed to tell."""
        if self._place is _Place.KEY:
            return True
        window = buffer[after : after + LOOK_AHEAD]
        whole = final or len(window) == LOOK_AHEAD
        following = window.lstrip()[:1]
        if not following:
            return True if whole else None
        if self._stack[-1] == "[":
            return following in _ENDS_ITEM
        if following not in _MAY_END_VALUE:
            return False
        if _ENDS_VALUE_RE.match(window):
            return True
        if following in ",，" and final and not window.strip(" \t\r\n,，"):
            return True
        return False if whole else None

    def _close_string(self) -> None:
        self._write('"')
        self._closer = ""
        text = "".join(self._string or ())
        self._string = None
        if self._place is _Place.KEY:
            self._keys[-1] = text
            self._place = _Place.COLON
            return
        self._place = _Place.AFTER
        if len(self._keys) <= 2:
            self.values[self._path()] = text
            self.open_values.discard(self._path())

    def _escape(self, buffer: str, at: int, *, final: bool) -> int:
        found = _ESCAPE_RE.match(buffer, at)
        if found is None:
            return self._no_escape(buffer, at, final=final)
        if found.group(2) is not None:
            letter = found.group(2)
            self._say(_PLAIN.get(letter, letter), found.group())
            return found.end()
        code = int(found.group(1), 16)
        if not 0xD800 <= code <= 0xDBFF:
            lone = 0xDC00 <= code <= 0xDFFF or code == 0
            self._say("\ufffd" if lone else chr(code), "\ufffd" if lone else found.group())
            return found.end()
        second = _ESCAPE_RE.match(buffer, found.end())
        if second is None and not final and len(buffer) - found.end() < 6:
            rest = buffer[found.end() :]
            if re.fullmatch(r"\\?|\\u[0-9a-fA-F]{0,3}", rest):
                return at
        low = int(second.group(1), 16) if second is not None and second.group(1) else 0
        if second is not None and 0xDC00 <= low <= 0xDFFF:
            self._say(chr(0x10000 + ((code - 0xD800) << 10) + low - 0xDC00), buffer[at : second.end()])
            return second.end()
        self._say("\ufffd", "\ufffd")
        return found.end()

    def _no_escape(self, buffer: str, at: int, *, final: bool) -> int:
        """Take a backslash that escapes nothing for itself, as in a path or a pattern."""
        rest = buffer[at + 1 : at + 6]
        if not final and (not rest or (len(rest) < 5 and re.fullmatch(r"u[0-9a-fA-F]{0,3}", rest))):
            return at
        self.mended = True
        if rest[:1] == "'":
            self._say("'", "'")
            return at + 2
        self._say("\\", "\\\\")
        return at + 1

    def _say(self, text: str, raw: str) -> None:
        self._write(raw)
        if self._string is not None and (self._place is _Place.KEY or len(self._keys) <= 2):
            self._string.append(text)
        if self._stream is not None:
            self._seen.append((self._stream, text))

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._size += len(text)
