"""Reads an answer into sentences: spans, clean text, role, and the source tags that belong to each.

Models put tags before the full stop, after it, at the start of a line, on a line of
their own, or in a run at the end of a paragraph. `read_sentences` binds each to the
sentence it is meant for; no tag is ever lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from agent.audit.roles import Role, role_of
from retrieval.labels import Tag, find_tags
from retrieval.sentences import sentence_spans

_MARKER = re.compile(
    r"[ \t>]*(?:(?P<heading>#{1,6}[ \t]+)|(?P<item>(?:[-*+•·●▪]|\(?\d{1,3}[.)、）]|（\d{1,3}）)(?!\d)[ \t]*))?"
)
_NUMBERING = re.compile(
    r"(?:第?[一二三四五六七八九十]{1,3}[、.]|（[一二三四五六七八九十]{1,3}）|\d{1,2}(?:\.\d{1,2}){1,3}[ \t]+)[ \t]*"
)
_BOLD_LINE = re.compile(r"[ \t]*(?:\*\*|__)[^*_\n]{1,60}(?:\*\*|__)[ \t]*[:：]?[ \t]*$")
_TABLE_RULE = re.compile(r"[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|?)+[ \t]*$")
_LINK = re.compile(r"!?\[(?P<text>[^\[\]\n]{0,300})\](?P<target>\([^()\s]{0,500}\))")
LINK_AFTER_TAG = re.compile(
    r"\([^()\n]{0,500}\)|\[[^\[\]\n]{0,60}\]|:[ \t]*https?://\S{0,300}"
    r"|[ ]\((?:[a-z][a-z0-9+.-]{0,20}:|//|www\b)[^()\n]{0,500}\)|[ ]:[ \t]*https?://[ ]?\S{0,300}",
    re.IGNORECASE,
)
"""What turns a tag into a link when it follows at once, or after the blank that took the link apart."""
_INVISIBLE = frozenset("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad")
_ENDS = "。！？；｡!?;.．"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer as the auditor sees it."""

    start: int
    """Half-open span in the answer, its own tags included."""
    end: int
    text: str
    """Without tags, list markers, emphasis and link targets; white space collapsed."""
    offsets: tuple[int, ...]
    """Position in the answer of each character of `text`."""
    role: Role
    tags: tuple[Tag, ...]
    paragraph: int
    """Sentences of one line share a number."""
    heading: str = ""
    """The nearest heading above."""
    header: str = ""
    """For a table row: the table's header row."""

    def answer_span(self, start: int, end: int) -> tuple[int, int]:
        """Return where `text[start:end]` stands in the answer."""
        if not self.offsets or start >= end:
            return self.start, self.start
        last = len(self.offsets) - 1
        return self.offsets[min(start, last)], self.offsets[min(end - 1, last)] + 1


@dataclass(slots=True)
class _Draft:
    start: int
    end: int
    line: int
    block: int
    kind: str
    text_end: int
    """Where the words end; `end` also covers the tags that follow."""
    tags: list[Tag] = field(default_factory=list[Tag])
    inherited: list[Tag] = field(default_factory=list[Tag])
    """Tags of a run or a lead-in that covers this sentence."""


def read_sentences(answer: str) -> tuple[Sentence, ...]:
    """Return the sentences of `answer` in order; spans do not overlap. Never raises on any text."""
    tags = list(find_tags(answer))
    masked = _mask(answer, tags)
    drafts = _bind(answer, masked, tags)
    _cover_lists(answer, masked, drafts)
    return tuple(_finish(answer, masked, drafts))


def _mask(answer: str, tags: list[Tag]) -> str:
    """Blank out tags (and what links them) so that positions stay and splitting sees prose only."""
    chars = list(answer)
    for tag in tags:
        end = tag.end
        link = LINK_AFTER_TAG.match(answer, end)
        if link is not None and not any(end <= other.start < link.end() for other in tags):
            end = link.end()
        for at in range(tag.start, end):
            if chars[at] != "\n":
                chars[at] = " "
    return "".join(chars)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"))
        start += len(line)


def _bind(answer: str, masked: str, tags: list[Tag]) -> list[_Draft]:
    drafts: list[_Draft] = []
    pending = list(tags)
    block = 0
    for number, (start, end) in enumerate(_lines(answer)):
        own: list[Tag] = []
        while pending and pending[0].start < end:
            own.append(pending.pop(0))
        if not answer[start:end].strip():
            block += 1
            continue
        line = _line_drafts(masked, start, end, number, block)
        if line:
            _bind_line(masked, line, own)
            drafts += line
        elif own:
            _bind_lone_run(drafts, own, number, block)
    return drafts


def _line_drafts(masked: str, start: int, end: int, number: int, block: int) -> list[_Draft]:
    line = masked[start:end]
    if line.lstrip().startswith(("```", "~~~")):
        return []
    if line.lstrip().startswith("|") or line.count("|") >= 2:
        if _TABLE_RULE.match(line):
            return [_Draft(start, end, number, block, "rule", end)]
        first = start + len(line) - len(line.lstrip())
        last = start + len(line.rstrip())
        return [_Draft(first, last, number, block, "row", last)]
    marker = _MARKER.match(line)
    body = marker.end() if marker else 0
    kind = "text"
    if (marker and marker.group("heading")) or _BOLD_LINE.match(line):
        kind = "heading"
    elif marker and marker.group("item"):
        kind = "item"
    numbering = _NUMBERING.match(line, body)
    if numbering:
        body = numbering.end()
    spans = [(start + body + s, start + body + e) for s, e in sentence_spans(line[body:])]
    return _join_bare(masked, [_Draft(s, e, number, block, kind, e) for s, e in spans])


