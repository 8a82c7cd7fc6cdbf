"""The collection on a Qdrant server: how it is set up, and whether one that exists is as the settings say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from retrieval.encoder import EncoderInfo
from retrieval.settings import StoreSettings
from retrieval.stores.payload import DENSE, KEYWORD_FIELDS, NUMBER_FIELDS, SPARSE, SYMBOL, TENANT

if TYPE_CHECKING:
    from qdrant_client import models


def creation(encoder: EncoderInfo, settings: StoreSettings) -> dict[str, Any]:
    """Return the arguments of `create_collection`."""
    from qdrant_client import models

    modifier = models.Modifier.IDF if encoder.sparse == "bm25" else None
    on_disk = settings.qdrant_on_disk_vectors
    sparse_index = models.SparseIndexParams(on_disk=on_disk)
    return {
        "vectors_config": {
            DENSE: models.VectorParams(size=encoder.dim, distance=models.Distance.COSINE, on_disk=on_disk)
        },
        "sparse_vectors_config": {
            SPARSE: models.SparseVectorParams(modifier=modifier, index=sparse_index),
            SYMBOL: models.SparseVectorParams(index=sparse_index),
        },
        "metadata": {"encoder": encoder.model_dump(mode="json")},
        "on_disk_payload": settings.qdrant_on_disk_payload,
        "shard_number": settings.qdrant_shards,
        "replication_factor": settings.qdrant_replicas,
        "write_consistency_factor": settings.qdrant_write_consistency,
        "hnsw_config": models.HnswConfigDiff(
            m=settings.qdrant_hnsw_m,
            payload_m=settings.qdrant_hnsw_payload_m,
            ef_construct=settings.qdrant_hnsw_ef_construct,
            on_disk=on_disk,
        ),
        "quantization_config": _quantization(settings),
        "strict_mode_config": _strict_mode(settings),
    }


def payload_indexes() -> dict[str, models.KeywordIndexParams | models.IntegerIndexParams]:
    """Return the index of every field that a filter names; strict mode refuses filters on others."""
    from qdrant_client import models

    keyword, integer = models.KeywordIndexType.KEYWORD, models.IntegerIndexType.INTEGER
    return {
        TENANT: models.KeywordIndexParams(type=keyword, is_tenant=True),
        **{field: models.KeywordIndexParams(type=keyword) for field in KEYWORD_FIELDS},
        **{field: models.IntegerIndexParams(type=integer, lookup=False, range=True) for field in NUMBER_FIELDS},
    }


def search_params(settings: StoreSettings) -> models.SearchParams:
    """Return how a dense query is answered: how widely the graph is searched, and quantised hits rescored."""
    from qdrant_client import models

    quantization = None
    if settings.qdrant_quantization != "none":
        quantization = models.QuantizationSearchParams(rescore=True, oversampling=settings.qdrant_oversampling)
    return models.SearchParams(hnsw_ef=settings.qdrant_hnsw_ef, quantization=quantization)


def differences(found: models.CollectionConfig, settings: StoreSettings) -> list[str]:
    """Tell in which settings an existing collection is another than it would be made now; it stays as it is.

    Settings that are left to the server are not compared.
    """
    return [
        f"{name} is {_shown(there)}, the settings say {_shown(wanted)}"
        for name, wanted, there in _compared(found, settings)
        if wanted is not None and wanted != there
    ]


def _compared(found: models.CollectionConfig, settings: StoreSettings) -> Iterator[tuple[str, Any, Any]]:
    params, graph = found.params, found.hnsw_config
    dense = params.vectors[DENSE] if isinstance(params.vectors, dict) else None
    quantization = (dense.quantization_config if dense is not None else None) or found.quantization_config
    yield "qdrant_on_disk_vectors", settings.qdrant_on_disk_vectors, bool(dense is not None and dense.on_disk)
    yield "qdrant_on_disk_payload", settings.qdrant_on_disk_payload, bool(params.on_disk_payload)
    yield "qdrant_shards", settings.qdrant_shards, params.shard_number
    yield "qdrant_replicas", settings.qdrant_replicas, params.replication_factor
    yield "qdrant_write_consistency", settings.qdrant_write_consistency, params.write_consistency_factor
    yield "qdrant_hnsw_m", settings.qdrant_hnsw_m, graph.m
    yield "qdrant_hnsw_payload_m", settings.qdrant_hnsw_payload_m, graph.payload_m
    yield "qdrant_hnsw_ef_construct", settings.qdrant_hnsw_ef_construct, graph.ef_construct
    yield "qdrant_quantization", settings.qdrant_quantization, _kind(quantization)
    wanted, there = _strict_mode(settings), found.strict_mode_config
    yield "qdrant_strict", settings.qdrant_strict, bool(there is not None and there.enabled)
    if settings.qdrant_strict and there is not None and there.enabled:
        for name, value in wanted.model_dump(exclude_none=True).items():
            yield f"strict mode's {name}", value, getattr(there, name, None)


def _quantization(settings: StoreSettings) -> Any:
    from qdrant_client import models

    in_memory = settings.qdrant_quantization_in_memory
    match settings.qdrant_quantization:
        case "none":
            return None
        case "scalar":
            kind = models.ScalarType.INT8
            return models.ScalarQuantization(
                scalar=models.ScalarQuantizationConfig(type=kind, quantile=0.99, always_ram=in_memory)
            )
        case "binary":
            return models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=in_memory))


def _strict_mode(settings: StoreSettings) -> models.StrictModeConfig:
    from qdrant_client import models

    if not settings.qdrant_strict:
        return models.StrictModeConfig(enabled=False)
    return models.StrictModeConfig(
        enabled=True,
        unindexed_filtering_retrieve=False,
        unindexed_filtering_update=False,
        max_query_limit=settings.qdrant_strict_max_limit,
        filter_max_conditions=settings.qdrant_strict_max_conditions,
        condition_max_size=settings.qdrant_strict_max_values,
        read_rate_limit=settings.qdrant_strict_reads_per_minute,
        write_rate_limit=settings.qdrant_strict_writes_per_minute,
    )


def _kind(quantization: Any) -> str:
    for kind in ("scalar", "binary", "product", "turbo"):
        if getattr(quantization, kind, None) is not None:
            return kind
    return "none" if quantization is None else "another"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not set" if value is None else str(value)
