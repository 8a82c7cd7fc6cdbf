"""Divides parsed documents into chunks: blocks in, chunks out; pure functions."""

from ingest.chunking.chunker import chunk_document, document_text
from ingest.chunking.draft import DraftChunk, index_prefix, index_source
from ingest.chunking.ids import chunk_ids

__all__ = ["DraftChunk", "chunk_document", "chunk_ids", "document_text", "index_prefix", "index_source"]
