"""How much each channel counts beside which encoder: a setting where one is given, else what suits the encoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from retrieval.settings import SearchSettings
from retrieval.types import Channel

_UNMEASURED: Final[Mapping[Channel, float]] = {
    "dense": 1.0,
    "foreign": 1.0,
    "sparse": 1.0,
    "symbol": 0.3,
    "translated": 0.0,
}
"""Encoders without weights of their own (BGE-M3, sentence-transformers) have their two sides count the same."""

_PROFILES: Final[Mapping[str, Mapping[Channel, float]]] = {
    "embedded": {"dense": 0.5, "foreign": 0.7, "sparse": 1.0, "symbol": 0.3, "translated": 0.7},
    "lexical": {"dense": 0.0, "foreign": 0.0, "sparse": 1.0, "symbol": 0.3, "translated": 0.7},
}


def channel_weights(settings: SearchSettings, encoder_name: str) -> dict[Channel, float]:
    """Return the weight of every channel in fusion beside an encoder (`EncoderInfo.name`)."""
    given: dict[Channel, float | None] = {
        "dense": settings.dense_weight,
        "foreign": settings.foreign_weight,
        "sparse": settings.sparse_weight,
        "symbol": settings.symbol_weight,
        "translated": settings.translated_weight,
    }
    profile = _PROFILES.get(encoder_name, _UNMEASURED)
    return {channel: profile[channel] if weight is None else weight for channel, weight in given.items()}
