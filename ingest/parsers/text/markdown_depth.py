"""Markdown nested beyond what the parser reads: kept as plain lines, where the parser would drop it in silence."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

PLAIN_LINES = "plain_lines"
"""The type of a token whose content is lines of text as they are written, one below the other."""
_MAX_LEVEL = 98
"""A quote is one level deep, an item of a list two. Each level costs two frames of the parser's recursion."""
_COUNT = "passages_too_deep"


def keep_what_is_too_deep(parser: MarkdownIt) -> MarkdownIt:
    """Let a parser hand over what is nested too deep as `PLAIN_LINES`; past `maxNesting` it drops the rest of the file.

    Args:
        parser: changed and returned; its `maxNesting` is set to where nothing gets any more.
    """
    parser.options["maxNesting"] = _MAX_LEVEL + 3
    parser.block.ruler.before("table", PLAIN_LINES, _take_lines, {"alt": []})
    return parser


def depth_note(environment: dict[str, int]) -> tuple[str, ...]:
    """Return what is to be said of a document that was read with `environment`."""
    count = environment.get(_COUNT, 0)
    return (f"{count} passages nested too deep were read as plain text",) if count else ()


def _take_lines(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take the lines of the innermost quote or item as they are; lines that go on lazily have no indent (-1)."""
    if state.level < _MAX_LEVEL or silent:
        return False
    lines: list[str] = []
    line = start
    while line < end and (state.isEmpty(line) or not 0 <= state.sCount[line] < state.blkIndent):
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].lstrip("> \t").rstrip()
        if text:
            lines.append(text)
        line += 1
    state.line = line
    token = state.push(PLAIN_LINES, "", 0)
    token.content = "\n".join(lines)
    token.map = [start, line]
    state.env[_COUNT] = int(state.env.get(_COUNT, 0)) + 1
    return True
