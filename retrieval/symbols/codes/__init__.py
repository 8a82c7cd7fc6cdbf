"""Codes of closed vocabularies, declared in domain files."""
