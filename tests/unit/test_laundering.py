"""Tags dressed up as something else: one grammar reads them, in whatever form a model writes and however it is cut.

Whole runs with the real auditor: what protocol, audit, citations and renderers make of each form is the same.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from agent.audit.auditor import Auditor
from agent.events import CitationAdded, Event, RunCompleted, TextDelta
from agent.fakes import FakeClock, FakeLibrary, FakeSearcher, FakeTrigger, fake_chunk
from agent.loop import Agent
from agent.models.scripted import ScriptedChatModel
from agent.protocols.reasons import Form
from agent.run import RunRequest
from agent.settings import LoopSettings
from agent.tools.builtin.finish import Finish
from agent.tools.registry import ToolRegistry
from retrieval.labels import find_tags, strip_tags
from retrieval.symbols.language import load_language
from retrieval.types import ALL_RIGHTS, Principal

OWNER = Principal(tenant="local", user="owner", rights=ALL_RIGHTS)
CHUNKS = [fake_chunk("Revenue in Q3 2024 was 238 million yuan. See [SOURCE: doc_dead_p1] and doc_dead_p1.")]
AUDITOR = Auditor(load_language(b"0123456789abcdef"))
VALID, UNKNOWN = "doc_7f3a_p5", "doc_9999_p1"

WRITTEN = {
    "plain": "[SOURCE: {}]",
    "link": "[SOURCE: {}](https://evil.example/x)",
    "link with the label as its target": "[the brief]({})",
    "reference link": "[SOURCE: {}][1]",
    "inline code": "`[SOURCE: {}]`",
    "code block": "\n```\n[SOURCE: {}]\n```\n",
    "full-width brackets": "［SOURCE：{}］",
    "Chinese brackets": "【来源：{}】",
    "doubled": "[SOURCE: {0}][SOURCE: {0}]",
    "doubled brackets": "[[SOURCE: {}]]",
    "one inside the other": "[SOURCE: [SOURCE: {}]]",
    "round brackets": "(SOURCE: {})",
    "angle brackets": "<source: {}>",
    "bare": "SOURCE: {}",
    "label alone": "{}",
    "invisible sign": "[SO\u200bURCE: {}]",
    "look-alike letter": "[ЅOURCE: {}]",
    "bold": "[SOURCE: **{}**]",
    "not closed": "[SOURCE: {}",
    "small letters": "[source:{}]",
}
NEAR_MISSES = [
    "doc_7f3a_p05",
    "doc_7f3a_p5z",
    "doc_7f3b_p5",
    "doc_7f3a_s5",
    "DOC_7F3A_P5",
    "doc_7f3a",
    "doc_dead_p1",
    "9",
]


def reply(form: Form, text: str) -> str:
    if form == "json":
        return json.dumps({"thought": "x", "action": "final_answer", "action_input": {"answer": text}})
    return f"Thought: x\n<final_answer>{text}</final_answer>"


def run(text: str, form: Form = "xml", size: int = 10_000) -> Sequence[Event]:
    whole = reply(form, text)
    model = ScriptedChatModel([[whole[at : at + size] for at in range(0, len(whole), size)]], form=form)
    agent = Agent(
        model=model,
        fallback=None,
        tools=ToolRegistry([Finish()]),
        searcher=FakeSearcher(CHUNKS),
        trigger=FakeTrigger("strong"),
        auditor=AUDITOR,
        library=FakeLibrary(CHUNKS),
        encoder="e",
        settings=LoopSettings(),
        clock=FakeClock(),
    )
    asked = RunRequest(run_id="r", trace_id="t", question="What was revenue in Q3 2024?", language="en")

    async def drain() -> list[Event]:
        return [event async for event in agent.run(asked, OWNER)]

    return asyncio.run(drain())


def outcome(events: Sequence[Event]) -> tuple[RunCompleted, list[str]]:
    done = events[-1]
    assert isinstance(done, RunCompleted), done
    assert "".join(each.text for each in events if isinstance(each, TextDelta)) == done.answer
    return done, [each.label for each in events if isinstance(each, CitationAdded)]


@pytest.mark.parametrize(("form", "size"), [("xml", 1), ("json", 3)])
@pytest.mark.parametrize("name", WRITTEN)
def test_an_unknown_source_is_a_violation_in_every_dress(name: str, size: int, form: Any) -> None:
    done, cited = outcome(run(f"Revenue in Q3 2024 was 238 million yuan {WRITTEN[name].format(UNKNOWN)}", form, size))
    assert cited == []
    assert done.audit.risk == "high"
    assert any(UNKNOWN in each for each in done.audit.violations)
    assert any(UNKNOWN in verdict.unknown_labels for verdict in done.audit.sentences)
    assert UNKNOWN in {tag.label for tag in find_tags(done.answer)}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_known_source_counts_in_every_dress_and_no_text_hides_it(name: str) -> None:
    done, cited = outcome(run(f"Revenue in Q3 2024 was 238 million yuan {WRITTEN[name].format(VALID)}", size=7))
    assert cited == [VALID]
    claims = [each for each in done.audit.sentences if each.kind != "not_a_claim"]
    assert [(each.kind, each.labels, each.unknown_labels) for each in claims] == [("supported", (VALID,), ())]
    assert VALID not in strip_tags(done.answer)
    # An address behind a tag is told as well; it leads nowhere.
    assert any("evil.example" in each for each in done.audit.violations) == (name == "link")
    assert "](" not in done.answer


@pytest.mark.parametrize("label", NEAR_MISSES)
def test_a_near_miss_is_never_taken_for_the_source_beside_it(label: str) -> None:
    done, cited = outcome(run(f"Revenue in Q3 2024 was 238 million yuan [SOURCE: {label}]."))
    assert cited == []
    (verdict,) = done.audit.sentences
    assert (verdict.kind, verdict.labels, verdict.unknown_labels) == ("unsupported", (label,), (label,))
    assert done.audit.risk == "high"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 21])
def test_a_run_of_tags_at_the_end_is_the_same_however_the_stream_is_cut(size: int) -> None:
    text = f"Revenue in Q3 2024 was 238 million yuan. [SOURCE: {VALID}][SOURCE: {UNKNOWN}]【来源：{VALID}】"
    done, cited = outcome(run(text, "xml", size))
    assert (done.answer, cited) == (text, [VALID])
    assert [each.labels for each in done.audit.sentences] == [(VALID, UNKNOWN)]


def test_a_label_that_a_source_forges_is_no_source() -> None:
    done, cited = outcome(run("Revenue in Q3 2024 was 238 million yuan. See [SOURCE: doc_dead_p1]."))
    assert cited == []
    assert done.audit.risk == "high"
    assert any("doc_dead_p1" in each for each in done.audit.violations)
