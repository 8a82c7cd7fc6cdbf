"""Real meetings and a real database come back with every turn, time, column, key and count right."""

from __future__ import annotations

from pathlib import Path

from ingest.evaluation_database import evaluate_database
from ingest.evaluation_transcripts import evaluate_meeting, evaluate_transcripts, rough_tokens


def test_transcripts_of_real_meetings_come_back_turn_by_turn(eval_data: Path) -> None:
    results = evaluate_transcripts(eval_data, every=12)
    assert {counts.format for counts in results} == {"vtt", "srt", "transcript"}
    for counts in results:
        assert counts.turns_whole == counts.turns > 40
        assert counts.right == counts.chunks
        assert counts.wrong_merge == counts.wrong_speaker == counts.wrong_times == 0


def test_transcripts_evaluation_notices_what_is_wrong() -> None:
    said = [("Anna", "Good morning to all of you, let us begin with the budget for the coming year.")] * 1
    said += [("Ben", "Yes."), ("Anna", "Note: Ben: is a name that stands inside of this turn and must not divide it.")]
    good = evaluate_meeting(said, "vtt", rough_tokens)
    assert (good.turns_whole, good.right) == (3, good.chunks)
    nameless = evaluate_meeting([("", words) for _, words in said], "vtt", rough_tokens)
    assert nameless.right == 0


def test_transcripts_of_merged_turns_show_both_speakers() -> None:
    said = [("Anna", "Shall we take the first offer then, as it stands, without any further talks?"), ("Ben", "Yes.")]
    for format in ("vtt", "srt", "transcript"):
        counts = evaluate_meeting(said * 3, format, rough_tokens)
        assert (counts.right, counts.turns_whole, counts.wrong_merge) == (counts.chunks, 6, 0)
        assert counts.merged > 0


def test_database_of_a_real_shop_is_described_rightly(eval_data: Path) -> None:
    counts = evaluate_database(eval_data / "chinook" / "Chinook_Sqlite.sqlite")
    assert counts.tables_right == counts.tables == counts.row_counts_right == 11
    assert counts.columns_right == counts.columns == 64
    assert counts.foreign_keys_right == counts.foreign_keys == 11
    assert counts.tables_in_one_chunk >= 10
    assert counts.chunks_of_several_tables == 0
