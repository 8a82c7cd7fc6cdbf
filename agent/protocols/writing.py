"""Earlier replies of a model as the conversation shows them to it again, in its own form."""

from __future__ import annotations

import json
from collections.abc import Sequence

from agent.protocols.pieces import Call
from agent.protocols.reasons import Form


def written_calls(form: Form, thought: str, calls: Sequence[Call]) -> str:
    """Return the text of a reply that called tools; for native calls the JSON form stands in."""
    if form == "xml":
        written = "".join(
            f"\n<tool_name>{call.name}</tool_name><arguments>{_json(call.arguments)}</arguments>" for call in calls
        )
        return f"Thought: {thought.strip()}{written}"
    objects = [{"action": call.name, "action_input": call.arguments} for call in calls]
    first = {"thought": thought.strip(), **(objects[0] if objects else {})}
    return "\n".join(_json(each) for each in [first, *objects[1:]])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
