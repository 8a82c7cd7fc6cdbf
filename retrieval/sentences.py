"""Splits Chinese and English text into sentences, as character spans.

Shared by the chunker, the extractive model and the citation auditor, so that all
three mean the same thing by "a sentence". Pure; linear in the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from retrieval.labels import find_tags

_TERMINALS = "。！？；｡!?;.．"
_STOP_RE = re.compile(rf"[{_TERMINALS}]|\n")
_CLOSERS = "”’\"'」』）)】］]〕》〉"
_BRACKETS = "）)】]］〕"
_TITLE_CLOSERS = "》〉"
_PAIRS = {
    "（": "）",
    "(": ")",
    "“": "”",
    "「": "」",
    "『": "』",
    "《": "》",
    "【": "】",
    "［": "］",
    "[": "]",
    "{": "}",
}
_OPENERS_RE = re.compile("[" + re.escape("".join(_PAIRS) + "".join(_PAIRS.values()) + '"') + "\n]")
_PAIR_LIMIT = 160
"""A quote or bracket longer than this may be split inside."""

_LIST_NUMBER_RE = re.compile(r"[ \t>#*•-]*[(（]?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})\Z")
_WORD_BEFORE_RE = re.compile(r"[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ.]*\Z")
_BLANKS_RE = re.compile(r"[ \t]+")
_ENTITY_RE = re.compile(r"&(?:#?\w+)\Z")
_ACRONYM_RE = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]\Z")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What follows these is always the same sentence.
_NEVER_LAST = _words(
    "mr mrs ms dr prof st mt gen col sen rep gov hon rev capt lt sgt fig figs eq eqs sec secs ch art arts vol vols "
    "pp para paras approx ca cf vs viz e.g i.e eg ie al resp incl excl est tel ext attn dept ref nos"
)
# These may end a sentence: then a sentence's typical first word follows.
_MAY_BE_LAST = _words(
    "inc ltd co corp llc plc bros jr sr etc no p ed eds ph.d jan feb mar apr jun jul aug sep sept oct nov dec"
)
_STARTERS = _words(
    "the this that these those it its he she they we you i a an in on at as by for from to with if when while after "
    "before since because although however but and or so there here our their his her my your no not all each every "
    "what which who how why where revenue please"
)
_CONTINUES_AFTER_QUOTE = "，、：,:的与和及或等是之"


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the half-open spans of the sentences of `text`, in order.

    Spans are trimmed of white space, never empty, do not overlap, and together cover
    every character that is not white space. A line break ends a sentence. Closing quotes,
    brackets and source tags belong to the sentence before them.
    """
    tags = sorted({(tag.start, tag.end) for tag in find_tags(text)})
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _boundaries(text, tags):
        _append_trimmed(spans, text, start, end)
        start = end
    _append_trimmed(spans, text, start, len(text))
    return _join_lone_tags(text, spans, tags)


def _boundaries(text: str, tags: list[tuple[int, int]]) -> list[int]:
    """Positions at which a sentence ends, strictly growing."""
    tag_end = dict(tags)
    protected = _merge(tags + _pairs(text))
    starts = [span[0] for span in protected]
    found: list[int] = []
    done = 0
    for match in _STOP_RE.finditer(text):
        at = match.start()
        if at < done:
            continue
        if text[at] == "\n":
            found.append(at + 1)
            done = at + 1
            continue
        core, closed = _run_end(text, at)
        index = bisect_right(starts, core - 1) - 1
        if index >= 0 and core < protected[index][1]:
            continue
        end = _past_tags(text, core, tag_end)
        if _ends_sentence(text, at, core, end, closed):
            found.append(end)
            done = end
        else:
            done = core
    return found


def _run_end(text: str, at: int) -> tuple[int, str]:
    """End of the run of terminals and closers that begins at `at`, and the closers in it."""
    end = at + 1
    closed = ""
    while end < len(text):
        char = text[end]
        if char in _CLOSERS and not (char in "\"'" and text[at] in ".;!?" and _opens_word(text, end)):
            closed += char
        elif char not in _TERMINALS:
            break
        end += 1
    return end, closed


def _opens_word(text: str, at: int) -> bool:
    """A straight quote after a terminal opens the next word when no white space or end follows it."""
    return at + 1 < len(text) and text[at + 1].isalnum() and text[at + 1].isascii()


