"""What the feature reranker looks at: pure functions from a question and its candidates to numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p

import numpy as np
from numpy.typing import NDArray

from retrieval.lexical import terms
from retrieval.period_match import match_periods, periods
from retrieval.rerankers.loose_words import loose_words
from retrieval.rerankers.symbol_features import symbol_features
from retrieval.types import Candidate, Channel, Symbol

FEATURES = (
    "dense",
    "dense_lead",
    "sparse",
    "sparse_per_term",
    "sparse_lead",
    "coverage",
    "rare_coverage",
    "document_coverage",
    "loose_coverage",
    "pairs",
    "triples",
    "window",
    "heading",
    "numbers",
    "symbols",
    "codes",
    "figures",
    "code_conflict",
    "period_match",
    "period_mismatch",
    "length",
)
"""Columns of `feature_matrix`, in order."""

_WINDOW = 40
"""Terms of the window in which a question's terms should meet: about a long sentence."""
_DENSE_CENTRE = 0.8
"""multilingual-e5 puts unrelated texts near 0.75 and close ones near 0.9; centred, so that the weight reads easily."""

_FUNCTION_WORDS = """
a an and any are as at be been by can could did do does each for from had has have how if in into is it its many
much of on or our per should so such than that the their then there these they this those to under up was were what
when where which who whom whose why will with would
"""
_LIGHT_WORDS = frozenset(_FUNCTION_WORDS.split())
_LIGHT_CHARACTERS = frozenset(
    "的了是在和与與及或吗嗎呢吧什么麼哪谁誰何几幾多少怎样樣为為以其这這那有被把对對从從到于於等之者些个個你我他她它们們请請问問"
)


@dataclass(frozen=True, slots=True)
class _Text:
    """Where the asked terms stand in a text: all that the features look at."""

    length: int
    """In terms."""
    places: Mapping[str, Sequence[int]]
    loose: frozenset[str]
    """Asked words that it holds in a looser writing."""

    @classmethod
    def of(cls, text: str, asked: Container[str], loosely: frozenset[str]) -> _Text:
        found = terms(text)
        places: dict[str, list[int]] = {}
        for place, term in enumerate(found):
            if term in asked:
                places.setdefault(term, []).append(place)
        return cls(len(found), places, loosely & loose_words(found))

    def holds(self, run: Sequence[str]) -> bool:
        """Tell whether terms stand one behind the other."""
        starts = set(self.places.get(run[0], ()))
        for offset, term in enumerate(run[1:], start=1):
            starts &= {place - offset for place in self.places.get(term, ())}
        return bool(starts)


def term_weight(term: str) -> float:
    """Return how much of a question's subject a term carries: 0 for function words, 1 for words, 2 for symbols.

    A character bigram counts by how many of its two characters are not function characters.
    """
    if term.startswith("["):
        return 2.0
    if term.isascii():
        return 0.0 if term in _LIGHT_WORDS else 1.0
    return sum(character not in _LIGHT_CHARACTERS for character in term) / len(term)


