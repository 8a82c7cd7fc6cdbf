"""What rests on a result of low quality must be said to be uncertain: else it is flagged, and repaired if so asked."""

from __future__ import annotations

from typing import Any

import pytest

from agent.audit.hedging import flag_unhedged, is_hedged
from agent.audit.policy import failed_sentences, withheld_text
from agent.audit.verdicts import Audit, SentenceVerdict
from agent.context import RunContext
from agent.events import AnswerSuperseded, RunCompleted, SentenceAudited
from agent.fakes import FakeAuditor, FakeClock, FakeLibrary, FakeSearcher, FakeTrigger
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.run import RunRequest
from agent.settings import AuditSettings, LoopSettings
from agent.tools.base import ToolContext, ToolResult, ToolSpec
from agent.tools.builtin.finish import Finish
from agent.tools.registry import ToolRegistry
from prompts.values import Persona
from retrieval.types import Principal

WEAK = frozenset({"tool_scan#1"})


@pytest.mark.parametrize(
    "text",
    [
        "It is 21 degrees, but this reading is incomplete.",
        "The scan suggests 21 degrees.",
        "The figure could not be read fully and must be verified.",
        "It may be 21.",
        "大约为 21，但数据质量不高。",
        "该数字可能是 21。",
        "结果为 21，仅供参考。",
        "结果不完全可靠。",
        "这一数值仍需进一步核实。",
    ],
)
def test_words_of_doubt_are_read(text: str) -> None:
    assert is_hedged(text)


@pytest.mark.parametrize(
    "text",
    [
        "It is 21 degrees.",
        "It is 21 without any doubt.",
        "There is no uncertainty: 21.",
        "结果为 21。",
        "毫无疑问是 21。",
        "并不可能是别的。",
        "无需核实，就是 21。",
    ],
)
def test_words_of_certainty_are_not(text: str) -> None:
    assert not is_hedged(text)


def _audit(*texts: str, kind: Any = "supported", labels: tuple[str, ...] = ("tool_scan#1",)) -> Audit:
    verdicts = [
        SentenceVerdict(index=i, start=0, end=1, text=text, kind=kind, labels=labels if i == 0 else ())
        for i, text in enumerate(texts)
    ]
    return Audit(risk="low", sentences=tuple(verdicts))


def test_a_sentence_that_does_not_hedge_is_flagged_and_makes_the_risk_medium() -> None:
    audit = flag_unhedged(_audit("It is 21 degrees."), WEAK, "en")
    assert audit.sentences[0].flags == ("unhedged",)
    assert audit.sentences[0].evidence[-1].detail == (
        "tool_scan#1 is of low quality, and the answer does not say that it is uncertain"
    )
    assert audit.risk == "medium"
    assert failed_sentences(audit) == audit.sentences
    assert "1 that states a result of low quality as certain" in withheld_text(audit, [], "en")


@pytest.mark.parametrize("texts", [("It may be 21.",), ("It is 21.", "The scan is incomplete, so this is uncertain.")])
def test_a_hedge_in_the_sentence_or_beside_it_is_enough(texts: tuple[str, ...]) -> None:
    audit = flag_unhedged(_audit(*texts), WEAK, "zh")
    assert audit.sentences[0].flags == ()
    assert audit.sentences[0].evidence[-1].passed
    assert audit.risk == "low"
    assert failed_sentences(audit) == ()


def test_other_sentences_stay_as_they_are() -> None:
    good = _audit("It is 21.", labels=("doc_7f3a_p5",))
    assert flag_unhedged(good, WEAK, "en") is good
    said = _audit("See [SOURCE: tool_scan#1].", kind="not_a_claim")
    assert flag_unhedged(said, WEAK, "en") is said


class Scan:
    """Reads badly."""

    spec = ToolSpec(name="scan", description="Scans.", arguments={"type": "object"})

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult(text="21 degrees", label=context.reserve("scan", "21 degrees"), quality_score=0.5)


async def test_a_model_that_states_it_as_certain_is_asked_to_write_again() -> None:
    model = ScriptedChatModel([
        "<tool_name>scan</tool_name><arguments>{}</arguments>",
        "<tool_name>finish</tool_name><arguments>{}</arguments>",
        "It is 21 degrees [SOURCE: tool_scan#1].",
        "It may be 21 degrees; the scan was bad [SOURCE: tool_scan#1].",
    ])
    agent = Agent(
        model=model,
        fallback=None,
        tools=ToolRegistry([Scan(), Finish()]),
        searcher=FakeSearcher(),
        trigger=FakeTrigger("none"),
        auditor=FakeAuditor(),
        library=FakeLibrary(),
        settings=LoopSettings(),
        encoder="hash",
        clock=FakeClock(),
        auditing=AuditSettings(policy="repair"),
    )
    request = RunRequest(run_id="r1", trace_id="t1", question="How warm?", language="en")
    events = [event async for event in agent.run(request, Principal(tenant="local", user="owner"))]
    asked = "\n".join(message.content for message in model.requests[2].messages)
    assert "21 degrees (of low quality: the answer must say that it is uncertain) [SOURCE: tool_scan#1]" in asked
    superseded = next(event for event in events if isinstance(event, AnswerSuperseded))
    assert superseded.failed[0].flags == ("unhedged",)
    done = events[-1]
    assert isinstance(done, RunCompleted)
    assert done.answer.startswith("It may be 21 degrees")
    assert done.audit.risk == "low"
    assert [event.verdict.flags for event in events if isinstance(event, SentenceAudited)] == [(), ()]


def test_a_shortened_result_keeps_the_remark() -> None:
    context = RunContext(
        question="How warm?", language="en", tier="none", tools=(), hints=(), passages=(), persona=Persona()
    )
    context.note_shortened("tool_scan#1", "21 degrees …")
    remark = "(of low quality: the answer must say that it is uncertain)"
    asked = context.finish_messages([], {"tool_scan#1": f"21 degrees and much more {remark}"})[-1].content
    assert f"21 degrees … {remark} [SOURCE: tool_scan#1]" in asked
