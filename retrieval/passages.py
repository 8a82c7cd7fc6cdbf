"""From a reranked chunk to a passage: its confidence, and the fixed form in which the model reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from retrieval.labels import format_tag
from retrieval.neutralise import neutralise, neutralise_line
from retrieval.period_match import match_periods
from retrieval.types import Authority, Chunk, Confidence, Passage, PeriodMatch

__all__ = ["confidence_of", "format_passage", "make_passage", "neutralise"]

# Reranker score from which a passage counts as high, by who stands behind the document;
# a draft never does. The scores are comparable across questions (see `Reranker.score`).
_HIGH: Final[dict[Authority, float]] = {"official": 0.7, "approved": 0.7, "unknown": 0.85}
_LOW: Final = 0.3

_CONFIDENCE_ZH: Final[dict[Confidence, str]] = {"high": "高", "medium": "中", "low": "低"}


def confidence_of(authority: Authority, score: float, period_match: PeriodMatch) -> Confidence:
    """Decide how far a passage may be relied on.

    Low: it speaks of another period than asked, or scores below 0.3. High: an official or
    approved document from 0.7, one of unknown authority from 0.85, and the asked period, if
    there is one, is stated. Medium: the rest; so every draft, and every passage that
    leaves the asked period open.
    """
    if period_match == "mismatch" or score < _LOW:
        return "low"
    if period_match == "unknown" or score < _HIGH.get(authority, 2.0):
        return "medium"
    return "high"


def make_passage(label: str, chunk: Chunk, score: float, asked: Sequence[str], stated: Sequence[str]) -> Passage:
    """Make a passage of a chunk; `asked` and `stated` are normal forms of periods, `score` is 0 to 1."""
    period_match = match_periods(asked, stated)
    return Passage(
        label=label,
        chunk=chunk,
        score=score,
        confidence=confidence_of(chunk.authority, score, period_match),
        period_match=period_match,
        asked_periods=tuple(asked),
        stated_periods=tuple(stated),
    )


def format_passage(passage: Passage, language: Literal["zh", "en"]) -> str:
    """Return the one form in which a passage enters a prompt.

    The only tag in it is the passage's own, whatever its document says of itself.
    """
    chunk = passage.chunk
    tag, text = format_tag(passage.label), neutralise(chunk.text)
    title, issuer = neutralise_line(chunk.title), neutralise_line(chunk.issuer)
    if language == "zh":
        source = f"《{title or '无标题'}》" + (f"（{issuer}）" if issuer else "") + _place_zh(chunk)
        return (
            f"【知识来源】{source}  {tag}\n【关键内容】{text}\n"
            f"【置信度】{_CONFIDENCE_ZH[passage.confidence]}（{'，'.join(_reasons_zh(passage))}）"
        )
    source = f'"{title or "Untitled"}"' + (f" ({issuer})" if issuer else "") + _place_en(chunk)
    return (
        f"[KNOWLEDGE SOURCE] {source}  {tag}\n[KEY CONTENT] {text}\n"
        f"[CONFIDENCE] {passage.confidence} ({', '.join(_reasons_en(passage))})"
    )


def _place_zh(chunk: Chunk) -> str:
    if chunk.page_start is not None:
        return f"第 {_range(chunk.page_start, chunk.page_end)} 页"
    if chunk.start_s is not None:
        return f"{_clock(chunk.start_s)} 起" + (f"，{neutralise_line(chunk.speaker)} 发言" if chunk.speaker else "")
    return f"第 {chunk.section_number} 节" if chunk.section_number is not None else ""


def _place_en(chunk: Chunk) -> str:
    if chunk.page_start is not None:
        pages = _range(chunk.page_start, chunk.page_end)
        return f", page {pages}" if "–" not in pages else f", pages {pages}"
    if chunk.start_s is not None:
        return f", at {_clock(chunk.start_s)}" + (
            f", {neutralise_line(chunk.speaker)} speaking" if chunk.speaker else ""
        )
    return f", section {chunk.section_number}" if chunk.section_number is not None else ""


def _reasons_zh(passage: Passage) -> list[str]:
    asked, stated = _shown(passage.asked_periods, "、"), _shown(passage.stated_periods, "、")
    period = {
        "not_asked": [],
        "match": [f"期间匹配 {asked}"],
        "mismatch": [f"期间不符：所问 {asked}，本段为 {stated}"],
        "unknown": [f"期间未确认：所问 {asked}"],
    }
    return [passage.chunk.authority, f"重排分 {passage.score:.2f}", *period[passage.period_match]]


def _reasons_en(passage: Passage) -> list[str]:
    asked, stated = _shown(passage.asked_periods, ", "), _shown(passage.stated_periods, ", ")
    period = {
        "not_asked": [],
        "match": [f"period matches {asked}"],
        "mismatch": [f"other period: asked {asked}, the passage is about {stated}"],
        "unknown": [f"period not confirmed: asked {asked}"],
    }
    return [passage.chunk.authority, f"rerank score {passage.score:.2f}", *period[passage.period_match]]


def _shown(normals: Sequence[str], separator: str) -> str:
    """Write normal forms for people, at most four: `2024Q3` → `2024-Q3`."""
    shown = [re.sub(r"(?<=\d{4})(?=[QH]\d)", "-", normal) for normal in normals[:4]]
    return separator.join(shown + (["…"] if len(normals) > len(shown) else []))


def _range(first: int, last: int | None) -> str:
    return str(first) if last is None or last <= first else f"{first}–{last}"


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute:02}:{second:02}"
