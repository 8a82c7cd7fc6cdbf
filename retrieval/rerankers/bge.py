"""A BGE cross-encoder (bge-reranker-v2-m3 and its kin) through FlagEmbedding.

With `retrieval/encoders/bge_m3.py` the only import of FlagEmbedding and torch: at load time, and by name
(see there).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.encoders.batches import batches_of_like_length
from retrieval.encoders.bge_m3 import INT8, WEIGHTS, Precision
from retrieval.encoders.fingerprint import fingerprint
from retrieval.encoders.quantised import quantised
from retrieval.encoders.text import readable
from retrieval.errors import EncoderUnavailableError
from retrieval.types import Candidate, Symbol

MAX_TOKENS = 1024
"""Question and passage together, the length the model card of bge-reranker-v2-m3 recommends."""


class BgeReranker:
    """Scores (question, index text) pairs with a one-label classifier.

    Not safe for threads; one `ModelThread` owns an instance. The loaded model is called directly:
    FlagEmbedding's `compute_score` runs the first batch twice.
    """

    def __init__(
        self, folder: Path, *, batch_size: int = 16, device: str = "cpu", precision: Precision = "fp32"
    ) -> None:
        """Load the weights in `folder`; nothing is fetched. Half precision on accelerators alone, int8 on a CPU alone.

        Raises:
            EncoderUnavailableError: a file is missing, FlagEmbedding is not installed, or loading failed.
        """
        _check_folder(folder)
        self._batch_size = 1 if precision == "int8" else batch_size
        self._device = device
        flag = _load(folder, device)
        self._tokenizer: Any = flag.tokenizer
        self._model: Any = flag.model.to(device).eval()
        if device != "cpu":
            self._model.half()
        if int(self._model.config.num_labels) != 1:
            raise EncoderUnavailableError(f"{folder}: not a reranker: its classifier has more than one label")
        # XLM-R starts positions behind the padding index, so two of them are never used.
        self._max_tokens = min(MAX_TOKENS, int(self._model.config.max_position_embeddings) - 2)
        if precision == "int8":
            encoder = self._model.base_model_prefix
            setattr(self._model, encoder, quantised(getattr(self._model, encoder)))
        self._name = f"bge-reranker@{fingerprint(folder)}" + (INT8 if precision == "int8" else "")

    @property
    def name(self) -> str:
        """`bge-reranker@` and a fingerprint of the weights."""
        return self._name

    def score(self, question: str, symbols: Sequence[Symbol], candidates: Sequence[Candidate]) -> list[float]:
        """Return the sigmoid of the model's logit for each candidate.

        The sigmoid is taken from float32 logits in double precision: in half precision the best
        scores would all become 1.
        """
        logits = self.logits(question, [candidate.chunk.index_text for candidate in candidates])
        return [float(1 / (1 + np.exp(-logit))) for logit in logits]

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return raw relevance per text, longest first in batches; equal to `FlagReranker.compute_score`."""
        if not texts:
            return []
        head = self._head(readable(question))
        rows = [self._pair(head, readable(text)) for text in texts]
        scores = [0.0] * len(rows)
        for batch in batches_of_like_length([len(ids) for ids in rows], self._batch_size):
            for row, score in zip(batch, self._forward([rows[i] for i in batch]), strict=True):
                scores[row] = score
        return scores

    def _head(self, question: str) -> str:
        """Cut the question to three quarters of the positions, so that some of the passage is always read."""
        limit = self._max_tokens * 3 // 4
        ids = self._tokenizer(question, add_special_tokens=False, truncation=True, max_length=limit)["input_ids"]
        if len(ids) < limit:
            return question
        return self._tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)

    def _pair(self, question: str, text: str) -> list[int]:
        return self._tokenizer(question, text, truncation="only_second", max_length=self._max_tokens)["input_ids"]

    def _forward(self, rows: list[list[int]]) -> list[float]:
        torch: Any = import_module("torch")
        width = max(len(ids) for ids in rows)
        ids = torch.full((len(rows), width), int(self._tokenizer.pad_token_id), dtype=torch.long)
        mask = torch.zeros((len(rows), width), dtype=torch.long)
        for row, tokens in enumerate(rows):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            mask[row, : len(tokens)] = 1
        with torch.inference_mode():
            out = self._model(input_ids=ids.to(self._device), attention_mask=mask.to(self._device), return_dict=True)
        return out.logits.view(-1).float().cpu().tolist()


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise EncoderUnavailableError(f"{folder}: no such folder; give the folder that holds the reranker's weights")
    missing = [name for name in ("config.json",) if not (folder / name).is_file()]
    if not any((folder / name).is_file() for name in WEIGHTS):
        missing.append(" or ".join(WEIGHTS[:2]))
    if missing:
        raise EncoderUnavailableError(
            f"{folder}: not a complete reranker folder, missing {', '.join(missing)}; copy the whole of "
            "BAAI/bge-reranker-v2-m3, or leave the reranker's folder unset to use the embedded one"
        )


def _load(folder: Path, device: str) -> Any:
    try:
        flag_embedding: Any = import_module("FlagEmbedding")
    except ImportError as exc:
        raise EncoderUnavailableError(
            "the BGE reranker needs FlagEmbedding: install the 'bge' extra, or leave the reranker's folder unset"
        ) from exc
    try:
        return flag_embedding.FlagReranker(str(folder), use_fp16=device != "cpu", devices=[device])
    # As in the encoder: what loading raises has no common root below Exception.
    except Exception as exc:
        raise EncoderUnavailableError(
            f"{folder}: the reranker's weights do not load ({type(exc).__name__}); copy the folder again"
        ) from exc
