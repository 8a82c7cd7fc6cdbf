"""Replies in another form than the one asked for: models fall back into what they were trained to write.

A whole call or answer in one of our other forms is read as what it is. What is a call in a manner we do not
read must not pass for an answer: the model is told instead.
"""

from __future__ import annotations

import re
from dataclasses import replace

from agent.protocols.actions import Tools
from agent.protocols.json_form import JsonProtocol
from agent.protocols.pieces import AnswerEnd, Call, Malformed, Piece, TextParser, ThoughtText
from agent.protocols.reasons import Form
from agent.protocols.xml import XmlProtocol

_BEHIND_RE = re.compile(r"[\s`,;\])>]+|</?[a-z_]{1,20}>|<[|｜][^<>\n]{1,40}[|｜]>", re.IGNORECASE)
_OBSERVATION_RE = re.compile(r"\**(?:observation|观察)", re.IGNORECASE)
_TOKEN = r"<[|｜][^<>\n]{1,40}[|｜]>"
_TOKENS_RE = re.compile(rf"\A(?:\s*{_TOKEN})+|(?:{_TOKEN}\s*)+\Z")
_CODE_RE = re.compile(r"`[^`\n]{0,400}`")
_MARKUP_RE = re.compile(
    r"<[|｜‖][\w｜|‖]|\[TOOL_CALLS\]"
    r"|</?(?:tool_calls?|function_calls?|tool_name|arg_key|arg_value|invoke|parameter|function)(?:[\s=>]|$)",
    re.IGNORECASE,
)
_TAGS_RE = re.compile(r"tool_name|final_answer|工具名|最终", re.IGNORECASE)
"""Without any of these a text says nothing in the form of tags: a long answer is not read once more."""
_CALLED_RE = re.compile(
    r"\W{0,12}(?:tool_code\s+|call:|functions\.)?([A-Za-z_]\w{0,63})(?:\.call)?(?:\[ARGS\])?\s*[({]"
)


def read_other_form(form: Form, text: str, tools: Tools) -> list[Piece]:
    """Return what a reply without an action in its own form says in another one; nothing if it says nothing there.

    Its calls count as repaired: a tool with side effects does not run on them.
    """
    if form != "xml" and not _TAGS_RE.search(text):
        return []
    parser: TextParser = JsonProtocol(list(tools.values())) if form == "xml" else XmlProtocol()
    acted: list[Piece] = [p for p in [*parser.feed(text), *parser.finish()] if not isinstance(p, ThoughtText)]
    calls = [p for p in acted if isinstance(p, Call)]
    if any(isinstance(p, Malformed) for p in acted):
        return []
    if not calls:
        return acted if any(isinstance(p, AnswerEnd) for p in acted) else []
    known = all(call.name in tools for call in calls)
    if not known or (form == "xml" and not nothing_behind(text)):
        return []
    return [replace(call, repaired=True) for call in calls]


def nothing_behind(text: str) -> bool:
    """Tell whether the last object of a reply is its end: an answer that merely shows an object goes on after it."""
    behind = _BEHIND_RE.sub("", text.rpartition("}")[2]).strip()
    return not behind or _OBSERVATION_RE.match(behind) is not None


def without_tokens(text: str) -> str:
    """Return a reply without the special tokens around it that an endpoint left there."""
    return _TOKENS_RE.sub("", text)


def is_unread_call(text: str, tools: Tools) -> bool:
    """Tell whether a text is a call in a manner that no parser of ours reads, rather than an answer."""
    if _MARKUP_RE.search(_CODE_RE.sub("", text)):
        return True
    called = _CALLED_RE.match(text.lstrip())
    return called is not None and called.group(1) in tools