def _join_bare(masked: str, drafts: list[_Draft]) -> list[_Draft]:
    """Give punctuation that stands alone (`。[SOURCE: x]。`) to the sentence before it."""
    kept: list[_Draft] = []
    for draft in drafts:
        bare = not any(c.isalnum() for c in masked[draft.start : draft.end])
        if bare and kept:
            kept[-1].end = draft.end
        elif not bare:
            kept.append(draft)
    return kept


def _bind_line(masked: str, line: list[_Draft], tags: list[Tag]) -> None:
    first, last = line[0], line[-1]
    before = [t for t in tags if t.start < first.start]
    after = [t for t in tags if t.start >= last.end]
    leading = bool(before) and not after
    for tag in tags:
        inside = next((d for d in line if d.start <= tag.start < d.end), None)
        if inside is None:
            earlier = [d for d in line if d.end <= tag.start]
            later = [d for d in line if d.start >= tag.end]
            inside = (later or earlier)[0 if later else -1] if leading or not earlier else earlier[-1]
        inside.tags.append(tag)
    ends = masked[last.end - 1 : last.end] in _ENDS
    if after and ends and not any(d.tags for d in line[:-1]) and len(last.tags) == len(after):
        for draft in line[:-1]:
            draft.inherited += after
    for draft, following in zip(reversed(line[:-1]), reversed(line[1:]), strict=True):
        # Parts joined by semicolons are one sentence to whoever wrote the tag behind the last.
        if not draft.tags and not draft.inherited and masked[draft.end - 1] in "；;":
            draft.inherited += following.tags or following.inherited
    for draft in line:
        draft.start = min([draft.start, *(t.start for t in draft.tags)])
        draft.end = max([draft.end, *(t.end for t in draft.tags)])


def _bind_lone_run(drafts: list[_Draft], run: list[Tag], number: int, block: int) -> None:
    """A line of nothing but tags belongs to the paragraph, list or table just above it."""
    target = next((d for d in reversed(drafts) if d.kind != "rule"), None)
    if target is None or target is not drafts[-1]:
        drafts.append(_Draft(run[0].start, run[-1].end, number, block, "mark", run[0].start, list(run)))
        return
    paragraph = [d for d in drafts if d.block == target.block and d.kind not in ("rule", "heading")]
    if not any(d.tags or d.inherited for d in paragraph):
        for draft in paragraph:
            if draft is not target:
                draft.inherited += run
    target.tags += run
    target.end = max(target.end, run[-1].end)


def _cover_lists(answer: str, masked: str, drafts: list[_Draft]) -> None:
    """A lead-in's tags ("根据《简报》[SOURCE: x]：") cover the list or table it introduces."""
    for index, draft in enumerate(drafts):
        if not draft.tags or masked[draft.start : draft.end].rstrip()[-1:] not in (":", "："):
            continue
        for item in drafts[index + 1 :]:
            if item.kind not in ("item", "row", "rule"):
                break
            if not item.tags and not item.inherited:
                item.inherited += draft.tags


def _finish(answer: str, masked: str, drafts: list[_Draft]) -> Iterator[Sentence]:
    heading = header = ""
    for index, draft in enumerate(drafts):
        text, offsets = _clean(masked, draft.start, draft.text_end)
        role = role_of(text)
        is_header = draft.kind == "row" and index + 1 < len(drafts) and drafts[index + 1].kind == "rule"
        if draft.kind in ("rule", "mark"):
            role = "mark"
        elif draft.kind == "heading" and role == "claim":
            role = "heading"
        elif is_header:
            role = "table_header"
        if draft.kind == "heading":
            heading = text
        header = text if is_header else header if draft.kind in ("row", "rule") else ""
        if draft.kind == "rule" and not draft.tags:
            continue
        tags = draft.tags or draft.inherited
        sentence = Sentence(draft.start, draft.end, text, offsets, role, _distinct(tags), draft.line, heading, header)
        # A greeting with a source is no greeting.
        yield replace(sentence, role="claim") if tags and role == "courtesy" else sentence


def _distinct(tags: list[Tag]) -> tuple[Tag, ...]:
    return tuple({tag.label: tag for tag in reversed(tags)}[label] for label in dict.fromkeys(t.label for t in tags))


def _clean(masked: str, start: int, end: int) -> tuple[str, tuple[int, ...]]:
    dropped: set[int] = set()
    for link in _LINK.finditer(masked, start, end):
        dropped |= set(range(link.start(), link.start("text"))) | set(range(link.end("text"), link.end()))
    chars: list[str] = []
    offsets: list[int] = []
    for at in range(start, end):
        char = masked[at]
        following = masked[at + 1 : at + 2]
        if (
            at in dropped
            or char in "*`"
            or char in _INVISIBLE
            or (char == "\\" and following and not following.isalnum())
        ):
            continue
        if char == "~" and "~" in (following, masked[at - 1 : at]):
            continue
        if char.isspace():
            if not chars or chars[-1] == " ":
                continue
            char = " "
        chars.append(char)
        offsets.append(at)
    while chars and chars[-1] == " ":
        chars.pop()
        offsets.pop()
    text = "".join(chars)
    # A blank left where a tag stood before its full stop.
    gap = len(text) - 2
    if gap >= 0 and text[gap] == " " and text[-1] in _ENDS:
        return text[:gap] + text[-1], (*offsets[:gap], offsets[-1])
    return text, tuple(offsets)
