"""A draft that was superseded: rewriting, tombstones and folding reach it like any other text of a run."""

from __future__ import annotations

from agent.audit.verdicts import Audit, Evidence, SentenceVerdict
from agent.emitter import Emitter
from agent.events import AnswerSuperseded, Event, RunCompleted, RunStarted, SentenceAudited, TextDelta
from agent.fakes import FakeClock
from agent.rewriting import rewrite
from agent.tombstones import entomb

DRAFT, ANSWER = "Ask. The falcon costs 9 [SOURCE: d1].", "Falcon: 5 [SOURCE: d1]."


def verdict(text: str, index: int, start: int, end: int) -> SentenceVerdict:
    value = text[start:end]
    seen = Evidence(
        rule="figure",
        passed=False,
        detail=f"falcon {value}",
        label="d1",
        answer_span=(start, end),
        source_value="falcon",
    )
    return SentenceVerdict(index=index, start=start, end=end, text=value, kind="contradicted", evidence=(seen,))


def script() -> list[Event]:
    emit = Emitter("r", "t", FakeClock())
    wrong, right = verdict(DRAFT, 1, 5, 37), verdict(ANSWER, 0, 0, 23)
    return [
        emit(RunStarted, question="?", model="m", encoder="e"),
        emit(TextDelta, text=DRAFT[:12], draft=True),
        emit(SentenceAudited, verdict=wrong, provisional=True),
        emit(TextDelta, text=DRAFT[12:], draft=True),
        emit(AnswerSuperseded, reason="repaired", risk="high", failed=(wrong,)),
        emit(TextDelta, text=ANSWER),
        emit(SentenceAudited, verdict=right),
        emit(
            RunCompleted,
            status="answered",
            answer=ANSWER,
            audit=Audit(risk="low", sentences=(right,), action="repaired"),
            passages=(),
            tier="strong",
            model="m",
            encoder="e",
            steps=1,
            prompt_tokens=1,
            completion_tokens=1,
            latency_ms=1.0,
        ),
    ]


def hide(text: str) -> str:
    return text.replace("falcon", "[SECRET_x]").replace("Falcon", "[SECRET_x]")


def test_rewriting_changes_draft_and_answer_apart_and_moves_spans_in_each() -> None:
    events = rewrite(script(), hide)
    assert "alcon" not in "\n".join(each.model_dump_json() for each in events)
    after = next(at for at, each in enumerate(events) if isinstance(each, AnswerSuperseded))
    draft = "".join(each.text for each in events[:after] if isinstance(each, TextDelta))
    answer = "".join(each.text for each in events[after:] if isinstance(each, TextDelta))
    last, superseded, live = events[-1], events[after], events[2]
    assert isinstance(last, RunCompleted)
    assert isinstance(superseded, AnswerSuperseded)
    assert isinstance(live, SentenceAudited)
    assert (draft, answer) == (hide(DRAFT), last.answer)
    for each in (superseded.failed[0], live.verdict):
        assert draft[each.start : each.end] == each.text == "The [SECRET_x] costs 9 [SOURCE: d1]."
    assert last.audit.sentences[0].text == last.answer


def test_a_deleted_document_leaves_no_text_in_the_verdicts_of_a_draft() -> None:
    gone = [entomb(each, {"x"}, {"d1"}) for each in script()]
    superseded = next(each for each in gone if isinstance(each, AnswerSuperseded))
    assert superseded.failed[0].evidence[0].detail == "[deleted]"
    assert superseded.failed[0].evidence[0].source_value is None
