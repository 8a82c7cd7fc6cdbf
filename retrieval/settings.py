"""Settings of retrieval. Plain frozen values: only `api/settings.py` reads the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from retrieval.types import Value


class EncoderSettings(Value):
    """Which encoder and reranker serve."""

    encoder: Literal["auto", "bge-m3", "embedded", "lexical"] = "auto"
    """`auto`: bge-m3 when its weights are on the machine, else embedded, else lexical."""
    bge_m3_path: Path | None = None
    """Folder of the BGE-M3 weights (with both `.pt` heads)."""
    reranker_path: Path | None = None
    """Folder of the BGE reranker weights; None: beside bge-m3 the one in the local Hugging Face cache, else the
    embedded reranker."""
    batch_size: int = Field(default=16, ge=1, le=512)


class StoreSettings(Value):
    """Which vector store serves."""

    store: Literal["edge", "qdrant"] = "edge"
    collection: str = "attest"
    qdrant_url: str | None = None
    qdrant_api_key: str | None = Field(default=None, repr=False)
    timeout_s: float = Field(default=10.0, gt=0)
    edge_optimise_after: int = Field(default=5000, ge=0)
    """Embedded store: so many points without a graph (or a twentieth of all, if that is more) are given one in the
    background; 0: never by itself."""
    edge_ef: int = Field(default=128, ge=0, le=4096)
    """Embedded store: how many points a search of a graph looks at closely; more finds more of the nearest, later."""


class SearchSettings(Value):
    """How search fuses, reranks and cuts."""

    candidates_k: int = Field(default=30, ge=1, le=500)
    """Fetched per channel."""
    rerank_k: int = Field(default=10, ge=1, le=200)
    top_k: int = Field(default=3, ge=1, le=50)
    rrf_k: int = Field(default=10, ge=1)
    """Constant of reciprocal rank fusion (Cormack et al. 2009). With their 60, ten ranks differ by less than one
    channel's tie: recall@10 of the fused list was 0.839 on TAT-QA, with 10 and these weights 0.873."""
    dense_weight: float = Field(default=0.5, ge=0)
    foreign_weight: float = Field(default=1.0, ge=0)
    """Dense hits in the other language than the question's, where the encoder needs a channel for them."""
    sparse_weight: float = Field(default=1.0, ge=0)
    symbol_weight: float = Field(default=0.1, ge=0)
    """Low, because a year that half of the chunks carry lifts them all; the sparse channel weighs symbols by rarity."""


class TriggerSettings(Value):
    """Thresholds and weights of the three trigger tiers.

    The score is logistic in the signals of `retrieval.trigger.Signals`, 0 to 1. The
    defaults were fitted for the embedded encoder; cosines of another encoder lie elsewhere.
    """

    strong: float = Field(default=0.6, ge=0, le=1)
    weak: float = Field(default=0.3, ge=0, le=1)
    bias: float = -67.5
    coverage_weight: float = 3.5
    similarity_weight: float = 78.7
    """Cosines of the embedded encoder lie between 0.75 and 0.95, so a hundredth counts."""
    symbols_weight: float = 1.0
    aim_weight: float = 1.5
    lexical_bias: float = -3.0
    lexical_coverage_weight: float = 7.0
    """Where the encoder has no dense side, coverage alone decides."""


class DecisionSettings(Value):
    """How much of the decision log is kept."""

    enabled: bool = True
    max_per_tenant: int = Field(default=50_000, ge=1)
    """Older ones go first. Up to a twentieth more stand there between two clean-ups."""
    max_age_days: int = Field(default=90, ge=1)
    buffer: int = Field(default=2_000, ge=1)
    """Decisions that wait to be written; what comes beyond is counted as lost."""


class CacheSettings(Value):
    """The two caches: of search results, and of answers. Each has these bounds, in every process."""

    search: bool = True
    """Keep search results."""
    answers: bool = True
    """Keep answers that rest on documents alone and whose audit found nothing."""
    life_s: float = Field(default=3600.0, gt=0)
    max_entries: int = Field(default=2_000, ge=1)
    max_mb: int = Field(default=64, ge=1)


class RetrievalSettings(Value):
    """All of retrieval's settings."""

    models: EncoderSettings = EncoderSettings()
    vectors: StoreSettings = StoreSettings()
    search: SearchSettings = SearchSettings()
    trigger: TriggerSettings = TriggerSettings()
    symbols_dir: Path | None = None
    """Folder with domain files (`*.toml`) beside the built-in ones."""
