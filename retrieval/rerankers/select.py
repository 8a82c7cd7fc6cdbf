"""Which reranker serves. Decided by looking at files: nothing heavy is imported, no network."""

from __future__ import annotations

from pathlib import Path

from retrieval.encoder import Reranker
from retrieval.encoders.select import cached_folder, choose_encoder
from retrieval.settings import EncoderSettings

RERANKER_REPOSITORY = "BAAI/bge-reranker-v2-m3"


def load_reranker(settings: EncoderSettings) -> Reranker:
    """Load the reranker that fits the settings.

    A BGE reranker when its folder is given, or when BGE-M3 serves and the reranker's weights are in the
    local Hugging Face cache; else the feature reranker with the weights that fit the encoder.

    Raises:
        EncoderUnavailableError: the given folder cannot be loaded.
    """
    encoder_name = choose_encoder(settings).name
    folder = settings.reranker_path or _cached(encoder_name)
    if folder is not None:
        from retrieval.rerankers.bge import BgeReranker

        return BgeReranker(folder, batch_size=settings.batch_size, precision=settings.bge_precision)
    from retrieval.rerankers.embedded import FeatureReranker

    return FeatureReranker.beside(encoder_name)


def _cached(encoder_name: str) -> Path | None:
    return cached_folder(RERANKER_REPOSITORY, "config.json") if encoder_name == "bge-m3" else None
