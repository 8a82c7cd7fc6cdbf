"""Words in a looser writing, for features that compare a question with candidates already found.

The index holds words and character bigrams as they stand: exact, and small. A question asks for `revenues`
where the text has `revenue`, and a Chinese word of one character (蓍, 鲥) stands in no bigram that both share. Ten
candidates can be compared by stems and single characters, which would tell nothing over a whole index.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import snowballstemmer

_ENGLISH = snowballstemmer.stemmer("english")


def loose_words(found: Iterable[str]) -> set[str]:
    """Return the stems of English words, the single characters of CJK terms, and everything else as it is.

    Args:
        found: terms, as `retrieval.lexical.terms` gives them.
    """
    loose: set[str] = set()
    for term in found:
        if term.isascii():
            loose.add(_stem(term) if term.isalpha() else term)
        else:
            loose.update(term)
    return loose


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    return str(_ENGLISH.stemWord(word))
