"""What a JSON object of a reply asks for: calls, an answer, or nothing. Reads the usual other names of the keys."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from agent.protocols.arguments import ArgumentsSyntaxError, read_arguments
from agent.protocols.pieces import Call
from agent.tools.base import ToolSpec

Tools = Mapping[str, ToolSpec]

_THOUGHT = frozenset({"thought", "thoughts", "thinking", "reasoning", "思考", "想法", "思路"})
_ACTION = (
    "action",
    "tool",
    "tool_name",
    "name",
    "function",
    "function_name",
    "动作",
    "行动",
    "工具",
    "工具名",
    "工具名称",
)
_INPUT = (
    *("action_input", "actioninput", "arguments", "args", "parameters", "params", "tool_input", "tool_args"),
    *("tool_arguments", "input", "kwargs", "动作输入", "行动输入", "参数", "工具参数", "输入"),
)
_ANSWER = ("answer", "final_answer", "output", "response", "content", "text", "答案", "最终答案", "回答")
_ANSWER_NAMES = frozenset({"final_answer", "finalanswer", "final", "answer", "最终答案", "最终回答", "回答", "答案"})
_WRAPPERS = frozenset({"tool_call", "tool_calls", "tool_calling", "function_call", "calls", "actions", "工具调用"})
_NOTHING = frozenset({"", "none", "null", "n/a", "无"})
_BESIDE = frozenset({"observation", "观察", "id", "type", "confidence", "plan"}) | _THOUGHT
_NAME_RE = re.compile(r"[`'\"\s]*(?:functions?[.:])?([A-Za-z_][\w.\-]*)")


@dataclass(slots=True)
class Reading:
    """What one object asks for."""

    calls: list[Call] = field(default_factory=list[Call])
    answer: str | None = None
    observed: bool = False
    """True: the model wrote the observation itself; nothing that follows was written from what a tool gave."""


def normal(key: str) -> str:
    """Return a key as the lists of this module write it."""
    return key.strip().casefold().replace(" ", "_").replace("-", "_")


def is_thought(key: str) -> bool:
    """Tell whether a key names the Thought."""
    return normal(key) in _THOUGHT


def is_action(key: str) -> bool:
    """Tell whether a key may name the tool."""
    return normal(key) in _ACTION


def is_input(key: str) -> bool:
    """Tell whether a key names what the tool is given."""
    return normal(key) in _INPUT


def is_answer_key(key: str) -> bool:
    """Tell whether a key names the text of an answer."""
    return normal(key) in _ANSWER


def is_wrapper(key: str) -> bool:
    """Tell whether a key only wraps calls."""
    return normal(key) in _WRAPPERS


def is_answer(name: str, tools: Tools) -> bool:
    """Tell whether an action's name means the final answer."""
    return normal(name) == "final_answer" or (normal(name) in _ANSWER_NAMES and name not in tools)


def read_action(value: dict[str, Any], tools: Tools, *, repaired: bool) -> Reading | None:
    """Return what an object asks for, None when it is no action at all.

    Raises:
        ArgumentsSyntaxError: it names a tool, but what the tool shall be given cannot be read.
    """
    reading = Reading(observed=_observed(value))
    found = _read(value, tools, reading, repaired=repaired, depth=4)
    return reading if found else None


def call_of(name: str, raw: str, tools: Tools) -> Call:
    """Make a call from a name and the text of its arguments.

    Raises:
        ArgumentsSyntaxError: no object can be read.
    """
    text = raw.strip()
    if text in {"null", '""'}:
        return Call(clean_name(name), {}, raw)
    if text.startswith('"'):
        given, _ = _from_text(_unquoted(text), tools.get(clean_name(name)))
        return Call(clean_name(name), given, raw, repaired=True)
    arguments, repaired = read_arguments(raw)
    return Call(clean_name(name), arguments, raw, repaired)


def clean_name(name: str) -> str:
    """Return the identifier a name begins with, without quotes, `functions.` and what models append to it."""
    found = _NAME_RE.match(name)
    return found.group(1).rstrip(".-") if found else name.strip()


