"""Read the JSON object of a tool call: strictly first, then mended, else with a reason for the model."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, cast

import json_repair

from agent.protocols.objects import ObjectScanner

# json_repair takes quadratic time on nested garbage (32,000 times `["` ran for minutes),
# so only what a model may plausibly have meant is handed to it.
_REPAIR_CHARS = 8_000
_REPAIR_OPENERS = 100
_MAX_DEPTH = 32

_FENCE_RE = re.compile(r"\A\s*```[A-Za-z]{0,10}\s*(.*?)\s*```\s*\Z", re.DOTALL)
_WORD_RE = re.compile(r"\Ajson\s*(?=\{)", re.IGNORECASE)
_NOTHING = frozenset({"", '""', "null", "None"})
_TAG_RE = re.compile(r"[<＜]\s*/?\s*(?:tool_name|arguments|final_answer|工具名|参数|最终答案)", re.IGNORECASE)
_UNPRINTABLE_RE = re.compile("[\x00\ud800-\udfff]")


class ArgumentsSyntaxError(ValueError):
    """No JSON object could be read; the message is for the model."""


def read_arguments(raw: str) -> tuple[dict[str, Any], bool]:
    """Return the object in `raw` and whether it had to be mended; nothing and `null` are the empty object.

    Lone surrogates and NUL characters in strings become U+FFFD: neither UTF-8 nor the journal takes them.

    Raises:
        ArgumentsSyntaxError: no object, or one nested too deeply.
    """
    fenced = _FENCE_RE.match(raw)
    text = fenced.group(1) if fenced else raw.strip()
    text = _WORD_RE.sub("", text)
    if text in _NOTHING:
        return {}, False
    value, repaired = _strict(text)
    if repaired:
        value = _mended(text)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return read_arguments(value)[0], True
    if isinstance(value, list):
        items = cast("list[object]", value)
        if len(items) == 1:
            value, repaired = items[0], True
    if not isinstance(value, dict):
        raise ArgumentsSyntaxError('the arguments are not a JSON object; write {"name": value, …}')
    return cast("dict[str, Any]", _clean(cast("object", value), _MAX_DEPTH)), repaired


def _strict(text: str) -> tuple[object, bool]:
    try:
        return json.loads(text, strict=False, parse_constant=_refuse), False
    except (ValueError, RecursionError):
        return None, True


def _mended(text: str) -> object:
    if len(text) > _REPAIR_CHARS or text.count("{") + text.count("[") > _REPAIR_OPENERS:
        raise ArgumentsSyntaxError("the arguments are not valid JSON and too long to mend")
    if not text.startswith(("{", "｛")):
        raise ArgumentsSyntaxError("the arguments do not start with {; write one JSON object")
    scanner = ObjectScanner(lambda _: None)
    end = scanner.scan(text, 0, final=True)
    if scanner.closed and text[end:].lstrip().startswith(("{", "｛")):
        raise ArgumentsSyntaxError("there are two objects; write one call for each")
    whole = scanner.text if scanner.closed else text
    value, broken = _strict(whole)
    try:
        value = json_repair.loads(whole, skip_json_loads=True) if broken else value
    except (ValueError, RecursionError) as exc:
        raise ArgumentsSyntaxError("the arguments are not valid JSON; write one JSON object") from exc
    # A left-open quote swallows tags; what would then be "mended" is not what the model meant.
    if not isinstance(value, dict) or not value or _TAG_RE.search(text):
        raise ArgumentsSyntaxError("the arguments are not valid JSON; write one JSON object")
    return cast("object", value)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _clean(value: object, depth: int) -> object:
    if depth == 0:
        raise ArgumentsSyntaxError("the arguments are nested too deeply")
    if isinstance(value, str):
        return _UNPRINTABLE_RE.sub("\ufffd", value)
    if isinstance(value, dict):
        items = cast("dict[object, object]", value).items()
        return {_UNPRINTABLE_RE.sub("\ufffd", str(k)): _clean(v, depth - 1) for k, v in items}
    if isinstance(value, list):
        return [_clean(v, depth - 1) for v in cast("list[object]", value)]
    if isinstance(value, float) and value in {float("inf"), float("-inf")}:
        raise ArgumentsSyntaxError("a number in the arguments is too large")
    return value
