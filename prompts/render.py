"""One typed function per template. Text from users and documents enters as a variable, never as a template."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import jinja2

from prompts.errors import MissingVariableError, UnknownTemplateError
from prompts.values import DocumentHint, FailedSentence, Form, Language, PastTaskCard, Persona, ToolCard

_DEFAULT = Persona()


def render_system(
    language: Language,
    *,
    tools: Sequence[ToolCard],
    knowledge: Sequence[DocumentHint] = (),
    persona: Persona = _DEFAULT,
    form: Form = "xml",
) -> str:
    """Render the system prompt of a run that works with the documents.

    Args:
        language: the language of the prompt and of the answer.
        tools: what the model may call.
        knowledge: documents that may hold the answer, named before anything is searched.
        persona: role, duties and the assistant owner's instruction.
        form: how the model is asked to write calls and answers.
    """
    return _render("system", language, persona=persona, tools=tools, knowledge=knowledge, form=form)


def render_general(
    language: Language, *, tools: Sequence[ToolCard], persona: Persona = _DEFAULT, form: Form = "xml"
) -> str:
    """Render the system prompt of a run that retrieves nothing."""
    return _render("general", language, persona=persona, tools=tools, form=form)


def render_step(
    language: Language,
    *,
    question: str,
    passages: Sequence[str] = (),
    tags: Sequence[str] = (),
    retrieves: bool = True,
    form: Form = "xml",
) -> str:
    """Render the first user message: the passages at hand, the question, and the form of the reply once more.

    The form and the tags of the passages stand last because small models keep what they read last;
    without it they mix labels from those of the example and of the passages.
    """
    return _render("step", language, question=question, passages=passages, tags=tags, retrieves=retrieves, form=form)


def render_calls_as_text(language: Language, *, tools: Sequence[ToolCard]) -> str:
    """Render what follows the system prompt where an endpoint refuses the functions it was offered."""
    return _render("calls_as_text", language, tools=tools)


def render_observation(language: Language, *, tool: str, ok: bool, text: str, note: str = "") -> str:
    """Render a tool's result as the next user message; `text` must be inert already."""
    return _render("observation", language, tool=tool, ok=ok, text=text, note=note)


def render_format_error(language: Language, *, reason: str) -> str:
    """Render what a reply that broke the protocol is answered with."""
    return _render("format_error", language, reason=reason)


ExampleKind = Literal["passages", "search", "arithmetic", "talk"]


def render_example(language: Language, kind: ExampleKind, *, form: Form = "xml") -> tuple[str, ...]:
    """Render the example turn that a conversation begins with: messages of user and model by turns.

    It shows what the run begins with: an answer from passages at hand, a search, a sum, or talk beside the
    documents. Small models do what the last model turn did, and hardly anything that is only described.
    Of its two passages the first answers, as it mostly does in a run: they name the one in the same place.
    Models that call functions natively know how; they are shown an answer alone.
    """
    tag, other_tag = "[SOURCE: doc_0a1b_p12]", "[SOURCE: doc_5c2d_p3]"

    def part(name: str) -> str:
        return _render("example", language, part=name, tag=tag, other_tag=other_tag, form=form)

    if form == "native":
        kind = "passages" if kind in {"passages", "search"} else "talk"
    match kind:
        case "passages":
            passages = [part("passage"), part("other_passage")]
            asked = render_step(
                language, question=part("question"), passages=passages, tags=[tag, other_tag], form=form
            )
            return asked, part("answer")
        case "search":
            found = render_observation(language, tool="search_knowledge", ok=True, text=part("passage"))
            return render_step(language, question=part("question"), form=form), part("search"), found, part("answer")
        case "arithmetic":
            result = render_observation(language, tool="calculate", ok=True, text=part("sum_result"))
            asked = render_step(language, question=part("sum"), retrieves=False, form=form)
            return asked, part("sum_call"), result, part("sum_answer")
        case "talk":
            return render_step(language, question=part("talk"), retrieves=False, form=form), part("talk_answer")


NoteKind = Literal["repeated", "concise", "drift", "question_changed", "plan_changed"]


def render_note(language: Language, kind: NoteKind, *, text: str = "") -> str:
    """Render a remark of the system that follows an observation; `text` is the plan, or the new question."""
    return _render("note", language, kind=kind, text=text)


def render_earlier(language: Language, *, steps: Sequence[str], left_out: int) -> str:
    """Render early steps of a long run as a line each; `left_out` older ones have no line."""
    return _render("earlier", language, steps=steps, left_out=left_out)


def render_conversation(language: Language, *, turns: Sequence[tuple[str, str]]) -> str:
    """Render what was said before in the conversation: questions and the beginnings of their answers."""
    return _render("conversation", language, turns=turns)


def render_experience(language: Language, *, tasks: Sequence[PastTaskCard]) -> str:
    """Render what finished tasks like this one tell it."""
    return _render("experience", language, tasks=tasks)


def render_shorten(language: Language, *, question: str, text: str) -> str:
    """Render the request to shorten a tool's result towards the question."""
    return _render("shorten", language, question=question, text=text)


def render_finish(
    language: Language, *, question: str, passages: Sequence[str], results: Sequence[str], draft: str = ""
) -> str:
    """Render the request for the answer itself, with everything that was found; `draft` is what it is made from."""
    return _render("finish", language, question=question, passages=passages, results=results, draft=draft)


def render_repair(
    language: Language, *, failed: Sequence[FailedSentence], violations: Sequence[str], tags: Sequence[str]
) -> str:
    """Render what an answer that failed its audit is returned to the model with; all texts must be inert already.

    Args:
        language: the language of the prompt and of the answer.
        failed: its sentences that did not hold.
        violations: its tags that name no source.
        tags: all that may be cited.
    """
    return _render("repair", language, failed=failed, violations=violations, tags=tags)


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("prompts"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )


def _render(template: str, language: Language, **variables: object) -> str:
    name = f"{template}.{language}.j2"
    try:
        return _environment().get_template(name).render(variables).strip()
    except jinja2.TemplateNotFound as exc:
        raise UnknownTemplateError(f"there is no template {name!r}") from exc
    except jinja2.UndefinedError as exc:
        raise MissingVariableError(f"template {name!r}: {exc.message}") from exc
