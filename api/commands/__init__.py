"""CLI commands, one file each."""
