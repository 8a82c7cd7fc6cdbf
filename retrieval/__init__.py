"""Knowledge out: symbols, encoders, vector stores, triggering, search and passages.

The ground floor of the house: imports nothing of ours.
"""
