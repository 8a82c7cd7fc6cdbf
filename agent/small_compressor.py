"""Lets the small model shorten long results of tools, where that is switched on.

Its call is on the run's tape and in the run's costs like any other. Passages never come here: they are
shortened by their own sentences, so that what is cited stands in its source.
"""

from __future__ import annotations

from contextlib import aclosing

from agent.compression import Cost, shorten
from agent.errors import ModelUnavailableError
from agent.events import ModelUsed
from agent.llm import ChatModel, Message
from agent.protocols.pieces import AnswerText
from agent.protocols.plain import PlainProtocol
from agent.reading import ReplyReader
from agent.state import RunState
from agent.windows import window_of
from prompts.render import render_shorten
from retrieval.neutralise import neutralise

_SHARE = 0.7
_MOST_CHARS = 16_000
"""Of the text that the model is given, which is shortened by its own sentences to this first."""


class SmallCompressor:
    """Shortens for one run; falls back on the text's own sentences wherever the model may not or cannot."""

    def __init__(self, state: RunState, model: ChatModel) -> None:
        self._state, self._model = state, model
        self._read: list[tuple[ReplyReader, float]] = []

    async def compress(self, text: str, question: str, cost: Cost, room: float) -> str:
        """Return what the model makes of the text, if it fits."""
        state = self._state
        window = window_of(self._model)
        given = shorten(text, question, len, _MOST_CHARS)
        if window is not None:
            given = shorten(given, question, lambda part: float(window.count(part)), window.part(_SHARE))
        asked = render_shorten(state.request.language, question=neutralise(question), text=neutralise(given))
        messages = (Message(role="user", content=asked),)
        if not state.may_speak(self._model) or await state.over_budget(messages) is not None:
            return shorten(text, question, cost, room)
        reader, since = state.reader_of(self._model, messages, "finish"), state.parts.clock.monotonic()
        said: list[str] = []
        try:
            async with aclosing(reader.pieces(PlainProtocol())) as pieces:
                async for piece in pieces:
                    if isinstance(piece, AnswerText):
                        said.append(piece.text)
        except ModelUnavailableError:
            said = []
        self._read.append((reader, since))
        short = "".join(said).strip()
        return shorten(short, question, cost, room) if short else shorten(text, question, cost, room)

    def used(self) -> list[ModelUsed]:
        """Count the calls since the last time, and make their events."""
        read, self._read = self._read, []
        return [self._state.used_by(self._model, reader, since) for reader, since in read]
