"""A question's words in the other language: what a text of that language would hold if it were about them.

Word by word from a dictionary, every meaning a word may have; nothing is chosen here. A text about the
question holds one meaning of most of its words, and rarely the wrong ones of several words together
(structured queries: Pirkola, "The effects of query structure and dictionary setups in
dictionary-based cross-language information retrieval", SIGIR 1998).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np

from retrieval.content_terms import content_terms
from retrieval.dictionary import Dictionary
from retrieval.lexical import term_id, terms
from retrieval.symbols.fold import fold_letters
from retrieval.types import Language, SparseVector

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_LATIN = re.compile(r"[a-z0-9]+")
_LONGEST_WORD = 8
_LONGEST_GLOSS = 4
_MOST_MEANINGS = 12
"""Words with more meanings than this say nothing about a text."""

_ENDINGS = (
    *(("ies", "y"), ("es", ""), ("es", "e"), ("s", "")),
    *(("ied", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e")),
)

Meaning = tuple[frozenset[str], ...]
"""One way to say a word: for each of its terms the forms it may have; a text that says it holds one of each."""


@dataclass(frozen=True, slots=True)
class Translated:
    """A word of a question and the ways the other language says it."""

    word: str
    meanings: tuple[Meaning, ...]
    weight: float = 1.0

    def said_in(self, held: Container[str]) -> bool:
        """Tell whether a text with these terms says the word in one of the ways."""
        return any(all(any(form in held for form in forms) for forms in meaning) for meaning in self.meanings)


class Translator:
    """Translates questions between Chinese and English, word by word. Pure but for the dictionary's first reading."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary

    def translate(self, question: str, into: Language) -> tuple[Translated, ...]:
        """Return the question's words that the dictionary knows, each once; empty into any other language."""
        folded = fold_letters(unicodedata.normalize("NFKC", question))
        match into:
            case "en":
                found = self._from_chinese(folded)
            case "zh":
                found = self._from_english(folded)
            case _:
                found = []
        return tuple({one.word: one for one in found}.values())

    def _from_chinese(self, question: str) -> list[Translated]:
        found: list[Translated] = []
        for run in _HAN.findall(question):
            for word in self._words_of(run):
                meanings = [tuple(_forms(w) for w in gloss) for gloss in self._dictionary.english(word)]
                if meanings and len(meanings) <= _MOST_MEANINGS and content_terms(word):
                    found.append(Translated(word, tuple(meanings), 1.0 if len(word) > 1 else 0.5))
        return found

    def _words_of(self, run: str) -> list[str]:
        """Cut a run of characters into words, the longest first from the left."""
        words: list[str] = []
        start = 0
        while start < len(run):
            longest = min(len(run), start + _LONGEST_WORD)
            end = next((e for e in range(longest, start, -1) if run[start:e] in self._dictionary), start + 1)
            words.append(run[start:end])
            start = end
        return words

    def _from_english(self, question: str) -> list[Translated]:
        words = _LATIN.findall(question.lower())
        found: list[Translated] = []
        start = 0
        while start < len(words):
            length, chinese = self._gloss_at(words[start : start + _LONGEST_GLOSS])
            if chinese:
                meanings = tuple(tuple(frozenset((term,)) for term in dict.fromkeys(terms(w))) for w in chinese)
                word = " ".join(words[start : start + length])
                weight = float(length) ** 0.5 if any(len(w) > 1 for w in chinese) else 0.4
                found.append(Translated(word, meanings, weight))
            start += length
        return found

    def _gloss_at(self, words: Sequence[str]) -> tuple[int, list[str]]:
        """Return how many words, from the first on, have Chinese ones, and those; (1, []) if not even one has."""
        for length in range(len(words), 0, -1):
            if not content_terms(" ".join(words[:length])):
                continue
            *first, last = words[:length]
            for base in _bases(last):
                chinese = self._dictionary.chinese((*first, base))
                several = [w for w in chinese if len(w) > 1]
                if chosen := several or list(chinese):
                    return length, chosen[: 2 * _MOST_MEANINGS]
        return 1, []


def query_vector(translated: Sequence[Translated]) -> SparseVector:
    """Return the weights with which a sparse index is asked; indices ascend.

    A word's weight is shared by the ways to say it, so that a word with ten meanings does not outweigh one with two.
    """
    weights: dict[int, float] = {}
    for one in translated:
        share = one.weight / len(one.meanings) ** 0.5
        for meaning in one.meanings:
            for forms in meaning:
                for form in forms:
                    index = term_id(form)
                    weights[index] = max(weights.get(index, 0.0), share / len(meaning) ** 0.5)
    indices = np.array(sorted(weights), dtype=np.uint32)
    return SparseVector(indices, np.array([weights[int(i)] for i in indices], dtype=np.float32))


def _forms(word: str) -> frozenset[str]:
    """Return a word of a gloss and its regular inflections, as terms."""
    forms = {word, f"{word}s"}
    if word.isdigit() or len(word) < 3:
        return frozenset({word})
    if word.endswith("y") and word[-2] not in "aeiou":
        forms |= {f"{word[:-1]}ies", f"{word[:-1]}ied", f"{word}ing"}
    elif word.endswith("e"):
        forms |= {f"{word}d", f"{word[:-1]}ing"}
    else:
        forms |= {f"{word}ed", f"{word}ing"}
        if word.endswith(("s", "x", "z", "ch", "sh")):
            forms.add(f"{word}es")
        elif word[-1] not in "aeiouwxy" and word[-2] in "aeiou" and word[-3] not in "aeiou":
            forms |= {f"{word}{word[-1]}ed", f"{word}{word[-1]}ing"}
    return frozenset(forms)


def _bases(word: str) -> list[str]:
    """Return a word of a question and what it may be an inflection of, the likeliest first."""
    bases = [word]
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            stem = word.removesuffix(ending)
            bases.append(stem + instead)
            if ending in ("ed", "ing") and len(stem) > 3 and stem[-1] == stem[-2]:
                bases.append(stem[:-1])
    return bases
