"""The citation auditor: after the answer, each sentence is checked against what it cites."""
