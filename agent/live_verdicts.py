"""Verdicts on the sentences of an answer while it is still being written.

A sentence is told of once it names its source and the next one has begun; one without a source waits, for a
tag that follows may cover it too. Headings, tables and what comes later can still change a verdict.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from agent.audit.verdicts import Audit, SentenceVerdict

_CLOSES: Final = "]】］〕"
_MOST: Final = 40
"""Sentences: each look reads the answer from its beginning."""


class LiveVerdicts:
    """Looks at one growing answer. The same pieces give the same verdicts at the same places."""

    def __init__(self, check: Callable[[str], Audit]) -> None:
        self._check = check
        self._seen = 0
        self._told = 0

    async def whole(self, answer: str) -> Sequence[SentenceVerdict]:
        """Return the verdicts on sentences that have become whole since the last look."""
        seen = sum(answer.count(sign) for sign in _CLOSES)
        if seen == self._seen or self._told >= _MOST:
            return ()
        self._seen = seen
        sentences = (await asyncio.to_thread(self._check, answer)).sentences
        whole: list[SentenceVerdict] = []
        for verdict in sentences[self._told : -1]:
            if not verdict.labels and verdict.kind != "not_a_claim":
                break
            whole.append(verdict)
        self._told += len(whole)
        return whole
