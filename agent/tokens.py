"""How many tokens a text is: counted by the model's tokenizer where it lies on this machine, estimated otherwise."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PART_RE = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<digits>[0-9]+)|(?P<cjk>[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff]+)"
    r"|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL,
)
_WORD_CHARS = 5.0
"""Letters of an English word that one token holds; the first ones are held by a token of any length."""
_DIGITS = 3.0
_CJK_TOKENS = 0.75
_MARGIN = 1.05
"""An estimate that is too low breaks a limit; one that is too high costs a little room."""


class TokenCounter(Protocol):
    """Counts tokens as one model does, or nearly so. Pure; linear in the length of the text."""

    def count(self, text: str) -> int:
        """Return the tokens of a text; an empty one has none."""
        ...


class EstimatedTokens:
    """Estimates by the kinds of characters."""

    def count(self, text: str) -> int:
        """Return an estimate; see `estimate_tokens`."""
        return estimate_tokens(text)


class FileTokens:
    """Counts with a `tokenizer.json` of the model, read at the first text."""

    def __init__(self, path: Path) -> None:
        """Take the file.

        Raises:
            FileNotFoundError: there is no such file.
        """
        if not path.is_file():
            raise FileNotFoundError(f"there is no tokenizer at {path}")
        self._path = path
        self._loaded: Tokenizer | None = None

    def count(self, text: str) -> int:
        """Return the tokens of the text, without special ones."""
        if not text:
            return 0
        if self._loaded is None:
            from tokenizers import Tokenizer

            self._loaded = Tokenizer.from_file(str(self._path))
        return len(self._loaded.encode(text, add_special_tokens=False).ids)


def token_counter(tokenizer: Path | None) -> TokenCounter:
    """Return the counter of a model: exact where its tokenizer is at hand."""
    return EstimatedTokens() if tokenizer is None else FileTokens(tokenizer)


@lru_cache(maxsize=512)
def estimate_tokens(text: str) -> int:
    """Estimate the tokens of Chinese or English text; `docs/models.md` says how near it comes."""
    total = 0.0
    for match in _PART_RE.finditer(text):
        size = match.end() - match.start()
        match match.lastgroup:
            case "word":
                total += 1.0 + max(0.0, size - _WORD_CHARS) / _WORD_CHARS
            case "digits":
                total += -(-size // _DIGITS)
            case "cjk":
                total += size * _CJK_TOKENS
            case "space":
                total += 0.0 if size == 1 else 0.5
            case _:
                total += 1.0
    return -(-int(total * _MARGIN * 100) // 100)
