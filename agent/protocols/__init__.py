"""Tool-call protocols: incremental parsers that yield the same events."""
