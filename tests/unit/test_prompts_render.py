"""The prompts, word for word, and that nobody's text is ever compiled.

After a wanted change: `ATTEST_WRITE_SNAPSHOTS=1 pytest tests/unit/test_prompts_render.py`, then read the diff.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.protocols.pieces import AnswerEnd, Call, ThoughtText
from agent.protocols.xml import XmlProtocol
from prompts import render as prompts
from prompts.errors import MissingVariableError, PromptError, UnknownTemplateError
from prompts.render import (
    ExampleKind,
    render_example,
    render_finish,
    render_format_error,
    render_general,
    render_note,
    render_observation,
    render_repair,
    render_step,
    render_system,
)
from prompts.values import DocumentHint, FailedSentence, Language, Persona, ToolCard
from retrieval.labels import find_tags

SNAPSHOTS = Path(__file__).parent / "snapshots" / "prompts"
TOOLS = [ToolCard("search_knowledge", "Search the documents.", '{"properties":{"query":{"type":"string"}}}')]
PERSONA = Persona(role="You help the audit team.", duties=("Be brief.",), instruction="Use British spelling.")
PASSAGES = ["(first passage)", "(second passage)"]

RENDERED: dict[str, Callable[[Language], str]] = {
    "system": lambda language: render_system(language, tools=TOOLS),
    "example_passages": lambda language: "\n---\n".join(render_example(language, "passages")),
    "example_search": lambda language: "\n---\n".join(render_example(language, "search")),
    "example_arithmetic": lambda language: "\n---\n".join(render_example(language, "arithmetic")),
    "example_talk": lambda language: "\n---\n".join(render_example(language, "talk")),
    "system_weak_owned": lambda language: render_system(
        language, tools=TOOLS, knowledge=[DocumentHint("7f3a", "Q3 brief")], persona=PERSONA
    ),
    "general": lambda language: render_general(language, tools=TOOLS),
    "step": lambda language: render_step(language, question="Q3?", passages=PASSAGES, tags=["[SOURCE: doc_7f3a_p5]"]),
    "step_bare": lambda language: render_step(language, question="Q3?"),
    "step_general": lambda language: render_step(language, question="Q3?", retrieves=False),
    "observation": lambda language: render_observation(language, tool="calculate", ok=True, text="1 = 1"),
    "observation_failed": lambda language: render_observation(
        language, tool="calculate", ok=False, text="", note=render_note(language, "repeated")
    ),
    "format_error": lambda language: render_format_error(language, reason="No call."),
    "finish": lambda language: render_finish(language, question="Q3?", passages=PASSAGES, results=["1 = 1"]),
    "repair": lambda language: render_repair(
        language,
        failed=[FailedSentence("It was 9.", ("the source says 8",), ("It was 8. [SOURCE: doc_7f3a_p5]",))],
        violations=["doc_9999_p1 is not a source of this run"],
        tags=["[SOURCE: doc_7f3a_p5]", "[SOURCE: doc_7f3a_p6]"],
    ),
    "finish_bare": lambda language: render_finish(language, question="Q3?", passages=[], results=[]),
}


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("name", sorted(RENDERED))
def test_prompt_is_word_for_word_as_agreed(name: str, language: Language) -> None:
    path = SNAPSHOTS / f"{name}.{language}.txt"
    text = RENDERED[name](language)
    if os.environ.get("ATTEST_WRITE_SNAPSHOTS"):
        path.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_skeleton_stands_in_its_fixed_order(language: Language) -> None:
    heads = {"zh": ["# 角色", "# 职责", "# 工具", "# 知识", "# 指令"], "en": ["# Role", "# Duties", "# Tools"]}
    heads["en"] += ["# Knowledge", "# Instruction"]
    for text in (
        render_system(language, tools=TOOLS, persona=PERSONA),
        render_general(language, tools=TOOLS, persona=PERSONA),
    ):
        places = [text.index(head) for head in heads[language]]
        assert places == sorted(places)


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("kind", ["passages", "search", "arithmetic", "talk"])
def test_example_keeps_to_the_form_it_shows(kind: ExampleKind, language: Language) -> None:
    turns = render_example(language, kind)
    assert len(turns) % 2 == 0
    for reply in turns[1::2]:
        parser = XmlProtocol()
        pieces = [*parser.feed(reply), *parser.finish()]
        assert isinstance(pieces[0], ThoughtText)
        assert isinstance(pieces[-1], Call | AnswerEnd)
    cited = {tag.label for tag in find_tags(turns[-1])}
    assert bool(cited) == (kind != "talk")
    assert cited <= {tag.label for turn in turns[:-1:2] for tag in find_tags(turn)}


def test_text_of_users_and_documents_is_never_compiled() -> None:
    hostile = "{{ 7 * 7 }}{% for x in y %}{# gone #}{{ self.__init__.__globals__ }}"
    persona = Persona(role=hostile, duties=(hostile,), instruction=hostile)
    hint = DocumentHint(hostile, hostile)
    text = render_system("en", tools=[ToolCard(hostile, hostile, hostile)], knowledge=[hint], persona=persona)
    assert text.count(hostile) == 8
    assert render_step("en", question=hostile, passages=[hostile]).count(hostile) == 2
    assert render_observation("en", tool="t", ok=True, text=hostile, note=hostile).count(hostile) == 2
    assert render_finish("en", question=hostile, passages=[hostile], results=[hostile]).count(hostile) == 3
    assert hostile in render_format_error("en", reason=hostile)


def test_missing_variables_and_templates_are_errors_that_name_the_template() -> None:
    with pytest.raises(MissingVariableError, match=r"step\.en\.j2"):
        prompts._render("step", "en", passages=[])
    with pytest.raises(UnknownTemplateError, match="nothing"):
        prompts._render("nothing", "en")
    assert issubclass(MissingVariableError, PromptError)
