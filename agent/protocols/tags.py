"""The tags of the text protocol, found at a place of a buffer that may still grow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

TagName = Literal["tool_name", "arguments", "final_answer", "think", "wrapper"]

_NAMES: dict[str, TagName] = {
    "tool_name": "tool_name",
    "arguments": "arguments",
    "final_answer": "final_answer",
    "think": "think",
    "thinking": "think",
    "reasoning": "think",
    "工具名": "tool_name",
    "工具名称": "tool_name",
    "参数": "arguments",
    "最终答案": "final_answer",
    "最终回答": "final_answer",
    "tool_call": "wrapper",
    "tool_calls": "wrapper",
    "function_call": "wrapper",
    "function_calls": "wrapper",
    "工具调用": "wrapper",
}
"""The tags as models write them. A wrapper is what some put around a call because they were trained to."""
OPENING, _CLOSING = "<＜〈⟨﹤", ">＞〉⟩﹥"
# Models write tags with blanks, odd case and brackets of other widths; all are read.
_TAG_RE = re.compile(
    rf"[{OPENING}]\s{{0,4}}([/／]?)\s{{0,4}}({'|'.join(sorted(_NAMES, key=len, reverse=True))})\s{{0,4}}[{_CLOSING}]",
    re.IGNORECASE | re.ASCII,
)
_PARTIAL_RE = re.compile(
    rf"[{OPENING}]\s{{0,4}}[/／]?\s{{0,4}}([a-z_\u4e00-\u9fff]*)\s{{0,4}}\Z", re.IGNORECASE | re.ASCII
)
_LONGEST = 29
"""Characters after which an unmatched `<` can no longer become a tag."""
_ANY_RE = re.compile(f"[{OPENING}]")
TAG_START = rf"[{OPENING}](?=\s{{0,4}}[/／]?\s{{0,4}}(?:[{''.join(sorted({name[0] for name in _NAMES}))}]|\Z))"
OPEN_RE = re.compile(TAG_START, re.IGNORECASE | re.ASCII)
"""A bracket that may begin a tag, so that others are passed over quickly."""


@dataclass(frozen=True, slots=True)
class FoundTag:
    """A whole tag; `end` is the position after it."""

    name: TagName
    closing: bool
    end: int


def tag_at(buffer: str, position: int, *, final: bool) -> FoundTag | Literal["wait"] | None:
    """Return the tag that starts at `position`, `wait` while it may still become one, or None.

    The decision depends on the whole text alone, not on how it was cut.
    """
    match = _TAG_RE.match(buffer, position)
    if match is not None:
        return FoundTag(_NAMES[match.group(2).lower()], bool(match.group(1)), match.end())
    if final or len(buffer) - position >= _LONGEST:
        return None
    partial = _PARTIAL_RE.match(buffer, position)
    if partial is None:
        return None
    written = partial.group(1).lower()
    return "wait" if any(name.startswith(written) for name in _NAMES) else None


@dataclass(frozen=True, slots=True)
class CallHead:
    """`<tool_name>NAME</tool_name><arguments>`; `end` is the position after it. The second tag may be missing."""

    name: str
    end: int


_HEAD_GAP = 120
"""Most characters between two tags of a call's head: a name, or white space."""


def call_head_at(buffer: str, position: int) -> CallHead | Literal["wait"] | None:
    """Read the call's head whose `<tool_name>` starts at `position`.

    Returns:
        The head; `wait` while it may still become one (at the end of a stream: it was cut);
        None when the tag is only a mention.
    """
    opening = tag_at(buffer, position, final=False)
    if not isinstance(opening, FoundTag):
        return opening
    closing = _next_tag(buffer, opening.end)
    if not isinstance(closing, _Next):
        return closing
    if not closing.text or "\n" in closing.text:
        return None
    if closing.tag.name == "arguments" and not closing.tag.closing:
        return CallHead(closing.text, closing.tag.end)
    if closing.tag.name != "tool_name" or not closing.tag.closing:
        return None
    arguments = _next_tag(buffer, closing.tag.end)
    if not isinstance(arguments, _Next):
        return None if buffer[closing.tag.end :].strip()[:1] not in ("", *OPENING) else arguments
    if arguments.tag.name != "arguments" or arguments.tag.closing or arguments.text:
        return None
    return CallHead(closing.text, arguments.tag.end)


@dataclass(frozen=True, slots=True)
class _Next:
    text: str
    tag: FoundTag


def _next_tag(buffer: str, position: int) -> _Next | Literal["wait"] | None:
    """Return the tag that the next `<` begins and the stripped text before it; None when there is none near."""
    found = _ANY_RE.search(buffer, position, position + _HEAD_GAP)
    if found is None:
        return "wait" if len(buffer) - position < _HEAD_GAP else None
    tag = tag_at(buffer, found.start(), final=False)
    if not isinstance(tag, FoundTag):
        return tag
    return _Next(buffer[position : found.start()].strip(), tag)
