"""SRT and WebVTT: cues become turns with speaker, start and end.

Consecutive cues of one speaker are one turn; cues without a speaker are joined
up to a sentence end, so that a turn is something that can be read.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import CorruptDocumentError, NoTextError
from ingest.parsers.session import QUIET, ParseSession
from ingest.parsers.text.decoding import decode
from ingest.parsers.text.joining import collapse, join_lines
from ingest.parsers.text.text import damage_notes
from ingest.settings import ParserSettings
from ingest.types import Block, Format, ParsedDocument

_STAMP = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,3}))?"
_TIMING = re.compile(rf"^\s*{_STAMP}\s*-{{1,2}}>\s*{_STAMP}")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>", re.I)
_TAG = re.compile(r"</?(?:[biuc]|v|lang|ruby|rt|font)(?:[.\s][^>]*)?>|<\d{1,2}:\d{2}[:.\d]*>|\{\\an?\d+\}", re.I)
_PREFIX = re.compile(r"^(?:-\s*)?([^\s:：<>\[\]()0-9][^:：<>\[\]()\n,，。.!?]{0,29}?)\s*[:：]\s*(?=\S)")
_MAX_GAP_S, _MAX_SPAN_S, _MAX_CHARACTERS = 4.0, 60.0, 400
_SENTENCE_END = tuple("。！？.!?…")


@dataclass(frozen=True, slots=True)
class _Cue:
    start_s: float
    end_s: float
    speaker: str | None
    text: str


def parse_srt(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse SRT; see `parse_subtitles`."""
    return parse_subtitles(path, display_name, limits, "srt")


def parse_vtt(path: Path, display_name: str, limits: ParserSettings, session: ParseSession = QUIET) -> ParsedDocument:
    """Parse WebVTT; see `parse_subtitles`."""
    return parse_subtitles(path, display_name, limits, "vtt")


def parse_subtitles(path: Path, display_name: str, limits: ParserSettings, format: Format) -> ParsedDocument:
    """Parse SRT or WebVTT.

    Raises:
        CorruptDocumentError: no cue with a time.
        NoTextError: cues, but none with words.
        UnsupportedDocumentError: binary content.
    """
    decoded = decode(path.read_bytes(), display_name)
    cues, count = _cues(decoded.text)
    if not count:
        raise CorruptDocumentError(f"{display_name}: no cue with a time was found")
    if not cues:
        raise NoTextError(f"{display_name}: the cues have no words")
    return ParsedDocument(
        format=format,
        blocks=tuple(_turns(_with_known_prefixes(cues))),
        title=_vtt_title(decoded.text) if format == "vtt" else "",
        encoding=decoded.encoding,
        notes=damage_notes(decoded),
    )


def _vtt_title(text: str) -> str:
    first = text.lstrip().split("\n", 1)[0]
    return collapse(first.removeprefix("WEBVTT").lstrip(" \t-"))


def _cues(text: str) -> tuple[list[_Cue], int]:
    """Read the cues with words, and count all cues. A cue's text runs to the blank line before the next time."""
    lines = text.split("\n")
    timings = [(index, match) for index, line in enumerate(lines) if (match := _TIMING.match(line))]
    cues: list[_Cue] = []
    for order, (index, match) in enumerate(timings):
        end = timings[order + 1][0] if order + 1 < len(timings) else len(lines)
        body = _cue_lines(lines[index + 1 : end], is_last=order + 1 == len(timings))
        cues.extend(_voices(body, _seconds(match.groups()[:4]), _seconds(match.groups()[4:])))
    return cues, len(timings)


def _cue_lines(lines: list[str], is_last: bool) -> list[str]:
    """Drop the identifier of the next cue and NOTE/STYLE/REGION blocks; keep stray text after a blank line."""
    if not is_last and lines and lines[-1].strip():
        # Files without blank lines between cues: there only a number is an identifier.
        after_blank = len(lines) > 1 and not lines[-2].strip()
        if after_blank or lines[-1].strip().isdecimal():
            lines = lines[:-1]
    kept: list[str] = []
    in_comment = False
    for position, line in enumerate(lines):
        after_blank = position > 0 and not lines[position - 1].strip()
        if after_blank:
            in_comment = re.match(r"(?:NOTE|STYLE|REGION)\b", line) is not None
        if not in_comment and line.strip():
            kept.append(line.strip())
    return kept


def _voices(lines: list[str], start_s: float, end_s: float) -> list[_Cue]:
    """Split a cue at its voice tags."""
    whole = "\n".join(lines)
    pieces = _VOICE.split(whole)
    cues: list[_Cue] = []
    speakers: list[str | None] = [None, *pieces[1::2]]
    for speaker, words in zip(speakers, pieces[0::2], strict=True):
        text = join_lines(html.unescape(_TAG.sub("", words)).split("\n"))
        if text:
            cues.append(_Cue(start_s, max(start_s, end_s), collapse(speaker) if speaker else None, text))
    return cues


def _with_known_prefixes(cues: list[_Cue]) -> list[_Cue]:
    """Read `Name: words` as speaker and words where such prefixes are the file's habit."""
    matches = [_PREFIX.match(cue.text) if cue.speaker is None else None for cue in cues]
    names = [match.group(1) for match in matches if match]
    if len(names) < 2 or (len(set(names)) == len(names) and len(names) * 2 < len(cues)):
        return cues
    return [
        _Cue(cue.start_s, cue.end_s, match.group(1), cue.text[match.end() :]) if match else cue
        for cue, match in zip(cues, matches, strict=True)
    ]


def _turns(cues: list[_Cue]) -> list[Block]:
    turns: list[Block] = []
    group: list[_Cue] = []
    for cue in cues:
        if group and not _continues(group, cue):
            turns.append(_turn(group))
            group = []
        group.append(cue)
    if group:
        turns.append(_turn(group))
    return turns


def _continues(group: list[_Cue], cue: _Cue) -> bool:
    last = group[-1]
    if cue.speaker != last.speaker or cue.start_s - last.end_s > _MAX_GAP_S or cue.start_s < last.start_s:
        return False
    if cue.speaker is not None:
        return True
    length = sum(len(member.text) for member in group)
    if cue.end_s - group[0].start_s > _MAX_SPAN_S or length > _MAX_CHARACTERS:
        return False
    return not last.text.endswith(_SENTENCE_END)


def _turn(group: list[_Cue]) -> Block:
    return Block(
        kind="turn",
        text=join_lines(cue.text for cue in group),
        speaker=group[0].speaker,
        start_s=group[0].start_s,
        end_s=max(cue.end_s for cue in group),
    )


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    value = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return (value * 1000 + int((fraction or "").ljust(3, "0"))) / 1000
