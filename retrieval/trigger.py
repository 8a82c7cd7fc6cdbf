"""The three trigger tiers: whether a question is for the documents, decided before any large model.

*strong*: retrieve at once. *weak*: name one or two candidate documents; the agent
retrieves inside them when it needs to. *none*: no retrieval, the answer is general.
Form decides first (small talk, arithmetic), then how well the documents **that this
principal may see** answer to the question in the first stage of search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from math import exp
from typing import Protocol

from retrieval.content_terms import content_terms
from retrieval.dictionary import cc_cedict
from retrieval.first_stage import FirstStage
from retrieval.foreign import is_foreign
from retrieval.foreign_signal import ForeignSignal, foreign_signal
from retrieval.lexical import text_terms
from retrieval.question_form import Form, question_form
from retrieval.rerankers.foreign import ForeignJudge
from retrieval.settings import TriggerSettings
from retrieval.stopwatch import utc_today
from retrieval.translating import Translator
from retrieval.types import Candidate, Channel, Principal, SearchFilter, Tier

_FOREIGN_TOLD = 0.3
"""Below this relevance a passage in the other language gives no reason for anything."""
_LOOKED_AT = 5
"""Candidates whose words are compared with the question's."""
_CANDIDATE_DOCUMENTS = 2
_FITTED_COSINES = (0.75, 0.95)
_COSINES: dict[str, tuple[float, float]] = {"bge-m3": (0.35, 0.80)}
"""Where an encoder's cosines lie, from unrelated to matching texts, when not where the weights were
fitted. Published scores, not measured here: recalibrate with your own documents."""


class FirstStageSearch(Protocol):
    """The part of search that the trigger needs."""

    async def first_stage(
        self,
        question: str,
        principal: Principal,
        *,
        filter: SearchFilter | None = None,
        base_date: date | None = None,
    ) -> FirstStage:
        """Symbolise, encode and fuse; nothing is reranked."""
        ...


@dataclass(frozen=True, slots=True)
class Signals:
    """What a first stage tells about a question, each 0 to 1."""

    coverage: float
    """Largest share of the question's content terms that one candidate holds."""
    similarity: float | None
    """Best dense cosine; None when the encoder has no dense side."""
    symbols: float
    """Share of the question's codes and values that one candidate carries."""
    foreign: ForeignSignal | None
    """What passages of the other language tell; None when the encoder has no channel for them."""


@dataclass(frozen=True, slots=True)
class TriggerDecision:
    """The tier with everything that led to it."""

    tier: Tier
    reasons: tuple[str, ...]
    scores: dict[str, float]
    candidate_documents: tuple[str, ...] = ()
    first_stage: FirstStage | None = None
    """The first stage that was made, so that search need not make it again; None where form decided."""


