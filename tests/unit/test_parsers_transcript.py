"""Transcripts and subtitles: turns with speaker, start and end."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import CorruptDocumentError, IngestError, NoTextError
from ingest.parsers.text.subtitles import parse_subtitles
from ingest.parsers.text.transcript import looks_like_transcript, transcript_blocks
from ingest.settings import ParserSettings
from ingest.types import Block, Format

LIMITS = ParserSettings()
Turn = tuple[str | None, float | None, float | None, str]


def turns(blocks: tuple[Block, ...]) -> list[Turn]:
    return [(block.speaker, block.start_s, block.end_s, block.text) for block in blocks if block.kind == "turn"]


def subtitles(folder: Path, text: str, format: Format) -> list[Turn]:
    path = folder / "cues"
    path.write_text(text, encoding="utf-8")
    return turns(parse_subtitles(path, "cues", LIMITS, format).blocks)


@pytest.mark.parametrize(
    "text",
    [
        "[00:12:31] 张三：预算是多少？\n[00:12:40] 李四：两亿元。\n",
        "00:12:31 张三: 预算是多少？\n00:12:40 李四: 两亿元。\n",
        "张三 (00:12:31): 预算是多少？\n李四 (00:12:40): 两亿元。\n",
        "张三（12:31）：预算是多少？\n李四（12:40）：两亿元。\n",
        "张三 12:31\n预算是多少？\n\n李四 12:40\n两亿元。\n",
        "张三　00:12:31\n预算是\n多少？\n李四　00:12:40\n两亿元。\n",
    ],
)
def test_transcript_reads_the_usual_forms(text: str) -> None:
    assert looks_like_transcript(text)
    assert turns(transcript_blocks(text)) == [
        ("张三", 751.0, 760.0, "预算是多少？"),
        ("李四", 760.0, None, "两亿元。"),
    ]


def test_transcript_keeps_the_words_before_the_first_turn() -> None:
    blocks = transcript_blocks("项目周会\n参会：张三、李四\n\n[00:00:01] 张三：开始。\n[00:00:09] 李四：好。\n")
    assert blocks[0].kind == "paragraph"
    assert "参会：张三、李四" in "\n".join(block.text for block in blocks if block.kind != "turn")
    assert [turn[0] for turn in turns(blocks)] == ["张三", "李四"]


def test_transcript_counts_dated_times_from_the_first_turn() -> None:
    text = "张三 2024-05-01 10:02:30\n早。\n李四 2024-05-01 10:03:00\n早上好。\n"
    assert turns(transcript_blocks(text)) == [("张三", 0.0, 30.0, "早。"), ("李四", 30.0, None, "早上好。")]


def test_transcript_without_times_needs_recurring_names() -> None:
    text = "Anna: Hello.\nBen: Hi.\nAnna: Shall we start?\nBen: Yes.\nAnna: Good.\n"
    assert looks_like_transcript(text)
    assert turns(transcript_blocks(text))[0] == ("Anna", None, None, "Hello.")
    assert not looks_like_transcript("Name: X\nCity: Y\nDate: Z\nNote: W\n")


@pytest.mark.parametrize(
    "text",
    [
        "The train leaves at 10:02 and arrives at 11:40.\nIt is late.\n",
        "10:02 the train leaves\n11:40 it arrives\n",
        "参考：http://a.example\n参考：http://b.example\n",
        "Hello.\n",
        "",
    ],
)
def test_prose_is_no_transcript(text: str) -> None:
    assert not looks_like_transcript(text)


def test_srt_joins_cues_of_one_speaker(tmp_path: Path) -> None:
    text = (
        "1\n00:00:01,000 --> 00:00:02,500\n张三：我们的预算\n\n2\n00:00:02,500 --> 00:00:04,000\n张三：是两亿元。\n\n"
        "3\n00:00:04,000 --> 00:00:05,000\n李四：<i>好的</i>。\n"
    )
    assert subtitles(tmp_path, text, "srt") == [
        ("张三", 1.0, 4.0, "我们的预算是两亿元。"),
        ("李四", 4.0, 5.0, "好的。"),
    ]


def test_srt_without_speakers_joins_up_to_a_sentence_end(tmp_path: Path) -> None:
    text = (
        "1\n00:00:01,000 --> 00:00:02,000\nThis is\n\n2\n00:00:02,000 --> 00:00:03,000\none sentence.\n\n"
        "3\n00:00:03,000 --> 00:00:04,000\nAnother.\n"
    )
    assert [turn[3] for turn in subtitles(tmp_path, text, "srt")] == ["This is one sentence.", "Another."]


def test_vtt_reads_voices_and_leaves_notes_out(tmp_path: Path) -> None:
    text = (
        "WEBVTT - Weekly\n\nNOTE internal remark\n\nSTYLE\n::cue { color: red }\n\nid-1\n"
        "00:01.000 --> 00:02.000 align:start\n"
        "<v Anna>Hello &amp; welcome\n\n01:00:00.000 --> 01:00:01.500\n<v.loud Ben>Thanks</v> <v Anna>Sure\n"
    )
    assert subtitles(tmp_path, text, "vtt") == [
        ("Anna", 1.0, 2.0, "Hello & welcome"),
        ("Ben", 3600.0, 3601.5, "Thanks"),
        ("Anna", 3600.0, 3601.5, "Sure"),
    ]


def test_vtt_note_between_cues_is_left_out(tmp_path: Path) -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\nOne.\n\nNOTE\nnot said\n\n00:03.000 --> 00:04.000\nTwo.\n"
    assert [turn[3] for turn in subtitles(tmp_path, text, "vtt")] == ["One.", "Two."]


def test_subtitles_without_cues_are_corrupt_and_without_words_empty(tmp_path: Path) -> None:
    with pytest.raises(CorruptDocumentError):
        subtitles(tmp_path, "WEBVTT\n\nnothing", "vtt")
    with pytest.raises(NoTextError):
        subtitles(tmp_path, "1\n00:00:01,000 --> 00:00:02,000\n\n", "srt")


PIECES = st.lists(
    st.one_of(
        st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30),
        st.sampled_from([
            "WEBVTT",
            "\n",
            "\n\n",
            "00:01.000 --> 00:02.000",
            "1",
            "<v A>",
            "张三：",
            "[00:00:01] ",
            "张三 10:02",
            "NOTE x",
            "{\\an8}",
            "2024-13-45 10:00",
        ]),
    ),
    max_size=20,
)


@given(pieces=PIECES, format=st.sampled_from(["srt", "vtt"]))
def test_subtitles_never_raise_anything_else(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], format: Format
) -> None:
    path = tmp_path_factory.getbasetemp() / "subtitles-any"
    path.write_text("".join(pieces), encoding="utf-8", newline="")
    try:
        parsed = parse_subtitles(path, "x", LIMITS, format)
    except IngestError:
        return
    assert all(block.text.strip() and block.start_s is not None for block in parsed.blocks)


@given(PIECES)
def test_transcript_turns_are_never_empty(pieces: list[str]) -> None:
    for block in transcript_blocks("\n".join(pieces)):
        assert block.text.strip()
        assert block.end_s is None or block.start_s is None or block.end_s >= block.start_s


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("00:00:01,000 --> 00:00:02,000\nHello\n", [(1.0, "Hello")]),
        (
            "WEBVTT\n00:01.000 --> 00:02.000\nHello.\n00:03.000 --> 00:04.000\nWorld\n",
            [(1.0, "Hello."), (3.0, "World")],
        ),
        (
            "1\n00:00:01,000 --> 00:00:02,000\nHello.\n\n2\n00:00:03 -> 00:00:04\nkept\n",
            [(1.0, "Hello."), (3.0, "kept")],
        ),
        ("WEBVTT\n\n00:00:01 --> 00:00:02\nHello\n", [(1.0, "Hello")]),
        ("WEBVTT\n\n00:00:01,000 --> 00:00:02,000\nHello\n\nafter a blank line\n", [(1.0, "Hello after a blank line")]),
        ("1\n00:00:05,560 --> 00:00:05,940\nExact\n", [(5.56, "Exact")]),
    ],
)
def test_subtitles_survive_broken_cues(tmp_path: Path, content: str, expected: list[tuple[float, str]]) -> None:
    path = tmp_path / "a.srt"
    path.write_text(content, encoding="utf-8")
    blocks = parse_subtitles(path, "a.srt", ParserSettings(), "srt").blocks
    assert [(block.start_s, block.text) for block in blocks] == expected


def test_transcript_keeps_a_role_with_its_name() -> None:
    line = "[00:00:05] The Chair (Hon. Anthony Rota (Nipissing, Lib.)): I call the meeting to order.\n"
    assert looks_like_transcript(line * 2)
    turn = transcript_blocks(line)[0]
    assert (turn.speaker, turn.start_s) == ("The Chair (Hon. Anthony Rota (Nipissing, Lib.))", 5.0)
