"""JSON as values that lose nothing: numbers as written, keys that repeat, NaN."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypeAlias, cast

MAX_PATH = 8
"""Names shown of a deep path; the outer ones give way."""


class JsonObject(list[tuple[str, "Json"]]):
    """The members of an object in order; a key may stand there twice."""


Json: TypeAlias = "str | bool | JsonObject | list[Json] | None"
"""A value; numbers are their own digits."""


def load_json(text: str) -> Json:
    """Parse one JSON value.

    Raises:
        ValueError: it is no JSON.
        RecursionError: nested deeper than the parser goes (about a thousand levels).
    """
    return cast("Json", _DECODER.decode(text))


_DECODER = json.JSONDecoder(object_pairs_hook=JsonObject, parse_int=str, parse_float=str, parse_constant=str)


def scalar_text(value: Json) -> str | None:
    """Return the text of a scalar; None for objects and arrays."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return None


def children(value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the members of an object or array; an array's are named by their place, from 1."""
    if isinstance(value, JsonObject):
        yield from value
    elif isinstance(value, list):
        for place, item in enumerate(value, start=1):
            yield str(place), item


def leaves(value: Json, at_most: int | None = None) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the scalars below `value` in order with their paths; arrays of scalars count as one.

    Walks with a stack of its own, so that no depth that the parser read exhausts Python's.
    """
    stack: list[tuple[tuple[str, ...], Iterator[tuple[str, Json]]]] = [((), children(value))]
    given = 0
    while stack and (at_most is None or given < at_most):
        path, members = stack[-1]
        member = next(members, None)
        if member is None:
            stack.pop()
            continue
        below = (*path, member[0])[-MAX_PATH:]
        text = scalar_text(member[1])
        text = scalars_text(member[1]) if text is None else text
        if text is None:
            stack.append((below, children(member[1])))
        else:
            given += 1
            yield below, text


def scalars_text(value: Json) -> str | None:
    """Return an array of scalars, or an empty container, as one text; None where it holds more."""
    if isinstance(value, JsonObject):
        return None if value else "{}"
    if isinstance(value, list):
        texts = [scalar_text(item) for item in value]
        known = [text for text in texts if text is not None]
        return ", ".join(known) if len(known) == len(texts) else None
    return None
