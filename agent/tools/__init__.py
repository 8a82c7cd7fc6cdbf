"""Tools: registry, executor and cleaning."""
