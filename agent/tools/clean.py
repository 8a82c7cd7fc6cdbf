"""Clean a tool's text before it enters a prompt, and say how good it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

_UNPRINTABLE_RE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_HTML_RE = re.compile(
    r"<\s*/?\s*(?:html|body|head|div|p|span|table|tr|td|ul|ol|li|a|br|script|style|h[1-6]|img)\b[^<>]*>", re.I
)
_BLANKS_RE = re.compile(r"[ \t\u00a0]+")
_LINES_RE = re.compile(r"\n\s*\n\s*\n+")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Cleaned text; `quality_score` is 1 for text that came through as it was, 0 for nothing."""

    text: str
    quality_score: float


def clean(text: str, max_chars: int) -> Cleaned:
    """Strip markup, control characters and lone surrogates, and cut to `max_chars`.

    The score starts at 1 and falls with what was lost: the share of unreadable
    characters, markup that had to be taken off, and a cut.
    """
    if not text.strip():
        return Cleaned("", 0.0)
    score = 1.0
    unreadable = len(_UNPRINTABLE_RE.findall(text)) + text.count("\ufffd")
    text = _UNPRINTABLE_RE.sub("", text)
    score -= min(0.6, 4 * unreadable / max(1, len(text)))
    if len(_HTML_RE.findall(text)) >= 2:
        text = _strip_html(text)
        score -= 0.1
    text = _LINES_RE.sub("\n\n", _BLANKS_RE.sub(" ", text)).strip()
    if not text:
        return Cleaned("", 0.0)
    if len(text) > max_chars:
        text = text[: max_chars - 1].rstrip() + "…"
        score -= 0.2
    return Cleaned(text, round(max(0.0, score), 2))


def _strip_html(text: str) -> str:
    tree = LexborHTMLParser(text)
    for node in tree.css("script, style, template, noscript"):
        node.decompose()
    return tree.root.text(separator="\n") if tree.root is not None else ""
