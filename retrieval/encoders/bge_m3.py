"""BGE-M3 through FlagEmbedding: dense vectors, lexical weights and, on demand, a vector per token from one pass.

Chen et al. 2024, "BGE M3-Embedding", arXiv:2402.03216. This and `retrieval/rerankers/bge.py` are the only
imports of FlagEmbedding and torch: at load time, because importing them costs about 10 CPU-seconds, and by
name, because the type checker must pass where the extra is not installed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.encoder import EncoderInfo
from retrieval.encoders.batches import batches_of_like_length
from retrieval.encoders.fingerprint import fingerprint
from retrieval.encoders.quantised import quantised
from retrieval.encoders.text import readable
from retrieval.errors import EncoderUnavailableError
from retrieval.types import Encoding, SparseVector

HEADS = ("colbert_linear.pt", "sparse_linear.pt")
WEIGHTS = ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json", "pytorch_model.bin.index.json")
MAX_TOKENS = 8192
INT8 = "+int8-1"
"""Behind the revision of weights in eight bits; changes whenever they give another vector."""
Precision = Literal["fp32", "int8"]
_UNSCORED = ("cls_token_id", "eos_token_id", "pad_token_id", "unk_token_id")
"""Tokens that get no lexical weight, as in FlagEmbedding."""


class BgeM3Encoder:
    """BGE-M3 dense (1024, cosine) and sparse (lexical weights) vectors.

    Not safe for threads: with transformers 5.23 concurrent calls of different lengths return silently
    wrong vectors. One `ModelThread` owns an instance and makes every call to it but `count_tokens`.

    FlagEmbedding loads the model, but its `encode` runs the first batch twice (a probe for the batch
    size), which doubles the price of a question. The loaded model is called directly instead; the
    vectors equal FlagEmbedding's.
    """

    def __init__(
        self, folder: Path, *, batch_size: int = 16, device: str = "cpu", precision: Precision = "fp32"
    ) -> None:
        """Load the weights in `folder`; nothing is fetched.

        Half precision is used on accelerators alone: on a CPU it is several times slower.

        Args:
            folder: holds the weights with both heads.
            batch_size: texts of one batch at most; `int8` runs one text at a time.
            device: where torch runs.
            precision: `int8` gives other vectors, so its revision is another; only on a CPU.

        Raises:
            EncoderUnavailableError: a file is missing, FlagEmbedding is not installed, or loading failed.
        """
        check_folder(folder)
        self._batch_size = 1 if precision == "int8" else batch_size
        self._device = device
        flag = _load(folder, device)
        self._model: Any = flag.model.to(device).eval()
        if precision == "int8":
            # The two heads are a thousandth of the work and stay as they are.
            self._model.model = quantised(self._model.model)
        self._tokenizer: Any = flag.tokenizer
        # A tokenizer of its own for counting: chunking counts on another thread, and the shared
        # one answers "Already borrowed" when its truncation is set while it is in use.
        self._counter: Any = copy.deepcopy(self._tokenizer.backend_tokenizer)
        self._counter.no_truncation()
        self._counter.no_padding()
        config = self._model.model.config
        # XLM-R starts positions behind the padding index, so two of them are never used.
        self._max_tokens = min(MAX_TOKENS, int(config.max_position_embeddings) - 2)
        self._pad_id = int(self._tokenizer.pad_token_id)
        self._unscored = np.array([getattr(self._tokenizer, name) for name in _UNSCORED], dtype=np.int64)
        self._info = EncoderInfo(
            name="bge-m3",
            revision=fingerprint(folder) + (INT8 if precision == "int8" else ""),
            dim=int(config.hidden_size),
            max_tokens=self._max_tokens,
            sparse="lexical_weights",
        )

    @property
    def info(self) -> EncoderInfo:
        """Name, a fingerprint of the weights as revision, and sizes."""
        return self._info

    def encode_documents(self, texts: Sequence[str]) -> Encoding:
        """Encode index texts, longest first so that batches need little padding; texts past `max_tokens` are cut."""
        rows: list[list[int]] = self._tokens(texts)
        dense = np.zeros((len(rows), self._info.dim), dtype=np.float32)
        sparse: list[SparseVector] = [_EMPTY] * len(rows)
        for batch in batches_of_like_length([len(ids) for ids in rows], self._batch_size):
            output = self._forward([rows[i] for i in batch])
            dense[batch] = output.dense
            for place, row in enumerate(batch):
                sparse[row] = output.sparse[place]
        return Encoding(dense, tuple(sparse))

    def encode_query(self, text: str) -> Encoding:
        """Encode one question in one forward pass. M3 uses no query prefix."""
        output = self._forward(self._tokens([text]))
        return Encoding(output.dense, tuple(output.sparse))

    def late_scores(self, question: str, texts: Sequence[str], weights: tuple[float, float, float]) -> list[float]:
        """Blend dense, lexical and multi-vector score as FlagEmbedding's `compute_score` does.

        The multi-vector score is the mean, over the question's tokens, of the highest cosine with any token
        of the text (ColBERT; Khattab and Zaharia 2020, arXiv:2004.12832). All are in about [0, 1].
        """
        if not texts:
            return []
        asked = self._forward(self._tokens([question]), with_tokens=True)
        words = dict(zip(asked.sparse[0].indices.tolist(), asked.sparse[0].values.tolist(), strict=True))
        rows = self._tokens(texts)
        scores = [0.0] * len(rows)
        for batch in batches_of_like_length([len(ids) for ids in rows], self._batch_size):
            output = self._forward([rows[i] for i in batch], with_tokens=True)
            for place, row in enumerate(batch):
                modes = (
                    float(output.dense[place] @ asked.dense[0]),
                    _lexical_score(words, output.sparse[place]),
                    float((asked.tokens[0] @ output.tokens[place].T).max(axis=1).mean()),
                )
                scores[row] = sum(w * mode for w, mode in zip(weights, modes, strict=True)) / sum(weights)
        return scores

    def count_tokens(self, text: str) -> int:
        """Count XLM-R tokens with `<s>` and `</s>`, uncut. The one call that any thread may make."""
        return len(self._counter.encode(readable(text)).ids)

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        clean = [readable(text) for text in texts]
        return self._tokenizer(clean, truncation=True, max_length=self._max_tokens)["input_ids"]

    def _forward(self, rows: list[list[int]], *, with_tokens: bool = False) -> _Output:
        torch: Any = import_module("torch")
        width = max(len(ids) for ids in rows)
        ids = np.full((len(rows), width), self._pad_id, dtype=np.int64)
        mask = np.zeros((len(rows), width), dtype=np.int64)
        for row, tokens in enumerate(rows):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        features = {
            "input_ids": torch.from_numpy(ids).to(self._device),
            "attention_mask": torch.from_numpy(mask).to(self._device),
        }
        with torch.inference_mode():
            out = self._model(features, return_dense=True, return_sparse=True, return_colbert_vecs=with_tokens)
        dense = out["dense_vecs"].float().cpu().numpy()
        weights = out["sparse_vecs"].float().cpu().numpy().reshape(ids.shape)
        output = _Output(dense, [self._lexical(ids[row], weights[row]) for row in range(len(rows))])
        if with_tokens:
            vectors = out["colbert_vecs"].float().cpu().numpy()
            # The first token is a text's own vector; the model gives none for it here, none for padding either.
            output.tokens.extend(vectors[row, : len(taken) - 1] for row, taken in enumerate(rows))
        return output

    def _lexical(self, ids: np.ndarray[Any, Any], weights: np.ndarray[Any, Any]) -> SparseVector:
        """Keep each token's highest positive weight."""
        kept = (weights > 0) & ~np.isin(ids, self._unscored)
        indices, place = np.unique(ids[kept], return_inverse=True)
        values = np.zeros(len(indices), dtype=np.float32)
        np.maximum.at(values, place, weights[kept].astype(np.float32))
        return SparseVector(indices.astype(np.uint32), values)


