"""Clean a tool's text and values before they enter a prompt, and say how good they are."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import ftfy
import jsonschema
from selectolax.lexbor import LexborHTMLParser

HEDGE_BELOW = 0.7
"""Quality below which an answer must hedge."""

_UNPRINTABLE_RE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_SURROGATE_RE = re.compile("[\ud800-\udfff]")
_HTML_RE = re.compile(
    r"<\s*/?\s*(?:html|body|head|div|p|span|table|tr|td|ul|ol|li|a|br|script|style|h[1-6]|img)\b[^<>]*>", re.I
)
_BLANKS_RE = re.compile(r"[ \t\u00a0]+")
_LINES_RE = re.compile(r"\n\s*\n\s*\n+")
_NULLS = frozenset({"null", "none", "nan", "n/a", "#n/a", "undefined", "nil", "(null)"})
_MOST_NESTED = 32
_MENDED, _MARKUP, _CUT = 0.2, 0.1, 0.2


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Cleaned text; `quality_score` is 1 for text that came through as it was, 0 for nothing."""

    text: str
    quality_score: float


def clean(text: str, max_chars: int) -> Cleaned:
    """Strip markup, control characters and lone surrogates, mend mojibake, and cut to `max_chars`.

    The score starts at 1 and falls with what was lost: the share of unreadable
    characters, an encoding that had to be mended, markup that had to be taken off, and a cut.
    """
    if not text.strip():
        return Cleaned("", 0.0)
    score = 1.0
    unreadable = len(_UNPRINTABLE_RE.findall(text)) + text.count("\ufffd")
    total = len(text)
    text = _UNPRINTABLE_RE.sub("", _joined(text))
    score -= min(0.6, 4 * unreadable / max(1, total))
    mended = ftfy.fix_encoding(text)
    if mended != text:
        text = _UNPRINTABLE_RE.sub("", mended)
        score -= _MENDED
    if len(_HTML_RE.findall(text)) >= 2:
        text = _strip_html(text)
        score -= _MARKUP
    text = _LINES_RE.sub("\n\n", _BLANKS_RE.sub(" ", text)).strip()
    if not text:
        return Cleaned("", 0.0)
    if len(text) > max_chars:
        text = text[: max_chars - 1].rstrip() + "…"
        score -= _CUT
    return Cleaned(text, round(max(0.0, score), 2))


def clean_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Clean the texts of a JSON object and leave out what stands for nothing: null, `N/A`, NaN."""
    cleaned = _value(values, 0)
    return cast("dict[str, Any]", cleaned) if isinstance(cleaned, dict) else {}


def completeness(values: Mapping[str, Any] | None, schema: Mapping[str, Any]) -> float:
    """Return how far cleaned values fill the schema of results, 0 to 1.

    The share of the required properties (of all properties, where none is required) that are there
    and fit; 0.5 at most where the object as a whole does not fit, and 0.5 for no object at all.
    """
    if values is None:
        return 0.5
    properties = cast("dict[str, Any]", schema.get("properties", {}))
    wanted = cast("list[str]", schema.get("required") or list(properties))
    fits = _fits(values, schema)
    if not wanted:
        return 1.0 if fits else 0.5
    held = sum(name in values and _fits(values[name], properties.get(name, {})) for name in wanted)
    share = held / len(wanted)
    return round(share if fits else min(share, 0.5), 2)


def _fits(value: Any, schema: Any) -> bool:
    try:
        jsonschema.validate(value, schema, cls=jsonschema.Draft202012Validator)
    except jsonschema.ValidationError:
        return False
    return True


def _value(value: Any, depth: int) -> Any:
    match value:
        case str():
            text = clean(value, max(1, len(value))).text
            return None if text.casefold() in _NULLS or not text else text
        case float() if not math.isfinite(value):
            return None
        case Mapping() if depth < _MOST_NESTED:
            pairs = cast("Mapping[object, object]", value).items()
            kept = ((clean(str(k), 200).text, _value(v, depth + 1)) for k, v in pairs)
            return {k: v for k, v in kept if k and v is not None}
        case Sequence() if depth < _MOST_NESTED and not isinstance(value, bytes | bytearray):
            items = (_value(item, depth + 1) for item in cast("Sequence[object]", value))
            return [item for item in items if item is not None]
        case bool() | int() | float():
            return value
        case _:
            return None


def _joined(text: str) -> str:
    """Put pairs of surrogates together and leave out the lone ones."""
    if _SURROGATE_RE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")


def _strip_html(text: str) -> str:
    tree = LexborHTMLParser(text)
    for node in tree.css("script, style, template, noscript"):
        node.decompose()
    return tree.root.text(separator="\n") if tree.root is not None else ""
