"""Workbooks and delimited text."""
