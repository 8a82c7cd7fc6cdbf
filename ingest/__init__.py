"""Documents in: detection, parsing, chunking, symbolisation, vault, catalogue and jobs.

May import `retrieval`; knows nothing of `agent` or `api`.
"""
