"""The agent: models, protocols, tools, loop, journal and the citation auditor.

May import `retrieval` and `prompts`; knows nothing of `ingest` or `api`.
"""
