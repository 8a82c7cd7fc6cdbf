"""Terms and BM25: the lexical half of search, for any script, without a vocabulary.

Words for scripts that write spaces, character bigrams for those that do not, and
every symbol token (`[CNY_238000000]`) as one term. The same terms serve the
sparse vectors of the embedded profile, the evaluation's BM25 baseline, the
feature reranker and the trigger.
"""

from __future__ import annotations

import re
import sys
import unicodedata
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import log

import numpy as np

from retrieval.symbols.fold import fold_letters
from retrieval.types import SparseVector

K1 = 1.2
B = 0.75
"""BM25 constants as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), and Lucene."""

AVERAGE_TERMS = 200.0
"""Length, in terms, at which a text's weights are neither damped nor lifted. Fixed, because
weights are written per chunk and must not change when other chunks come or go."""

LEXICAL_REVISION = "bm25-1"
"""Changes whenever `document_weights` gives another vector for the same text."""

_CJK = "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TERM = re.compile(
    rf"(?P<symbol>\[[A-Z][A-Z0-9]*_[^\[\]\s]+\])"
    rf"|(?P<cjk>[{_CJK}]+)"
    rf"|(?P<number>\d+(?:,\d{{3}})+(?:\.\d+)?(?![\d,])|\d+\.\d+)"
    rf"|(?P<word>(?:(?![{_CJK}])[^\W_])+)"
)


def terms(text: str) -> list[str]:
    """Return the terms of `text` in order, repeats included; empty for text without letters, digits or symbols.

    Compatibility forms are folded first (NFKC), so full-width digits and letters
    equal their plain forms, and traditional characters become simplified ones, as they are in
    index texts; thousands separators are dropped (`1,452.4` → `1452.4`).
    A CJK run of one character is that character, a longer one its bigrams.
    """
    found: list[str] = []
    for match in _TERM.finditer(fold_letters(unicodedata.normalize("NFKC", text))):
        run = match.group()
        match match.lastgroup:
            case "symbol":
                found.append(run)
            case "cjk":
                found.extend([run] if len(run) == 1 else (run[i : i + 2] for i in range(len(run) - 1)))
            case "number":
                found.append(run.replace(",", ""))
            case _:
                found.append(run.lower())
    return found


@lru_cache(maxsize=1024)
def text_terms(text: str) -> frozenset[str]:
    """Return the distinct terms of a passage, remembered for those that were looked at last.

    One question looks at the same passages several times: when it is triggered, reranked, and compared.
    """
    return frozenset(map(sys.intern, terms(text)))


def term_id(term: str) -> int:
    """Return the term's index in sparse vectors: CRC-32 of its UTF-8 form, the same in every process and release."""
    return zlib.crc32(term.encode("utf-8", "replace"))


def document_weights(text: str) -> SparseVector:
    """Return BM25 weights of a text to be indexed, without IDF (the store brings it); indices ascend."""
    counts = Counter(term_id(term) for term in terms(text))
    return _vector(_saturate(counts, AVERAGE_TERMS))


def query_weights(text: str) -> SparseVector:
    """Return a question's weights: how often each term occurs; indices ascend."""
    return _vector({index: float(n) for index, n in Counter(term_id(term) for term in terms(text)).items()})


def _saturate(counts: Counter[int], average: float) -> dict[int, float]:
    norm = K1 * (1 - B + B * counts.total() / average)
    return {index: n * (K1 + 1) / (n + norm) for index, n in counts.items()}


def _vector(weights: dict[int, float]) -> SparseVector:
    indices = np.array(sorted(weights), dtype=np.uint32)
    return SparseVector(indices, np.array([weights[int(i)] for i in indices], dtype=np.float32))


class Bm25Index:
    """Exact BM25 over texts in memory: true average length, exact IDF. The baseline search is measured against."""

    def __init__(self, texts: Iterable[str]) -> None:
        counts = [Counter(term_id(term) for term in terms(text)) for text in texts]
        self._size = len(counts)
        average = sum(c.total() for c in counts) / max(self._size, 1) or 1.0
        self._postings: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        for row, count in enumerate(counts):
            for index, weight in _saturate(count, average).items():
                self._postings[index].append((row, weight))

    def __len__(self) -> int:
        return self._size

    def idf(self, term: str) -> float:
        """Return ln(1 + (N - n + 0.5) / (n + 0.5)), Lucene's non-negative form."""
        n = len(self._postings.get(term_id(term), ()))
        return log(1 + (self._size - n + 0.5) / (n + 0.5))

    def scores(self, question: str) -> list[float]:
        """Return one score per text, in their order; 0 where no term is shared."""
        scores = [0.0] * self._size
        for term, n in Counter(terms(question)).items():
            idf = self.idf(term)
            for row, weight in self._postings.get(term_id(term), ()):
                scores[row] += n * idf * weight
        return scores

    def search(self, question: str, limit: int) -> list[tuple[int, float]]:
        """Return (row, score) of the best texts that share a term, best first, ties by row."""
        scores = self.scores(question)
        rows: Sequence[int] = sorted((r for r, s in enumerate(scores) if s > 0), key=lambda r: (-scores[r], r))
        return [(row, scores[row]) for row in rows[:limit]]
