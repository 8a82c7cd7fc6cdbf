"""Chat models: one file per kind of endpoint."""
