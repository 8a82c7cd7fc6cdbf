"""Functions with the calls that should be made of them, in the layout of BFCL: written in a form, cut, read, executed.

https://github.com/ShishirPatil/gorilla/tree/main/berkeley-function-call-leaderboard
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import jsonschema

from agent.fakes import FakeLibrary, FakeSearcher
from agent.protocols.choice import Form
from agent.protocols.pieces import Call, Piece
from agent.tools.base import ToolContext, ToolResult, ToolSpec
from agent.tools.executor import ToolExecutor
from agent.tools.registry import ToolRegistry
from retrieval.labels import LabelBook
from retrieval.types import Principal, SearchFilter
from transcripts import Content, Item, parse, render

Arguments = dict[str, Any]
FORMS: tuple[Form, ...] = ("xml", "json", "native")
_TYPES = {"dict": "object", "float": "number", "tuple": "array"}
_WRONG: dict[str, Any] = {
    "string": 7,
    "integer": "seven",
    "number": "a lot",
    "boolean": "maybe",
    "array": {"first": 1},
    "object": [1],
}


@dataclass(frozen=True, slots=True)
class Case:
    """Tools, and the calls a reply should make of them."""

    id: str
    specs: tuple[ToolSpec, ...]
    calls: tuple[tuple[str, Arguments], ...]

    @property
    def fits(self) -> bool:
        """Tell whether the calls fit the schemas they come with; of a few in the published data this is not so."""
        schemas = {spec.name: spec.arguments for spec in self.specs}
        return all(jsonschema.Draft202012Validator(schemas[name]).is_valid(arguments) for name, arguments in self.calls)


def read_case(row: dict[str, Any]) -> Case:
    """Read one row; of several accepted values the first is taken, an argument that may be left out is."""
    names: dict[str, str] = {}
    specs: list[ToolSpec] = []
    for function in row["functions"]:
        name = re.sub(r"[^a-z0-9]+", "_", function["name"].lower()).strip("_")[:60]
        name = f"f_{name}" if not name[:1].isalpha() else name
        names[function["name"]] = name = name if name not in names.values() else f"{name}_{len(names)}"
        description = function.get("description") or name
        specs.append(ToolSpec(name=name, description=description, arguments=_schema(function["parameters"])))
    calls = [
        (names[name], {key: _accepted(values) for key, values in arguments.items() if values[0] != ""})
        for truth in row["ground_truth"]
        for name, arguments in truth.items()
    ]
    return Case(row["id"], tuple(specs), tuple(calls))


def _schema(node: Any) -> Any:
    """Turn a schema with Python's names of types into JSON Schema."""
    if isinstance(node, list):
        return [_schema(each) for each in node]
    if not isinstance(node, dict):
        return node
    turned = {key: value if key in ("enum", "default") else _schema(value) for key, value in node.items()}
    kind = turned.get("type")
    if kind == "any":
        del turned["type"]
    elif isinstance(kind, str):
        turned["type"] = _TYPES.get(kind, kind)
    return turned


def _accepted(values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, dict):
        return {key: _accepted(inner) for key, inner in first.items() if inner[0] != ""}
    if isinstance(first, list):
        return [_accepted([each]) if isinstance(each, dict) else each for each in first]
    return first


def spoiled(case: Case, rng: random.Random) -> Iterator[tuple[str, tuple[str, Arguments]]]:
    """Yield the case's first call without a required argument, and with one of another type."""
    name, arguments = case.calls[0]
    schema = next(spec.arguments for spec in case.specs if spec.name == name)
    required = [key for key in schema.get("required", ()) if key in arguments]
    if required:
        missing = rng.choice(required)
        yield "missing", (name, {key: value for key, value in arguments.items() if key != missing})
    typed = [key for key in arguments if schema["properties"].get(key, {}).get("type") in _WRONG]
    if typed:
        key = rng.choice(typed)
        yield "type", (name, {**arguments, key: _WRONG[schema["properties"][key]["type"]]})


def cut_anywhere(items: Sequence[Item], rng: random.Random) -> list[Item]:
    """Cut every text into pieces of one to nine characters."""
    out: list[Item] = []
    for item in items:
        text = item if isinstance(item, str) else item.arguments
        at, first = 0, True
        while at < len(text) or first:
            size = rng.randint(1, 9)
            piece = text[at : at + size]
            if isinstance(item, str):
                out.append(piece)
            else:
                out.append(type(item)(item.index, item.id if first else None, item.name if first else None, piece))
            at, first = at + size, False
    return out


@dataclass(slots=True)
class Recorder:
    """A tool that keeps the arguments it was run with."""

    spec: ToolSpec
    log: list[tuple[str, Arguments]] = field(default_factory=list)

    async def run(self, arguments: Arguments, context: ToolContext) -> ToolResult:
        """Keep them."""
        self.log.append((self.spec.name, arguments))
        return ToolResult(text="done")


@dataclass(frozen=True, slots=True)
class Executed:
    """What became of one reply."""

    pieces: tuple[Piece, ...]
    ran: tuple[tuple[str, Arguments], ...]
    refused: tuple[str, ...]
    """Error codes of calls that did not run."""

    def is_exactly(self, calls: Sequence[tuple[str, Arguments]]) -> bool:
        """Tell whether these calls ran and nothing else; 5 and 5.0 differ."""
        return not self.refused and json.dumps(self.ran, sort_keys=True) == json.dumps(tuple(calls), sort_keys=True)


async def execute(case: Case, calls: Sequence[tuple[str, Arguments]], form: Form, rng: random.Random) -> Executed:
    """Write calls in a form, stream them in random pieces through the parser, and execute what it reads."""
    items = render(Content("I call.", tuple(calls)), form, rng).items
    pieces = parse(form, cut_anywhere(items, rng), case.specs)
    log: list[tuple[str, Arguments]] = []
    registry = ToolRegistry([Recorder(spec, log) for spec in case.specs])
    executor, context = ToolExecutor(), _context()
    refused: list[str] = []
    for piece in pieces:
        if isinstance(piece, Call):
            tool = registry.resolve(piece.name, {spec.name for spec in case.specs}).tool
            outcome = await executor.execute(tool, piece.arguments, context, repaired=piece.repaired)
            refused += [outcome.result.error_code] if outcome.result.error_code else []
    return Executed(tuple(pieces), tuple(log), tuple(refused))


def _context() -> ToolContext:
    return ToolContext(
        principal=Principal(tenant="local", user="owner"),
        language="en",
        book=LabelBook(),
        searcher=FakeSearcher(),
        library=FakeLibrary(),
        filter=SearchFilter(),
        max_chars=2000,
    )
