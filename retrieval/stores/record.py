"""What a collection records of its encoder, and the check when it is opened."""

from __future__ import annotations

from retrieval.encoder import EncoderInfo
from retrieval.errors import IndexMismatchError


def check_encoder(where: str, recorded: EncoderInfo | None, current: EncoderInfo) -> None:
    """Check that the encoder in use is the one that wrote the collection.

    The token limit may differ: it cuts long texts, it does not move vectors of the others.

    Raises:
        IndexMismatchError: another one wrote it, or it does not say which.
    """
    remedy = "use the encoder that wrote it, or ingest again into an empty ATTEST_HOME"
    if recorded is None:
        raise IndexMismatchError(f"{where} does not record which encoder wrote it; {remedy}")
    if _identity(recorded) != _identity(current):
        raise IndexMismatchError(
            f"{where} was written by encoder {describe(recorded)}, in use is {describe(current)}; {remedy}"
        )


def describe(info: EncoderInfo) -> str:
    """Name an encoder for messages."""
    return f"{info.name} (revision {info.revision}, {info.dim} dimensions, sparse {info.sparse})"


def _identity(info: EncoderInfo) -> tuple[str, str, int, str, bool]:
    return (info.name, info.revision, info.dim, info.sparse, info.dense_searchable)
