"""ZIP and TAR."""
