"""OpenDocument texts and presentations."""
