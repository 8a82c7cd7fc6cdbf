"""Prompt templates and one typed render function per template. Imports nothing of ours."""
