"""Comparing a parser's text with what others say is in the document: strings, and another parser's Markdown.

Both sides are brought to the same form first (NFKC, white space collapsed, markup removed), because the
question is whether text was lost, not how it is marked.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ingest.types import ParsedDocument
from retrieval.types import Value

_COMMENT = re.compile(r"<!--.*?-->", re.S)
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
_RULE = re.compile(r"^[ \t]*\|?[ \t:|-]{3,}$", re.M)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")
_NUMBERED = re.compile(r"^[ \t]*\d{1,3}[.)][ \t]+", re.M)
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


class StringCase(Value):
    """Strings a document's text must and must not include."""

    filename: str
    must_include: tuple[str, ...] = ()
    must_not_include: tuple[str, ...] = ()


def read_string_cases(file: Path) -> list[StringCase]:
    """Read cases from JSON lines."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [StringCase.model_validate(json.loads(line)) for line in lines if line.strip()]


def text_of(parsed: ParsedDocument) -> str:
    """Return a document's whole text: its title if no block has it, then every block."""
    parts = [block.text for block in parsed.blocks]
    return "\n".join(parts)


def includes(text: str, wanted: str) -> bool:
    """Tell whether `wanted` stands in `text`, white space and the cell separators of table rows aside."""
    return _squeezed(wanted) in _squeezed(text)


def token_recall(text: str, reference: str) -> tuple[int, int]:
    """Count which tokens of a reference in Markdown are in a text.

    A token is a run of letters and digits, or one CJK character; each counts as often as it occurs.

    Returns:
        Found, and how many the reference has.
    """
    wanted = Counter(_tokens(plain(reference)))
    found = wanted & Counter(_tokens(text))
    return found.total(), wanted.total()


def plain(markdown: str) -> str:
    """Return Markdown without its marks: comments, pictures, link targets, table rules, list numbers, tags."""
    text = _COMMENT.sub(" ", markdown)
    text = _PICTURE.sub(" ", text)
    text = _LINK.sub(r"\1", text)
    text = _RULE.sub(" ", text)
    text = _NUMBERED.sub("", text)
    text = _ESCAPE.sub(r"\1", text)
    return html.unescape(_TAG.sub(" ", text))


def _tokens(text: str) -> Iterable[str]:
    return (match.group().casefold() for match in _WORD.finditer(unicodedata.normalize("NFKC", text)))


def _squeezed(text: str) -> str:
    return re.sub(r"[\s|]+", "", unicodedata.normalize("NFKC", text))
