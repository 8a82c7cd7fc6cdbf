"""From a written answer to the end of its run: audit it, follow the tenant's policy, tell the verdicts, close.

Under `annotate` the answer stands as it was streamed. Under `repair` and `withhold` what was streamed
was a draft: where the audit finds fault the model gets one more try, with the failed sentences and their
evidence; the better answer counts. What still fails is withheld where the policy says so. An answer
that takes the draft's place follows an `answer_superseded`, so that the pieces after it are the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent.audit.hedging import flag_unhedged
from agent.audit.policy import failed_sentences, holds_better, is_clean, must_withhold, withheld_audit, withheld_text
from agent.audit.proposals import with_proposals
from agent.audit.verdicts import Audit
from agent.context import RunContext
from agent.cost import PriceTable
from agent.errors import ModelUnavailableError
from agent.events import AnswerSuperseded, CitationAdded, Event, Notice, RunCompleted, SentenceAudited, TextDelta
from agent.live_verdicts import LiveVerdicts
from agent.llm import Message
from agent.outcome import cited_passages, status_of
from agent.protocols.pieces import AnswerEnd, AnswerText
from agent.protocols.plain import PlainProtocol
from agent.reading import RunTimeoutError
from agent.repairing import AROUND, needed_passages, repair_messages
from agent.settings import AuditPolicy
from agent.state import RunState

_REPAIR_ZH = "回答中有 {n} 处没有通过出处核对，正在改写一次。"
_REPAIR_EN = "{n} points of the answer did not hold against their sources; it is being written once more."
_PROPOSED_ZH = "核对程序提议的来源：{label} 中有此内容；回答本身没有引用它"
_PROPOSED_EN = "proposed by the auditor: {label} says so; the answer itself does not cite it"


class Concluding:
    """Ends one run whose answer is written."""

    def __init__(self, state: RunState, context: RunContext) -> None:
        self._state = state
        self._context = context
        self._live = LiveVerdicts(self._checked)
        self._policy: AuditPolicy = state.parts.auditing.policy_of(state.principal.tenant)

    @property
    def drafts(self) -> bool:
        """True when what is written may still be replaced."""
        return self._policy != "annotate"

    def told(self, text: str) -> list[Event]:
        """Return how a piece of the answer is told while it is written: live, as a draft, or not yet."""
        if not self.drafts:
            return [self._state.emit(TextDelta, text=text)]
        if self._state.parts.auditing.drafts:
            return [self._state.emit(TextDelta, text=text, draft=True)]
        return []

    async def live(self) -> list[Event]:
        """Return verdicts on the sentences of an answer under way that are whole by now; those at its end count."""
        state = self._state
        if self.drafts and not state.parts.auditing.drafts:
            return []
        verdicts = await self._live.whole("".join(state.answer))
        return [state.emit(SentenceAudited, verdict=verdict, provisional=True) for verdict in verdicts]

    async def events(self) -> AsyncGenerator[Event, None]:
        """Emit what follows from the audit, the citations, the verdicts and `run_completed`."""
        state = self._state
        answer = draft = "".join(state.answer)
        audit = first = await self._audit(draft)
        if self.drafts and not is_clean(audit):
            repaired: list[str] = []
            async with aclosing(self._write_again(draft, audit, repaired)) as events:
                async for event in events:
                    yield event
            answer, audit = await self._better(draft, audit, "".join(repaired))
            if must_withhold(audit, self._policy, state.parts.auditing.withhold_at):
                answer = withheld_text(audit, state.tools.passages.all(), state.request.language)
                audit = withheld_audit(audit, answer, state.request.language)
        for event in self._replaced(answer, audit, draft, first):
            yield event
        for event in self._verdicts(answer, audit):
            yield event
        yield self._completed(answer, audit)

    def _replaced(self, answer: str, audit: Audit, draft: str, first: Audit) -> list[Event]:
        """Tell the answer where it is not what was streamed."""
        state = self._state
        if not self.drafts:
            return []
        shown = state.parts.auditing.drafts
        if answer == draft:
            return [] if shown else [state.emit(TextDelta, text=answer)]
        superseded = state.emit(
            AnswerSuperseded,
            reason="withheld" if audit.action == "withheld" else "repaired",
            risk=first.risk,
            failed=failed_sentences(first) if shown else (),
        )
        return [superseded, state.emit(TextDelta, text=answer)]

    async def _better(self, draft: str, audit: Audit, repaired: str) -> tuple[str, Audit]:
        if not repaired.strip():
            return draft, audit.model_copy(update={"action": "repair_failed"})
        second = await self._audit(repaired)
        if holds_better(second, audit):
            return repaired, second.model_copy(update={"action": "repaired"})
        return draft, audit.model_copy(update={"action": "repair_failed"})

    async def _write_again(self, draft: str, audit: Audit, pieces: list[str]) -> AsyncGenerator[Event, None]:
        """Let the model write the answer once more into `pieces`; nothing stands there where it cannot."""
        state = self._state
        # The extractive model says the same again; a spent budget allows no further call.
        if state.model.name in PriceTable.FREE or state.overdrawn:
            return
        messages = self._request(draft, audit)
        if messages is None or await state.over_budget(messages) is not None:
            return
        for event in state.keep_in():
            yield event
        said = _REPAIR_ZH if state.request.language == "zh" else _REPAIR_EN
        points = len(failed_sentences(audit)) or len(audit.violations)
        yield state.emit(Notice, code="audit_repair", message=said.format(n=points))
        since = state.parts.clock.monotonic()
        reader, parser = state.reader(messages, "finish"), PlainProtocol()
        ended = False
        try:
            async with aclosing(reader.pieces(parser)) as read:
                async for piece in read:
                    match piece:
                        case AnswerText(text=text):
                            pieces.append(text)
                        case AnswerEnd():
                            ended = True
                        case _:
                            pass
        except (ModelUnavailableError, RunTimeoutError):
            ended = False  # the draft is there, and its verdicts
        if not ended:
            pieces.clear()
        yield state.used(reader, since)

    def _request(self, draft: str, audit: Audit) -> tuple[Message, ...] | None:
        """Return the request for a repair as the window takes it; None where it is too small for one."""
        state, window = self._state, self._state.parts.window
        found, results = state.tools.passages.all(), state.tools.remarked_results()
        needed = needed_passages(audit, found)
        for passages, around in ((found, AROUND), (needed, AROUND), (needed, AROUND // 4)):
            messages = repair_messages(
                self._context.finish_messages(passages, results),
                draft,
                audit,
                passages=passages,
                results=state.tools.results,
                language=state.request.language,
                around=around,
            )
            if window is None or window.size(messages) <= window.prompt_tokens:
                return messages
        return None

    async def _audit(self, answer: str) -> Audit:
        return await asyncio.to_thread(self._audited, answer)

    def _audited(self, answer: str) -> Audit:
        audit = self._checked(answer)
        texts = {passage.label: passage.evidence_text for passage in self._state.tools.passages.all()}
        proposed = _PROPOSED_ZH if self._state.request.language == "zh" else _PROPOSED_EN
        return with_proposals(audit, texts, self._checked, proposed)

    def _checked(self, answer: str) -> Audit:
        state = self._state
        audit = state.parts.auditor.audit(
            answer,
            passages=state.tools.passages.all(),
            labels=state.tools.book,
            question=state.request.question,
            tier=state.tier,
            tenant=state.principal.tenant,
            tool_results=dict(state.tools.results),
        )
        return flag_unhedged(audit, state.tools.low_quality, state.request.language)

    def _verdicts(self, answer: str, audit: Audit) -> list[Event]:
        state = self._state
        cited: list[Event] = [
            state.emit(
                CitationAdded,
                label=passage.label,
                document_id=passage.chunk.document_id,
                title=passage.chunk.title,
                page=passage.chunk.page_start,
            )
            for passage in cited_passages(answer, state.tools.passages.all())
        ]
        return [*cited, *(state.emit(SentenceAudited, verdict=verdict) for verdict in audit.sentences)]

    def _completed(self, answer: str, audit: Audit) -> Event:
        state = self._state
        return state.emit(
            RunCompleted,
            status=status_of(
                answer, audit, state.tier, stopped=state.stopped, handed_over=state.tools.handed_over is not None
            ),
            answer=answer,
            audit=audit,
            passages=state.tools.passages.all(),
            tier=state.tier,
            model=state.model.name,
            encoder=state.parts.encoder,
            steps=state.steps,
            prompt_tokens=state.meter.prompt_tokens,
            completion_tokens=state.meter.completion_tokens,
            latency_ms=(state.parts.clock.monotonic() - state.started) * 1000,
            money=state.meter.money,
            currency=state.parts.prices.currency if state.meter.money is not None else "",
            labels=tuple(sorted(state.tools.document_labels())),
        )
