"""Made-up replies of models in the three forms: well formed, deformed as models deform them, and noise. Seeded."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agent.protocols.choice import Form, parser_for
from agent.protocols.pieces import CallDelta, Piece, join_adjacent
from agent.tools.base import ToolSpec

Item = str | CallDelta

TOOLS = (
    ToolSpec(
        name="search_knowledge",
        description="Searches.",
        arguments={
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["query"],
        },
    ),
    ToolSpec(
        name="calculate",
        description="Computes.",
        arguments={"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
    ),
    ToolSpec(name="finish", description="Ends.", arguments={"type": "object", "properties": {}}),
)


@dataclass(frozen=True, slots=True)
class Content:
    """What a reply says, whatever its form: calls, or an answer."""

    thought: str
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """One reply as it is streamed: texts and, where calls are native, pieces of calls."""

    form: Form
    items: tuple[Item, ...]
    content: Content | None = None
    """What it says, None where it was deformed."""

    @property
    def text(self) -> str:
        """All text of it, whichever way it comes."""
        return "".join(item if isinstance(item, str) else (item.name or "") + item.arguments for item in self.items)


_THOUGHTS = (
    *(
        "I need Q3.",
        "先查年假。",
        "",
        'It\'s "fine" 😀',
        "a < b {x} c",
        '用 `{"action": "x"}` 吗',
        "see <tool_name> tags",
    ),
    *("line one\nline two", "“<final_answer>no</final_answer>”", "\\d+ C:\\users", "ok"),
)
_TEXTS = (
    *("Q3", "年假 10 天", 'a "b" c', "it's", "</arguments>", "<final_answer>x</final_answer>", "\\u00e9 \\n", "😀"),
    *('{"action": "finish"}', "x\ny", "", "[SOURCE: doc_7f3a_p5]", "238 million", "a, b: c}", "Action: finish"),
)


def make_content(rng: random.Random) -> Content:
    """Make what a reply says."""
    thought = rng.choice(_THOUGHTS)
    if rng.random() < 0.4:
        said = [text for text in _TEXTS if text.strip() == text and text and "final_answer" not in text]
        return Content(thought, answer=" ".join(rng.sample(said, rng.randint(1, 2))).strip())
    calls = [_call(rng) for _ in range(1 if rng.random() < 0.8 else 2)]
    return Content(thought, tuple(calls))


def _call(rng: random.Random) -> tuple[str, dict[str, Any]]:
    match rng.choice(TOOLS).name:
        case "search_knowledge":
            more = {"limit": rng.randint(1, 9)} if rng.random() < 0.3 else {}
            return "search_knowledge", {"query": rng.choice(_TEXTS), **more}
        case "calculate":
            return "calculate", {"expression": rng.choice(("17 * 3", "1 + 1", "(2.38亿 / 4)"))}
        case _:
            return "finish", {}


def render(content: Content, form: Form, rng: random.Random) -> Transcript:
    """Write what a reply says in a form; the writings that the form allows vary."""
    ascii_only = rng.random() < 0.3

    def written(value: object) -> str:
        return json.dumps(value, ensure_ascii=ascii_only, indent=1 if rng.random() < 0.1 else None)

    match form:
        case "xml":
            label = rng.choice(("Thought: ", "思考：", "**Thought:** "))
            if content.answer is not None:
                acted = f"<final_answer>{content.answer}</final_answer>"
            else:
                acted = "\n".join(
                    f"<tool_name>{n}</tool_name><arguments>{written(a)}</arguments>" for n, a in content.calls
                )
            return Transcript(form, (f"{label}{content.thought}\n{acted}",), content)
        case "json":
            objects: list[dict[str, Any]] = [{"action": n, "action_input": a} for n, a in content.calls]
            if content.answer is not None:
                objects = [{"action": "final_answer", "action_input": {"answer": content.answer}}]
            objects[0] = {"thought": content.thought, **objects[0]}
            return Transcript(form, (rng.choice(("\n", "", " ")).join(map(written, objects)),), content)
        case "native":
            said = f"Thought: {content.thought}\n" if content.calls else ""
            items: list[Item] = [said] if said else []
            if content.answer is not None:
                return Transcript(form, (content.answer,), content)
            for index, (name, arguments) in enumerate(content.calls):
                items.append(CallDelta(index, f"call{index}", name, written(arguments)))
            return Transcript(form, tuple(items), content)


_NOISE = (
    *(
        "Thought:",
        "思考：",
        "**",
        " ",
        "\n",
        "`",
        "```",
        "```json\n",
        '"',
        "“",
        "”",
        "'",
        "x",
        "Action: ",
        "Observation: ",
    ),
    *(
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "：",
        "，",
        "｛",
        "｝",
        "\\",
        "\\u",
        "\\ud83d",
        "\\ude00",
        "\\n",
        "null",
        "true",
        "1.5",
    ),
    *("<tool_name>", "</tool_name>", "<arguments>", "</arguments>", "<final_answer>", "</final_answer>", "<think>"),
    *("</think>", "<工具名>", "</工具名>", "〈参数〉", "＜/参数＞", "<tool_call>", "</tool_call>", "<|python_tag|>"),
    *('{"thought": "', '"action": "', '"action_input": {', '"answer": "', '"final_answer"', '"search_knowledge"'),
    *('{"name": "finish", "arguments": {}}', '{"action": "calculate", "action_input": {"expression": "1"}}', "\ufeff"),
    *("search_knowledge", "<tool_na", "me>", "</final", "_answer>", "\ud800", "[TOOL_CALLS]", "<function=finish>", "<"),
)


def deform(transcript: Transcript, rng: random.Random) -> Transcript:
    """Do to a reply what models and endpoints do: wrap, cut, drop, double, misquote."""
    items = list(transcript.items) or [""]
    place = rng.randrange(len(items))
    item = items[place]
    text = item if isinstance(item, str) else item.arguments
    match rng.randrange(9):
        case 0:
            text = f"```{rng.choice(('', 'json', 'xml'))}\n{text}\n```"
        case 1:
            text = text[: rng.randint(0, len(text))]
        case 2 | 3:
            at = rng.randint(0, len(text))
            text = text[:at] + rng.choice(_NOISE) + text[at:]
        case 4:
            at = rng.randint(0, len(text))
            text = text[:at] + text[at + rng.randint(1, 3) :]
        case 5:
            text = text.replace('"', rng.choice("'“＂"))
        case 6:
            narrow, wide = rng.choice((("<>", "＜＞"), (":,", "：，"), ("{}", "｛｝"), ("<>", "〈〉")))
            text = text.translate(str.maketrans(narrow, wide))
        case 7:
            text = f"<think>{rng.choice(_THOUGHTS)}</think>{text}"
        case _:
            text = f"Sure!\n{text}\nObservation: done\n{text}"
    if isinstance(item, str):
        items[place] = text
    else:
        items[place] = CallDelta(item.index, item.id, item.name, text)
    return Transcript(transcript.form, tuple(items))


def noise(form: Form, rng: random.Random) -> Transcript:
    """Make a reply of fragments that mean something to a parser, in no sensible order."""
    text = "".join(rng.choice(_NOISE) for _ in range(rng.randint(0, 8)))
    items: list[Item] = [text]
    if form == "native" and rng.random() < 0.5:
        for _ in range(rng.randint(1, 3)):
            name = rng.choice((None, "finish", "calculate"))
            index = rng.choice((None, 0, 0, 1))
            items.append(
                CallDelta(index, rng.choice((None, "a", "b")), name, rng.choice(("", "{}", '{"expression": "1')))
            )
    return Transcript(form, tuple(items))


def make(form: Form, rng: random.Random, kind: Literal["good", "deformed", "noise"]) -> Transcript:
    """Make one reply."""
    if kind == "noise":
        return noise(form, rng)
    good = render(make_content(rng), form, rng)
    if kind == "good":
        return good
    deformed = deform(good, rng)
    return deform(deformed, rng) if rng.random() < 0.3 else deformed


def cut_at(items: Sequence[Item], point: int) -> list[Item]:
    """Cut a reply in two at a point of its text; a piece of a call stays one, its second half without name and id."""
    out: list[Item] = []
    for item in items:
        text = item if isinstance(item, str) else item.arguments
        if not 0 < point < len(text):
            out.append(item)
        elif isinstance(item, str):
            out += [text[:point], text[point:]]
        else:
            out += [
                CallDelta(item.index, item.id, item.name, text[:point]),
                CallDelta(item.index, None, None, text[point:]),
            ]
        point -= len(text)
    return out


def length(items: Sequence[Item]) -> int:
    """Return the number of characters that can be cut."""
    return sum(len(item if isinstance(item, str) else item.arguments) for item in items)


def parse(form: Form, items: Sequence[Item], tools: Sequence[ToolSpec] = TOOLS) -> list[Piece]:
    """Read a reply to its end; neighbouring texts are joined."""
    parser = parser_for(form, tools)
    pieces: list[Piece] = []
    for item in items:
        pieces += parser.feed(item) if isinstance(item, str) else parser.feed_call(item)
    return join_adjacent([*pieces, *parser.finish()])
