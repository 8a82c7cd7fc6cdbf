"""Semantic chunking: blocks in, chunks out; pure functions."""
