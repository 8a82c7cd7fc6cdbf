"""Secrets: personal and account data, found by rules."""
