"""Fits passages and results into the part of a prompt that is theirs. Labels are never shortened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from agent.compression import Cost, shorten
from agent.windows import Window
from retrieval.content_terms import content_terms
from retrieval.labels import format_tag
from retrieval.passages import format_passage, neutralise
from retrieval.types import Passage

Language = Literal["zh", "en"]
_LEAST = 90
"""Tokens that a passage is worth showing with; with less room fewer passages are shown."""


def shortened(passage: Passage, question: str, cost: Cost, room: float, language: Language) -> Passage:
    """Return a passage whose fixed form takes at most `room`; the label and what is said of the source stay."""
    if cost(format_passage(passage, language)) <= room:
        return passage
    bare = passage.model_copy(update={"context_before": "", "context_after": ""})
    frame = format_passage(_with_text(bare, ""), language)
    return _with_text(bare, shorten(bare.chunk.text, question, cost, max(0.0, room - cost(frame))))


def fit_passages(
    passages: Sequence[Passage], question: str, window: Window | None, tokens: int, language: Language
) -> list[Passage]:
    """Return passages, in their order, whose fixed forms take at most `tokens` together.

    Where there are too many, those that have most of the question's terms are shown; each is shortened towards
    the question to a fair share.
    """
    if window is None:
        return list(passages)
    sizes = [window.count(format_passage(passage, language)) for passage in passages]
    if sum(sizes) <= tokens:
        return list(passages)
    chosen = _best(len(passages), max(1, tokens // _LEAST), lambda i: _relevance(passages[i], question))
    shares = _shares([sizes[i] for i in chosen], tokens)
    cost = _cost(window)
    fitted = [shortened(passages[i], question, cost, share, language) for i, share in zip(chosen, shares, strict=True)]
    return [each for each in fitted if each.chunk.text]


def fit_results(results: Mapping[str, str], question: str, window: Window | None, tokens: int) -> list[str]:
    """Return citable results of tools, each with its label, that take at most `tokens` together."""
    lines = {label: neutralise(text) for label, text in results.items()}
    if window is not None:
        sizes = {label: window.count(f"{text} {format_tag(label)}") for label, text in lines.items()}
        if sum(sizes.values()) > tokens:
            labels = list(lines)
            wanted = set(content_terms(question))

            def relevance(i: int) -> float:
                return len(wanted.intersection(content_terms(lines[labels[i]]))) + i / (10 * len(labels))

            chosen = [labels[i] for i in _best(len(labels), max(1, tokens // (_LEAST // 2)), relevance)]
            shares = _shares([sizes[label] for label in chosen], tokens)
            cost = _cost(window)
            lines = {
                label: shorten(lines[label], question, cost, share - window.count(format_tag(label)) - 1)
                for label, share in zip(chosen, shares, strict=True)
            }
    return [f"{text} {format_tag(label)}" for label, text in lines.items()]


def _best(count: int, most: int, relevance: Callable[[int], float]) -> list[int]:
    ranked = sorted(range(count), key=lambda i: (-relevance(i), i))
    return sorted(ranked[:most])


def _relevance(passage: Passage, question: str) -> float:
    wanted = set(content_terms(question))
    held = wanted.intersection(content_terms(f"{passage.chunk.title} {passage.chunk.text}"))
    return len(held) / max(1, len(wanted)) + passage.score


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """Share room out evenly; what a small one does not need goes to the others."""
    shares = [0] * len(sizes)
    left = room
    for rank, index in enumerate(sorted(range(len(sizes)), key=lambda i: sizes[i])):
        shares[index] = min(sizes[index], left // (len(sizes) - rank))
        left -= shares[index]
    return shares


def _with_text(passage: Passage, text: str) -> Passage:
    return passage.model_copy(update={"chunk": passage.chunk.model_copy(update={"text": text})})


def _cost(window: Window) -> Cost:
    return lambda text: float(window.count(text))
