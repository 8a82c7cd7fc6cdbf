"""What a model is told when its reply broke the form, in the form it was asked for."""

from __future__ import annotations

from typing import Literal

from agent.protocols.pieces import Malformed, MalformedCode

Form = Literal["xml", "json", "native"]
"""How a model writes tool calls and answers: tags, one JSON object, or the endpoint's own function calling."""

_CALL: dict[Form, str] = {
    "xml": "<tool_name>NAME</tool_name><arguments>{JSON}</arguments>",
    "json": '{"thought": "…", "action": "NAME", "action_input": {JSON}}',
    "native": "a function call",
}
_ANSWER: dict[Form, str] = {
    "xml": "<final_answer>ANSWER</final_answer>",
    "json": '{"thought": "…", "action": "final_answer", "action_input": {"answer": "ANSWER"}}',
    "native": "the answer as plain text",
}
_CLOSED: dict[Form, str] = {"xml": "close it with </final_answer>", "json": "close the JSON object", "native": "end it"}


def malformed(form: Form, code: MalformedCode, detail: str = "") -> Malformed:
    """Make the piece that says what was wrong and what to write instead; `detail` quotes nothing of the reply."""
    return Malformed(code, f"{_reason(form, code)} {detail}".strip())


def _reason(form: Form, code: MalformedCode) -> str:
    match code:
        case "no_action":
            return (
                f"The reply has neither a tool call nor a final answer. Write either {_CALL[form]} or {_ANSWER[form]}."
            )
        case "unclosed_call":
            return f"The reply ended inside a tool call. Write {_CALL[form]} to its end."
        case "unclosed_answer":
            return f"The final answer was not closed. Write it again, shorter, and {_CLOSED[form]}."
        case "unclosed_think":
            return "The reply ended while thinking. Think shorter, then act."
        case "empty_answer":
            return f"The final answer is empty. Write {_ANSWER[form]}."
        case "bad_arguments":
            return "The tool did not run."
        case "too_long":
            return "The reply is too long. Write a shorter one."