def feature_matrix(question: str, symbols: Sequence[Symbol], candidates: Sequence[Candidate]) -> NDArray[np.float64]:
    """Return float64 (len(candidates), len(FEATURES)).

    `*_lead`, `rare_coverage`, `document_coverage`, `loose_coverage` and shares of symbols look at the other candidates
    of the question; all others stand for themselves, so that scores can be compared across questions.
    """
    asked = terms(question)
    weights = {term: weight for term in dict.fromkeys(asked) if (weight := term_weight(term)) > 0}
    loosely = frozenset(word for word in loose_words(weights) if term_weight(word) > 0)
    texts = [_Text.of(candidate.chunk.index_text, set(asked), loosely) for candidate in candidates]
    pairs, triples = _runs(asked, 2), _runs(asked, 3)
    rarity = _rarity(weights, [text.places for text in texts])
    loose_rarity = _rarity(dict.fromkeys(loosely, 1.0), [text.loose for text in texts])
    documents = _documents(candidates, texts)
    compared = symbol_features(symbols, [candidate.chunk.symbols for candidate in candidates])
    dense, sparse = _channel(candidates, "dense"), _channel(candidates, "sparse")
    matrix = np.zeros((len(candidates), len(FEATURES)))
    for row, (candidate, text) in enumerate(zip(candidates, texts, strict=True)):
        chunk = candidate.chunk
        match = match_periods(periods(symbols), periods(chunk.symbols))
        matrix[row] = (
            (dense[row] - _DENSE_CENTRE) * 10 if dense[row] else 0.0,
            (dense[row] - _best_other(dense, row)) * 10,
            log1p(sparse[row]),
            sparse[row] / max(sum(weights.values()), 1.0),
            log1p(sparse[row]) - log1p(_best_other(sparse, row)),
            _covered(weights, text.places),
            _covered(rarity, text.places),
            _covered(rarity, documents[chunk.document_id]),
            _covered(loose_rarity, text.loose),
            _held(pairs, text),
            _held(triples, text),
            _best_window(weights, text),
            _covered(weights, set(terms(" \n".join((chunk.title, *chunk.heading_path))))),
            _share({t for t in weights if t[0].isdigit()}, text.places),
            compared[row].carried,
            compared[row].codes,
            compared[row].figures,
            compared[row].code_conflict,
            float(match == "match"),
            float(match == "mismatch"),
            log((text.length + 20) / 200),
        )
    return matrix


def _runs(found: Sequence[str], size: int) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(found[i : i + size]) for i in range(len(found) - size + 1))


def _held(runs: Collection[Sequence[str]], text: _Text) -> float:
    """Return which part of the runs stands in the text; 0 of none."""
    return sum(text.holds(run) for run in runs) / len(runs) if runs else 0.0


def _channel(candidates: Sequence[Candidate], channel: Channel) -> list[float]:
    """Return each candidate's score in a channel; one that the channel did not find gets the lowest of the others."""
    known = [c.scores[channel] for c in candidates if channel in c.scores]
    lowest = min(known, default=0.0)
    return [c.scores.get(channel, lowest) for c in candidates]


def _best_other(scores: Sequence[float], row: int) -> float:
    return max((score for other, score in enumerate(scores) if other != row), default=scores[row])


def _rarity(weights: Mapping[str, float], texts: Sequence[Container[str]]) -> dict[str, float]:
    """Weigh the question's terms by how few of the candidates hold them (BM25's IDF over the candidates)."""
    held = Counter(term for text in texts for term in weights if term in text)
    n = len(texts)
    return {term: weight * log(1 + (n - held[term] + 0.5) / (held[term] + 0.5)) for term, weight in weights.items()}


def _documents(candidates: Sequence[Candidate], texts: Sequence[_Text]) -> dict[str, set[str]]:
    """Return the terms of each document's candidates together: a table's paragraph may name what the table counts."""
    held: dict[str, set[str]] = {}
    for candidate, text in zip(candidates, texts, strict=True):
        held.setdefault(candidate.chunk.document_id, set()).update(text.places)
    return held


def _covered(weights: Mapping[str, float], held: Container[str]) -> float:
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in held) / total if total else 0.0


def _share(asked: Iterable[object], held: Iterable[object]) -> float:
    """Return which part of `asked` is in `held`; 0 when nothing was asked."""
    wanted = set(asked)
    return len(wanted.intersection(held)) / len(wanted) if wanted else 0.0


def _best_window(weights: Mapping[str, float], text: _Text) -> float:
    """Return the highest covered weight within any window of the text."""
    total = sum(weights.values())
    hits = sorted((place, term) for term in weights for place in text.places.get(term, ()))
    inside: Counter[str] = Counter()
    best = current = 0.0
    start = 0
    for place, term in hits:
        inside[term] += 1
        current += weights[term] if inside[term] == 1 else 0.0
        while hits[start][0] <= place - _WINDOW:
            left = hits[start][1]
            inside[left] -= 1
            current -= weights[left] if inside[left] == 0 else 0.0
            start += 1
        best = max(best, current)
    return best / total if total else 0.0
