"""The doors and the wiring: HTTP routes, CLI, settings, database engine."""
