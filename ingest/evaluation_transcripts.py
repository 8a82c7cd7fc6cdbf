"""Renders real meetings as subtitles and transcripts and looks whether every chunk names its turn rightly.

The meetings give speakers and words; times are made up, increasing. A chunk must lie within one speaker's
turn, with that speaker and that turn's times, or be a merge around turns of a few words, which shows every
speaker in its text, carries the one who says most, and spans all their times.
"""

from __future__ import annotations

import html
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ingest.chunking import chunk_document
from ingest.chunking.draft import DraftChunk
from ingest.parsers.registry import parse
from ingest.settings import ChunkSettings, ParserSettings
from retrieval.types import Value

TranscriptFormat = Literal["vtt", "srt", "transcript"]
_SECONDS_A_CHARACTER = 0.06
_MAX_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker says until the next one speaks."""

    speaker: str
    text: str
    start_s: float
    end_s: float | None


class TranscriptCounts(Value):
    """What came back. All is right when `right` is `chunks` and `turns_whole` is `turns`."""

    format: TranscriptFormat
    meetings: int = 0
    turns: int = 0
    turns_whole: int = 0
    """Turns whose every word stands in the chunks, in order, after the speaker's name."""
    chunks: int = 0
    right: int = 0
    """Chunks with the right speaker and times, of one turn or a lawful merge."""
    merged: int = 0
    """Chunks of more than one turn."""
    wrong_speaker: int = 0
    wrong_times: int = 0
    wrong_merge: int = 0
    """Chunks in which two turns meet that are both more than a few words."""

    def __add__(self, other: TranscriptCounts) -> TranscriptCounts:
        """Add counts of the same format."""
        sums = {
            name: getattr(self, name) + getattr(other, name) for name in type(self).model_fields if name != "format"
        }
        return TranscriptCounts(format=self.format, **sums)


def evaluate_transcripts(
    folder: Path, measure: Callable[[str], int] | None = None, every: int = 1
) -> list[TranscriptCounts]:
    """Measure `qmsum/val_meetings.jsonl` as WebVTT and `vcsum/dev_segments.jsonl` as SRT, both as plain text too.

    Args:
        folder: holds the two sets; one that is not there is left out.
        measure: encoder tokens of a text; None: a rough count.
        every: take every n-th meeting.
    """
    sets: list[tuple[list[list[tuple[str, str]]], TranscriptFormat]] = []
    if (folder / "qmsum" / "val_meetings.jsonl").exists():
        sets.append((list(_qmsum(folder / "qmsum" / "val_meetings.jsonl")), "vtt"))
    if (folder / "vcsum" / "dev_segments.jsonl").exists():
        sets.append((list(_vcsum(folder / "vcsum" / "dev_segments.jsonl")), "srt"))
    totals: dict[TranscriptFormat, TranscriptCounts] = {}
    for meetings, subtitles in sets:
        for said in meetings[::every]:
            for format in (subtitles, "transcript"):
                counts = evaluate_meeting(said, format, measure or rough_tokens)
                totals[format] = totals[format] + counts if format in totals else counts
    return list(totals.values())


def evaluate_meeting(
    said: Sequence[tuple[str, str]], format: TranscriptFormat, measure: Callable[[str], int]
) -> TranscriptCounts:
    """Render one meeting, parse and cut it, and compare."""
    turns = _timed(said, whole_seconds=format == "transcript")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"meeting.{format}"
        path.write_text(_RENDER[format](turns), encoding="utf-8")
        parsed = parse(path, format, path.name, ParserSettings())
    settings = ChunkSettings()
    chunks = chunk_document(parsed, measure, settings, _MAX_TOKENS)
    return _compare(turns, chunks, format, measure)


def rough_tokens(text: str) -> int:
    """Count a token for each wide character and for every four others."""
    wide = sum(1 for character in text if character >= "\u2e80")
    return 2 + wide + (len(text) - wide + 3) // 4