class Trigger:
    """Decides tiers; at most one encoder call per question."""

    def __init__(
        self,
        search: FirstStageSearch,
        settings: TriggerSettings,
        encoder: str = "embedded",
        *,
        today: Callable[[], date] = utc_today,
    ) -> None:
        """Build a trigger.

        Args:
            search: makes the first stage.
            settings: weights and thresholds.
            encoder: its name, for where its cosines lie.
            today: what 上季度 and "last quarter" are counted from, where the filter names no date.
        """
        self._search = search
        self._settings = settings
        self._today = today
        self._judge = ForeignJudge(Translator(cc_cedict()))
        self._low, self._high = _COSINES.get(encoder, _FITTED_COSINES)

    async def decide(self, question: str, principal: Principal, filter: SearchFilter | None = None) -> TriggerDecision:
        """Decide the tier of a question for this principal.

        Raises:
            ForbiddenError: the principal holds neither `search` nor `chat`.
        """
        form = question_form(question)
        if form == "arithmetic":
            return TriggerDecision("none", ("the question is arithmetic",), {})
        if form == "small_talk":
            return TriggerDecision("none", ("the question is small talk",), {})
        base_date = (filter.as_of if filter is not None else None) or self._today()
        first = await self._search.first_stage(question, principal, filter=filter, base_date=base_date)
        if not first.candidates:
            # Who names the documents is told that they do not say; a general answer would pass for theirs.
            tier: Tier = "strong" if form == "aims_at_documents" else "none"
            return TriggerDecision(tier, _nothing_found(form), {}, first_stage=first)
        signals = read_signals(first, self._judge)
        score = self._score(signals, form)
        scores = {
            "score": round(score, 4),
            "coverage": round(signals.coverage, 4),
            "similarity": round(signals.similarity or 0.0, 4),
            "foreign": round(signals.foreign.relevance if signals.foreign else 0.0, 4),
            "symbols": round(signals.symbols, 4),
        }
        tier = self._tier(score)
        documents = _documents(first.candidates) if tier != "none" else ()
        return TriggerDecision(tier, _reasons(form, signals, score, tier, self._settings), scores, documents, first)

    def _score(self, signals: Signals, form: Form) -> float:
        s = self._settings
        z = s.symbols_weight * signals.symbols + (s.aim_weight if form == "aims_at_documents" else 0.0)
        if signals.similarity is None:
            z += s.lexical_bias + s.lexical_coverage_weight * signals.coverage
        else:
            z += s.bias + s.coverage_weight * signals.coverage
            z += s.similarity_weight * self._as_fitted(signals.similarity)
        if signals.foreign is not None:
            z = max(z, signals.foreign.log_odds)
        return 1.0 / (1.0 + exp(-max(min(z, 50.0), -50.0)))

    def _as_fitted(self, cosine: float) -> float:
        """Carry a cosine over to the range that the weights were fitted in."""
        low, high = _FITTED_COSINES
        return low + (cosine - self._low) * (high - low) / (self._high - self._low)

    def _tier(self, score: float) -> Tier:
        if score >= self._settings.strong:
            return "strong"
        return "weak" if score >= self._settings.weak else "none"


def read_signals(first: FirstStage, judge: ForeignJudge) -> Signals:
    """Read the signals off a first stage."""
    asked = set(content_terms(first.index_text))
    wanted = {s.token for s in first.symbols}
    looked_at = _best_by_channel([c for c in first.candidates if not is_foreign(c)])
    held = [text_terms(c.chunk.index_text) for c in looked_at]
    coverage = max((len(asked & h) / len(asked) for h in held), default=0.0) if asked else 0.0
    carried = [{s.token for s in c.chunk.symbols} for c in looked_at]
    symbols = max((len(wanted & h) / len(wanted) for h in carried), default=0.0) if wanted else 0.0
    similarity = _best(first.candidates, "dense")
    foreign = foreign_signal(judge, first.index_text, first.candidates, len(asked))
    return Signals(coverage, similarity, symbols, foreign)


def _best(candidates: Sequence[Candidate], channel: Channel) -> float | None:
    return max((c.scores[channel] for c in candidates if channel in c.scores), default=None)


def _best_by_channel(candidates: Sequence[Candidate]) -> list[Candidate]:
    best = [c for c in candidates if min(c.ranks.values(), default=_LOOKED_AT + 1) <= _LOOKED_AT]
    return best or list(candidates[:_LOOKED_AT])


def _documents(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    found = dict.fromkeys(c.chunk.document_id for c in candidates)
    return tuple(found)[:_CANDIDATE_DOCUMENTS]


def _nothing_found(form: Form) -> tuple[str, ...]:
    aim = ("the question names the documents",) if form == "aims_at_documents" else ()
    return (*aim, "no document that you may see matches the question")


def _reasons(form: Form, signals: Signals, score: float, tier: Tier, settings: TriggerSettings) -> tuple[str, ...]:
    reasons: list[str] = []
    if form == "aims_at_documents":
        reasons.append("the question names the documents")
    reasons.append(f"{signals.coverage:.0%} of its terms stand in one passage")
    if signals.symbols > 0:
        reasons.append(f"{signals.symbols:.0%} of its codes and values stand in one passage")
    if signals.similarity is not None:
        reasons.append(f"similarity {signals.similarity:.2f}")
    if signals.foreign is not None and signals.foreign.relevance >= _FOREIGN_TOLD:
        reasons.append(f"relevance {signals.foreign.relevance:.2f} of a passage in the other language")
    bound = {
        "strong": f"at least {settings.strong:.2f}",
        "weak": f"below {settings.strong:.2f}",
        "none": f"below {settings.weak:.2f}",
    }
    reasons.append(f"score {score:.2f}, {bound[tier]}")
    return tuple(reasons)
