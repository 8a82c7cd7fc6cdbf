"""Answers to questions that were asked before: given again only where they would be given again.

Kept are answers that rest on documents alone (no tool but search and reading), were written by the
model of the run, and whose audit found nothing. Each repetition has labels of its own and is audited anew.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from agent.events import RunCompleted
from agent.run import Exchange, RunRequest
from retrieval.cache import ResultCache
from retrieval.cached_search import KnowledgeVersions, chunk_bytes
from retrieval.labels import LabelBook, find_tags, format_tag
from retrieval.relabelling import relabelled
from retrieval.settings import CacheSettings
from retrieval.types import Passage, Principal, Right, SearchFilter, Tier

_TOOLS = frozenset({"search_knowledge", "read_document", "finish"})
"""What they give depends on question, principal and documents alone."""
_STATUS = frozenset({"answered", "not_in_documents"})
_READ_APART = {"run_id", "trace_id", "question", "language", "filter", "asked", "conversation_id"}


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """All that an answer depends on."""

    tenant: str
    access: frozenset[str]
    rights: frozenset[Right]
    question: str
    """Secrets replaced by pseudonyms."""
    conversation: str
    """Digest of what was said before; empty: nothing."""
    assistant: str
    model: str
    language: str
    filter: SearchFilter
    others: str
    """Whatever else the request says, as JSON: what is asked otherwise is another question."""
    today: date
    knowledge_version: int
    rules: str
    configuration: str


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer with what it rests on."""

    run_id: str
    """The run that it was written in."""
    at: datetime
    tier: Tier
    reasons: tuple[str, ...]
    scores: Mapping[str, float]
    answer: str
    passages: tuple[Passage, ...]

    def relabelled(self, book: LabelBook) -> CachedAnswer:
        """Return it with the labels that another run's book gives its passages."""
        passages = relabelled(self.passages, book)
        labels = {old.label: new.label for old, new in zip(self.passages, passages, strict=True)}
        return replace(self, passages=passages, answer=_relabelled(self.answer, labels))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was looked up, and how the cache stood then."""

    key: AnswerKey
    generation: int


class AnswerCache:
    """Keeps answers of runs."""

    def __init__(
        self,
        settings: CacheSettings,
        knowledge: KnowledgeVersions,
        *,
        rules: Callable[[str], str],
        configuration: str,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        """Take the parts.

        Args:
            settings: life and bounds.
            knowledge: counts the changes of documents.
            rules: returns the revision of the symbol language that reads a tenant's questions now.
            configuration: names encoder, reranker and settings.
            today: the day of the catalogue's clock.
        """
        self._knowledge, self._rules = knowledge, rules
        self._configuration, self._today = configuration, today
        self.answers: ResultCache[AnswerKey, CachedAnswer] = ResultCache(
            settings,
            size_of=lambda kept: sys.getsizeof(kept.answer) + sum(chunk_bytes(p.chunk) for p in kept.passages),
            documents_of=lambda kept: {passage.chunk.document_id for passage in kept.passages},
        )

    async def ask(
        self, request: RunRequest, principal: Principal, *, model: str, assistant: str
    ) -> tuple[Asked, CachedAnswer | None]:
        """Look a question up, before anything is searched for it."""
        tenant = principal.tenant
        key = AnswerKey(
            tenant=tenant,
            access=principal.access_tokens(),
            rights=principal.rights,
            question=request.question,
            conversation=digest(request.before),
            assistant=assistant,
            model=model,
            language=request.language,
            filter=request.filter or SearchFilter(),
            others=request.model_dump_json(exclude=_READ_APART),
            today=self._today(),
            rules=self._rules(tenant),
            knowledge_version=await self._knowledge.knowledge_version(tenant),
            configuration=self._configuration,
        )
        asked = Asked(key, self.answers.generation(tenant))
        return asked, self.answers.get(key)

    def keep(
        self,
        asked: Asked,
        done: RunCompleted,
        *,
        tools: Collection[str],
        reasons: Sequence[str],
        scores: Mapping[str, float],
    ) -> None:
        """Keep the answer of a run that nothing disturbed, if it may be given again.

        Args:
            asked: what `ask` returned at its start.
            done: its end.
            tools: what it called.
            reasons: of its trigger.
            scores: of its trigger.
        """
        clean = done.audit.risk == "low" and not done.audit.violations
        if done.status not in _STATUS or not clean or not _TOOLS.issuperset(tools):
            return
        kept = CachedAnswer(
            run_id=done.run_id,
            at=done.at,
            tier=done.tier,
            reasons=tuple(reasons),
            scores=dict(scores),
            answer=done.answer,
            passages=done.passages,
        )
        self.answers.put(asked.key, kept, asked.generation)


def digest(before: Sequence[Exchange]) -> str:
    """Return what stands for the conversation so far; empty for none."""
    said = "\x00".join(part for each in before for part in (each.question, each.answer))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest() if before else ""


def _relabelled(answer: str, labels: Mapping[str, str]) -> str:
    """Put other labels into an answer's tags; a tag of several becomes several tags."""
    if all(old == new for old, new in labels.items()):
        return answer
    spans: dict[tuple[int, int], list[str]] = {}
    for tag in find_tags(answer):
        spans.setdefault((tag.start, tag.end), []).append(tag.label)
    parts: list[str] = []
    last = 0
    for (start, end), inside in spans.items():
        parts += [answer[last:start], "".join(format_tag(labels.get(label, label)) for label in inside)]
        last = end
    return "".join([*parts, answer[last:]])
