"""What every test may use. Fakes live beside their Protocols, not here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def samples() -> Path:
    """Folder of the small real documents that ship with the project."""
    return REPOSITORY / "data" / "samples"


@pytest.fixture(scope="session")
def eval_data() -> Path:
    """Folder of the evaluation data; skips where it is not laid out."""
    folder = os.environ.get("ATTEST_EVAL_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("ATTEST_EVAL_DATA names no folder with the evaluation data")
    return Path(folder)


@pytest.fixture(scope="session")
def tiny_bge_m3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that FlagEmbedding loads as BGE-M3: XLM-RoBERTa of two layers with random weights and both heads."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("bge-m3")
    config = _save_tiny_tokenizer(folder)
    torch.manual_seed(7)
    transformers.XLMRobertaModel(config).save_pretrained(folder)
    torch.save(torch.nn.Linear(config.hidden_size, config.hidden_size).state_dict(), folder / "colbert_linear.pt")
    torch.save(torch.nn.Linear(config.hidden_size, 1).state_dict(), folder / "sparse_linear.pt")
    return folder


@pytest.fixture(scope="session")
def tiny_bge_reranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that FlagEmbedding loads as a BGE reranker: a one-label classifier with random weights."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("bge-reranker")
    config = _save_tiny_tokenizer(folder, num_labels=1)
    torch.manual_seed(11)
    transformers.XLMRobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


def _save_tiny_tokenizer(folder: Path, **config: object) -> Any:
    """Train a small Unigram tokenizer with XLM-R's special tokens; return the fitting model configuration."""
    import tokenizers
    import transformers
    from tokenizers import models, normalizers, pre_tokenizers, processors, trainers

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = tokenizers.decoders.Metaspace()
    corpus = [path.read_text(encoding="utf-8") for path in sorted((Path(__file__).parent / "contract").glob("*.py"))]
    trainer = trainers.UnigramTrainer(vocab_size=800, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator([line for text in corpus for line in text.splitlines()], trainer)
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
        model_max_length=128,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)
    return transformers.XLMRobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=130,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        initializer_range=0.3,  # wide, so that different texts get clearly different vectors
        **config,
    )