@dataclass(frozen=True, slots=True)
class _Output:
    dense: NDArray[np.float32]
    sparse: list[SparseVector]
    tokens: list[NDArray[np.float32]] = field(default_factory=list[NDArray[np.float32]])
    """Unit rows, one per token behind the first; empty unless asked for."""


def _lexical_score(question: dict[int, float], text: SparseVector) -> float:
    return sum(
        question.get(index, 0.0) * value
        for index, value in zip(text.indices.tolist(), text.values.tolist(), strict=True)
    )


_EMPTY = SparseVector(np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.float32))


def check_folder(folder: Path) -> None:
    """Refuse a folder that FlagEmbedding would load into a wrong model.

    Without the two heads FlagEmbedding only logs and goes on with random ones.

    Raises:
        EncoderUnavailableError: names what is missing and what to do.
    """
    if not folder.is_dir():
        raise EncoderUnavailableError(f"{folder}: no such folder; give the folder that holds the BGE-M3 weights")
    missing = [name for name in ("config.json", *HEADS) if not (folder / name).is_file()]
    if not any((folder / name).is_file() for name in WEIGHTS):
        missing.append(" or ".join(WEIGHTS[:2]))
    if missing:
        raise EncoderUnavailableError(
            f"{folder}: not a complete BGE-M3 folder, missing {', '.join(missing)}; "
            "copy the whole of BAAI/bge-m3 (the two .pt heads included), or set the encoder to 'embedded'"
        )


def _load(folder: Path, device: str) -> Any:
    try:
        flag_embedding: Any = import_module("FlagEmbedding")
    except ImportError as exc:
        raise EncoderUnavailableError(
            "the bge-m3 encoder needs FlagEmbedding: install the 'bge' extra, or set the encoder to 'embedded'"
        ) from exc
    try:
        return flag_embedding.BGEM3FlagModel(str(folder), use_fp16=device != "cpu", devices=[device])
    # Loading runs tokenizers, transformers and torch on files that anything may have cut short;
    # what they raise has no common root below Exception.
    except Exception as exc:
        raise EncoderUnavailableError(
            f"{folder}: the BGE-M3 weights do not load ({type(exc).__name__}); copy the folder again"
        ) from exc
