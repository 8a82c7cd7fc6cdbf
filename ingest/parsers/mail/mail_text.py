"""The plain-text body of a message: flowed lines, quoted replies, signature (RFC 3676)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from ingest.parsers.text.lines import blocks_of_text
from ingest.types import Block

_QUOTE = re.compile(r"(?:>[ \t]?)+")
_MAX_DEPTH = 10
_SIGNATURE = re.compile(r"--[ \t]*")


def text_blocks(text: str, *, flowed: bool = False, delete_space: bool = False) -> tuple[Block, ...]:
    """Turn a plain body into blocks.

    Quoted lines stay, one block a paragraph, marked by `> ` as in the message, so that
    whose words they are is not lost. Numbers at a line's start make no headings here.

    Args:
        text: the decoded body.
        flowed: `format=flowed`: a line that ends in a space goes on in the next.
        delete_space: `delsp=yes`: that space is no part of the text.
    """
    lines = [_line(line, flowed) for line in text.expandtabs(4).split("\n")]
    if flowed:
        lines = list(_flow(lines, delete_space))
    blocks: list[Block] = []
    for depth, run in groupby(lines, key=lambda line: line[0]):
        blocks.extend(_run_blocks(depth, [words for _, words in run]))
    return tuple(blocks)


def _line(line: str, flowed: bool) -> tuple[int, str]:
    if line.startswith(">From "):
        return 0, line[1:]
    match = _QUOTE.match(line)
    depth = match.group().count(">") if match else 0
    words = line[match.end() :] if match else line
    if flowed and not match and words.startswith(" "):
        words = words[1:]
    return min(depth, _MAX_DEPTH), words.rstrip("\r")


def _flow(lines: list[tuple[int, str]], delete_space: bool) -> Iterator[tuple[int, str]]:
    depth, parts = 0, list[str]()
    for at, words in lines:
        if parts and at != depth:
            yield depth, "".join(parts)
            parts = []
        depth = at
        if words.endswith(" ") and words != "-- ":
            parts.append(words[:-1] if delete_space else words)
        else:
            yield depth, "".join((*parts, words))
            parts = []
    if parts:
        yield depth, "".join(parts)


def _run_blocks(depth: int, lines: list[str]) -> Iterator[Block]:
    cut = next((index for index, line in enumerate(lines) if _SIGNATURE.fullmatch(line)), len(lines))
    mark = "> " if depth else ""
    for block in blocks_of_text("\n".join(lines[:cut])):
        kind = "paragraph" if block.kind == "heading" else block.kind
        yield Block(kind=kind, text=mark + block.text.replace("\n", "\n" + mark))
    signature = [line.strip() for line in lines[cut + 1 :] if line.strip()]
    if signature:
        yield Block(kind="paragraph", text="\n".join(mark + line for line in signature))
