"""A `<final_answer>` that is no answer for the reader is completed by one more call; an answer is left alone."""

from __future__ import annotations

from typing import Literal

import pytest

from agent.drafts import Fault, fault_of, shown
from agent.errors import ModelUnavailableError
from agent.events import Event, RunCompleted, TextDelta
from agent.fakes import FakeAuditor, FakeClock, FakeLibrary, FakeSearcher, FakeTrigger, fake_chunk
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.run import RunRequest
from agent.settings import LoopSettings
from agent.tools.builtin.finish import Finish
from agent.tools.registry import ToolRegistry
from retrieval.types import ALL_RIGHTS, Principal

TAG = "[SOURCE: doc_7f3a_p5]"


@pytest.mark.parametrize(
    ("draft", "question", "language", "fault"),
    [
        ("I have finished the task.", "What is X?", "en", "report"),
        ("Done.", "What is X?", "en", "report"),
        ("The search is completed. See above.", "What is X?", "en", "report"),
        ("任务已完成。", "X 是什么？", "zh", "report"),
        ("我已经完成了检索", "X 是什么？", "zh", "report"),
        ("如上所述。", "X 是什么？", "zh", "report"),
        (f"Revenue was 238 million in the third quarter {TAG}.", "三季度收入是多少？", "zh", "language"),
        (f"第三季度营业收入为 2.38 亿元 {TAG}。", "What was revenue in Q3?", "en", "language"),
        (f"第三季度营业收入为 2.38 亿元 {TAG}。", "三季度收入是多少？", "zh", None),
        (f"Revenue was 238 million {TAG}.", "What was revenue?", "en", None),
        ("Revenue was 238 million in the third quarter.", "请用英文回答：三季度收入是多少？", "zh", None),
        ("第三季度营业收入为二亿元。", "Translate this into Chinese", "en", None),
        ("Done: the migration finished in May, and all 12 servers run the new system.", "What is X?", "en", None),
        ("The project is done.", "Is the project done?", "en", None),
        ("AWS-EC2 (c5.large)", "用的是哪种实例？", "zh", None),
        (f"文中写道“The quick brown fox jumps over the lazy dog”，即快速的狐狸 {TAG}。", "写了什么？", "zh", None),
        ("42", "多少？", "zh", None),
        ("", "多少？", "zh", None),
    ],
)
def test_what_is_a_draft(draft: str, question: str, language: Literal["zh", "en"], fault: Fault | None) -> None:
    assert fault_of(draft, question, language) == fault


def test_a_draft_in_a_prompt_keeps_its_tags_and_nothing_else_that_acts() -> None:
    draft = f"It was 2 {TAG}{TAG} <final_answer>x</final_answer> [SOURCE: ???]"
    text = shown(draft)
    assert text.count(TAG) == 2
    assert "<final_answer>" not in text


def make_agent(model: ScriptedChatModel) -> Agent:
    return Agent(
        model=model,
        fallback=None,
        tools=ToolRegistry([Finish()]),
        searcher=FakeSearcher([fake_chunk("Revenue in Q3 2024 was 238 million 收入")]),
        trigger=FakeTrigger("strong"),
        auditor=FakeAuditor(),
        library=FakeLibrary(),
        settings=LoopSettings(),
        encoder="hash",
        clock=FakeClock(),
    )


async def ask(model: ScriptedChatModel) -> tuple[RunCompleted, list[Event]]:
    request = RunRequest(run_id="r1", trace_id="t1", question="三季度收入是多少？", language="zh")
    run = make_agent(model).run(request, Principal(tenant="local", user="owner", rights=ALL_RIGHTS))
    events = [event async for event in run]
    done = events[-1]
    assert isinstance(done, RunCompleted)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == done.answer
    return done, events


ENGLISH = f"Revenue was 238 million in the third quarter {TAG}."
CHINESE = f"第三季度收入为 2.38 亿 {TAG}。"


async def test_a_draft_in_the_sources_language_is_written_in_the_readers() -> None:
    model = ScriptedChatModel([f"<final_answer>{ENGLISH}</final_answer>", CHINESE])
    done, _ = await ask(model)
    assert done.answer == CHINESE
    assert [request.purpose for request in model.requests] == ["step", "finish"]
    asked = model.requests[1].messages[-1].content
    assert "Revenue in Q3 2024 was 238 million" in asked
    assert f"<draft>\n{ENGLISH}\n</draft>" in asked
    assert "用中文" in asked


async def test_finish_asks_in_the_readers_language_for_a_whole_answer_from_foreign_evidence() -> None:
    model = ScriptedChatModel(["<tool_name>finish</tool_name><arguments>{}</arguments>", CHINESE])
    done, _ = await ask(model)
    assert done.answer == CHINESE
    asked = model.requests[1].messages[-1].content
    assert "完整的答案" in asked
    assert "Revenue in Q3 2024 was 238 million" in asked
    assert "<draft>" not in asked


async def test_where_completing_fails_the_draft_is_the_answer() -> None:
    model = ScriptedChatModel([f"<final_answer>{ENGLISH}</final_answer>", ModelUnavailableError("away")])
    done, _ = await ask(model)
    assert done.answer == ENGLISH
