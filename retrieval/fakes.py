"""Fakes of retrieval's model Protocols. They obey the same contracts as the real ones, in microseconds."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.decisions import Decision, Kind, Outcome, rewritten
from retrieval.encoder import EncoderInfo
from retrieval.errors import UnknownDecisionError
from retrieval.lexical import document_weights, query_weights, terms
from retrieval.types import Candidate, Encoding, Symbol


class HashEncoder:
    """Encodes a text as the sum of hash-seeded vectors of its terms, so texts that share terms are near.

    The same text gives the same vector in every process. `name`, `revision` and `dim` may be
    chosen, to play an encoder that another collection was written with.
    """

    def __init__(
        self, dim: int = 64, *, name: str = "embedded", revision: str = "hash-1", max_tokens: int = 512
    ) -> None:
        self._info = EncoderInfo(name=name, revision=revision, dim=dim, max_tokens=max_tokens, sparse="bm25")

    @property
    def info(self) -> EncoderInfo:
        """Name, revision and sizes as given."""
        return self._info

    def encode_documents(self, texts: Sequence[str]) -> Encoding:
        """Encode texts by their first `max_tokens` terms."""
        dense = np.zeros((len(texts), self._info.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            dense[row] = self._vector(text)
        return Encoding(dense, tuple(document_weights(text) for text in texts))

    def encode_query(self, text: str) -> Encoding:
        """Encode one question like a document."""
        return Encoding(self._vector(text)[None, :], (query_weights(text),))

    def count_tokens(self, text: str) -> int:
        """Count terms."""
        return max(len(terms(text)), len(text) // 24)

    def _vector(self, text: str) -> NDArray[np.float32]:
        total = np.zeros(self._info.dim, dtype=np.float32)
        for term in terms(text)[: self._info.max_tokens] or [""]:
            total += np.random.default_rng(zlib.crc32(term.encode())).standard_normal(self._info.dim, dtype=np.float32)
        return (total / np.linalg.norm(total)).astype(np.float32)


class FixedReranker:
    """Scores candidates by a table (chunk id or text → score) or a function; remembers what it was asked."""

    def __init__(
        self,
        scores: Mapping[str, float] | Callable[[str, Candidate], float],
        *,
        default: float = 0.0,
    ) -> None:
        self._scores = scores
        self._default = default
        self.questions: list[str] = []

    @property
    def name(self) -> str:
        """`fixed`."""
        return "fixed"

    def score(self, question: str, symbols: Sequence[Symbol], candidates: Sequence[Candidate]) -> list[float]:
        """Return the given scores, `default` for chunks that the table does not name."""
        self.questions.append(question)
        return [self._one(question, candidate) for candidate in candidates]

    def _one(self, question: str, candidate: Candidate) -> float:
        if callable(self._scores):
            return self._scores(question, candidate)
        chunk = candidate.chunk
        return self._scores.get(chunk.chunk_id, self._scores.get(chunk.text, self._default))


class InMemoryDecisionLog:
    """Keeps decisions in a list; bounded in number alone."""

    def __init__(self, max_per_tenant: int = 1000) -> None:
        self._max_per_tenant = max_per_tenant
        self._kept: dict[str, Decision] = {}

    @property
    def lost(self) -> int:
        """None are."""
        return 0

    def record(self, decision: Decision) -> None:
        """Keep a decision; the oldest of its tenant goes where there are too many."""
        self._kept[decision.decision_id] = decision
        mine = self._of(decision.tenant)
        for old in mine[self._max_per_tenant :]:
            del self._kept[old.decision_id]

    def settle(self, tenant: str, run_id: str, outcome: Outcome) -> None:
        """Note the outcome on all decisions of the run."""
        for each in self._of(tenant):
            if each.run_id == run_id:
                self._kept[each.decision_id] = each.model_copy(update={"outcome": outcome})

    async def read(
        self,
        tenant: str,
        *,
        kind: Kind | None = None,
        run_id: str | None = None,
        limit: int = 1000,
        after: str | None = None,
    ) -> Sequence[Decision]:
        """Return a tenant's decisions, newest first."""
        found = self._of(tenant)
        if after is not None:
            ids = [each.decision_id for each in found]
            if after not in ids:
                raise UnknownDecisionError(f"there is no decision {after!r}")
            found = found[ids.index(after) + 1 :]
        found = [each for each in found if kind in (None, each.kind) and run_id in (None, each.run_id)]
        return found[:limit]

    async def get(self, tenant: str, decision_id: str) -> Decision:
        """Return one decision."""
        found = self._kept.get(decision_id)
        if found is None or found.tenant != tenant:
            raise UnknownDecisionError(f"there is no decision {decision_id!r}")
        return found

    async def rewrite(
        self, tenant: str, change: Callable[[str], str], *, document_id: str | None = None, revision: str | None = None
    ) -> int:
        """Change every text of a tenant's decisions."""
        changed = 0
        for each in self._of(tenant):
            after = rewritten(each, change)
            changed += after is not each
            self._kept[each.decision_id] = after
        return changed

    def _of(self, tenant: str) -> list[Decision]:
        mine = [each for each in self._kept.values() if each.tenant == tenant]
        return sorted(mine, key=lambda each: (each.at, each.decision_id), reverse=True)
