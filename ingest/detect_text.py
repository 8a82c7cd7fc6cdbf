"""Kinds of text: markup, subtitles, JSON, e-mail, transcripts, by how they look."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ingest.detect_kinds import KINDS, Kind
from ingest.parsers.sheets.csv_dialect import looks_delimited
from ingest.parsers.text.transcript import looks_like_transcript

_HEAD = 64 * 1024
_LINE = 400
"""Characters of a line that are looked at: a pattern looks from each mark for its end, for minutes on 2 MB of `[`."""
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?>.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_ELEMENT = re.compile(
    r"</?(?:p|div|span|table|tr|td|th|ul|ol|li|h[1-6]|a|br|script|style|section|article|main|nav|header|footer)\b[^>]*>",
    re.I,
)
_SRT = re.compile(r"(?:^|\n)\s*\d+[ \t]*\n\s*\d{1,2}:\d{2}:\d{2}[,.]\d{1,3}\s*-->\s*\d{1,2}:\d{2}:\d{2}[,.]\d{1,3}")
_MAIL_HEADER = re.compile(r"^([A-Za-z][A-Za-z0-9-]{1,40}):[ \t]?.*$")
_MBOX_LINE = re.compile(r"From \S{1,200} [^\n]{0,100}\d\d:\d\d:\d\d[^\n]{0,100}\n")
_MAIL_PLAIN = frozenset({"from", "date"})
"""A message needs no other field (RFC 5322, 3.6); a recipient or a subject tells it from a note."""
_MAIL_SURE = frozenset({"received", "mime-version", "message-id", "return-path", "dkim-signature", "delivered-to"})
_MARKDOWN_SIGNS: tuple[re.Pattern[str], ...] = (
    re.compile(r"^ {0,3}#{1,6}[ \t]+\S", re.M),
    re.compile(r"^ {0,3}(?:```|~~~)", re.M),
    re.compile(r"^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)+\|?[ \t]*$", re.M),
    re.compile(r"!?\[[^\]\n]+\]\([^)\s]+[^)\n]*\)"),
    re.compile(r"(?:\*\*|__)\S[^\n*_]*\S(?:\*\*|__)"),
    re.compile(r"^[ \t]*[-*+][ \t]+\S", re.M),
    re.compile(r"\A---\n(?:[^\n]*\n){1,40}?---\n"),
)
_MARKDOWN_NAMES = frozenset({".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd"})
_TABLE_NAMES = frozenset({".csv", ".tsv", ".tab"})
_FEED_ROOTS = frozenset({"rss", "feed", "rdf"})
_RST_NAMES = frozenset({".rst", ".rest"})
_RST_SIGNS: tuple[re.Pattern[str], ...] = (
    re.compile(r"^\.\. [a-z][a-z-]*::", re.M),
    re.compile(r"^\.\. _[^\n:]+:", re.M),
    re.compile(r"^\S[^\n]*\n(=+|-+|~+|\^+)[ \t]*$", re.M),
    re.compile(r"(?::[a-z]+:`[^`\n]+`|``[^`\n]+``|`[^`\n<]+<[^>\n]+>`_)"),
)
_ORG_SIGNS: tuple[re.Pattern[str], ...] = (
    re.compile(r"^#\+[A-Za-z_]+:", re.M),
    re.compile(r"^#\+begin_[a-z]+", re.M | re.I),
    re.compile(r"^\*{1,6} \S", re.M),
    re.compile(r"^[ \t]*:[A-Z_]+:[^\n]*$", re.M),
)


def text_kind(text: str, suffix: str) -> Kind:
    """Tell what kind of text a decoded file is.

    Args:
        text: the text, or its beginning where the file is large.
        suffix: the display name's, lower case; only breaks ties.
    """
    start = text.lstrip()
    if re.match(r"WEBVTT(?:[ \t\n]|$)", start):
        return KINDS["vtt"]
    if _SRT.match(start):
        return KINDS["srt"]
    return _markup(start, suffix) or _structured(start, suffix) or _prose(text, suffix)


def suffix_of(display_name: str) -> str:
    """Return the name's ending in lower case, with its dot."""
    return Path(display_name.replace("\x00", "")).suffix.lower()