def _past_tags(text: str, end: int, tag_end: dict[int, int]) -> int:
    """Move `end` over the source tags that follow on the same line, and terminals after them."""
    while True:
        probe = end
        while probe < len(text) and text[probe] in " \t":
            probe += 1
        if probe not in tag_end:
            return end
        end = tag_end[probe]
        while end < len(text) and text[end] in _TERMINALS:
            end += 1


def _ends_sentence(text: str, at: int, core: int, end: int, closed: str) -> bool:
    following = _first_after_blanks(text, end)
    spaced = end == len(text) or text[end].isspace()
    if not following or following == "\n":
        return True
    if closed and (following in _CONTINUES_AFTER_QUOTE or any(c in _TITLE_CLOSERS for c in closed)):
        return False
    char = text[at]
    if char in "。！？；｡":
        return True
    if char in ".．":
        return _dot_ends_sentence(text, at, core, end, following, spaced, closed)
    if not spaced and end == core and not _is_wide(following):
        return False  # inside a URL or a piece of code
    if char == ";" and _ENTITY_RE.search(text, max(0, at - 10), at):
        return False
    return not (closed and following.islower())


def _first_after_blanks(text: str, at: int) -> str:
    match = _BLANKS_RE.match(text, at)
    at = match.end() if match else at
    return text[at : at + 1]


def _dot_ends_sentence(text: str, at: int, core: int, end: int, following: str, spaced: bool, closed: str) -> bool:
    before = text[at - 1 : at]
    floor = max(0, at - 40)
    line_start = max(text.rfind("\n", floor, at) + 1, floor)
    if before.isdigit() and text[at + 1 : at + 2].isdigit():
        return False
    word_match = _WORD_BEFORE_RE.search(text, max(0, at - 40), at)
    written = word_match.group() if word_match else ""
    word = written.lower()
    initial = len(written) == 1 and written.isupper() and written != "I"
    abbreviated = initial or word in _MAY_BE_LAST or _ACRONYM_RE.match(word) is not None
    if word in _NEVER_LAST or (abbreviated and (_is_wide(following) or any(c in _BRACKETS for c in closed))):
        return False  # Apple Inc. 于2024年…; (Sony Inc.) 负责
    if not spaced and end == core:
        # 1.差旅费2.住宿费 is a list; 同意.明天 are two sentences.
        return _is_wide(following) and not before.isdigit()
    if core - at == 1 and _LIST_NUMBER_RE.match(text, line_start, at):
        return False
    if core - at > 1 and not closed:
        return not following.islower()  # an ellipsis, or ?! and the like
    if abbreviated:
        next_word = re.match(r"\W*(\w+)", text[end : end + 60])
        return following.isupper() and next_word is not None and next_word.group(1).lower() in _STARTERS
    if following.isdigit() and written.istitle() and len(written) <= 4:
        return False  # App. 5, Cl. 12
    if following.islower():
        return not closed and (len(word) > 3 or not word)
    return True


def _is_wide(char: str) -> bool:
    return char >= "\u2e80"


def _pairs(text: str) -> list[tuple[int, int]]:
    """Quotes and brackets that close on their line within the limit: no sentence ends inside."""
    found: list[tuple[int, int]] = []
    stack: list[tuple[str, int]] = []
    for match in _OPENERS_RE.finditer(text):
        char, at = match.group(), match.start()
        if char == "\n":
            stack.clear()
        elif char in _PAIRS:
            stack.append((_PAIRS[char], at))
        else:
            depth = next((i for i in range(len(stack) - 1, max(-1, len(stack) - 9), -1) if stack[i][0] == char), None)
            if depth is not None:
                opened = stack[depth][1]
                del stack[depth:]
                if at - opened <= _PAIR_LIMIT:
                    found.append((opened, at))
            elif char == '"':
                stack.append((char, at))
    return found


def _merge(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _append_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))


def _join_lone_tags(text: str, spans: list[tuple[int, int]], tags: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Give a line that holds nothing but tags to the sentence before it."""
    starts = [tag[0] for tag in tags]
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        first = bisect_right(starts, start - 1)
        rest = start
        while first < len(tags) and tags[first][0] == rest:
            rest = tags[first][1]
            while rest < end and (text[rest].isspace() or text[rest] in _TERMINALS):
                rest += 1
            first += 1
        if joined and start < rest and rest >= end:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
