"""Make retrieved text inert: no tag, label, protocol tag or role marker in it acts.

Only for the form that enters a prompt. The stored chunk keeps its text, because the
audit compares answers with it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from retrieval.labels import find_tags

# Characters that a reader does not see; they serve to hide a tag from a pattern.
_INVISIBLE_RE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

_BREAK_TAG: Final = str.maketrans({
    **dict.fromkeys("[【［〔", "⟦"),
    **dict.fromkeys("]】］〕", "⟧"),
    **dict.fromkeys("(（{", "❨"),
    **dict.fromkeys(")）}", "❩"),
    "<": "‹",
    ">": "›",
    ":": "∶",
    "：": "∶",
    "_": "‗",
    "#": "♯",
})
"""What stands for the signs of a tag: alike to the eye, nothing to a parser."""

_PROTOCOL_NAMES: Final = (
    "tool_name|tool_calls?|tool_response|tool_result|tool|tools|arguments?|args|parameters?|invoke|function(?:_calls?)?"
    "|final_answer|final|answer|thought|thoughts|think|thinking|reasoning|action|action_input|observation|observations"
    "|plan|finish|passages?|sources?|documents?|context|system|assistant|user|human|developer|instructions?|instruction"
    "|start_of_turn|end_of_turn|bos|eos|sys|s|工具名称?|工具调用|参数|最终答案|最终回答"
)
# Read on the folded text (half-width, lower case, same length). Every repetition is bounded: linear time.
_PROTOCOL_TAG_RE: Final = re.compile(
    rf"[<〈⟨](?=\s{{0,8}}/?\s{{0,8}}(?:{_PROTOCOL_NAMES})(?![a-z0-9]))|<(?=\s{{0,8}}\|)"
)
_PROTOCOL_END_RE: Final = re.compile(
    rf"‹\s{{0,8}}(?:\||/?\s{{0,8}}(?:{_PROTOCOL_NAMES})(?![a-z0-9]))[^<>‹›〉⟩\n]{{0,200}}([>〉⟩])"
)
_BRACKET_MARK_RE: Final = re.compile(
    r"[\[【]\s{0,8}/?\s{0,8}(?:inst|system|知识来源|关键内容|置信度|上下文|有效期|说法冲突|knowledge\s{1,8}source|key\s{1,8}content"
    r"|confidence|context|validity|conflict)\s{0,8}[\]】]"
)
_LINE_MARK_RE: Final = re.compile(
    r"(?:\A|(?<=[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]))[^\S\n\r]{0,32}[>#*`_\-]{0,8}[^\S\n\r]{0,8}"
    r"(?:thoughts?|actions?|action[ _]input|observations?|final[ _]answer|system|assistant|user|human|developer"
    r"|思考|行动|行动输入|观察|最终答案|系统|助手|用户)[*`_]{0,4}[^\S\n\r]{0,8}(:)"
)


def neutralise(text: str) -> str:
    """Return `text` as a person still reads it, with everything that could act replaced by a look-alike.

    `[SOURCE: x]` becomes `⟦SOURCE∶ x⟧`, `</observation>` becomes `‹/observation›`, a line that
    begins `System:` begins `System∶`; invisible characters go. `find_tags` finds nothing in
    the result, whatever the input.
    """
    text = _INVISIBLE_RE.sub("", text)
    folded = _fold(text)
    out = list(text)
    for found in _PROTOCOL_TAG_RE.finditer(folded):
        out[found.start()] = "‹"
    for found in _PROTOCOL_END_RE.finditer(_fold("".join(out))):
        out[found.start(1)] = "›"
    for found in _BRACKET_MARK_RE.finditer(folded):
        out[found.start()], out[found.end() - 1] = "⟦", "⟧"
    for found in _LINE_MARK_RE.finditer(folded):
        out[found.start(1)] = "∶"
    return _break_tags("".join(out))


def neutralise_line(text: str) -> str:
    """Neutralise a title or a name: one line, inert in brackets too, without the quotation marks that enclose it."""
    line = " ".join(neutralise(text).split())
    line = _break_tags(f"({line})")[1:-1]  # every replacement is one sign for one
    return line.translate({ord("《"): "〈", ord("》"): "〉", ord('"'): "'"})


def restore(text: str) -> str:
    """Undo the look-alikes, for comparing a quotation with the stored text."""
    return text.translate(str.maketrans("⟦⟧❨❩‹›∶‗♯", "[]()<>:_#"))


def _break_tags(text: str) -> str:
    """Break tags until the grammar finds none; breaking one may leave another to be seen."""
    for _ in range(8):
        spans = {(tag.start, tag.end) for tag in find_tags(text)}
        if not spans:
            return text
        parts: list[str] = []
        at = 0
        for start, end in sorted(spans):
            parts += (text[at:start], text[start:end].translate(_BREAK_TAG))
            at = end
        text = "".join((*parts, text[at:]))
    return text.translate(_BREAK_TAG)


def _fold(text: str) -> str:
    """Half-width and lower-case every character that stays one character."""
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_one, text))


@lru_cache(maxsize=16384)
def _fold_one(char: str) -> str:
    folded = unicodedata.normalize("NFKC", char).casefold()
    return folded if len(folded) == 1 else char
