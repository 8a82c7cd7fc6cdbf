"""Encoders: one file per model family."""
