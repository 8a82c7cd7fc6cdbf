"""The arguments of a tool as a prompt shows them."""

from __future__ import annotations

from typing import Any

import pytest

from agent.tools.builtin.search_knowledge import SearchKnowledge
from agent.tools.signature import arguments_line


@pytest.mark.parametrize(
    ("properties", "line"),
    [
        ({}, "{}"),
        ({"n": {"type": "integer", "minimum": 1}}, '{"n": integer}'),
        ({"q": {"type": "string", "description": "A question."}}, '{"q": string (A question.)}'),
        ({"ids": {"type": "array", "items": {"type": "string"}, "maxItems": 3}}, '{"ids": [string, …]}'),
        ({"unit": {"enum": ["day", 2, None]}}, '{"unit": "day" | 2 | null}'),
        ({"x": {}}, '{"x": any}'),
        ({"x": True}, '{"x": any}'),
        ({"城市": {"type": "boolean"}, "b": {"type": "number"}}, '{"城市": boolean, "b": number}'),
        (
            {"o": {"type": "object", "properties": {"a": {"type": "string"}}, "description": "Deep."}},
            '{"o": {"type":"object","properties":{"a":{"type":"string"}}} (Deep.)}',
        ),
        (
            {"x": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            '{"x": {"anyOf":[{"type":"string"},{"type":"null"}]}}',
        ),
        ({"x": {"type": ["string", "null"]}}, '{"x": {"type":["string","null"]}}'),
        ({"a": {"type": "array"}}, '{"a": {"type":"array"}}'),
    ],
)
def test_arguments_line_shows_the_shape(properties: dict[str, Any], line: str) -> None:
    assert arguments_line({"type": "object", "properties": properties, "required": list(properties)}) == line


def test_arguments_line_tells_what_may_be_left_out() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"type": "string", "description": "More."}}}
    assert arguments_line(schema | {"required": ["a"]}) == '{"a": string, "b": string (optional. More.)}'
    assert arguments_line({}) == "{}"


def test_arguments_line_of_the_search_names_every_argument() -> None:
    schema = SearchKnowledge().spec.arguments
    line = arguments_line(schema)
    assert all(f'"{name}": ' in line for name in schema["properties"])
