from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from retrieval.encoders.lexical import LexicalEncoder
from retrieval.errors import EvaluationDataError
from retrieval.evaluation_data import Meeting, holds_meetings, read_dataset, read_meetings
from retrieval.evaluation_meetings import Pieces, evaluate_meetings
from retrieval.rerankers.embedded import FeatureReranker
from retrieval.settings import SearchSettings
from retrieval.stores.memory import InMemoryVectorStore
from retrieval.symbols.language import load_language

FILLER = " ".join(["nothing in particular was decided about it"] * 40)
TURNS = [["A", f"Let us talk about batteries. {FILLER}"], ["B", FILLER], ["A", f"The remote has rubber keys. {FILLER}"]]


def write(folder: Path, turns: list[list[str]], *queries: dict[str, object]) -> Path:
    meeting = {"id": "m", "split": "val", "turns": turns}
    (folder / "val_meetings.jsonl").write_text(json.dumps(meeting) + "\n", encoding="utf-8")
    (folder / "val_queries.jsonl").write_text("\n".join(json.dumps(q) for q in queries), encoding="utf-8")
    return folder


def query(qid: str, text: str, spans: list[list[int]] | None) -> dict[str, object]:
    return {"qid": qid, "meeting": "m", "query": text, "spans": spans}


def test_questions_about_a_whole_meeting_are_left_out(tmp_path: Path) -> None:
    folder = write(tmp_path, TURNS, query("q1", "keys?", [[1, 2]]), query("q2", "Summarise", None))
    assert holds_meetings(folder)
    (question,) = read_meetings(folder).questions
    assert (question.question_id, question.turns) == ("q1", frozenset({1, 2}))


def test_a_question_about_turns_that_are_not_there_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, TURNS, query("q1", "keys?", [[2, 3]]))
    with pytest.raises(EvaluationDataError, match="q1"):
        read_meetings(folder)


def test_a_folder_without_meetings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluationDataError, match="val_queries"):
        read_meetings(tmp_path)


def test_pieces_end_with_the_turn_that_fills_them() -> None:
    meeting = Meeting(meeting_id="m", turns=(("A", "one two"), ("B", "three"), ("A", "four"), ("B", "five six seven")))
    assert Pieces.of(meeting, words=3).spans == (range(0, 2), range(2, 4))


def test_only_pieces_that_fit_are_read() -> None:
    meeting = Meeting(meeting_id="m", turns=(("A", "a b c d e f"), ("B", "g h"), ("A", "i j")))
    pieces = Pieces.of(meeting, words=1)
    wanted = frozenset({0, 2})
    assert pieces.read([0, 1, 2], wanted, 0.2) == 0.0
    assert pieces.read([0, 2, 1], wanted, 0.2) == pytest.approx(2 / 8)
    assert pieces.read([0, 2, 1], wanted, 1.0) == 1.0


async def test_meetings_are_measured_beside_bm25(tmp_path: Path) -> None:
    folder = write(tmp_path, TURNS, query("q1", "rubber keys", [[2, 2]]), query("q2", "batteries", [[0, 0]]))

    @asynccontextmanager
    async def new_store() -> AsyncGenerator[InMemoryVectorStore, None]:
        yield InMemoryVectorStore()

    report = await evaluate_meetings(
        read_meetings(folder),
        encoder=LexicalEncoder(),
        reranker=FeatureReranker.beside("lexical"),
        new_store=new_store,
        language=load_language(b"0123456789abcdef"),
        settings=SearchSettings(),
    )
    assert (report.meetings, report.pieces, report.questions) == (1, 3, 2)
    assert set(report.metrics) == {"words@10", "words@26", "bm25.words@10", "bm25.words@26"}


def test_a_headline_asks_for_its_segment(tmp_path: Path) -> None:
    segment = {"id": "1_0", "headline": "区块链", "turns": [["1", "比特币"], ["2", "共识"]]}
    (tmp_path / "dev_segments.jsonl").write_text(json.dumps(segment) + "\n", encoding="utf-8")
    dataset = read_dataset(tmp_path)
    assert dataset.texts[0].text == "比特币\n共识"
    assert (dataset.questions[0].text, dataset.questions[0].text_id) == ("区块链", "1_0")