def _qmsum(path: Path) -> Iterator[list[tuple[str, str]]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        meeting: dict[str, Any] = json.loads(line)
        yield [(str(speaker), str(words)) for speaker, words in meeting["turns"]]


def _vcsum(path: Path) -> Iterator[list[tuple[str, str]]]:
    meetings: dict[int, list[tuple[str, str]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        segment: dict[str, Any] = json.loads(line)
        turns = meetings.setdefault(segment["meeting"], [])
        turns += [(f"发言人{speaker}", str(words)) for speaker, words in segment["turns"]]
    yield from meetings.values()


def _timed(said: Sequence[tuple[str, str]], *, whole_seconds: bool) -> list[Turn]:
    """Give times, and join what one speaker says in a row: it is one turn."""
    joined: list[tuple[str, str]] = []
    for speaker, words in said:
        speaker, words = " ".join(speaker.split()), " ".join(words.split())
        if not words:
            continue
        if joined and joined[-1][0] == speaker:
            joined[-1] = (speaker, f"{joined[-1][1]} {words}")
        else:
            joined.append((speaker, words))
    turns: list[Turn] = []
    at = 0.0
    for number, (speaker, words) in enumerate(joined):
        length = max(1.0, round(len(words) * _SECONDS_A_CHARACTER, 0 if whole_seconds else 3))
        last = whole_seconds and number + 1 == len(joined)
        turns.append(Turn(speaker, words, at, None if last else round(at + length, 3)))
        at = round(at + length, 3)
    return turns


def _stamp(seconds: float, point: str) -> str:
    milliseconds = round(seconds * 1000)
    hours, rest = divmod(milliseconds, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{point}{rest % 1000:03}"


def _vtt(turns: Sequence[Turn]) -> str:
    cues = (
        f"{_stamp(turn.start_s, '.')} --> {_stamp(turn.end_s or turn.start_s, '.')}\n"
        f"<v {html.escape(turn.speaker, quote=False)}>{html.escape(turn.text, quote=False)}"
        for turn in turns
    )
    return "WEBVTT\n\n" + "\n\n".join(cues) + "\n"


def _srt(turns: Sequence[Turn]) -> str:
    cues = (
        f"{number}\n{_stamp(turn.start_s, ',')} --> {_stamp(turn.end_s or turn.start_s, ',')}\n"
        f"{turn.speaker}: {turn.text}\n"
        for number, turn in enumerate(turns, start=1)
    )
    return "\n".join(cues)


def _plain(turns: Sequence[Turn]) -> str:
    return "".join(f"[{_stamp(turn.start_s, '.')[:8]}] {turn.speaker}: {turn.text}\n" for turn in turns)


_RENDER: dict[TranscriptFormat, Callable[[Sequence[Turn]], str]] = {"vtt": _vtt, "srt": _srt, "transcript": _plain}


def _compare(
    turns: Sequence[Turn], chunks: Sequence[DraftChunk], format: TranscriptFormat, measure: Callable[[str], int]
) -> TranscriptCounts:
    said = [_bare(f"{turn.speaker}:{turn.text}") for turn in turns]
    bounds = [0]
    for text in said:
        bounds.append(bounds[-1] + len(text))
    names = [len(_bare(f"{turn.speaker}:")) for turn in turns]
    expected = "".join(said)
    found = "".join(_bare(chunk.text[chunk.repeated_chars :]) for chunk in chunks)
    whole = sum(1 for at in range(len(said)) if found[bounds[at] : bounds[at + 1]] == said[at])
    wrong = {"speaker": 0, "times": 0, "merge": 0}
    right = merged = position = 0
    for chunk in chunks:
        end = position + len(_bare(chunk.text[chunk.repeated_chars :]))
        met = [at for at in range(len(said)) if bounds[at] < end and bounds[at + 1] > position]
        shares = {at: min(end, bounds[at + 1]) - max(position, bounds[at] + names[at]) for at in met}
        faults = _faults(chunk, [turns[at] for at in met], [shares[at] for at in met], measure)
        merged += len(met) > 1
        right += not faults and expected[position:end] == found[position:end]
        for fault in faults:
            wrong[fault] += 1
        position = end
    return TranscriptCounts(
        format=format,
        meetings=1,
        turns=len(turns),
        turns_whole=whole if len(found) == len(expected) else min(whole, len(turns) - 1),
        chunks=len(chunks),
        right=right,
        merged=merged,
        wrong_speaker=wrong["speaker"],
        wrong_times=wrong["times"],
        wrong_merge=wrong["merge"],
    )


_FEW_TOKENS = 16
"""Of a turn that counts as a few words, name included, special tokens too."""


def _faults(
    chunk: DraftChunk, turns: Sequence[Turn], shares: Sequence[int], measure: Callable[[str], int]
) -> list[Literal["speaker", "times", "merge"]]:
    if not turns:
        return ["speaker"]
    faults: list[Literal["speaker", "times", "merge"]] = []
    said: dict[str, int] = {}
    for turn, share in zip(turns, shares, strict=True):
        said[turn.speaker] = said.get(turn.speaker, 0) + share
    opens = _bare(chunk.text).startswith(_bare(f"{turns[0].speaker}:"))
    if not opens or chunk.speaker is None or said.get(chunk.speaker, 0) < max(said.values()):
        faults.append("speaker")
    ends = [turn.end_s for turn in turns if turn.end_s is not None]
    if chunk.start_s != turns[0].start_s or chunk.end_s != max(ends, default=None):
        faults.append("times")
    large = sum(1 for turn in turns if measure(f"{turn.speaker}: {turn.text}") > _FEW_TOKENS)
    if large > 1:
        faults.append("merge")
    return faults


def _bare(text: str) -> str:
    return "".join(text.split()).replace("：", ":")