def _markup(start: str, suffix: str) -> Kind | None:
    if _HTML_START.match(start[:_HEAD]):
        return KINDS["html"]
    if start.startswith("<?xml"):
        root = re.search(r"<(?![?!])([A-Za-z_][\w:.-]*)", start)
        return _xml(root.group(1) if root else "?")
    if re.match(r"<svg\b", start, re.I):
        return Kind(None, "an SVG image")
    root = re.match(r"<([A-Za-z_][\w:.-]*)", start)
    if root and not _ELEMENT.match(start) and start.rstrip().endswith(f"</{root.group(1)}>"):
        return _xml(root.group(1))
    if suffix in _MARKDOWN_NAMES:
        return KINDS["markdown"]
    sample = start[:_HEAD]
    elements = len(_ELEMENT.findall(sample))
    if start.startswith("<") and elements >= 2:
        return KINDS["html"]
    return KINDS["html"] if suffix in (".html", ".htm", ".xhtml") and elements else None


def _xml(root: str) -> Kind:
    local = root.lower().split(":")[-1]
    if local == "html":
        return KINDS["html"]
    if local in _FEED_ROOTS:
        return KINDS["feed"]
    return Kind(None, "an SVG image") if local == "svg" else KINDS["xml"]


def _structured(start: str, suffix: str) -> Kind | None:
    """Text that a parser of its own reads: JSON, e-mail, delimited tables."""
    if start[:1] in ("{", "[") and _is_json(start):
        return KINDS["notebook"] if _is_notebook(start) else KINDS["json"]
    if suffix in (".json", ".jsonl", ".ndjson") and re.match(r'["\d-]|(?:true|false|null)\b', start):
        return KINDS["json"]
    if _is_mail(start):
        return KINDS["eml"]
    return KINDS["csv"] if suffix in _TABLE_NAMES and looks_delimited(start, named=True) else None


def _prose(text: str, suffix: str) -> Kind:
    if suffix in _RST_NAMES:
        return KINDS["rst"]
    if suffix == ".org":
        return KINDS["org"]
    if looks_like_transcript(text):
        return KINDS["transcript"]
    if suffix not in _MARKDOWN_NAMES and looks_delimited(text, named=False):
        return KINDS["csv"]
    if _is_markdown(text, suffix):
        return KINDS["markdown"]
    sample = text[:_HEAD]
    if sum(bool(sign.search(sample)) for sign in _RST_SIGNS) >= 3 and _RST_SIGNS[0].search(sample):
        return KINDS["rst"]
    if _ORG_SIGNS[0].match(sample.lstrip()) and sum(bool(sign.search(sample)) for sign in _ORG_SIGNS) >= 2:
        return KINDS["org"]
    return KINDS["text"]


def _is_json(start: str) -> bool:
    candidates = (start, start.split("\n", 1)[0])
    for candidate in candidates:
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        return isinstance(value, dict | list) and len(candidate) > 2
    if re.match(r"(?:\[\s*){50}", start) or re.match(r'(?:\{\s*"[^"\n]*"\s*:\s*){20}', start):
        return True
    return re.match(r'[\[{]\s*(?:\{\s*)?"(?:[^"\n\\]|\\.)*"\s*:', start) is not None


def _is_notebook(start: str) -> bool:
    return start[:1] == "{" and re.search(r'"nbformat"\s*:\s*\d', start) is not None and '"cells"' in start


def _mbox_line(start: str) -> int:
    """Return the length of the line that an mbox file puts before a message."""
    match = _MBOX_LINE.match(start)
    return match.end() if match else 0


def _is_mail(start: str) -> bool:
    names: list[str] = []
    for line in start[_mbox_line(start) :].split("\n", 60)[:60]:
        if not line.strip():
            break
        if line[:1] in (" ", "\t") and names:
            continue
        match = _MAIL_HEADER.match(line)
        if match is None:
            return False
        names.append(match.group(1).lower())
    if len(names) < 3:
        return False
    return not _MAIL_SURE.isdisjoint(names) or (_MAIL_PLAIN.issubset(names) and ("to" in names or "subject" in names))


def _is_markdown(text: str, suffix: str) -> bool:
    if suffix in _MARKDOWN_NAMES:
        return True
    sample = "\n".join(line[:_LINE] for line in text[: 4 * _HEAD].split("\n"))
    signs = [bool(pattern.search(sample)) for pattern in _MARKDOWN_SIGNS]
    strong = signs[0] + signs[1] + signs[2] + signs[6]
    return strong >= 2 or (strong >= 1 and sum(signs) >= 2 and suffix != ".txt") or (strong >= 1 and sum(signs) >= 3)
