"""Rerankers: one file per model family."""
