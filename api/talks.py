"""Takes a question up into its conversation: what it follows up on, and what it means by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from agent.conversations import ConversationBook, Turn
from agent.followups import stand_alone
from agent.run import Exchange
from api.models import ChatBody
from retrieval.labels import strip_tags
from retrieval.symbols.language import SymbolLanguage
from retrieval.types import Principal

_LAST = 3
"""Turns that a question may follow up on; older ones are kept, and read no more."""
_ANSWER_CHARS = 300
_TIMES = frozenset({"date", "period"})


@dataclass(frozen=True, slots=True)
class Talk:
    """A question of a conversation."""

    conversation_id: str
    question: str
    """It stands alone; secrets already replaced by pseudonyms."""
    asked: str
    """As it was written, where that is something else; secrets replaced too."""
    before: tuple[Exchange, ...]


class Talks:
    """Knows the conversations."""

    def __init__(self, book: ConversationBook, language: SymbolLanguage) -> None:
        self.book = book
        self._language = language

    async def take_up(self, body: ChatBody, principal: Principal) -> Talk | None:
        """Return the question with what was said before it; None outside a conversation.

        Raises:
            UnknownConversationError: no such conversation, or another user's.
        """
        if body.conversation_id is None:
            return None
        turns = await asyncio.to_thread(self.book.turns, body.conversation_id, principal, last=_LAST)
        tenant = principal.tenant
        asked = self._language.symbolise(body.question, tenant=tenant).text
        # Stored texts are hidden again: rules may have changed since, and a run is rewritten only when it has ended.
        before = tuple(self._exchange(turn, tenant) for turn in turns)

        def periods(text: str) -> Sequence[tuple[int, int]]:
            found = self._language.symbolise(text, tenant=tenant).symbols
            return [(each.start, each.end) for each in found if each.kind in _TIMES]

        alone = stand_alone(asked, [each.question for each in before], periods)
        return Talk(body.conversation_id, alone.question, asked if alone.changed else "", before)

    async def note(self, talk: Talk, run_id: str, principal: Principal) -> None:
        """Add the run that answers the question to its conversation."""
        await asyncio.to_thread(self.book.add, talk.conversation_id, run_id, principal)

    def _exchange(self, turn: Turn, tenant: str) -> Exchange:
        answer = " ".join(strip_tags(turn.answer).split())
        short = answer if len(answer) <= _ANSWER_CHARS else answer[: _ANSWER_CHARS - 1].rstrip() + "…"
        question, said = (self._language.symbolise(text, tenant=tenant).text for text in (turn.question, short))
        return Exchange(question=question, answer=said, labels=turn.labels)