def answer_of(given: object) -> str:
    """Return the text of an answer from an action's input: the text itself, or what stands under the usual key."""
    if isinstance(given, dict):
        items = cast("dict[str, object]", given)
        by_key = {normal(key): item for key, item in items.items()}
        for key in _ANSWER:
            if key in by_key:
                return answer_of(by_key[key])
        return answer_of(next(iter(items.values()))) if len(items) == 1 else ""
    if isinstance(given, str):
        return given.strip()
    return "" if given is None else json.dumps(given, ensure_ascii=False)


def _read(value: dict[str, Any], tools: Tools, reading: Reading, *, repaired: bool, depth: int) -> bool:
    if depth == 0:
        return False
    keys = {normal(key): key for key in reversed(value)}
    wrapper = next((keys[key] for key in keys if key in _WRAPPERS), None)
    if wrapper is not None:
        inner: object = value[wrapper]
        items = cast("list[object]", inner) if isinstance(inner, list) else [inner]
        found = [
            _read(cast("dict[str, Any]", item), tools, reading, repaired=repaired, depth=depth - 1)
            for item in items
            if isinstance(item, dict)
        ]
        return any(found)
    action = next((keys[key] for key in _ACTION if key in keys), None)
    if action is None:
        return _read_without_action(value, keys, tools, reading, repaired=repaired)
    name = value[action]
    if isinstance(name, dict):
        return _read(cast("dict[str, Any]", name), tools, reading, repaired=repaired, depth=depth - 1)
    if not isinstance(name, str) or normal(name) in _NOTHING:
        return False
    given_key = next((keys[key] for key in _INPUT if key in keys), None)
    if is_answer(name, tools):
        beside = next((value[keys[key]] for key in _ANSWER if key in keys and keys[key] != action), None)
        reading.answer = answer_of(value[given_key] if given_key is not None else beside)
        return True
    if normal(action) == "name" and given_key is None and clean_name(name) not in tools:
        return False
    spec = tools.get(clean_name(name))
    if given_key is not None:
        arguments, changed = _given(value[given_key], spec)
    else:
        arguments = {key: item for key, item in value.items() if key != action and normal(key) not in _BESIDE}
        changed = bool(arguments)
    plain = clean_name(name) == name.strip()
    raw = json.dumps(arguments, ensure_ascii=False)
    reading.calls.append(Call(clean_name(name), arguments, raw, repaired or changed or not plain))
    return True


def _read_without_action(
    value: dict[str, Any], keys: dict[str, str], tools: Tools, reading: Reading, *, repaired: bool
) -> bool:
    """Read `{"final_answer": "…"}` and `{"search": {…}}`, which name no action."""
    rest = [key for key in value if normal(key) not in _BESIDE]
    if len(rest) != 1:
        return False
    key = rest[0]
    if normal(key) in _ANSWER_NAMES and key not in tools:
        reading.answer = answer_of(value[key])
        return True
    if key in tools and isinstance(value[key], dict):
        arguments = cast("dict[str, Any]", value[key])
        reading.calls.append(Call(key, arguments, json.dumps(arguments, ensure_ascii=False), repaired=True))
        return True
    return False


def _given(value: object, spec: ToolSpec | None) -> tuple[dict[str, Any], bool]:
    match value:
        case dict():
            return cast("dict[str, Any]", value), False
        case None:
            return {}, False
        case str():
            return _from_text(value, spec)
        case [dict()]:
            return cast("dict[str, Any]", value[0]), True
        case _:
            raise ArgumentsSyntaxError('the arguments are not a JSON object; write {"name": value, …}')


def _from_text(text: str, spec: ToolSpec | None) -> tuple[dict[str, Any], bool]:
    """Read arguments written as a string: JSON in it, or the one text the tool takes."""
    if not text.strip():
        return {}, False
    if text.strip().startswith(("{", "```")):
        return read_arguments(text)
    properties = cast("dict[str, Any]", spec.arguments.get("properties", {})) if spec is not None else {}
    required = cast("list[str]", spec.arguments.get("required", [])) if spec is not None else []
    name = required[0] if len(required) == 1 else next(iter(properties)) if len(properties) == 1 else "input"
    return {name: text.strip()}, True


def _unquoted(text: str) -> str:
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError) as exc:
        raise ArgumentsSyntaxError("the arguments are not valid JSON; write one JSON object") from exc
    return value if isinstance(value, str) else text


def _observed(value: dict[str, Any]) -> bool:
    return any(normal(key) in {"observation", "观察"} and bool(item) for key, item in value.items())
