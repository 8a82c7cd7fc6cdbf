"""Keeps an encoder's vectors in a file, for measurements that ask the same texts again and again."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.encoder import Encoder, EncoderInfo
from retrieval.types import Encoding, SparseVector


class KeptVectors:
    """An encoder that encodes no text twice, not even in another process.

    Not for serving: the file is read and written whole. It holds vectors and keyed hashes of texts, no text.
    """

    def __init__(self, encoder: Encoder, file: Path) -> None:
        self._encoder, self._file = encoder, file
        self._kept: dict[str, NDArray[np.float32 | np.uint32]] = {}
        if file.exists():
            with np.load(file) as stored:
                self._kept = {name: stored[name] for name in stored.files}

    @property
    def info(self) -> EncoderInfo:
        """The encoder's."""
        return self._encoder.info

    def encode_documents(self, texts: Sequence[str]) -> Encoding:
        """Encode index texts, those that are not kept in one batch."""
        keys = [self._key("d", text) for text in texts]
        new = [place for place, key in enumerate(keys) if f"{key}.dense" not in self._kept]
        if new or not texts:
            made = self._encoder.encode_documents([texts[place] for place in new])
            if not texts:
                return made
            for row, place in enumerate(new):
                self._keep(keys[place], made, row)
        return self._stored(keys)

    def encode_query(self, text: str) -> Encoding:
        """Encode one question."""
        key = self._key("q", text)
        if f"{key}.dense" not in self._kept:
            self._keep(key, self._encoder.encode_query(text), 0)
        return self._stored([key])

    def count_tokens(self, text: str) -> int:
        """Count the encoder's tokens."""
        return self._encoder.count_tokens(text)

    def save(self) -> None:
        """Write the file."""
        with self._file.open("wb") as file:
            np.savez(file, allow_pickle=False, **self._kept)

    def _key(self, kind: str, text: str) -> str:
        of = f"{self.info.name}\0{self.info.revision}\0{self.info.max_tokens}\0{kind}\0{text}"
        return blake2b(of.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def _keep(self, key: str, made: Encoding, row: int) -> None:
        self._kept[f"{key}.dense"] = made.dense[row]
        self._kept[f"{key}.indices"] = made.sparse[row].indices
        self._kept[f"{key}.values"] = made.sparse[row].values

    def _stored(self, keys: Sequence[str]) -> Encoding:
        kept = self._kept
        dense = np.stack([kept[f"{key}.dense"] for key in keys]).astype(np.float32)
        return Encoding(
            dense,
            tuple(
                SparseVector(kept[f"{key}.indices"].astype(np.uint32), kept[f"{key}.values"].astype(np.float32))
                for key in keys
            ),
        )
