"""Models with random weights in the files of real ones, for tests of loading code and for benchmarks of speed."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SPACE = "\u2581"
"""How a tokenizer of this kind writes a space."""


@dataclass(frozen=True)
class Size:
    """Sizes of an XLM-RoBERTa."""

    layers: int
    hidden: int
    heads: int
    between: int
    positions: int
    vocabulary: int = 0
    spread: float = 0.3
    """Of the initial weights; wide, so that different texts get clearly different vectors."""


TINY = Size(layers=2, hidden=64, heads=4, between=128, positions=128)
LARGE = Size(layers=24, hidden=1024, heads=16, between=4096, positions=8192, vocabulary=250_002, spread=0.06)
"""XLM-RoBERTa large, which BGE-M3 and bge-reranker-v2-m3 are."""


def save_bge_m3(folder: Path, size: Size = TINY) -> Path:
    """Write what FlagEmbedding loads as BGE-M3."""
    import torch
    import transformers

    config = _save_tokenizer(folder, size)
    torch.manual_seed(7)
    transformers.XLMRobertaModel(config).save_pretrained(folder)
    torch.save(torch.nn.Linear(config.hidden_size, config.hidden_size).state_dict(), folder / "colbert_linear.pt")
    torch.save(torch.nn.Linear(config.hidden_size, 1).state_dict(), folder / "sparse_linear.pt")
    return folder


def save_bge_reranker(folder: Path, size: Size = TINY) -> Path:
    """Write what FlagEmbedding loads as a BGE reranker."""
    import torch
    import transformers

    config = _save_tokenizer(folder, size, num_labels=1)
    torch.manual_seed(11)
    transformers.XLMRobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


def save_cross_encoder(folder: Path, labels: Sequence[str], size: Size = TINY) -> Path:
    """Write what sentence-transformers loads as a cross-encoder with these labels."""
    import torch
    import transformers

    names = dict(enumerate(labels))
    config = _save_tokenizer(
        folder,
        size,
        num_labels=len(labels),
        id2label=names,
        label2id={label: number for number, label in names.items()},
    )
    torch.manual_seed(13)
    transformers.XLMRobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


def save_sentence_transformer(folder: Path, size: Size = TINY) -> Path:
    """Write a sentence-transformers model: mean pooling, then a projection to half the dimensions; E5's prompts."""
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    inner = folder / "inner"
    inner.mkdir()
    config = _save_tokenizer(inner, size)
    torch.manual_seed(13)
    transformers.XLMRobertaModel(config).save_pretrained(inner)
    transformer = modules.Transformer(str(inner))
    pooling = modules.Pooling(size.hidden, pooling_mode="mean")
    projection = modules.Dense(size.hidden, size.hidden // 2, activation_function=torch.nn.Identity())
    model = SentenceTransformer(
        modules=[transformer, pooling, projection], device="cpu", prompts={"query": "query: ", "passage": "passage: "}
    )
    model.save(str(folder / "model"), create_model_card=False)
    return folder / "model"


def _save_tokenizer(folder: Path, size: Size, **config: object) -> Any:
    """Write a small Unigram tokenizer with XLM-R's special tokens; return the fitting model configuration."""
    import tokenizers
    import transformers
    from tokenizers import models, normalizers, pre_tokenizers, processors

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = tokenizers.Tokenizer(
        models.Unigram(_pieces(special), unk_id=special.index("<unk>"), byte_fallback=True)
    )
    tokenizer.add_special_tokens(special)
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = _decoder()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=size.positions,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)
    return transformers.XLMRobertaConfig(
        vocab_size=max(tokenizer.get_vocab_size(), size.vocabulary),
        hidden_size=size.hidden,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        intermediate_size=size.between,
        max_position_embeddings=size.positions + 2,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        initializer_range=size.spread,
        **config,
    )


def _pieces(special: Sequence[str]) -> list[tuple[str, float]]:
    """Return letters, pairs of letters and bytes for the rest, with log probabilities that prefer pairs.

    Not trained: the trainer gives other pieces every time, and with them every text another vector.
    """
    letters = string.ascii_lowercase
    single = [SPACE, *(chr(code) for code in range(33, 127))]
    pairs = [f"{first}{second}" for first in (SPACE, *letters) for second in letters]
    octets = [f"<0x{code:02X}>" for code in range(256)]
    scored = ((single, -4.0), (pairs, -6.0), (octets, -9.0))
    return [*((each, 0.0) for each in special), *((piece, score) for pieces, score in scored for piece in pieces)]


def _decoder() -> Any:
    from tokenizers import decoders

    return decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
