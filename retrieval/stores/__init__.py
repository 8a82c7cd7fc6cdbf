"""Vector stores: one file per engine."""
