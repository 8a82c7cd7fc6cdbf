"""What becomes of a malformed reply: read by a protocol, matched to the tools there are, checked by their schemas."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import jsonschema

from agent.errors import UnknownToolError
from agent.protocols.choice import Form, parser_for
from agent.protocols.pieces import AnswerEnd, AnswerText, Call, CallDelta, Malformed, join_adjacent
from agent.tools.base import ToolContext, ToolResult, ToolSpec
from agent.tools.registry import ToolRegistry
from transcripts import TOOLS

SPECS = (
    *TOOLS,
    ToolSpec(
        name="set_flag",
        description="Sets a flag.",
        arguments={"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]},
    ),
    ToolSpec(
        name="send_mail",
        description="Sends mail.",
        arguments={"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
        side_effects=True,
    ),
)


class _Declared:
    """A tool of which only the declaration counts."""

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = spec

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        raise AssertionError("no call of this table is run")


_REGISTRY = ToolRegistry(_Declared(spec) for spec in SPECS)


def outcome(form: Form, text: str, calls: Sequence[CallDelta] = (), *, cut: bool = False) -> list[str]:
    """Return what a reply leads to, a line for each action.

    `call NAME ARGUMENTS`, before it `repaired` where JSON was mended and `near` where the name was; `refused NAME`:
    there is no such tool; `invalid NAME`: the arguments do not fit its schema; `unsafe NAME`: a tool with
    effects does not act on mended arguments; `error CODE`: the model is told what was wrong; `answer TEXT`.
    """
    parser = parser_for(form, SPECS)
    pieces = [*parser.feed(text)] if text else []
    for delta in calls:
        pieces += parser.feed_call(delta)
    lines: list[str] = []
    answer: list[str] = []
    for piece in join_adjacent([*pieces, *parser.finish(cut=cut)]):
        match piece:
            case Call():
                lines.append(_called(piece))
            case Malformed(code=code):
                lines.append(f"error {code}")
            case AnswerText(text=said):
                answer.append(said)
            case AnswerEnd():
                lines.append(f"answer {''.join(answer)}")
            case _:
                pass
    return lines


def _called(call: Call) -> str:
    try:
        found = _REGISTRY.resolve(call.name, [spec.name for spec in SPECS])
    except UnknownToolError:
        return f"refused {call.name.strip()[:40]}"
    spec = found.tool.spec
    if call.repaired and spec.side_effects:
        return f"unsafe {spec.name}"
    if not jsonschema.Draft202012Validator(spec.arguments).is_valid(call.arguments):
        return f"invalid {spec.name}"
    how = ("repaired " if call.repaired else "") + ("near " if found.requested_name != spec.name else "")
    return f"{how}call {spec.name} {json.dumps(call.arguments, ensure_ascii=False)}"
