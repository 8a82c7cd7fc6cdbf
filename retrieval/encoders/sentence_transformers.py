"""Any sentence-transformers model as the dense encoder, BM25 beside it.

The only import of sentence-transformers, at load time and by name: importing it costs seconds, and the
type checker must pass where the extra is not installed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.encoder import EncoderInfo
from retrieval.encoders.batches import batches_of_like_length
from retrieval.encoders.fingerprint import fingerprint
from retrieval.encoders.text import readable
from retrieval.errors import EncoderUnavailableError
from retrieval.lexical import LEXICAL_REVISION, document_weights, query_weights
from retrieval.types import Encoding

MAX_TOKENS = 512
"""Length of texts where a model states none."""
_QUERY_PROMPTS = ("query",)
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
"""Names under which models keep their prompts."""


class SentenceTransformersEncoder:
    """Dense vectors of a sentence-transformers model, made unit length, beside BM25 sparse weights.

    Not safe for threads: one `ModelThread` owns an instance and makes every call to it but `count_tokens`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        batch_size: int = 16,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
    ) -> None:
        """Load the model in `folder`; nothing is fetched, and no code that lies in the folder is run.

        Args:
            folder: as `SentenceTransformer.save` writes it, with its `modules.json`.
            batch_size: texts of one batch at most.
            query_prompt: stands before every question; None: what the model's configuration says.
            document_prompt: the same before every index text.

        Raises:
            EncoderUnavailableError: the folder is none of these, or the model does not load.
        """
        _check_folder(folder)
        self._batch_size = batch_size
        self._model: Any = _load(folder)
        self._query_prompt = self._prompt(query_prompt, _QUERY_PROMPTS)
        self._document_prompt = self._prompt(document_prompt, _DOCUMENT_PROMPTS)
        self._counter = _counter(self._model.tokenizer, folder)
        dim = self._model.get_embedding_dimension()
        if not dim:
            raise EncoderUnavailableError(f"{folder}: this model does not say how many dimensions its vectors have")
        # The prompt of documents is part of every vector; that of questions is not in the index.
        self._info = EncoderInfo(
            name="sentence-transformers",
            revision=f"{fingerprint(folder, salt=self._document_prompt)}+{LEXICAL_REVISION}",
            dim=int(dim),
            max_tokens=int(self._model.max_seq_length or MAX_TOKENS),
            sparse="bm25",
        )

    @property
    def info(self) -> EncoderInfo:
        """Name, a fingerprint of weights, configuration and document prompt, and sizes."""
        return self._info

    def encode_documents(self, texts: Sequence[str]) -> Encoding:
        """Encode index texts. Dense vectors see the first `max_tokens` tokens of a text, BM25 all of it."""
        dense = np.zeros((len(texts), self._info.dim), dtype=np.float32)
        lengths = [min(self.count_tokens(text), self._info.max_tokens) for text in texts]
        for batch in batches_of_like_length(lengths, self._batch_size):
            clean = [readable(texts[row]) for row in batch]
            dense[batch] = self._rows(self._model.encode_document, clean, self._document_prompt)
        return Encoding(dense, tuple(document_weights(text) for text in texts))

    def encode_query(self, text: str) -> Encoding:
        """Encode one question, with the model's prompt for questions."""
        return Encoding(
            self._rows(self._model.encode_query, [readable(text)], self._query_prompt), (query_weights(text),)
        )

    def count_tokens(self, text: str) -> int:
        """Count the model's tokens of `text` as a document, uncut. The one call that any thread may make."""
        return len(self._counter.encode(self._document_prompt + readable(text)).ids)

    def _prompt(self, given: str | None, names: Sequence[str]) -> str:
        if given is not None:
            return given
        # The library fills in an empty `document` where a model names its prompt `passage`: the first that says
        # something counts.
        prompts: dict[str, str] = self._model.prompts
        return next((prompts[name] for name in names if prompts.get(name)), "")

    def _rows(self, encode: Any, texts: list[str], prompt: str) -> NDArray[np.float32]:
        rows: Any = encode(
            texts,
            prompt=prompt,
            batch_size=len(texts),
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        rows = np.asarray(rows, dtype=np.float32)
        # A model of word vectors gives zeros where it knows no word; cosine needs a direction.
        rows[~rows.any(axis=1), 0] = 1.0
        return rows


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise EncoderUnavailableError(f"{folder}: no such folder; give the folder of a sentence-transformers model")
    if not (folder / "modules.json").is_file():
        # Without it the library goes on with mean pooling, whatever the model was trained with.
        raise EncoderUnavailableError(
            f"{folder}: not a sentence-transformers model, missing modules.json; copy the whole of the model's "
            "repository, its subfolders included"
        )


def _load(folder: Path) -> Any:
    try:
        library: Any = import_module("sentence_transformers")
    except ImportError as exc:
        raise EncoderUnavailableError(
            "the sentence-transformers encoder needs its package: install the 'bge' extra, "
            "or set the encoder to 'embedded'"
        ) from exc
    try:
        return library.SentenceTransformer(
            str(folder), device="cpu", local_files_only=True, trust_remote_code=False
        ).eval()
    # What loading raises has no common root below Exception (see bge_m3.py).
    except Exception as exc:
        raise EncoderUnavailableError(
            f"{folder}: the model does not load ({type(exc).__name__}); copy the folder again. Models that bring "
            "code of their own are not loaded"
        ) from exc


def _counter(tokenizer: Any, folder: Path) -> Any:
    """Return a tokenizer of its own for counting, which another thread may use, that cuts nothing."""
    counter = copy.deepcopy(getattr(tokenizer, "backend_tokenizer", tokenizer))
    if not hasattr(counter, "no_truncation"):
        raise EncoderUnavailableError(f"{folder}: this model's tokenizer cannot count tokens; take another model")
    counter.no_truncation()
    counter.no_padding()
    return counter
