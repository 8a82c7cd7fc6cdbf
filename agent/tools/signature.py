"""The arguments of a tool as one line of a prompt, in place of their JSON Schema.

Small models copy what they see: shown a schema they write a schema back, shown the shape of
the arguments they write arguments. It also takes a third of the tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast


def arguments_line(schema: Mapping[str, Any]) -> str:
    """Return the shape of the arguments: `{"query": string (A complete question.), "limit": integer (optional)}`.

    What the line cannot say (nested objects, alternatives) stands in it as JSON Schema; bounds are left to
    the executor, whose refusal names them.
    """
    required = frozenset(cast("list[str]", schema.get("required", [])))
    properties = cast("dict[str, Any]", schema.get("properties", {}))
    return "{" + ", ".join(_property(name, value, name in required) for name, value in properties.items()) + "}"


def _property(name: str, schema: Any, required: bool) -> str:
    known = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    remarks = [] if required else ["optional"]
    remarks += [str(known["description"])] if known.get("description") else []
    shown = f" ({'. '.join(remarks)})" if remarks else ""
    return f"{json.dumps(name, ensure_ascii=False)}: {_type(known)}{shown}"


def _type(schema: Mapping[str, Any]) -> str:
    match schema:
        case {"enum": [*values]}:
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in cast("list[object]", values))
        case {"type": "array", "items": items} if isinstance(items, dict):
            return f"[{_type(cast('dict[str, Any]', items))}, …]"
        case {"type": "string" | "integer" | "number" | "boolean" as name}:
            return str(name)
        case _:
            shape = {key: value for key, value in schema.items() if key != "description"}
            return json.dumps(shape, ensure_ascii=False, separators=(",", ":")) if shape else "any"
