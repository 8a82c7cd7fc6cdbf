"""Plain-text meeting transcripts: turns with speaker and time.

Read are `[00:12:31] 张三：…`, `Speaker (00:01): …`, a line `张三 10:02` with the words below it, and
`Name: …` without times where the same few names keep coming back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import NoTextError
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.decoding import decode
from ingest.parsers.text.joining import join_lines
from ingest.parsers.text.lines import blocks_of_text
from ingest.parsers.text.text import damage_notes
from ingest.settings import ParserSettings
from ingest.types import Block, ParsedDocument

_CLOCK = r"(?P<clock>(?:(?:\d{4}[-/年.]\d{1,2}[-/月.]\d{1,2}日?)\s+)?\d{1,3}:[0-5]\d(?::[0-5]\d)?(?:[.,]\d{1,3})?)"
_NAME = r"(?P<speaker>[^\s:：\[\]()（）<>|0-9][^:：\[\]()（）<>|\n]{0,39}?)"
_ROLE = r"(?:\s*[(（][^()（）\n]{1,100}(?:[(（][^()（）\n]{0,60}[)）][^()（）\n]{0,20})?[)）])?"
"""`(Leader of the Opposition)` after a name belongs to it; parliaments write one inside another."""
_TIME_FIRST = re.compile(
    rf"\s*[\[(（【]?{_CLOCK}[\])）】]?\s*(?:-+>?\s*)?"
    rf"(?:{_NAME.removesuffix(')')}{_ROLE})\s*[:：]\s*)?(?P<words>.*)$"
)
_TIME_FIRST_BRACKET = re.compile(r"\s*[\[(（【]\s*\d{1,3}:\d\d")
_NAME_FIRST = re.compile(rf"\s*{_NAME}\s*[\[(（【]\s*{_CLOCK}\s*[\])）】]\s*[:：]?\s*(?P<words>.*)$")
_HEADER_LINE = re.compile(rf"\s*{_NAME}[\s　]+{_CLOCK}\s*[:：]?\s*$")
_NAME_ONLY = re.compile(
    r"\s*(?P<speaker>[^\s:：\[\]()（）<>|#*\-=][^:：\[\]<>|\n。，,.!?]{0,29}?)\s*[:：]\s*(?P<words>\S.*)$"
)
_DATE = re.compile(r"(\d{4})[-/年.](\d{1,2})[-/月.](\d{1,2})")
_MIN_TIMED, _MIN_NAMED = 2, 4
_NO_SPEAKERS = frozenset({"http", "https", "note", "注", "备注", "说明", "例如", "example"})


@dataclass(frozen=True, slots=True)
class _Mark:
    """What opens a turn."""

    speaker: str | None
    clock: str | None
    words: str


def looks_like_transcript(text: str) -> bool:
    """Tell whether the lines of `text` are turns of speech."""
    lines = [line for line in text.split("\n")[:4000] if line.strip()]
    if len(lines) < _MIN_TIMED:
        return False
    marks = [mark for mark in map(_timed_mark, lines) if mark is not None]
    spoken = sum(1 for mark in marks if mark.speaker)
    if (
        len(marks) >= _MIN_TIMED
        and len(marks) * 8 >= len(lines)
        and (spoken * 2 >= len(marks) or len(marks) * 2 >= len(lines))
    ):
        return True
    return bool(_recurring_speakers(lines))


def parse_transcript(
    path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET
) -> ParsedDocument:
    """Parse a plain-text transcript; what stands before the first turn is kept as text.

    Raises:
        NoTextError: nothing but white space.
        UnsupportedDocumentError: binary content.
    """
    decoded = decode(path.read_bytes(), display_name)
    blocks = transcript_blocks(decoded.text)
    if not blocks:
        raise NoTextError(f"{display_name}: the file is empty")
    title = blocks[0].text.split("\n", 1)[0][:200] if blocks[0].kind != "turn" else ""
    return ParsedDocument(
        format="transcript", blocks=blocks, title=title, encoding=decoded.encoding, notes=damage_notes(decoded)
    )


def transcript_blocks(text: str) -> tuple[Block, ...]:
    """Split `text` into turns. Two-part times are minutes and seconds; dated ones count from the first turn.

    A turn ends where the next one begins; the last one has no known end.
    """
    lines = text.splitlines()
    named = _recurring_speakers([line for line in lines if line.strip()])
    preamble: list[str] = []
    turns: list[tuple[_Mark, list[str]]] = []
    for line in lines:
        mark = _timed_mark(line) or _named_mark(line, named)
        if mark is not None:
            turns.append((mark, [mark.words]))
        elif turns:
            turns[-1][1].append(line)
        else:
            preamble.append(line)
    return blocks_of_text("\n".join(preamble)) + tuple(_turn_blocks(turns))


def _timed_mark(line: str) -> _Mark | None:
    if len(line) > 20_000:
        return None
    for pattern in (_HEADER_LINE, _NAME_FIRST, _TIME_FIRST):
        match = pattern.match(line)
        if match is None:
            continue
        groups = match.groupdict()
        bare = pattern is _TIME_FIRST and not groups["speaker"] and _TIME_FIRST_BRACKET.match(line) is None
        if bare and groups["words"]:
            # `10:02 the train leaves` is no turn: without brackets a time needs a speaker after it.
            return None
        return _Mark((groups["speaker"] or "").strip() or None, groups["clock"], groups.get("words") or "")
    return None


def _named_mark(line: str, speakers: frozenset[str]) -> _Mark | None:
    match = _NAME_ONLY.match(line) if speakers else None
    if match is None or match.group("speaker") not in speakers:
        return None
    return _Mark(match.group("speaker"), None, match.group("words"))


def _recurring_speakers(lines: list[str]) -> frozenset[str]:
    """Return the names of an untimed transcript, empty where the lines are none."""
    counts: Counter[str] = Counter()
    for line in lines[:4000]:
        match = _NAME_ONLY.match(line)
        if match is not None and match.group("speaker").lower() not in _NO_SPEAKERS:
            counts[match.group("speaker")] += 1
    again = {name: count for name, count in counts.items() if count >= 2}
    turns = sum(again.values())
    if len(again) < 2 or turns < _MIN_NAMED or turns * 2 < min(len(lines), 4000) or len(again) > 20:
        return frozenset()
    return frozenset(counts) if len(counts) <= 2 * len(again) else frozenset(again)


def _turn_blocks(turns: list[tuple[_Mark, list[str]]]) -> Iterable[Block]:
    starts = _starts([mark.clock for mark, _ in turns])
    for index, (mark, lines) in enumerate(turns):
        words = join_lines(lines)
        if not words:
            continue
        end = starts[index + 1] if index + 1 < len(turns) else None
        start = starts[index]
        if start is not None and end is not None and end < start:
            end = None
        yield Block(kind="turn", text=words, speaker=mark.speaker, start_s=start, end_s=end)


def _starts(clocks: list[str | None]) -> list[float | None]:
    first: float | None = None
    starts: list[float | None] = []
    for clock in clocks:
        seconds = _seconds(clock) if clock else None
        if seconds is not None and clock and _DATE.match(clock):
            first = seconds if first is None else first
            seconds = max(0.0, seconds - first)
        starts.append(seconds)
    return starts


def _seconds(clock: str) -> float:
    date = _DATE.match(clock)
    days = 0
    if date is not None:
        year, month, day = (int(part) for part in date.groups())
        days = year * 372 + month * 31 + day
        clock = clock[date.end() :].lstrip("日 \t　")
    parts = [float(part.replace(",", ".")) for part in clock.split(":")]
    seconds = 0.0
    for part in parts:
        seconds = seconds * 60 + part
    if date is not None and len(parts) == 2:
        seconds *= 60
    return days * 86400.0 + seconds
